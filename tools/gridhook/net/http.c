#include "tools/gridhook/net/http.h"

#include <assert.h>
#include <llhttp.h>
#include <stdlib.h>
#include <strings.h>

#define BODY_KEEP 65536 /* a larger body's memory is given back */

/* A header in the head's bytes. */
struct http_field {
	uint32_t name, name_len;
	uint32_t value, value_len;
};

struct http {
	llhttp_t parser;
	size_t body_max;
	struct buf head; /* target, names and values, one behind the other */
	struct buf body;
	struct buf joined; /* of a repeated header */
	struct http_field fields[HTTP_HEADERS_MAX];
	unsigned field_count;
	size_t target_len;
	size_t head_bytes; /* fed since the request began */
	bool in_value;
	bool named; /* the header that is being read */
	bool begun;
	bool head_done;
	bool done;
	bool keeps_alive;
	enum http_step failed; /* HTTP_MORE while nothing is wrong */
	const char *why;
};

static int
fail(struct http *http, enum http_step step, const char *why)
{
	http->failed = step;
	http->why = why;
	return HPE_USER;
}

static int
on_url(llhttp_t *parser, const char *at, size_t len)
{
	struct http *http = parser->data;

	buf_add(&http->head, at, len);
	http->target_len += len;
	if (http->target_len > HTTP_LINE_MAX)
		return fail(http, HTTP_LINE_TOO_LONG, "request line too long");
	return 0;
}

static int
on_field(llhttp_t *parser, const char *at, size_t len)
{
	struct http *http = parser->data;
	struct http_field *field;

	http->named |= len > 0;
	if (http->head_done)
		return 0; /* trailers are read over */
	if (http->in_value || http->field_count == 0) {
		if (http->field_count == HTTP_HEADERS_MAX)
			return fail(
			    http, HTTP_HEAD_TOO_LARGE, "too many headers");
		field = &http->fields[http->field_count++];
		*field = (struct http_field){.name = (uint32_t)http->head.len};
		http->in_value = false;
	}
	field = &http->fields[http->field_count - 1];
	field->name_len += (uint32_t)len;
	buf_add(&http->head, at, len);
	return 0;
}

static int
on_value(llhttp_t *parser, const char *at, size_t len)
{
	struct http *http = parser->data;
	struct http_field *field;

	if (http->head_done || http->field_count == 0)
		return 0;
	field = &http->fields[http->field_count - 1];
	if (!http->in_value) {
		field->value = (uint32_t)http->head.len;
		http->in_value = true;
	}
	field->value_len += (uint32_t)len;
	buf_add(&http->head, at, len);
	return 0;
}

/* A header without value still ends its name; one without name is none. */
static int
on_value_complete(llhttp_t *parser)
{
	struct http *http = parser->data;

	if (!http->named)
		return -1;
	http->named = false;
	http->in_value = true;
	return 0;
}

static struct span
field_name(const struct http *http, unsigned i)
{
	return span_make(
	    http->head.data + http->fields[i].name, http->fields[i].name_len);
}

static struct span
field_value(const struct http *http, unsigned i)
{
	return span_trim(span_make(http->head.data + http->fields[i].value,
	    http->fields[i].value_len));
}

static unsigned
count_fields(const struct http *http, const char *name)
{
	unsigned count = 0;

	for (unsigned i = 0; i < http->field_count; i++)
		count += span_eq_nocase(field_name(http, i), span_of(name));
	return count;
}

/* No bare control characters in what will be compared and logged. */
static bool
values_are_clean(const struct http *http)
{
	struct span value;

	for (unsigned i = 0; i < http->field_count; i++) {
		value = field_value(http, i);
		for (size_t j = 0; j < value.len; j++)
			if ((unsigned char)value.ptr[j] < 0x20 &&
			    value.ptr[j] != '\t')
				return false;
	}
	return true;
}

