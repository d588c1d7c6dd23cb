#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/members.h"
#include "common/opt.h"
#include "tools/gridhook/cmd.h"
#include "tools/gridhook/control.h"

#define TIMEOUT_MS 15000

struct options {
	const char *port;
	const char *host;
	const char *secret_file;
};

static const struct opt_row rows[] = {
    {"--port", 'p', OPT_TEXT, offsetof(struct options, port), 0, 0, "N",
	"start: another port than the settings have"},
    {"--host", 0, OPT_TEXT, offsetof(struct options, host), 0, 0, "HOST",
	"start: another address"},
    {"--secret-file", 0, OPT_TEXT, offsetof(struct options, secret_file), 0, 0,
	"FILE", "start: another secret"},
};

static const struct opt_spec spec = {
    .usage = "gridhook [--config FILE] ctl [OPTION]... status|start|stop",
    .about = "Drives the gridhook that runs with the same settings, and "
	     "prints its status as JSON. The exit code is 0 when it did what "
	     "it was told.",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .args_min = 1,
    .args_max = 1,
};

static void
put(struct jsonw *json, const char *name, const char *text)
{
	if (text != NULL)
		members_string(json, name, text);
}

static enum err
write_question(
    struct buf *question, const struct options *options, const char *order)
{
	struct jsonw json;

	jsonw_init(&json, question);
	jsonw_object_begin(&json);
	put(&json, "do", order);
	put(&json, "port", options->port);
	put(&json, "host", options->host);
	put(&json, "secret_file", options->secret_file);
	jsonw_object_end(&json);
	return jsonw_end(&json);
}

static int
print_answer(struct span answer)
{
	struct jscan doc;
	struct span status;
	bool ok;

	if (jscan_parse(&doc, answer, 16, NULL) != ERR_OK) {
		fprintf(stderr, "gridhook: the answer is not understood\n");
		return EXIT_FAILURE;
	}
	status = jval_raw(jval_member(jscan_root(&doc), "status"));
	ok = jval_type(jval_member(jscan_root(&doc), "ok")) == JTRUE;
	printf("%.*s\n", SPAN_ARG(status));
	if (!ok)
		control_print_error(jscan_root(&doc));
	jscan_fini(&doc);
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int
ask(const struct hook_settings *settings, const struct options *options,
    const char *order)
{
	struct buf question, answer;
	char path[FS_PATH_MAX];
	int code = EXIT_FAILURE;
	enum err err;

	buf_init(&question, 65536);
	buf_init(&answer, 1 << 20);
	err = settings_socket(path, settings, "control.sock");
	if (err == ERR_OK)
		err = write_question(&question, options, order);
	if (err == ERR_OK)
		err =
		    control_ask(&answer, path, buf_span(&question), TIMEOUT_MS);
	if (err == ERR_OK)
		code = print_answer(buf_span(&answer));
	else if (err == ERR_NOT_FOUND)
		fprintf(stderr, "gridhook: none is running there: %s\n", path);
	else
		fprintf(stderr, "gridhook: %s: %s\n", path, err_text(err));
	buf_fini(&question);
	buf_fini(&answer);
	return code;
}

int
cmd_ctl(const char *config, int argc, char **argv)
{
	struct options options = {.port = NULL};
	struct hook_settings settings;
	int code = EXIT_FAILURE;
	int count;

	if (!opt_go(&code, &options, &spec, argc, argv, &count))
		return code;
	if (strcmp(argv[1], "status") != 0 && strcmp(argv[1], "start") != 0 &&
	    strcmp(argv[1], "stop") != 0) {
		fprintf(stderr,
		    "gridhook ctl: status, start or stop is wanted, not "
		    "\"%s\"\n",
		    argv[1]);
		return OPT_USAGE;
	}
	if (cmd_settings(&settings, config))
		code = ask(&settings, &options, argv[1]);
	settings_fini(&settings);
	return code;
}
