/*
 * Each message is a line that says what a screen would: time, source, status,
 * title, text; the text's further lines follow indented. What the person wants
 * is read from standard input, a command a line.
 */
#include "tools/gridhud/term/plain.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/fold.h"
#include "tools/gridhud/app/app.h"
#include "tools/gridhud/text.h"

#define LINE_MAX_BYTES 4096

struct plain {
	struct app app;
	struct buf in;
	enum hud_state hud;
};

/* --- showing -------------------------------------------------------------- */

static void
put_text(struct span text)
{
	struct span line;
	bool first = true;

	while (span_cut(&line, &text, '\n')) {
		printf("%s%.*s\n", first ? "" : "    ", SPAN_ARG(line));
		first = false;
	}
}

static void
put_message(const struct plain *plain, const struct message *message)
{
	char time[CLOCK_TEXT_MAX];

	clock_time_text(time, message->time_ms);
	printf("%s %.*s", time, SPAN_ARG(message->source));
	if (message->status != STATUS_NONE)
		printf(" [%s]", message_status_name(message));
	if (message->priority != PRIORITY_NORMAL)
		printf(" [%s]", message_priority_name(message));
	if (message->duplicate)
		printf(" [again]");
	if (message->replayed)
		printf(" [while away]");
	if (app_is_muted(&plain->app, message->source))
		printf(" [muted]");
	printf(": ");
	if (message->title.len > 0)
		printf("%.*s%s", SPAN_ARG(message->title),
		    message->text.len > 0 ? ". " : "\n");
	if (message->text.len > 0 || message->title.len == 0)
		put_text(message->text);
	if (message->error.len > 0 && !span_eq(message->error, message->text)) {
		printf("    ");
		put_text(message->error);
	}
	if (message->url.len > 0)
		printf("    %.*s\n", SPAN_ARG(message->url));
	fflush(stdout);
}

static void
on_added(void *arg, uint64_t number, bool live)
{
	struct plain *plain = arg;

	(void)live;
	put_message(plain, history_at(plain->app.history, number));
}

static void
on_notice(void *arg, const char *text)
{
	struct buf buf;

	(void)arg;
	buf_init(&buf, 4096);
	text_show_line(&buf, span_of(text));
	printf("-- %.*s\n", SPAN_ARG(buf_span(&buf)));
	fflush(stdout);
	buf_fini(&buf);
}

/* A bell in a file is of no use. */
static void
on_bell(void *arg)
{
	(void)arg;
	if (isatty(STDOUT_FILENO) == 0)
		return;
	putchar('\a');
	fflush(stdout);
}

static void
on_changed(void *arg)
{
	struct plain *plain = arg;
	enum hud_state hud = hud_shown(&plain->app.hud);

	/* Speaking comes and goes with each message. */
	if (hud == plain->hud || hud == HUD_SPEAKING)
		return;
	plain->hud = hud;
	printf("-- state: %s%s%s\n", hud_name(hud),
	    plain->app.hud.label[0] == '\0' ? "" : ": ", plain->app.hud.label);
	fflush(stdout);
}

static const struct front front = {.added = on_added,
    .notice = on_notice,
    .bell = on_bell,
    .changed = on_changed};

/* --- commands ------------------------------------------------------------- */

static const struct message *
newest(const struct plain *plain)
{
	return history_at(
	    plain->app.history, history_end(plain->app.history) - 1);
}

static void
do_search(struct plain *plain, struct span text)
{
	uint64_t number = history_first(plain->app.history);
	const struct message *message;
	struct buf folded;
	unsigned hits = 0;

	buf_init(&folded, LINE_MAX_BYTES);
	fold_add(&folded, text);
	for (; (message = history_at(plain->app.history, number)) != NULL;
	     number++) {
		if (text_find(message->title, buf_span(&folded), 0, false)
			    .ptr == NULL &&
		    text_find(message->text, buf_span(&folded), 0, false).ptr ==
			NULL &&
		    text_find(message->source, buf_span(&folded), 0, false)
			    .ptr == NULL)
			continue;
		put_message(plain, message);
		hits++;
	}
	buf_fini(&folded);
	printf("-- %u found\n", hits);
	fflush(stdout);
}

static void
do_ack(struct plain *plain, struct span text)
{
	(void)text;
	app_saw(&plain->app);
	app_acknowledge(&plain->app);
	printf("-- acknowledged\n");
	fflush(stdout);
}

