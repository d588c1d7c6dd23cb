#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/date.h"
#include "common/fs.h"
#include "common/log.h"
#include "common/opt.h"
#include "tools/gridhook/cmd.h"
#include "tools/gridhook/service.h"
#include "tools/gridhook/stdio.h"

#define READ_SIZE 65536

static const struct opt_spec spec = {
    .usage = "gridhook [--config FILE] mcp",
    .about = "Speaks MCP on standard input and output, for clients that start "
	     "a program. The gridhook that runs performs the tools; where none "
	     "runs, this process performs those of the system. It ends with "
	     "its input.",
    .rows = NULL,
    .count = 0,
    .args_min = 0,
    .args_max = 0,
};

struct bridge {
	struct loop_io input;
	struct loop *loop;
	struct stdio *stdio;
	bool failed; /* the output is not read any more */
	bool over; /* perhaps before the loop began */
};

static void
write_message(void *arg, struct span message)
{
	struct bridge *bridge = arg;

	if (bridge->failed)
		return;
	if (fs_write_all(STDOUT_FILENO, message.ptr, message.len) != ERR_OK ||
	    fs_write_all(STDOUT_FILENO, "\n", 1) != ERR_OK) {
		bridge->failed = bridge->over = true;
		loop_stop(bridge->loop);
	}
}

static void
on_idle(void *arg)
{
	struct bridge *bridge = arg;

	bridge->over = true;
	loop_stop(bridge->loop);
}

/* False at the end of the input. */
static bool
read_some(struct bridge *bridge)
{
	char bytes[READ_SIZE];
	ssize_t got = read(STDIN_FILENO, bytes, sizeof(bytes));

	if (got > 0)
		stdio_feed(bridge->stdio, span_make(bytes, (size_t)got));
	return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

static void
on_input(struct loop_io *io, uint32_t events)
{
	struct bridge *bridge =
	    (struct bridge *)((char *)io - offsetof(struct bridge, input));

	(void)events;
	if (read_some(bridge))
		return;
	loop_remove(bridge->loop, &bridge->input);
	stdio_end(bridge->stdio);
}

/* A file cannot be waited for: it is read at once. */
static enum err
listen_to_input(struct bridge *bridge)
{
	bridge->input = (struct loop_io){.fd = STDIN_FILENO, .ready = on_input};
	if (isatty(STDIN_FILENO))
		fprintf(stderr,
		    "gridhook mcp: waiting for JSON-RPC messages, one a line; "
		    "an MCP client starts this program by itself\n");
	if (lseek(STDIN_FILENO, 0, SEEK_CUR) < 0 || isatty(STDIN_FILENO))
		return loop_add(bridge->loop, &bridge->input, EPOLLIN);
	while (read_some(bridge))
		;
	stdio_end(bridge->stdio);
	return ERR_OK;
}

static enum err
run(struct bridge *bridge, const struct hook_settings *settings,
    struct calls *calls)
{
	char path[FS_PATH_MAX];
	struct stdio_spec with = {.loop = bridge->loop,
	    .socket = path,
	    .calls = calls,
	    .write = write_message,
	    .idle = on_idle,
	    .arg = bridge};
	enum err err = settings_socket(path, settings, "control.sock");

	if (err == ERR_OK)
		err = stdio_open(&bridge->stdio, &with);
	if (err == ERR_OK)
		err = listen_to_input(bridge);
	if (err == ERR_OK && !bridge->over)
		err = loop_run(bridge->loop);
	stdio_close(bridge->stdio);
	return err;
}

static int
serve(const struct hook_settings *settings)
{
	struct bridge bridge = {.failed = false};
	struct calls calls = {
	    .settings = settings, .started_ns = date_monotonic_ns()};
	struct helper_spec helper = {.most = settings->helpers};
	char path[FS_PATH_MAX];
	char *own = service_helper_settings(settings, true);
	enum err err = own == NULL ? ERR_NO_MEMORY : loop_open(&bridge.loop);

	if (err == ERR_OK)
		err = service_find_helper(path, settings);
	if (err == ERR_OK) {
		helper.program = path;
		helper.settings = own;
		calls.helpers = helper_pool_new(bridge.loop, &helper);
		err = calls.helpers == NULL ? ERR_NO_MEMORY
					    : run(&bridge, settings, &calls);
	}
	if (err != ERR_OK)
		fprintf(stderr, "gridhook mcp: %s\n", err_text(err));
	helper_pool_free(calls.helpers);
	calls_fini(&calls);
	loop_close(bridge.loop);
	free(own);
	return err == ERR_OK && !bridge.failed ? EXIT_SUCCESS : EXIT_FAILURE;
}

int
cmd_mcp(const char *config, int argc, char **argv)
{
	struct hook_settings settings;
	int unused = 0, count, code = EXIT_FAILURE;

	if (!opt_go(&code, &unused, &spec, argc, argv, &count))
		return code;
	/* A client shows all that is written to standard error. */
	log_open("gridhook", LOG_WARN_);
	if (cmd_settings(&settings, config))
		code = serve(&settings);
	settings_fini(&settings);
	return code;
}