/* Checks of the head that llhttp leaves open. */
static int
check_head(struct http *http)
{
	const llhttp_t *parser = &http->parser;
	bool old = parser->http_minor == 0;

	if (buf_end(&http->head) != ERR_OK)
		return fail(http, HTTP_HEAD_TOO_LARGE, "headers too large");
	if (parser->http_major != 1 || parser->http_minor > 1)
		return fail(http, HTTP_VERSION, "unknown HTTP version");
	if (count_fields(http, "host") != 1 &&
	    !(old && count_fields(http, "host") == 0))
		return fail(http, HTTP_BAD, "there must be one Host header");
	if (count_fields(http, "content-length") > 1)
		return fail(http, HTTP_BAD, "several Content-Length headers");
	if (count_fields(http, "content-length") == 1 &&
	    http_header(http, "content-length").len == 0)
		return fail(http, HTTP_BAD, "an empty Content-Length");
	if (count_fields(http, "transfer-encoding") > 0 &&
	    (old || !(parser->flags & F_CHUNKED) ||
		!span_eq_nocase(
		    http_header(http, "transfer-encoding"), SPAN("chunked"))))
		return fail(http, HTTP_BAD, "unknown Transfer-Encoding");
	if (!values_are_clean(http))
		return fail(http, HTTP_BAD, "control character in a header");
	return 0;
}

/* An offer to upgrade is declined by answering as though it was not made. */
static int
on_headers_complete(llhttp_t *parser)
{
	struct http *http = parser->data;

	parser->upgrade = 0;
	if (check_head(http) != 0)
		return -1;
	http->keeps_alive = llhttp_should_keep_alive(parser) != 0;
	http->head_done = true;
	return HPE_PAUSED;
}

static int
on_body(llhttp_t *parser, const char *at, size_t len)
{
	struct http *http = parser->data;

	if (http->body.len + len > http->body_max)
		return fail(http, HTTP_BODY_TOO_LARGE, "body too large");
	buf_add(&http->body, at, len);
	if (buf_end(&http->body) != ERR_OK)
		return fail(http, HTTP_BODY_TOO_LARGE, "no memory for a body");
	return 0;
}

static int
on_message_complete(llhttp_t *parser)
{
	struct http *http = parser->data;

	http->done = true;
	return HPE_PAUSED;
}

static const llhttp_settings_t callbacks = {
    .on_url = on_url,
    .on_header_field = on_field,
    .on_header_value = on_value,
    .on_header_value_complete = on_value_complete,
    .on_headers_complete = on_headers_complete,
    .on_body = on_body,
    .on_message_complete = on_message_complete,
};

static void
forget(struct http *http)
{
	http->field_count = 0;
	http->target_len = 0;
	http->head_bytes = 0;
	http->in_value = false;
	http->named = false;
	http->begun = false;
	http->head_done = false;
	http->done = false;
	http->failed = HTTP_MORE;
	http->why = "";
}

struct http *
http_new(size_t body_max)
{
	struct http *http = calloc(1, sizeof(*http));

	assert(body_max > 0);
	if (http == NULL)
		return NULL;
	llhttp_init(&http->parser, HTTP_REQUEST, &callbacks);
	http->parser.data = http;
	http->body_max = body_max;
	buf_init(&http->head, HTTP_HEAD_MAX);
	buf_init(&http->body, body_max == 0 ? 1 : body_max);
	buf_init(&http->joined, HTTP_HEAD_MAX);
	forget(http);
	return http;
}

void
http_free(struct http *http)
{
	if (http == NULL)
		return;
	buf_fini(&http->head);
	buf_fini(&http->body);
	buf_fini(&http->joined);
	free(http);
}

/* Blank lines before a request are skipped, as RFC 9112 2.2 says. */
static void
note_begin(struct http *http, struct span bytes)
{
	for (size_t i = 0; i < bytes.len && !http->begun; i++)
		http->begun = bytes.ptr[i] != '\r' && bytes.ptr[i] != '\n';
}

static enum http_step
run(struct http *http, struct span bytes, size_t *used)
{
	llhttp_errno_t code =
	    llhttp_execute(&http->parser, bytes.ptr, bytes.len);

	*used = bytes.len;
	if (code == HPE_OK)
		return HTTP_MORE;
	if (code == HPE_PAUSED) {
		*used =
		    (size_t)(llhttp_get_error_pos(&http->parser) - bytes.ptr);
		llhttp_resume(&http->parser);
		return http->done ? HTTP_GOT_ALL : HTTP_GOT_HEAD;
	}
	if (http->failed != HTTP_MORE)
		return http->failed;
	fail(http, HTTP_BAD, llhttp_errno_name(code));
	return HTTP_BAD;
}