static void
do_undo(struct plain *plain, struct span text)
{
	(void)text;
	app_undo(&plain->app);
}

static void
do_quiet(struct plain *plain, struct span text)
{
	(void)text;
	app_toggle_quiet(&plain->app);
}

static void
do_stop(struct plain *plain, struct span text)
{
	(void)text;
	app_hush(&plain->app);
}

static void
do_mute(struct plain *plain, struct span text)
{
	(void)text;
	app_toggle_mute(&plain->app, newest(plain));
}

static void
do_open(struct plain *plain, struct span text)
{
	const struct message *message = newest(plain);

	(void)text;
	if (message != NULL)
		app_open_link(&plain->app, message->url);
}

static void
do_write(struct plain *plain, struct span text)
{
	app_write(&plain->app, text);
}

static void
do_unread(struct plain *plain, struct span text)
{
	(void)text;
	printf("-- %u unread\n", history_unread(plain->app.history));
	fflush(stdout);
}

static void
do_quit(struct plain *plain, struct span text)
{
	(void)text;
	plain->app.quit = true;
}

static void do_help(struct plain *plain, struct span text);

static const struct {
	const char *name;
	const char *help;
	void (*act)(struct plain *plain, struct span text);
} commands[] = {
    {"ack", "acknowledge, and count everything as read", do_ack},
    {"undo", "have what was acknowledged last wait again", do_undo},
    {"quiet", "quiet for an hour, or no longer", do_quiet},
    {"stop", "stop speaking, and forget what waits", do_stop},
    {"mute", "mute the newest message's source, or hear it again", do_mute},
    {"open", "open the newest message's link", do_open},
    {"search", "TEXT: show the messages that have it", do_search},
    {"write", "TEXT: write a line of your own", do_write},
    {"unread", "how many are unread", do_unread},
    {"help", "this list", do_help},
    {"quit", "leave", do_quit},
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void
do_help(struct plain *plain, struct span text)
{
	(void)plain;
	(void)text;
	for (size_t i = 0; i < COMMANDS; i++)
		printf("-- %s: %s\n", commands[i].name, commands[i].help);
	fflush(stdout);
}

static void
obey(struct plain *plain, struct span line)
{
	size_t space = span_find(line, ' ');
	struct span name = span_sub(line, 0, space);
	struct span rest = span_trim(span_from(line, space));

	if (name.len == 0)
		return;
	for (size_t i = 0; i < COMMANDS; i++)
		if (span_eq(span_of(commands[i].name), name)) {
			commands[i].act(plain, rest);
			return;
		}
	printf("-- no such command; help lists them\n");
	fflush(stdout);
}

static void
on_ready(void *arg)
{
	struct plain *plain = arg;
	struct span line, rest;
	char bytes[1024];
	ssize_t len = read(STDIN_FILENO, bytes, sizeof(bytes));

	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (len <= 0) {
		/* The program goes on without input. */
		plain->app.input_ended = true;
		return;
	}
	buf_add(&plain->in, bytes, (size_t)len);
	if (buf_end(&plain->in) != ERR_OK) {
		buf_clear(&plain->in);
		printf("-- the line is too long\n");
		return;
	}
	rest = buf_span(&plain->in);
	while (span_find(rest, '\n') < rest.len && span_cut(&line, &rest, '\n'))
		obey(plain, span_trim(line));
	if (rest.len > 0)
		memmove(plain->in.data, rest.ptr, rest.len);
	plain->in.len = rest.len;
}

static void
on_round(void *arg)
{
	(void)arg;
	if (ferror(stdout)) /* the reader has gone */
		((struct plain *)arg)->app.quit = true;
}

int
plain_run(const struct plain_options *options)
{
	struct plain plain = {.hud = HUD_IDLE};
	struct fault fault = {.place = ""};
	int code = EXIT_FAILURE;
	enum err err;

	assert(options != NULL);
	buf_init(&plain.in, LINE_MAX_BYTES);
	err = app_open(
	    &plain.app, options->config, options->now, &front, &plain, &fault);
	if (err != ERR_OK)
		fprintf(
		    stderr, "gridhud: %s: %s\n", fault.place, fault.message);
	else if (app_run(&plain.app, STDIN_FILENO, on_ready, on_round,
		     &plain) == ERR_OK)
		code = EXIT_SUCCESS;
	app_close(&plain.app);
	buf_fini(&plain.in);
	return code;
}
