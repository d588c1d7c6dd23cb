/*
 * A call of an agent's tool: a line with the tool's name, then its arguments as
 * JSON. Served whole: the answer is a result or an error of the protocol, and a
 * result says what its tool promises.
 */
#include <stdio.h>
#include <string.h>

#include "common/jscan.h"
#include "common/jsonw.h"
#include "fcgi/route.h"
#include "fcgi/serve.h"
#include "fcgi/server.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/made.h"

#define RESULT_BYTES_MAX ((size_t)512 << 10)

static struct api_settings settings;
static struct serving *serving;
static char key[128];
static struct buf body, answer;

static void
begin(void)
{
	struct metrics *metrics = metrics_new(route_name_count);
	struct server *server;
	struct fault fault;
	const char *data = made_flow();

	fault_clear(&fault);
	FUZZ_CHECK(span_copy(key, sizeof(key),
	    made_gridctl(data, "key create --name f --scope propose")));
	FUZZ_CHECK(conf_defaults(&settings, settings_rows, settings_count,
		       &fault) == ERR_OK);
	FUZZ_CHECK(conf_set(&settings, settings_rows, settings_count, "data",
		       "dir", data, &fault) == ERR_OK);
	FUZZ_CHECK(conf_set(&settings, settings_rows, settings_count, "compute",
		       "gridctl", "/bin/false", &fault) == ERR_OK);
	FUZZ_CHECK(server_open(&server, &settings, metrics, &fault) == ERR_OK);
	serving = serving_new(server);
	FUZZ_CHECK(serving != NULL);
	buf_init(&body, (size_t)16 << 20);
	buf_init(&answer, (size_t)64 << 20);
}

static void
look_at_result(struct jval result)
{
	struct jval content = jval_member(result, "content");
	enum jtype failed = jval_type(jval_member(result, "isError"));

	FUZZ_CHECK(failed == JTRUE || failed == JFALSE);
	FUZZ_CHECK(jval_count(content) == (failed == JTRUE ? 1 : 2));
	FUZZ_CHECK(jval_type(jval_member(result, "structuredContent")) ==
	    (failed == JTRUE ? JABSENT : JOBJECT));
	FUZZ_CHECK(jval_raw(result).len < RESULT_BYTES_MAX);
}

static void
look_at_answer(void)
{
	const char *text = memmem(answer.data, answer.len, "\r\n\r\n", 4);
	struct jscan doc;
	int status;

	FUZZ_CHECK(text != NULL);
	FUZZ_CHECK(sscanf(answer.data, "Status: %d", &status) == 1);
	text += 4;
	/* 413: the arguments are longer than a body may be. */
	FUZZ_CHECK(status == 200 || status == 400 || status == 413);
	FUZZ_CHECK(
	    jscan_parse(&doc,
		span_make(text, answer.len - (size_t)(text - answer.data)), 300,
		NULL) == ERR_OK);
	if (!jval_is_absent(jval_member(jscan_root(&doc), "result")))
		look_at_result(jval_member(jscan_root(&doc), "result"));
	jscan_fini(&doc);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct span name, rest = span_make(data, len);
	struct request request;
	struct sink sink;

	if (serving == NULL)
		begin();
	if (!span_cut(&name, &rest, '\n'))
		return 0;
	buf_clear(&body);
	buf_add_text(&body,
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
	    "\"params\":{\"name\":");
	jsonw_quote(&body, name);
	buf_add_text(&body, ",\"arguments\":");
	buf_add_span(&body, rest.len > 0 ? rest : SPAN("{}"));
	buf_add_text(&body, "}}");
	request_init(&request);
	request_param(&request, SPAN("REQUEST_METHOD"), SPAN("POST"));
	request_param(&request, SPAN("CONTENT_TYPE"), SPAN("application/json"));
	request.uri = SPAN("/mcp");
	request.slow_pool = true;
	request.api_key = span_of(key);
	request.body = buf_span(&body);
	FUZZ_CHECK(buf_end(&body) == ERR_OK);
	buf_clear(&answer);
	sink = sink_to_buf(&answer);
	FUZZ_CHECK(serve(serving, &request, &sink) == ERR_OK);
	buf_add_char(&answer, '\0');
	answer.len--;
	look_at_answer();
	return 0;
}
