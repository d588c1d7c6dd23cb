#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mcp/toolargs.h"
#include "common/opt.h"
#include "tools/gridhook/cmd.h"
#include "tools/gridhook/mcp/call.h"

struct options {
	const char *format;
};

static const struct opt_row rows[] = {
    {"--format", 'f', OPT_TEXT, offsetof(struct options, format), 0, 0, "NAME",
	"mcp (default) or chat-completions"},
};

static const struct opt_spec spec = {
    .usage = "gridhook [--config FILE] tools [--format mcp|chat-completions]",
    .about = "Prints the definitions of the tools that the settings offer, "
	     "as one JSON array.",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .args_min = 0,
    .args_max = 0,
};

static int
print_tools(const struct hook_settings *settings,
    void (*put)(struct jsonw *json, const struct tool *tool))
{
	const struct calls calls = {.settings = settings};
	struct jsonw json;
	struct buf buf;
	int code = EXIT_FAILURE;

	buf_init(&buf, 1 << 20);
	jsonw_init(&json, &buf);
	jsonw_array_begin(&json);
	for (unsigned i = 0; i < TOOL_COUNT; i++)
		if (calls_offer(&calls, &toolset[i]))
			put(&json, &toolset[i].shown);
	jsonw_array_end(&json);
	if (jsonw_end(&json) == ERR_OK &&
	    printf("%.*s\n", SPAN_ARG(buf_span(&buf))) > 0)
		code = EXIT_SUCCESS;
	buf_fini(&buf);
	return code;
}

int
cmd_tools(const char *config, int argc, char **argv)
{
	struct options options = {.format = "mcp"};
	struct hook_settings settings;
	bool chat;
	int count, code = EXIT_FAILURE;

	if (!opt_go(&code, &options, &spec, argc, argv, &count))
		return code;
	chat = strcmp(options.format, "chat-completions") == 0;
	if (!chat && strcmp(options.format, "mcp") != 0) {
		fprintf(stderr,
		    "gridhook tools: the formats are mcp and "
		    "chat-completions, not \"%s\"\n",
		    options.format);
		return OPT_USAGE;
	}
	if (cmd_settings(&settings, config))
		code =
		    print_tools(&settings, chat ? toolargs_chat : toolargs_mcp);
	settings_fini(&settings);
	return code;
}
