/*
 * gridhook-tool: one system action, then the end. tool.h says how it is
 * called; each tool has a file of its own.
 */
#include "tools/gridhook/tool/tool.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "common/arena.h"
#include "common/fs.h"
#include "common/log.h"
#include "common/opt.h"
#include "tools/gridhook/tool/backend.h"
#include "tools/gridhook/tool/session.h"

#define SETTINGS_MAX (1024 * 1024)
#define READ_CHUNK 65536

/* The limits stand a little below those after which the server kills. */
static const struct tool {
	const char *name;
	enum err (*run)(const struct tool_call *call, struct answer *answer,
	    struct fault *fault);
	int limit_ms;
} tools[] = {
    {"capture_screen", capture_screen, 14000},
    {"clipboard_get", clipboard_get, 4500},
    {"clipboard_set", clipboard_set, 4500},
    {"find_files", find_files, 9500},
    {"lock_session", lock_session, 9500},
    {"media_key", media_key, 9500},
    {"notify_user", notify_user, 4500},
    {"open_app", open_app, 9500},
    {"open_url", open_url, 9500},
    {"what_works", what_works, 2500},
};

#define TOOLS (sizeof(tools) / sizeof(tools[0]))

/* Variables of the server that no program we start should have. */
static const char *const private_variables[] = {TOOL_SETTINGS_VARIABLE,
    "CREDENTIALS_DIRECTORY", "INVOCATION_ID", "JOURNAL_STREAM",
    "LISTEN_FDNAMES", "LISTEN_FDS", "LISTEN_PID", "NOTIFY_SOCKET",
    "WATCHDOG_PID", "WATCHDOG_USEC"};

/* Ready before the clock starts, for a signal handler cannot print. */
static char late_answer[256];
static size_t late_len;

/* Whatever it hangs in: the answer is "timed out", and this is the end. */
static void
on_alarm(int number)
{
	size_t done = 0;

	(void)number;
	while (done < late_len) {
		ssize_t wrote =
		    write(STDOUT_FILENO, late_answer + done, late_len - done);

		if (wrote < 0 && errno != EINTR)
			_exit(EXIT_FAILURE);
		done += wrote > 0 ? (size_t)wrote : 0;
	}
	_exit(EXIT_SUCCESS);
}

