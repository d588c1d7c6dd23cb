#include "tools/gridhud/term/term.h"

#include <assert.h>
#include <fcntl.h>
#include <ncurses.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/gridhud/term/term_screen.h"
#include "tools/gridhud/text.h"

bool
term_is_there(void)
{
	return true;
}

struct history *
term_history(const struct term *term)
{
	return term->app.history;
}

/* --- the front ------------------------------------------------------------ */

static void
on_changed(void *arg)
{
	struct term *term = arg;

	term->dirty = true;
}

static void
on_added(void *arg, uint64_t number, bool live)
{
	struct term *term = arg;

	(void)live;
	if (term->at_end)
		term->chosen = number;
	term->dirty = true;
}

void
term_notice(struct term *term, const char *text)
{
	struct buf buf;

	assert(text != NULL);
	buf_init(&buf, 4096);
	text_show_line(&buf, span_of(text));
	snprintf(term->notice, sizeof(term->notice), "%.*s",
	    SPAN_ARG(buf_span(&buf)));
	buf_fini(&buf);
	term->dirty = true;
}

static void
on_notice(void *arg, const char *text)
{
	term_notice(arg, text);
}

static void
on_bell(void *arg)
{
	(void)arg;
	beep();
}

static const struct front front = {.added = on_added,
    .notice = on_notice,
    .bell = on_bell,
    .changed = on_changed};

/* --- the title ------------------------------------------------------------ */

static bool
has_title(void)
{
	static const char *const names[] = {"xterm", "tmux", "screen", "rxvt",
	    "alacritty", "foot", "st-", "konsole", "gnome", "vte", "kitty",
	    "wezterm", "contour"};
	const char *name = getenv("TERM");

	for (size_t i = 0; name != NULL && i < sizeof(names) / sizeof(names[0]);
	     i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* The application's name was given by the person: no escape is in it. */
static void
set_title(struct term *term)
{
	unsigned unread = history_unread(term_history(term));
	char title[sizeof(term->title)];
	struct buf name;

	buf_init(&name, 1024);
	text_show_line(&name, span_of(term->app.settings.app));
	if (unread > 0 && term->app.settings.title_unread)
		snprintf(title, sizeof(title), "(%u) %.*s", unread,
		    SPAN_ARG(buf_span(&name)));
	else
		snprintf(
		    title, sizeof(title), "%.*s", SPAN_ARG(buf_span(&name)));
	buf_fini(&name);
	if (strcmp(title, term->title) == 0 || !has_title())
		return;
	snprintf(term->title, sizeof(term->title), "%s", title);
	printf("\033]2;%s\033\\", title);
	fflush(stdout);
}

/* --- each round ----------------------------------------------------------- */

static void
on_ready(void *arg)
{
	struct term *term = arg;
	int key;

	while ((key = getch()) != ERR)
		term_key(term, key);
}

static void
on_round(void *arg)
{
	struct term *term = arg;
	int64_t minute = clock_now_ms(&term->app.clock) / 60000;
	bool was_at_end = term->at_end;

	if (minute != term->minute || term->night != term->app.night)
		term->dirty = true;
	if (!term->dirty)
		return;
	term->minute = minute;
	if (term->night != term->app.night)
		term_colours(term, term->app.night);
	term_draw(term);
	term->dirty = false;
	set_title(term);
	term->app.at_end = term->at_end;
	if (term->at_end && !was_at_end && term->app.focus == FOCUS_IN)
		app_saw(&term->app);
}

/* --- the screen ----------------------------------------------------------- */

static void
tell_terminal(const char *codes)
{
	fputs(codes, stdout);
	fflush(stdout);
}

static void
open_screen(struct term *term)
{
	initscr();
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(25);
	define_key("\033[I", TERM_FOCUS_IN);
	define_key("\033[O", TERM_FOCUS_OUT);
	if (term->app.settings.mouse)
		mousemask(BUTTON1_PRESSED | BUTTON1_CLICKED |
			BUTTON1_DOUBLE_CLICKED | BUTTON4_PRESSED |
			BUTTON5_PRESSED,
		    NULL);
	mouseinterval(150);
	term->colours = has_colors() && getenv("NO_COLOR") == NULL;
	if (term->colours) {
		start_color();
		use_default_colors();
		term->many_colours =
		    COLORS >= 256 && COLOR_PAIRS > 2 + TERM_STYLES * 2;
	}
	term_colours(term, term->app.night);
	tell_terminal("\033[22;2t\033[?1004h");
}

static void
close_screen(void)
{
	endwin();
	tell_terminal("\033[?1004l\033[23;2t");
}

/*
 * The log would write over the screen: it goes beside the history, and the
 * file is begun anew each time.
 */
static void
move_log(const struct term *term)
{
	char path[FS_PATH_MAX], log[FS_PATH_MAX];
	int fd;

	if (isatty(STDERR_FILENO) == 0 ||
	    settings_history(path, &term->app.settings) != ERR_OK ||
	    fs_path(log, "%s.log", path) != ERR_OK)
		return;
	fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	dup2(fd, STDERR_FILENO);
	close(fd);
}

int
term_run(const struct term_options *options)
{
	struct fault fault = {.place = ""};
	struct term *term = calloc(1, sizeof(*term));
	enum err err = ERR_NO_MEMORY;
	int code = EXIT_FAILURE;

	assert(options != NULL);
	if (term == NULL) {
		fprintf(stderr, "gridhud: %s\n", err_text(err));
		return code;
	}
	if (!term_can_draw(&fault)) {
		fprintf(stderr, "gridhud: %s %s: use gridhud --plain\n",
		    fault.place, fault.message);
		free(term);
		return code;
	}
	view_init(&term->view);
	buf_init(&term->search, 4096);
	term->at_end = term->dirty = true;
	err = app_open(
	    &term->app, options->config, options->now, &front, term, &fault);
	if (err == ERR_OK) {
		uint64_t end = history_end(term_history(term));

		term->chosen = end > 0 ? end - 1 : 0;
		term->app.on_terminal = true;
		move_log(term);
		open_screen(term);
		err =
		    app_run(&term->app, STDIN_FILENO, on_ready, on_round, term);
		close_screen();
		code = err == ERR_OK ? EXIT_SUCCESS : EXIT_FAILURE;
	} else
		fprintf(
		    stderr, "gridhud: %s: %s\n", fault.place, fault.message);
	app_close(&term->app);
	view_fini(&term->view);
	buf_fini(&term->search);
	free(term);
	return code;
}
