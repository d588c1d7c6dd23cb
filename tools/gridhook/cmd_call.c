/*
 * The gridhook that runs performs the call, since it has the window and keeps
 * the pace. Where none runs, the system tools still work: they need a helper
 * only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/date.h"
#include "common/opt.h"
#include "tools/gridhook/cmd.h"
#include "tools/gridhook/control.h"
#include "tools/gridhook/mcp/call.h"
#include "tools/gridhook/service.h"

#define DEPTH_MAX 64
#define TIMEOUT_MS 150000

static const struct opt_spec spec = {
    .usage = "gridhook [--config FILE] call NAME [ARGUMENTS]",
    .about = "Performs one tool and prints its result as JSON, as an answer "
	     "to a model's function call. ARGUMENTS is a JSON object; \"-\" "
	     "reads it from standard input. The exit code is 0 when the tool "
	     "did not fail.",
    .rows = NULL,
    .count = 0,
    .args_min = 1,
    .args_max = 2,
};

/* A call in this process. */
struct alone {
	struct loop *loop;
	int code;
};

static int
print_result(struct span result, bool failed)
{
	if (printf("%.*s\n", SPAN_ARG(result)) < 0)
		return EXIT_FAILURE;
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static void
on_done(void *arg, const struct result *result)
{
	struct alone *alone = arg;
	struct jsonw json;
	struct buf buf;

	buf_init(&buf, RESULT_MAX * 2);
	jsonw_init(&json, &buf);
	jsonw_object_begin(&json);
	result_write(&json, result);
	jsonw_object_end(&json);
	alone->code = jsonw_end(&json) == ERR_OK
	    ? print_result(buf_span(&buf), result->is_error)
	    : EXIT_FAILURE;
	buf_fini(&buf);
	loop_stop(alone->loop);
}

static enum err
call_in_pool(struct alone *alone, const struct hook_settings *settings,
    const struct desk_tool *tool, struct jval args, struct helper_pool *pool)
{
	struct calls calls = {.settings = settings,
	    .helpers = pool,
	    .started_ns = date_monotonic_ns()};
	enum err err = ERR_OK;

	if (pool == NULL)
		return ERR_NO_MEMORY;
	if (call_start(&calls, tool, args, on_done, alone) != NULL)
		err = loop_run(alone->loop);
	calls_fini(&calls);
	return err;
}

static int
call_alone(const struct hook_settings *settings, const struct desk_tool *tool,
    struct jval args)
{
	struct alone alone = {.code = EXIT_FAILURE};
	struct helper_spec helper = {.most = 1};
	struct helper_pool *pool = NULL;
	char path[FS_PATH_MAX];
	/* A text that is on the clipboard must stay when we have ended. */
	char *own = service_helper_settings(settings, false);
	enum err err;

	err = loop_open(&alone.loop);
	if (err == ERR_OK)
		err = service_find_helper(path, settings);
	if (err == ERR_OK) {
		helper.program = path;
		helper.settings = own;
		pool = helper_pool_new(alone.loop, &helper);
		err = call_in_pool(&alone, settings, tool, args, pool);
	}
	if (err != ERR_OK)
		fprintf(stderr, "gridhook: %s\n", err_text(err));
	helper_pool_free(pool);
	loop_close(alone.loop);
	free(own);
	return err == ERR_OK ? alone.code : EXIT_FAILURE;
}

static int
take_answer(struct span answer)
{
	struct jscan doc;
	struct jval result;
	int code = EXIT_FAILURE;

	if (jscan_parse(&doc, answer, DEPTH_MAX, NULL) != ERR_OK) {
		fprintf(stderr, "gridhook: the answer is not understood\n");
		return EXIT_FAILURE;
	}
	result = jval_member(jscan_root(&doc), "result");
	if (jval_type(result) == JOBJECT)
		code = print_result(jval_raw(result),
		    jval_type(jval_member(result, "isError")) == JTRUE);
	else
		control_print_error(jscan_root(&doc));
	jscan_fini(&doc);
	return code;
}

static int
call(const struct hook_settings *settings, const struct desk_tool *tool,
    struct jval args)
{
	struct buf question, answer;
	char path[FS_PATH_MAX];
	enum err err;
	int code = EXIT_FAILURE;

	buf_init(&question, (size_t)4 << 20);
	buf_init(&answer, (size_t)32 << 20);
	buf_addf(&question, "{\"do\":\"call\",\"name\":\"%s\",\"arguments\":",
	    tool->shown.name);
	jval_compact(args, &question);
	buf_add_char(&question, '}');
	err = buf_end(&question);
	if (err == ERR_OK)
		err = settings_socket(path, settings, "control.sock");
	if (err == ERR_OK)
		err =
		    control_ask(&answer, path, buf_span(&question), TIMEOUT_MS);
	if (err == ERR_OK)
		code = take_answer(buf_span(&answer));
	else if (err == ERR_NOT_FOUND)
		code = call_alone(settings, tool, args);
	else
		fprintf(stderr, "gridhook: %s: %s\n", path, err_text(err));
	buf_fini(&question);
	buf_fini(&answer);
	return code;
}

static enum err
read_stdin(struct buf *text)
{
	char bytes[16384];
	size_t got;

	while ((got = fread(bytes, 1, sizeof(bytes), stdin)) > 0)
		buf_add(text, bytes, got);
	return buf_end(text);
}

static int
parse_and_call(
    const struct hook_settings *settings, const char *name, const char *given)
{
	const struct calls calls = {.settings = settings};
	const struct desk_tool *tool = toolset_find(span_of(name));
	struct fault fault = {.place = ""};
	struct jscan doc = {.count = 0};
	struct buf text;
	int code = EXIT_FAILURE;

	buf_init(&text, (size_t)4 << 20);
	if (strcmp(given, "-") != 0)
		buf_add_span(&text, span_of(given));
	else if (read_stdin(&text) != ERR_OK)
		fault_set(&fault, "standard input", "is too long");
	if (tool == NULL || !calls_offer(&calls, tool))
		fprintf(stderr,
		    "gridhook: there is no tool \"%s\" (gridhook tools lists "
		    "them)\n",
		    name);
	else if (fault_is_set(&fault) ||
	    jscan_parse(&doc, buf_span(&text), DEPTH_MAX, &fault) != ERR_OK)
		fprintf(stderr,
		    "gridhook: the arguments are not JSON: %s: "
		    "%s\n",
		    fault.place, fault.message);
	else
		code = call(settings, tool, jscan_root(&doc));
	jscan_fini(&doc);
	buf_fini(&text);
	return code;
}

int
cmd_call(const char *config, int argc, char **argv)
{
	struct hook_settings settings;
	int unused = 0, count, code = EXIT_FAILURE;

	if (!opt_go(&code, &unused, &spec, argc, argv, &count))
		return code;
	if (cmd_settings(&settings, config))
		code = parse_and_call(
		    &settings, argv[1], count > 1 ? argv[2] : "{}");
	settings_fini(&settings);
	return code;
}
