#include "fcgi/http/reply.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "common/date.h"
#include "common/members.h"
#include "common/num.h"
#include "fcgi/http/coding.h"
#include "fcgi/http/french.h"

#define HEAD_MAX 16384
#define FLUSH_PIECES 512
#define FLUSH_BYTES (1u << 20)

static const struct status {
	int status;
	const char *line;
} statuses[] = {
#define STATUS(number, text) \
	{ \
		number, "Status: " #number " " text "\r\n" \
	}
    STATUS(200, "OK"),
    STATUS(202, "Accepted"),
    STATUS(204, "No Content"),
    STATUS(304, "Not Modified"),
    STATUS(400, "Bad Request"),
    STATUS(401, "Unauthorized"),
    STATUS(403, "Forbidden"),
    STATUS(404, "Not Found"),
    STATUS(405, "Method Not Allowed"),
    STATUS(406, "Not Acceptable"),
    STATUS(409, "Conflict"),
    STATUS(413, "Content Too Large"),
    STATUS(415, "Unsupported Media Type"),
    STATUS(421, "Misdirected Request"),
    STATUS(429, "Too Many Requests"),
    STATUS(500, "Internal Server Error"),
    STATUS(503, "Service Unavailable"),
#undef STATUS
};

/* Each status that is set anywhere stands in the table. */
static struct span
status_line(int status)
{
	unsigned i = 0;

	while (statuses[i].status != status) {
		i++;
		assert(i < sizeof(statuses) / sizeof(statuses[0]));
	}
	return span_of(statuses[i].line);
}

void
reply_init(struct reply *reply)
{
	memset(reply, 0, sizeof(*reply));
	buf_init(&reply->head, HEAD_MAX);
	iovbuf_init(&reply->body);
	packer_init(&reply->packer);
}

void
reply_fini(struct reply *reply)
{
	buf_fini(&reply->head);
	iovbuf_fini(&reply->body);
	packer_fini(&reply->packer);
}

void
reply_begin(
    struct reply *reply, struct sink *out, const struct request *request)
{
	assert(out != NULL && request != NULL);
	reply->out = out;
	reply->request = request;
	reply->head_only = request->method == METHOD_HEAD;
	reply->begun = false;
	reply->node = NULL;
	reply->sent = 0;
	reply_restart(reply);
}

bool
reply_restart(struct reply *reply)
{
	assert(reply->out != NULL);
	if (reply->begun)
		return false;
	buf_clear(&reply->head);
	iovbuf_clear(&reply->body);
	reply->status = 200;
	reply->streaming = false;
	reply->length = -1;
	reply->by_accept = false;
	reply->by_language = false;
	reply->coded = false;
	reply->dense = false;
	reply->packing = false;
	reply->err = ERR_OK;
	return true;
}

void
reply_header_text(struct reply *reply, const char *name, struct span value)
{
	struct buf *head = &reply->head;

	/* Behind the head that is out, a line would be lost. */
	assert(!reply->begun);
	assert(memchr(value.ptr, '\n', value.len) == NULL &&
	    memchr(value.ptr, '\r', value.len) == NULL);
	buf_add_span(head, span_of(name));
	buf_add_text(head, ": ");
	buf_add_span(head, value);
	buf_add_text(head, "\r\n");
}

void
reply_header(struct reply *reply, const char *name, const char *format, ...)
{
	char value[2048];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(value, sizeof(value), format, args);
	va_end(args);
	if (len < 0 || (size_t)len >= sizeof(value)) {
		buf_fail(&reply->head, ERR_TOO_LARGE);
		return;
	}
	reply_header_text(reply, name, span_make(value, (size_t)len));
}

static void
header_int(struct reply *reply, const char *name, int64_t value)
{
	char text[NUM_TEXT_MAX];

	reply_header_text(
	    reply, name, span_make(text, num_int_text(text, value)));
}

/* Letters, digits and the like: nothing that could end a header line. */
static bool
is_plain(struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.ptr[i] <= ' ' || text.ptr[i] > '~')
			return false;
	return text.len > 0 && text.len <= 64;
}

/* "app;dur=0.042": in milliseconds, with all of three decimals. */
static void
add_timing(struct reply *reply, int64_t took_us)
{
	char text[8 + NUM_TEXT_MAX + 4] = "app;dur=";
	char *to = text + 8;
	unsigned fraction = (unsigned)(took_us % 1000);

	to += num_int_text(to, took_us / 1000);
	*to++ = '.';
	*to++ = (char)('0' + fraction / 100);
	num_put_pair(to, fraction % 100);
	reply_header_text(
	    reply, "Server-Timing", span_make(text, (size_t)(to + 2 - text)));
}

