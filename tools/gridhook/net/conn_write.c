/*
 * conn_write: the head of an answer, and the answers that tell an error; conn.c
 * sends them.
 */
#include "tools/gridhook/net/conn_priv.h"

#include <assert.h>
#include <stdio.h>
#include <time.h>

#include "common/members.h"

static const struct status {
	int code;
	const char *text;
} statuses[] = {
    {200, "OK"},
    {202, "Accepted"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {413, "Payload Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {503, "Service Unavailable"},
    {505, "HTTP Version Not Supported"},
};

static const char *
status_text(int code)
{
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
		if (statuses[i].code == code)
			return statuses[i].text;
	return "Error";
}

static void
add_date(struct buf *buf)
{
	static time_t last;
	static char text[64];
	time_t now = time(NULL);
	struct tm tm;

	if (now != last && gmtime_r(&now, &tm) != NULL) {
		strftime(text, sizeof(text),
		    "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &tm);
		last = now;
	}
	buf_add_span(buf, span_of(text));
}

void
conn_add_head(struct conn *conn, const struct reply *reply)
{
	struct buf *out = &conn->out;

	assert(reply->status >= 200 && reply->status < 600);
	buf_addf(out, "HTTP/1.1 %d %s\r\n", reply->status,
	    status_text(reply->status));
	add_date(out);
	if (reply->body.len > 0)
		buf_add_text(out, "Content-Type: application/json\r\n");
	buf_addf(out, "Content-Length: %zu\r\n", reply->body.len);
	buf_add_text(out, "Cache-Control: no-store\r\n");
	if (reply->headers != NULL)
		buf_add_span(out, span_of(reply->headers));
	if (conn->closing)
		buf_add_text(out, "Connection: close\r\n");
	else if (conn->old)
		buf_add_text(out, "Connection: keep-alive\r\n");
	buf_add_text(out, "\r\n");
}

void
conn_reply_error(struct conn *conn, int status, const char *message)
{
	char headers[128] = "";
	struct jsonw json;
	struct buf body;

	assert(message != NULL && status >= 400);
	buf_init(&body, 65536);
	jsonw_init(&json, &body);
	jsonw_object_begin(&json);
	members_string(&json, "error", message);
	jsonw_object_end(&json);
	if (status == 401)
		snprintf(headers, sizeof(headers),
		    "WWW-Authenticate: Bearer realm=\"gridhook\"\r\n");
	conn_reply(conn,
	    &(struct reply){.status = status,
		.body = buf_span(&body),
		.headers = headers,
		.close = status == 400 || status == 408 || status == 413 ||
		    status == 414 || status == 431 || status == 505});
	buf_fini(&body);
}
