#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "common/fs.h"
#include "common/log.h"
#include "common/opt.h"
#include "tools/gridhook/cmd.h"
#include "tools/gridhook/senders.h"
#include "tools/gridhook/settings.h"

struct head {
	const char *config;
	bool check;
	bool print;
	bool stay;
	bool version;
	bool debug;
};

static const struct opt_row rows[] = {
    {"--config", 'c', OPT_TEXT, offsetof(struct head, config), 0, 0, "FILE",
	"settings (default: ~/.config/gridhook.conf, then " GRIDHOOK_CONF ")"},
    {"--check", 0, OPT_FLAG, offsetof(struct head, check), 0, 0, NULL,
	"check the settings and the secret, and end"},
    {"--print-config", 0, OPT_FLAG, offsetof(struct head, print), 0, 0, NULL,
	"print a settings file that holds every default"},
    {"--stay", 0, OPT_FLAG, offsetof(struct head, stay), 0, 0, NULL,
	"go on when the port cannot be had: gridhook ctl tells why"},
    {"--debug", 0, OPT_FLAG, offsetof(struct head, debug), 0, 0, NULL,
	"log more"},
    {"--version", 0, OPT_FLAG, offsetof(struct head, version), 0, 0, NULL,
	"print the version"},
};

static const struct opt_spec spec = {
    .usage = "gridhook [OPTION]... [COMMAND [ARGUMENT]...]",
    .about =
	"Receives pushes over HTTP for the desktop assistant's window, and "
	"offers 14 tools over MCP. Without a command it runs the server.\n\n"
	"Commands: ctl (status, start, stop), tools (definitions), call (one "
	"tool), mcp (the tools for a client that starts a program), send (a "
	"push), run (a job, whose end is pushed), explain (what becomes of "
	"one). gridhook COMMAND --help tells "
	"more.",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .args_min = 0,
    .args_max = -1,
};

static const struct command {
	const char *name;
	int (*run)(const char *config, int argc, char **argv);
} commands[] = {
    {"ctl", cmd_ctl},
    {"tools", cmd_tools},
    {"call", cmd_call},
    {"send", cmd_send},
    {"explain", cmd_explain},
    {"mcp", cmd_mcp},
    {"run", cmd_job},
};

static int
run_command(const struct head *head, int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(commands[i].name, argv[0]) == 0)
			return commands[i].run(head->config, argc, argv);
	fprintf(stderr,
	    "gridhook: there is no command \"%s\" (gridhook --help lists "
	    "them)\n",
	    argv[0]);
	return OPT_USAGE;
}

static int
check(const struct head *head)
{
	struct fault fault = {.place = ""};
	struct hook_settings settings;
	struct senders *senders = NULL;
	char path[FS_PATH_MAX];
	int code = EXIT_FAILURE;

	if (settings_load(&settings, head->config, &fault) != ERR_OK)
		fprintf(
		    stderr, "gridhook: %s: %s\n", fault.place, fault.message);
	else if (settings.senders_file[0] != '\0' &&
	    senders_open(&senders, settings.senders_file, &fault) != ERR_OK)
		fprintf(
		    stderr, "gridhook: %s: %s\n", fault.place, fault.message);
	else if (settings_push_path(path, &settings) == ERR_OK) {
		settings_warn_exposed(&settings);
		printf("settings are fine: %s port %lld, push path %s, "
		       "secret %s\n",
		    settings_host(&settings), (long long)settings.port, path,
		    settings.has_secret ? "set" : "not set");
		code = EXIT_SUCCESS;
	}
	senders_close(senders);
	settings_fini(&settings);
	return code;
}

int
main(int argc, char **argv)
{
	struct head head = {.config = NULL};
	int first = 0;

	log_open("gridhook", LOG_INFO_);
	switch (opt_read_head(&head, &spec, argc, argv, &first)) {
	case OPT_HELP:
		return EXIT_SUCCESS;
	case OPT_WRONG:
		return OPT_USAGE;
	default:
		break;
	}
	if (head.debug)
		log_open("gridhook", LOG_DEBUG_);
	if (head.version) {
		printf("gridhook %s\n", PACKAGE_VERSION);
		return EXIT_SUCCESS;
	}
	if (head.print) {
		settings_print(stdout);
		return EXIT_SUCCESS;
	}
	if (head.check)
		return check(&head);
	if (first < argc)
		return run_command(&head, argc - first, argv + first);
	return cmd_run(head.config, head.stay);
}
