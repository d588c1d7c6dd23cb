/*
 * A call of an agent's tool: a line with the tool's name, then its arguments as
 * JSON. Served whole: the answer is a result or an error of the protocol, and a
 * result says what its tool promises.
 */
#include "common/buf.h"
#include "common/jscan.h"
#include "common/jsonw.h"
#include "fcgi/http/request.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/served.h"

#define RESULT_BYTES_MAX ((size_t)512 << 10)

static struct buf body;

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
look_at_answer(struct served_answer answer)
{
	struct jscan doc;

	/* 413: the arguments are longer than a body may be. */
	FUZZ_CHECK(answer.status == 200 || answer.status == 400 ||
	    answer.status == 413);
	FUZZ_CHECK(jscan_parse(&doc, answer.body, 300, NULL) == ERR_OK);
	if (!jval_is_absent(jval_member(jscan_root(&doc), "result")))
		look_at_result(jval_member(jscan_root(&doc), "result"));
	jscan_fini(&doc);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct span name, rest = span_make(data, len);
	struct request request;

	if (body.max == 0)
		buf_init(&body, (size_t)16 << 20);
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
	request.api_key = served_key();
	request.body = buf_span(&body);
	FUZZ_CHECK(buf_end(&body) == ERR_OK);
	look_at_answer(served_ask(&request));
	return 0;
}
