/*
 * A request as tests/flow/cases writes it: "GET /path", header lines, the
 * body's lines, each after "> ". Headers go in as FastCGI parameters; {propose}
 * stands for a key that may propose, {session} for a session's cookie. Served
 * whole: whatever is asked, the answer is no 500, and its body is JSON, under
 * any coding.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "common/date.h"
#include "common/jsonr.h"
#include "fcgi/route.h"
#include "fcgi/serve.h"
#include "fcgi/server.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/made.h"

static struct api_settings settings;
static struct serving *serving;
static char key[128], session[256];
static struct buf answer;

static void
ask(const struct request *request)
{
	struct sink sink = sink_to_buf(&answer);

	buf_clear(&answer);
	FUZZ_CHECK(serve(serving, request, &sink) == ERR_OK);
	buf_add_char(&answer, '\0');
	FUZZ_CHECK(buf_end(&answer) == ERR_OK);
}

static void
log_in(void)
{
	struct request request;
	const char *cookie;

	request_init(&request);
	request_param(&request, SPAN("REQUEST_METHOD"), SPAN("POST"));
	request.uri = SPAN("/app/session");
	request.slow_pool = true;
	request.content_type = SPAN("application/json");
	request.body = SPAN("{\"user\":\"u\",\"password\":\"abcdefghijkl\"}");
	ask(&request);
	cookie = strstr(answer.data, "Set-Cookie: ");
	FUZZ_CHECK(cookie != NULL);
	cookie += strlen("Set-Cookie: ");
	FUZZ_CHECK(span_copy(
	    session, sizeof(session), span_make(cookie, strcspn(cookie, ";"))));
}

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
	made_gridctl(data, "user add u <<'.'\nabcdefghijkl\n.");
	FUZZ_CHECK(conf_defaults(&settings, settings_rows, settings_count,
		       &fault) == ERR_OK);
	FUZZ_CHECK(conf_set(&settings, settings_rows, settings_count, "data",
		       "dir", data, &fault) == ERR_OK);
	FUZZ_CHECK(conf_set(&settings, settings_rows, settings_count, "compute",
		       "gridctl", "/bin/false", &fault) == ERR_OK);
	FUZZ_CHECK(server_open(&server, &settings, metrics, &fault) == ERR_OK);
	serving = serving_new(server);
	FUZZ_CHECK(serving != NULL);
	buf_init(&answer, (size_t)64 << 20);
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
		value = span_of(key);
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
unpacked(const char *body)
{
	static char *plain;
	struct span packed =
	    span_from(buf_span(&answer), (size_t)(body - answer.data));
	size_t len;

	packed.len--; /* the NUL of ask() */
	if (plain == NULL)
		plain = malloc(PLAIN_MAX);
	FUZZ_CHECK(plain != NULL);
	if (strstr(answer.data, "\r\nContent-Encoding: gzip\r\n") != NULL)
		len = gunzip(plain, packed);
	else if (strstr(answer.data, "\r\nContent-Encoding: zstd\r\n") != NULL)
		len = ZSTD_decompress(plain, PLAIN_MAX, packed.ptr, packed.len);
	else
		return packed;
	FUZZ_CHECK(len <= PLAIN_MAX);
	return span_make(plain, len);
}

static void
look_at_answer(void)
{
	static const struct jsonr_limits limits = {1 << 26, 0, 4};
	const char *body = strstr(answer.data, "\r\n\r\n");
	struct jsonr *doc;
	int status;

	FUZZ_CHECK(body != NULL);
	FUZZ_CHECK(sscanf(answer.data, "Status: %d", &status) == 1);
	/* Here /bin/false is the program that computes. */
	FUZZ_CHECK(status >= 200 && status < 504 &&
	    (status != 500 || strstr(body, "omput") != NULL));
	body += 4;
	if (answer.len == (size_t)(body - answer.data) + 1 ||
	    strstr(answer.data, "Content-Type: application/json\r\n") == NULL)
		return;
	FUZZ_CHECK(jsonr_parse(&doc, unpacked(body), &limits, NULL) == ERR_OK);
	jsonr_free(doc);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct request request;
	struct buf body;

	if (serving == NULL)
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
		ask(&request);
		if (strstr(answer.data, "@slow") == NULL)
			look_at_answer();
		if (span_starts(request.uri, SPAN("/app/session")))
			break;
	}
	buf_fini(&body);
	return 0;
}
