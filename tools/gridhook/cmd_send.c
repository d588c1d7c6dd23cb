#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/members.h"
#include "common/num.h"
#include "common/opt.h"
#include "tools/gridhook/cmd.h"
#include "tools/gridhook/events/family.h"
#include "tools/gridhook/sending.h"

#define TEXT_MAX ((size_t)1 << 20)

struct options {
	const char *source, *title, *text, *priority, *tags, *link;
	const char *status, *job, *unit, *result, *exit_status, *error;
	struct sending to;
	bool silent, speak;
};

#define AT(member) offsetof(struct options, member)

static const struct opt_row rows[] = {
    {"--source", 's', OPT_TEXT, AT(source), 0, 0, "NAME",
	"who sends it (default: the machine's name)"},
    {"--title", 't', OPT_TEXT, AT(title), 0, 0, "TEXT", "one line"},
    {"--text", 0, OPT_TEXT, AT(text), 0, 0, "TEXT",
	"the message; else it is read from standard input"},
    {"--priority", 'p', OPT_TEXT, AT(priority), 0, 0, "WORD",
	"min, low, normal, high or critical, or 0 to 10"},
    {"--tags", 0, OPT_TEXT, AT(tags), 0, 0, "A,B", "tags"},
    {"--link", 0, OPT_TEXT, AT(link), 0, 0, "URL", "where to read more"},
    {"--silent", 0, OPT_FLAG, AT(silent), 0, 0, NULL,
	"keep it, but do not bother anybody"},
    {"--speak", 0, OPT_FLAG, AT(speak), 0, 0, NULL, "have it read aloud"},
    {"--job", 0, OPT_TEXT, AT(job), 0, 0, "NAME",
	"it is about a job, of which the next ones tell"},
    {"--unit", 0, OPT_TEXT, AT(unit), 0, 0, "NAME", "its systemd unit"},
    {"--status", 0, OPT_TEXT, AT(status), 0, 0, "WORD",
	"how it went: ok, error, skipped"},
    {"--result", 0, OPT_TEXT, AT(result), 0, 0, "WORD",
	"systemd's $SERVICE_RESULT"},
    {"--exit-status", 0, OPT_TEXT, AT(exit_status), 0, 0, "N",
	"its exit code, or the signal that ended it: TERM, SIGKILL"},
    {"--error", 0, OPT_TEXT, AT(error), 0, 0, "TEXT", "what went wrong"},
    SENDING_OPTIONS(
	offsetof(struct options, to), "give up after this (default: 10s)"),
};

static const struct opt_spec spec = {
    .usage = "gridhook [--config FILE] send [OPTION]... [< text]",
    .about = "Sends one push: for cron, systemd and scripts. The exit code "
	     "is 0 when it was taken.",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .args_min = 0,
    .args_max = 0,
};

/* --- values that the receiver would not understand ------------------------ */

static bool
is_priority(struct span text)
{
	return family_priority(text) != PRIORITY_UNSET;
}

static bool
is_status(struct span text)
{
	return family_status(text) != STATUS_NONE;
}

/* systemd's $EXIT_STATUS is a signal's name where one has ended the service. */
static bool
is_exit_status(struct span text)
{
	int64_t number;

	if (num_int(&number, text, INT32_MIN, INT32_MAX))
		return true;
	if (span_starts(text, SPAN("SIG")))
		text = span_from(text, 3);
	if (span_starts(text, SPAN("RTMIN")) ||
	    span_starts(text, SPAN("RTMAX")))
		return true;
	for (int i = 1; i < NSIG; i++) {
		const char *name = sigabbrev_np(i);

		if (name != NULL && span_eq(text, span_of(name)))
			return true;
	}
	return false;
}

/* Empty options are left out of the push, so that "$1" may be unset. */
static bool
are_understood(const struct options *options)
{
	const struct {
		const char *name, *text, *wanted;
		bool (*fits)(struct span text);
	} checks[] = {
	    {"--priority", options->priority,
		"min, low, normal, high or critical, or 0 to 10", is_priority},
	    {"--status", options->status,
		"a word such as ok, warning, error, skipped or cancelled",
		is_status},
	    {"--exit-status", options->exit_status,
		"a whole number, or the name of a signal such as TERM "
		"or SIGKILL",
		is_exit_status},
	};

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		struct span text = span_of(checks[i].text);
		struct fault fault = {.place = ""};

		if (text.len == 0 || checks[i].fits(text))
			continue;
		fault_set(&fault, checks[i].name, "is %s, not \"%s\"",
		    checks[i].wanted, checks[i].text);
		fprintf(stderr,
		    "gridhook send: %s %s; try 'gridhook send --help'\n",
		    fault.place, fault.message);
		return false;
	}
	return true;
}

/* --- the push ------------------------------------------------------------- */

static enum err
read_text(struct buf *text, const struct options *options)
{
	char bytes[16384];
	size_t got;

	if (options->text != NULL)
		buf_add_span(text, span_of(options->text));
	else if (!isatty(STDIN_FILENO)) {
		while ((got = fread(bytes, 1, sizeof(bytes), stdin)) > 0)
			buf_add(text, bytes, got);
		/* The output of a command ends with a newline. */
		while (text->len > 0 && text->data[text->len - 1] == '\n')
			text->len--;
	}
	return buf_end(text);
}

static enum err
write_body(struct buf *body, const struct options *options, struct span text)
{
	struct jsonw json;

	sending_begin(&json, body, options->source);
	members_given(&json, "title", options->title);
	if (text.len > 0)
		members_text(&json, "text", text);
	members_given(&json, "priority", options->priority);
	members_given(&json, "tags", options->tags);
	members_given(&json, "url", options->link);
	members_given(&json, "job", options->job);
	members_given(&json, "unit", options->unit);
	members_given(&json, "status", options->status);
	members_given(&json, "result", options->result);
	members_given(&json, "exit_status", options->exit_status);
	members_given(&json, "error", options->error);
	if (options->silent)
		members_bool(&json, "silent", true);
	if (options->speak)
		members_bool(&json, "speak", true);
	return sending_end(&json);
}

static int
send_it(const struct options *options, struct hook_settings *settings)
{
	struct buf text, body;
	int code = EXIT_FAILURE;
	enum err err;

	buf_init(&text, TEXT_MAX);
	buf_init(&body, TEXT_MAX * 7);
	err = read_text(&text, options);
	if (err == ERR_OK)
		err = write_body(&body, options, buf_span(&text));
	if (err != ERR_OK)
		fprintf(stderr, "gridhook send: text: %s\n", err_text(err));
	else if (sending_post(
		     &options->to, settings, buf_span(&body), "gridhook send"))
		code = EXIT_SUCCESS;
	buf_fini(&text);
	buf_fini(&body);
	return code;
}

int
cmd_send(const char *config, int argc, char **argv)
{
	struct options options = {.to.timeout_s = 10};
	struct hook_settings settings;
	int count, code = EXIT_FAILURE;

	if (!opt_go(&code, &options, &spec, argc, argv, &count))
		return code;
	if (!are_understood(&options))
		return OPT_USAGE;
	if (cmd_settings(&settings, config))
		code = send_it(&options, &settings);
	settings_fini(&settings);
	return code;
}
