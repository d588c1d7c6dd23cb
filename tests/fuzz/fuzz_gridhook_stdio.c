/*
 * Bytes that a client of gridhook mcp may write, in two pieces. All that comes
 * back is a JSON-RPC message or a batch of them, and each request of a known id
 * has one answer at the most.
 */
#include <stdlib.h>

#include "common/log.h"
#include "tests/fuzz/fuzz.h"
#include "tools/gridhook/stdio.h"

#define ANSWERS_MAX 4096

static unsigned answers;
static bool is_idle;

static void
drop_line(enum log_level level, const char *line)
{
	(void)level;
	(void)line;
}

static void
on_message(void *arg, struct span message)
{
	struct jval root;
	struct jscan doc;

	(void)arg;
	FUZZ_CHECK(++answers < ANSWERS_MAX);
	FUZZ_CHECK(span_find(message, '\n') == message.len);
	FUZZ_CHECK(jscan_parse(&doc, message, 300, NULL) == ERR_OK);
	root = jscan_root(&doc);
	FUZZ_CHECK(jval_type(root) == JARRAY ||
	    jval_is(jval_member(root, "jsonrpc"), SPAN("2.0")));
	jscan_fini(&doc);
}

static void
on_idle(void *arg)
{
	(void)arg;
	is_idle = true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct hook_settings settings;
	static struct calls calls;
	static struct loop *loop;
	struct fault fault = {.place = ""};
	struct span text = span_make(data, len);
	struct stdio_spec spec = {
	    .calls = &calls, .write = on_message, .idle = on_idle};
	struct stdio *stdio;

	if (loop == NULL) {
		log_catch(drop_line);
		FUZZ_CHECK(
		    settings_load(&settings, "/dev/null", &fault) == ERR_OK);
		for (int pace = 0; pace < TOOL_PACES; pace++)
			settings.rate[pace] = settings.burst[pace] = 1000000000;
		calls.settings = &settings;
		FUZZ_CHECK(loop_open(&loop) == ERR_OK);
	}
	spec.loop = loop;
	answers = 0;
	is_idle = false;
	FUZZ_CHECK(stdio_open(&stdio, &spec) == ERR_OK);
	stdio_feed(stdio, span_sub(text, 0, len / 2));
	stdio_feed(stdio, span_from(text, len / 2));
	stdio_end(stdio);
	/* Nothing can be at work here: there is no helper and no window. */
	FUZZ_CHECK(is_idle);
	stdio_close(stdio);
	return 0;
}