/* For caches: what of the request has decided how the answer looks. */
static void
add_vary(struct reply *reply)
{
	static const struct span varies[2][2] = {
	    {{"Accept-Encoding", 15}, {"Accept-Language, Accept-Encoding", 32}},
	    {{"Accept, Accept-Encoding", 23},
		{"Accept, Accept-Language, Accept-Encoding", 40}}};
	enum method method = reply->request->method;

	if ((method != METHOD_GET && method != METHOD_HEAD) ||
	    (reply->status != 200 && reply->status != 304))
		return;
	reply_header_text(
	    reply, "Vary", varies[reply->by_accept][reply->by_language]);
}

static void
add_node(struct reply *reply)
{
	char text[6 + NUM_TEXT_MAX] = "state:";
	size_t len;

	reply_header_text(reply, "X-Grid-Node", span_of(reply->node));
	if (!reply->has_seen)
		return;
	len = 6 + num_int_text(text + 6, (int64_t)reply->seen);
	reply_header_text(reply, "X-Grid-Seen", span_make(text, len));
}

/* Headers of every answer. */
static void
add_common(struct reply *reply)
{
	const struct request *request = reply->request;

	add_vary(reply);

	if (is_plain(request->request_id))
		reply_header_text(reply, "X-Request-Id", request->request_id);
	if (reply->behind_s > 0)
		reply_header(
		    reply, "X-Grid-Behind", "%lld", (long long)reply->behind_s);
	if (reply->node != NULL)
		add_node(reply);
	if (request->start_ns != 0)
		add_timing(
		    reply, (date_monotonic_ns() - request->start_ns) / 1000);
}

/* The head, finished: the status line before what was gathered of it. */
static enum err
finish_head(struct reply *reply)
{
	struct buf *head = &reply->head;
	struct span status = status_line(reply->status);

	add_common(reply);
	buf_add_text(head, "\r\n");
	if (buf_room(head, status.len) == NULL)
		return buf_end(head);
	memmove(head->data + status.len, head->data, head->len);
	memcpy(head->data, status.ptr, status.len);
	buf_grown(head, status.len);
	return ERR_OK;
}

/* Once; with the body that was gathered, or alone. */
static enum err
put_head(struct reply *reply, bool alone)
{
	struct iovbuf *body = &reply->body;
	struct iovec head;
	enum err err = body->err == ERR_OK ? finish_head(reply) : body->err;

	reply->begun = true;
	if (err != ERR_OK)
		return err;
	head = (struct iovec){reply->head.data, reply->head.len};
	reply->sent += reply->head.len;
	if (alone || reply->head_only || body->count < 2)
		return reply->out->put(reply->out, &head, 1);
	body->iov[0] = head;
	reply->sent += body->total;
	return reply->out->put(reply->out, body->iov, (int)body->count);
}

static enum err
put_body(struct reply *reply)
{
	struct iovbuf *body = &reply->body;

	if (body->err != ERR_OK || body->count < 2)
		return body->err;
	reply->sent += body->total;
	return reply->out->put(reply->out, body->iov + 1, (int)body->count - 1);
}

static void
note(struct reply *reply, enum err err)
{
	if (reply->err == ERR_OK)
		reply->err = err;
}

void
reply_is_coded(struct reply *reply, enum coding coding)
{
	assert(coding != CODING_PLAIN && !reply->coded);
	reply->coded = true;
	reply_header_text(
	    reply, "Content-Encoding", span_of(coding_names[coding]));
}

/*
 * The coding that the body is to have. Without Accept-Encoding, as programs ask
 * that want no packing: nothing.
 */
static enum coding
coding_of(const struct reply *reply)
{
	struct span list = reply->request->accept_encoding;

	return list.len > 0 && reply->status == 200 && !reply->coded &&
		!reply->dense
	    ? coding_best(list)
	    : CODING_PLAIN;
}

/* Puts the gathered bytes through the gzip member. */
static void
pack_body(struct reply *reply)
{
	if (reply->err == ERR_OK && !reply->head_only)
		note(reply, packer_add(&reply->packer, &reply->body));
	iovbuf_clear(&reply->body);
}

/* The head alone, and what was gathered behind it packed. */
static void
begin_packed(struct reply *reply, enum coding coding)
{
	reply_is_coded(reply, coding);
	reply->packing = true;
	note(reply, put_head(reply, true));
	pack_body(reply);
}

void
reply_stream(struct reply *reply, int64_t length)
{
	assert(!reply->streaming && length >= -1);
	reply->streaming = true;
	reply->length = length;
}

/* The head, and what was gathered. */
static void
begin(struct reply *reply)
{
	enum coding coding = coding_of(reply);
	int64_t length = reply->length;

	if (coding != CODING_PLAIN && (length < 0 || length >= PACKER_LEAST) &&
	    packer_begin(&reply->packer, coding, reply->out, PACKER_BLOCK) ==
		ERR_OK) {
		begin_packed(reply, coding);
		return;
	}
	if (length >= 0)
		header_int(reply, "Content-Length", length);
	note(reply, put_head(reply, false));
	iovbuf_clear(&reply->body);
}

