/* A POST to /mcp: three header lines (version, method, name), then the body. */
#include <stdlib.h>

#include "common/log.h"
#include "tests/fuzz/fuzz.h"
#include "tools/gridhook/mcp/call.h"
#include "tools/gridhook/mcp/desk.h"
#include "tools/gridhook/settings.h"

static int answers;

static void
on_answer(void *arg, const struct mcp_answer *answer)
{
	struct jscan doc;

	(void)arg;
	answers++;
	FUZZ_CHECK(answer->status == 200 || answer->status == 202 ||
	    answer->status == 400 || answer->status == 404);
	if (answer->body.len == 0) {
		FUZZ_CHECK(answer->status == 202);
		return;
	}
	FUZZ_CHECK(jscan_parse(&doc, answer->body, 300, NULL) == ERR_OK);
	jscan_fini(&doc);
}

static void
drop_line(enum log_level level, const char *line)
{
	(void)level;
	(void)line;
}

static struct span
header_line(struct span *rest)
{
	struct span line;

	if (!span_cut(&line, rest, '\n') || line.len == 0)
		return span_make(NULL, 0);
	return line;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct hook_settings settings;
	static struct calls calls;
	struct span rest = span_make(data, len);
	struct mcp_headers headers = {.content_type = {NULL, 0}};
	struct fault fault = {.place = ""};

	if (calls.settings == NULL) {
		log_catch(drop_line);
		FUZZ_CHECK(
		    settings_load(&settings, "/dev/null", &fault) == ERR_OK);
		for (int pace = 0; pace < TOOL_PACES; pace++)
			settings.rate[pace] = settings.burst[pace] = 1000000000;
		calls.settings = &settings;
	}
	headers.version = header_line(&rest);
	headers.method = header_line(&rest);
	headers.name = header_line(&rest);
	answers = 0;
	FUZZ_CHECK(
	    mcp_post(&desk_service, &calls, rest.ptr == NULL ? SPAN("") : rest,
		&headers, on_answer, NULL) == NULL);
	FUZZ_CHECK(answers == 1);
	return 0;
}