enum http_step
http_feed(struct http *http, struct span bytes, size_t *used)
{
	enum http_step step;
	bool had_head = http->head_done;

	assert(bytes.ptr != NULL || bytes.len == 0);
	*used = 0;
	if (http->failed != HTTP_MORE)
		return http->failed;
	if (had_head && http_body_is_too_large(http)) {
		fail(http, HTTP_BODY_TOO_LARGE, "body too large");
		return http->failed;
	}
	note_begin(http, bytes);
	step = run(http, bytes, used);
	if (had_head)
		return step;
	http->head_bytes += *used;
	if (http->head_bytes > HTTP_HEAD_MAX && step <= HTTP_GOT_ALL) {
		fail(http, HTTP_HEAD_TOO_LARGE, "headers too large");
		return http->failed;
	}
	return step;
}

void
http_next(struct http *http)
{
	buf_clear(&http->head);
	if (http->body.cap > BODY_KEEP)
		buf_fini(&http->body);
	else
		buf_clear(&http->body);
	forget(http);
}

bool
http_has_begun(const struct http *http)
{
	return http->begun;
}

enum http_method
http_method(const struct http *http)
{
	switch (http->parser.method) {
	case HTTP_GET:
		return METHOD_GET;
	case HTTP_HEAD:
		return METHOD_HEAD;
	case HTTP_POST:
		return METHOD_POST;
	default:
		return METHOD_OTHER;
	}
}

/* The part behind "http://" in the target; .ptr NULL where there is none. */
static struct span
after_scheme(const struct http *http)
{
	struct span target = span_make(http->head.data, http->target_len);
	struct span scheme = SPAN("http://");

	if (target.len < scheme.len ||
	    !span_eq_nocase(span_sub(target, 0, scheme.len), scheme))
		return span_make(NULL, 0);
	return span_from(target, scheme.len);
}

struct span
http_target(const struct http *http)
{
	struct span rest = after_scheme(http);

	if (rest.ptr == NULL)
		return span_make(http->head.data, http->target_len);
	rest = span_from(rest, span_find(rest, '/'));
	return rest.len == 0 ? SPAN("/") : rest;
}

struct span
http_authority(const struct http *http)
{
	struct span rest = after_scheme(http);

	return rest.ptr == NULL ? rest
				: span_sub(rest, 0, span_find(rest, '/'));
}

struct span
http_path(const struct http *http)
{
	struct span target = http_target(http);

	return span_sub(target, 0, span_find(target, '?'));
}

struct span
http_query(const struct http *http)
{
	struct span target = http_target(http);

	return span_from(target, span_find(target, '?') + 1);
}

static struct span
join_fields(struct http *http, const char *name)
{
	buf_clear(&http->joined);
	for (unsigned i = 0; i < http->field_count; i++) {
		if (!span_eq_nocase(field_name(http, i), span_of(name)))
			continue;
		if (http->joined.len > 0)
			buf_add_text(&http->joined, ", ");
		buf_add_span(&http->joined, field_value(http, i));
	}
	return buf_span(&http->joined);
}

struct span
http_header(struct http *http, const char *name)
{
	unsigned found = HTTP_HEADERS_MAX;

	assert(name != NULL);
	for (unsigned i = 0; i < http->field_count; i++) {
		if (!span_eq_nocase(field_name(http, i), span_of(name)))
			continue;
		if (found < HTTP_HEADERS_MAX)
			return join_fields(http, name);
		found = i;
	}
	if (found == HTTP_HEADERS_MAX)
		return span_make(NULL, 0);
	return field_value(http, found);
}

bool
http_keeps_alive(const struct http *http)
{
	return http->keeps_alive;
}

bool
http_is_old(const struct http *http)
{
	return http->parser.http_minor == 0;
}

bool
http_expects_continue(struct http *http)
{
	return span_eq_nocase(
	    http_header(http, "expect"), SPAN("100-continue"));
}

bool
http_has_body(const struct http *http)
{
	return (http->parser.flags & F_CHUNKED) != 0 ||
	    http->parser.content_length > 0;
}

bool
http_body_is_too_large(const struct http *http)
{
	return (http->parser.flags & F_CHUNKED) == 0 &&
	    http->parser.content_length > http->body_max;
}

struct span
http_body(const struct http *http)
{
	return buf_span(&http->body);
}

const char *
http_why(const struct http *http)
{
	return http->why;
}