void
reply_flush_some(struct reply *reply)
{
	struct iovbuf *body = &reply->body;

	assert(reply->out != NULL);
	if (reply->packing && body->total >= PACKER_BLOCK)
		pack_body(reply);
	if (!reply->streaming || reply->packing ||
	    (body->count < FLUSH_PIECES &&
		body->total < (reply->begun ? FLUSH_BYTES : PACKER_BLOCK)))
		return;
	if (!reply->begun) {
		begin(reply);
		return;
	}
	if (reply->err == ERR_OK && !reply->head_only)
		note(reply, put_body(reply));
	iovbuf_clear(body);
}

bool
reply_flush_row(struct reply *reply, int64_t nth)
{
	if (reply->streaming && nth % 64 == 0)
		reply_flush_some(reply);
	return reply->err == ERR_OK;
}

/*
 * The body becomes the member, whose length is then known. Where that fails,
 * the body goes out as it is.
 */
static void
pack_whole(struct reply *reply, enum coding coding)
{
	struct packer *packer = &reply->packer;
	struct iovbuf *body = &reply->body;
	enum err err = packer_begin(packer, coding, NULL, PACKER_WHOLE);

	if (err == ERR_OK)
		err = packer_add(packer, body);
	if (err == ERR_OK)
		err = packer_end(packer);
	if (err != ERR_OK)
		return;
	reply_is_coded(reply, coding);
	iovbuf_clear(body);
	iovbuf_refer(body, packer->packed.data, packer->packed.len);
}

/* Packed or not, the whole body is there. */
static void
pack_gathered(struct reply *reply)
{
	enum coding coding = coding_of(reply);

	if (reply->body.total < PACKER_LEAST || coding == CODING_PLAIN)
		return;
	if (reply->body.total <= PACKER_WHOLE)
		pack_whole(reply, coding);
	else
		begin(reply);
}

static void
end_packed(struct reply *reply)
{
	struct packer *packer = &reply->packer;

	pack_body(reply);
	reply->out->last = true;
	if (reply->err == ERR_OK && !reply->head_only)
		note(reply, packer_end(packer));
	reply->sent += packer->sent;
}

/* The whole answer; for HEAD a stream's body may not have been made. */
static void
put_whole(struct reply *reply)
{
	int64_t length = reply->streaming && reply->head_only
	    ? reply->length
	    : (int64_t)reply->body.total;

	reply->out->last = true;
	if (length >= 0 && reply->status != 304 && reply->status != 204)
		header_int(reply, "Content-Length", length);
	note(reply, put_head(reply, false));
}

enum err
reply_end(struct reply *reply)
{
	assert(reply->out != NULL && reply->status >= 200);
	note(reply, reply->body.err);
	if (reply->err == ERR_OK && !reply->begun)
		pack_gathered(reply);
	if (reply->err != ERR_OK)
		return reply->err;
	if (reply->packing)
		end_packed(reply);
	else if (!reply->begun)
		put_whole(reply);
	else {
		reply->out->last = true;
		if (!reply->head_only)
			note(reply, put_body(reply));
	}
	return reply->err;
}

const char *
reply_words(const struct reply *reply, const char *english)
{
	return request_french(reply->request) ? french_of(english) : english;
}

/* The message as it is shown, and headers that tell its language. */
static struct span
in_language(struct reply *reply, struct span message)
{
	bool french = request_french(reply->request);

	reply_header_text(
	    reply, "Content-Language", french ? SPAN("fr") : SPAN("en"));
	reply_header_text(reply, "Vary", SPAN("Accept-Language"));
	return french ? french_span(message) : message;
}

enum err
reply_error(struct reply *reply, int status, enum reply_code code,
    struct span message, struct span details)
{
	static const char *const codes[] = {"unauthorized", "forbidden",
	    "bad_request", "not_found", "not_ready", "internal_error"};
	struct jsonw json;
	struct buf body;

	assert(status >= 200 && status <= 599 && message.len > 0);
	if (!reply_restart(reply)) {
		note(reply, ERR_INTERNAL);
		return ERR_ANSWERED;
	}
	reply->status = status;
	reply_header(reply, "Content-Type", "application/json");
	reply_header(reply, "Cache-Control", "no-store");
	message = in_language(reply, message);
	buf_init(&body, 1 << 24);
	jsonw_init(&json, &body);
	jsonw_object_begin(&json);
	members_object(&json, "error");
	members_text(&json, "code", span_of(codes[code]));
	members_text(&json, "message", message);
	if (details.len > 0) {
		jsonw_key(&json, "details");
		jsonw_raw(&json, details);
	}
	jsonw_object_end(&json);
	jsonw_object_end(&json);
	note(reply, jsonw_end(&json));
	iovbuf_copy(&reply->body, body.data, body.len);
	buf_fini(&body);
	return ERR_ANSWERED;
}

enum err
reply_fail(struct reply *reply, int status, enum reply_code code,
    const char *format, ...)
{
	char message[512];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), reply_words(reply, format), args);
	va_end(args);
	return reply_error(reply, status, code, span_of(message), SPAN(""));
}
