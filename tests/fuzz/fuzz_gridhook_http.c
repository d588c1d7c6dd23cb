/* Bytes of a connection, in pieces whose size the first byte gives. */
#include "common/span.h"
#include "tests/fuzz/fuzz.h"
#include "tools/gridhook/net/http.h"

#define BODY_MAX 1000

static void
look(struct http *http, enum http_step step)
{
	struct span target = http_target(http);

	FUZZ_CHECK(target.len <= HTTP_LINE_MAX + 1);
	FUZZ_CHECK(http_path(http).len + http_query(http).len <= target.len);
	FUZZ_CHECK(http_header(http, "host").len <= HTTP_HEAD_MAX);
	FUZZ_CHECK(http_header(http, "x-service-secret").len <= HTTP_HEAD_MAX);
	http_expects_continue(http);
	FUZZ_CHECK(step != HTTP_GOT_ALL || http_body(http).len <= BODY_MAX);
	FUZZ_CHECK(http_body(http).len == 0 || http_has_body(http) ||
	    step == HTTP_GOT_ALL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct http *http = http_new(BODY_MAX);
	struct span rest = span_make(data, len);
	size_t size = len == 0 ? 1 : (size_t)data[0] + 1;
	enum http_step step = HTTP_MORE;
	size_t used;

	FUZZ_CHECK(http != NULL);
	rest = span_from(rest, 1);
	while (rest.len > 0 && step <= HTTP_GOT_ALL) {
		step = http_feed(http, span_sub(rest, 0, size), &used);
		FUZZ_CHECK(used <= size && used <= rest.len);
		rest = span_from(rest, used);
		if (step == HTTP_GOT_HEAD || step == HTTP_GOT_ALL)
			look(http, step);
		if (step == HTTP_GOT_HEAD && !http_has_body(http)) {
			step = http_feed(http, SPAN(""), &used);
			FUZZ_CHECK(step == HTTP_GOT_ALL);
		}
		if (step == HTTP_GOT_ALL)
			http_next(http);
	}
	if (step > HTTP_GOT_ALL)
		FUZZ_CHECK(http_why(http)[0] != '\0');
	http_free(http);
	return 0;
}