static void
start_clock(int limit_ms)
{
	struct sigaction action = {.sa_handler = on_alarm};
	struct itimerval timer = {
	    .it_value = {limit_ms / 1000, limit_ms % 1000 * 1000}};

	late_len = (size_t)snprintf(late_answer, sizeof(late_answer),
	    "{\"content\":[{\"type\":\"text\",\"text\":"
	    "\"timed out after %d ms\"}],\"isError\":true}\n",
	    limit_ms);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

/* From here on the answer is being written: it must not come twice. */
static void
stop_clock(void)
{
	static const struct itimerval never;

	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
}

static enum err
read_input(struct buf *input)
{
	for (;;) {
		char *room = buf_room(input, READ_CHUNK);
		ssize_t got;

		if (room == NULL)
			return buf_end(input);
		got = read(STDIN_FILENO, room, READ_CHUNK);
		if (got == 0)
			return ERR_OK;
		if (got > 0)
			buf_grown(input, (size_t)got);
		else if (errno != EINTR)
			return err_from_errno(errno);
	}
}

/* Parses what came in, and lets the tool do it. */
static enum err
perform(const struct tool *tool, struct tool_call *call, struct answer *answer,
    struct fault *fault)
{
	static const struct jsonr_limits limits = {.bytes = TOOL_INPUT_MAX};
	struct jsonr *doc = NULL;
	struct buf input;
	enum err err;

	/* Room for the chunk beyond, so that the parser tells the limit. */
	buf_init(&input, TOOL_INPUT_MAX + 2 * READ_CHUNK);
	err = read_input(&input);
	if (err != ERR_OK)
		goto out;
	err = jsonr_parse(&doc, buf_span(&input), &limits, fault);
	if (err != ERR_OK)
		goto out;
	call->args = jsonr_root(doc);
	if (jsonr_type(call->args) != JSONR_OBJECT) {
		fault_set(fault, "stdin", "the arguments are no JSON object");
		err = ERR_BAD_INPUT;
		goto out;
	}
	err = tool->run(call, answer, fault);
out:
	jsonr_free(doc);
	buf_fini(&input);
	return err;
}

/* Everything between the name and the answer. */
static enum err
answer_call(const struct tool *tool, struct span text, struct answer *answer,
    struct arena *arena, struct fault *fault)
{
	struct tool_settings settings;
	struct tool_call call = {.settings = &settings};
	enum err err;

	err = settings_read(&settings, text, arena, fault);
	if (err != ERR_OK)
		return err;
	call.limit_ms = tool->limit_ms;
	if (settings.limit_ms > 0 && settings.limit_ms < call.limit_ms)
		call.limit_ms = (int)settings.limit_ms;
	start_clock(call.limit_ms);
	if (!session_apply(&settings))
		return ERR_NO_MEMORY;
	return perform(tool, &call, answer, fault);
}

static enum err
run_tool(const struct tool *tool, struct span settings)
{
	struct arena *arena = arena_new(SETTINGS_MAX);
	struct fault fault;
	struct answer answer;
	struct buf out;
	enum err err;

	fault_clear(&fault);
	answer_init(&answer);
	buf_init(&out, 2 * ANSWER_MAX);
	err = arena == NULL
	    ? ERR_NO_MEMORY
	    : answer_call(tool, settings, &answer, arena, &fault);
	stop_clock();
	if (err == ERR_OK)
		err = answer_write(&answer, &out);
	if (err != ERR_OK) {
		buf_clear(&out);
		err = answer_write_failure(
		    &out, fault_is_set(&fault) ? fault.message : err_text(err));
	}
	if (err == ERR_OK)
		err = fs_write_all(STDOUT_FILENO, out.data, out.len);
	if (err != ERR_OK)
		log_error("no answer could be written: %s", err_text(err));
	buf_fini(&out);
	answer_fini(&answer);
	arena_free(arena);
	return err;
}

static const struct tool *
find_tool(const char *name)
{
	for (size_t i = 0; i < TOOLS; i++)
		if (span_eq(span_of(tools[i].name), span_of(name)))
			return &tools[i];
	return NULL;
}

static const struct opt_row option_rows[] = {
    {"--backends", 'b', OPT_FLAG, 0, 0, 0, NULL,
	"print what this build can use, and end"},
};

static const struct opt_spec options = {
    .usage = "gridhook-tool [OPTION]... NAME < ARGUMENTS",
    .about = "Performs one system action and ends: capture_screen, "
	     "clipboard_get, clipboard_set, find_files, lock_session, "
	     "media_key, notify_user, open_app or open_url; what_works tells "
	     "which of them can do their work here. The arguments are "
	     "a JSON object on standard input; the result is one on standard "
	     "output. gridhook starts it; by hand it is good for trying.",
    .rows = option_rows,
    .count = 1,
    .args_min = 0,
    .args_max = 1,
};

static int
name_is_wrong(const char *name)
{
	fprintf(stderr,
	    name == NULL ? "gridhook-tool: no tool is named\n"
			 : "gridhook-tool: no such tool: %s\n",
	    name);
	fprintf(stderr, "Try 'gridhook-tool --help'.\n");
	return OPT_USAGE;
}

int
main(int argc, char **argv)
{
	const char *variable = getenv(TOOL_SETTINGS_VARIABLE);
	const struct tool *tool;
	bool backends = false;
	char *settings;
	int args = 0, code;
	enum err err;

	log_open("gridhook-tool", LOG_WARN_);
	if (!opt_go(&code, &backends, &options, argc, argv, &args))
		return code;
	if (backends)
		return backend_print(stdout) ? EXIT_SUCCESS : EXIT_FAILURE;
	tool = args < 1 ? NULL : find_tool(argv[1]);
	if (tool == NULL)
		return name_is_wrong(args < 1 ? NULL : argv[1]);
	settings = span_dup(span_of(variable == NULL ? "" : variable));
	for (size_t i = 0; i < sizeof(private_variables) / sizeof(char *); i++)
		unsetenv(private_variables[i]);
	signal(SIGPIPE, SIG_IGN);
	err = run_tool(tool, span_of(settings));
	free(settings);
	return err == ERR_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
