/*
 * A request as tests/flow/cases writes it: "GET /path", header lines, the
 * body's lines, each after "> ". Headers go in as FastCGI parameters; {propose}
 * stands for a key that may propose, {session} for a session's cookie. Served
 * whole: whatever is asked, the answer is no 500, and its body is JSON, under
 * any coding.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "common/buf.h"
#include "common/date.h"
#include "common/jsonr.h"
#include "fcgi/http/request.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/made.h"
#include "tests/fuzz/served.h"

static char session[256];

static void
log_in(void)
{
	struct served_answer answer;
	struct request request;
	const char *cookie;

	request_init(&request);
	request_param(&request, SPAN("REQUEST_METHOD"), SPAN("POST"));
	request.uri = SPAN("/app/session");
	request.slow_pool = true;
	request.content_type = SPAN("application/json");
	request.body = SPAN("{\"user\":\"u\",\"password\":\"abcdefghijkl\"}");
	answer = served_ask(&request);
	cookie = strstr(answer.head, "Set-Cookie: ");
	FUZZ_CHECK(cookie != NULL);
	cookie += strlen("Set-Cookie: ");
	FUZZ_CHECK(span_copy(
	    session, sizeof(session), span_make(cookie, strcspn(cookie, ";"))));
}

static void
begin(void)
{
	served_key();
	made_gridctl(made_flow(), "user add u <<'.'\nabcdefghijkl\n.");
	log_in();
}

/* "X-API-Key: {propose}" -> HTTP_X_API_KEY */
static void
take_header(struct request *request, struct span line)
{
	size_t colon = span_find(line, ':');
	struct span value = span_trim(span_from(line, colon + 1));
	char name[80] = "HTTP_";
	size_t at = 5;

	for (size_t i = 0; i < colon && at < sizeof(name) - 1; i++, at++)
		name[at] = line.ptr[i] == '-'
		    ? '_'
		    : (char)toupper((unsigned char)line.ptr[i]);
	if (span_eq(value, SPAN("{propose}")))
		value = served_key();
	else if (span_eq(value, SPAN("{session}")))
		value = span_of(session);
	request_param(request, span_make(name, at), value);
	/* The server's own parameters have no HTTP_ before them. */
	request_param(request, span_make(name + 5, at - 5), value);
}

static void
take_text(struct request *request, struct buf *body, struct span rest)
{
	struct span line;

	if (span_cut(&line, &rest, '\n')) {
		struct span method = span_sub(line, 0, span_find(line, ' '));

		request_param(request, SPAN("REQUEST_METHOD"), method);
		request_param(request, SPAN("REQUEST_URI"),
		    span_from(line, method.len + 1));
	}
	while (span_cut(&line, &rest, '\n'))
		if (span_starts(line, SPAN("> ")))
			buf_add_span(body, span_from(line, 2));
		else
			take_header(request, line);
	request->body = buf_span(body);
	if (request->content_type.len == 0)
		request->content_type = SPAN("application/json");
}

#define PLAIN_MAX ((size_t)64 << 20)

/* The one gzip member that `packed` is. */
static size_t
gunzip(char *plain, struct span packed)
{
	union {
		const char *from;
		Bytef *to;
	} in = {packed.ptr};
	z_stream z = {.next_in = in.to,
	    .avail_in = (uInt)packed.len,
	    .next_out = (Bytef *)plain,
	    .avail_out = PLAIN_MAX};

	FUZZ_CHECK(inflateInit2(&z, 15 + 16) == Z_OK);
	FUZZ_CHECK(inflate(&z, Z_FINISH) == Z_STREAM_END && z.avail_in == 0);
	inflateEnd(&z);
	return PLAIN_MAX - z.avail_out;
}

/* The body of the answer, unpacked; borrowed until the next call. */
static struct span
unpacked(struct served_answer answer)
{
	static char *plain;
	struct span packed = answer.body;
	size_t len;

	if (plain == NULL)
		plain = malloc(PLAIN_MAX);
	FUZZ_CHECK(plain != NULL);
	if (strstr(answer.head, "\r\nContent-Encoding: gzip\r\n") != NULL)
		len = gunzip(plain, packed);
	else if (strstr(answer.head, "\r\nContent-Encoding: zstd\r\n") != NULL)
		len = ZSTD_decompress(plain, PLAIN_MAX, packed.ptr, packed.len);
	else
		return packed;
	FUZZ_CHECK(len <= PLAIN_MAX);
	return span_make(plain, len);
}

static void
look_at_answer(struct served_answer answer)
{
	static const struct jsonr_limits limits = {1 << 26, 0, 4, NULL};
	struct jsonr *doc;

	/* Here /bin/false is the program that computes. */
	FUZZ_CHECK(answer.status >= 200 && answer.status < 504 &&
	    (answer.status != 500 || strstr(answer.body.ptr, "omput") != NULL));
	if (answer.body.len == 0 ||
	    strstr(answer.head, "Content-Type: application/json\r\n") == NULL)
		return;
	FUZZ_CHECK(
	    jsonr_parse(&doc, unpacked(answer), &limits, NULL) == ERR_OK);
	jsonr_free(doc);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct served_answer answer;
	struct request request;
	struct buf body;

	if (session[0] == '\0')
		begin();
	buf_init(&body, 1 << 20);
	request_init(&request);
	take_text(&request, &body, span_make(data, len));
	request.start_ns = date_monotonic_ns();
	/*
	 * Once for each pool; the slow one skips logins, since a password costs
	 * 0.1 s.
	 */
	for (int slow = 0; slow < 2; slow++) {
		request.slow_pool = slow;
		answer = served_ask(&request);
		if (strstr(answer.head, "@slow") == NULL)
			look_at_answer(answer);
		if (span_starts(request.uri, SPAN("/app/session")))
			break;
	}
	buf_fini(&body);
	return 0;
}
