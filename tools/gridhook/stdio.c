#include "tools/gridhook/stdio.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/date.h"
#include "common/mcp/rpc.h"
#include "tools/gridhook/mcp/desk.h"
#include "tools/gridhook/net/lines.h"

#define DEPTH_MAX 256
#define ANSWER_MAX ((size_t)32 << 20)
#define AT_WORK_MAX 16 /* asked of the running gridhook at a time */
#define PROGRESS_MS 1000

/* A message that is to be answered, or a batch of them. */
struct stdio_request {
	struct lines lines; /* to the running gridhook; .loop NULL: none */
	struct stdio *stdio;
	struct stdio_request *next, **link;
	struct mcp_post *post; /* answered here */
	struct loop_timer progress;
	int64_t began_ns;
	char *text;
	size_t len;
	struct span id, token; /* JSON, within `text`; .ptr NULL: none */
	bool is_due; /* it waits for a place */
	bool needs_answer;
};

struct stdio {
	struct stdio_spec spec;
	struct buf in;
	bool too_long; /* the rest of such a line is skipped */
	bool ended;
	struct stdio_request *first, **last;
	unsigned count, at_work;
	bool starting;
};

static void start_due(struct stdio *stdio);

/* --- what goes out -------------------------------------------------------- */

static void
write_error(struct stdio *stdio, struct span id, int code, const char *message)
{
	char text[256];
	struct jscan doc = {.count = 0};
	struct jsonw json;
	struct buf buf;

	buf_init(&buf, 65536);
	jsonw_init(&json, &buf);
	if (id.ptr == NULL || !span_copy(text, sizeof(text), id))
		snprintf(text, sizeof(text), "null");
	if (jscan_parse(&doc, span_of(text), 1, NULL) == ERR_OK)
		rpc_error(&json, jscan_root(&doc), code, message, SPAN(""));
	if (buf_end(&buf) == ERR_OK && buf.len > 0)
		stdio->spec.write(stdio->spec.arg, buf_span(&buf));
	jscan_fini(&doc);
	buf_fini(&buf);
}

/* How long it has been at work: what else is known comes with the answer. */
static void
on_progress(struct loop_timer *timer)
{
	struct stdio_request *request = (struct stdio_request *)((char *)timer -
	    offsetof(struct stdio_request, progress));
	struct stdio *stdio = request->stdio;
	long long seconds =
	    (date_monotonic_ns() - request->began_ns) / 1000000000;
	struct buf buf;

	buf_init(&buf, 65536);
	buf_addf(&buf,
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\","
	    "\"params\":{\"progressToken\":%.*s,\"progress\":%lld,"
	    "\"message\":\"at work for %lld s\"}}",
	    SPAN_ARG(request->token), seconds, seconds);
	if (buf_end(&buf) == ERR_OK)
		stdio->spec.write(stdio->spec.arg, buf_span(&buf));
	buf_fini(&buf);
	loop_timer_set(stdio->spec.loop, timer, PROGRESS_MS);
}

/* --- a request and its end ------------------------------------------------ */

static void
drop(struct stdio_request *request)
{
	struct stdio *stdio = request->stdio;

	loop_timer_stop(&request->progress);
	if (request->lines.loop != NULL) {
		lines_close(&request->lines);
		stdio->at_work--;
	}
	*request->link = request->next;
	if (request->next != NULL)
		request->next->link = request->link;
	else
		stdio->last = request->link;
	stdio->count--;
	free(request->text);
	free(request);
}

static void
finish(struct stdio_request *request)
{
	struct stdio *stdio = request->stdio;

	drop(request);
	start_due(stdio);
	if (stdio->ended && stdio->count == 0)
		stdio->spec.idle(stdio->spec.arg);
}

/* A body that is no JSON-RPC is a failure of ours, by HTTP's form. */
static void
answer(struct stdio_request *request, int status, struct span body)
{
	struct stdio *stdio = request->stdio;

	if (status == 500)
		write_error(stdio, request->id, RPC_INTERNAL_ERROR,
		    "the answer could not be made");
	else if (body.len > 0)
		stdio->spec.write(stdio->spec.arg, body);
}

static void
on_answer(void *arg, const struct mcp_answer *given)
{
	struct stdio_request *request = arg;

	answer(request, given->status, given->body);
	request->post = NULL;
	finish(request);
}

/* --- by the gridhook that runs -------------------------------------------- */

static bool
on_line(struct lines *lines, struct span text)
{
	struct stdio_request *request = (struct stdio_request *)lines;
	struct jval root, body;
	struct jscan doc = {.count = 0};
	int64_t status = 500;

	if (jscan_parse(&doc, text, DEPTH_MAX + 8, NULL) == ERR_OK) {
		root = jscan_root(&doc);
		body = jval_member(root, "answer");
		jval_int(jval_member(root, "status"), &status);
		answer(request, (int)status, jval_raw(body));
	} else
		answer(request, 500, SPAN(""));
	jscan_fini(&doc);
	finish(request);
	return false;
}

static void
on_ended(struct lines *lines, const char *why)
{
	struct stdio_request *request = (struct stdio_request *)lines;

	(void)why;
	if (request->needs_answer)
		write_error(request->stdio, request->id, RPC_INTERNAL_ERROR,
		    "gridhook has ended, or has too many clients: try again");
	finish(request);
}

/* False when none runs. */
static bool
ask(struct stdio_request *request)
{
	struct stdio *stdio = request->stdio;
	struct buf question;
	int fd = -1;

	if (stdio->spec.socket != NULL)
		fd = lines_connect(stdio->spec.socket);
	if (fd < 0)
		return false;
	request->lines.line = on_line;
	request->lines.ended = on_ended;
	if (lines_open(&request->lines, stdio->spec.loop, fd, ANSWER_MAX,
		STDIO_LINE_MAX * 2) != ERR_OK) {
		request->lines.loop = NULL;
		close(fd);
		return false;
	}
	stdio->at_work++;
	buf_init(&question, STDIO_LINE_MAX + 64);
	buf_addf(&question, "{\"do\":\"mcp\",\"message\":");
	buf_add(&question, request->text, request->len);
	buf_add_char(&question, '}');
	lines_send(&request->lines, buf_span(&question));
	buf_fini(&question);
	return true;
}

/* --- a message ------------------------------------------------------------ */

static void
start(struct stdio_request *request)
{
	static const struct mcp_headers headers = {.is_stdio = true};
	struct mcp_post *post;
	struct stdio *stdio = request->stdio;

	request->is_due = false;
	request->began_ns = date_monotonic_ns();
	if (request->token.ptr != NULL)
		loop_timer_set(
		    stdio->spec.loop, &request->progress, PROGRESS_MS);
	if (ask(request))
		return;
	post = mcp_post(&desk_service, stdio->spec.calls,
	    span_make(request->text, request->len), &headers, on_answer,
	    request);
	/* Where there is none, the request has ended. */
	if (post != NULL)
		request->post = post;
}

static void
start_due(struct stdio *stdio)
{
	struct stdio_request *request = stdio->first;

	/* A request that ends at once calls back into here. */
	if (stdio->starting)
		return;
	stdio->starting = true;
	while (request != NULL && stdio->at_work < AT_WORK_MAX)
		if (request->is_due) {
			start(request);
			request = stdio->first;
		} else
			request = request->next;
	stdio->starting = false;
}

/* A string or a number, as it was sent. */
static struct span
token_of(struct jval value)
{
	if (jval_type(value) == JSTRING || jval_type(value) == JNUMBER)
		return jval_raw(value);
	return span_make(NULL, 0);
}

static struct stdio_request *
request_new(struct stdio *stdio, struct span text)
{
	struct stdio_request *request = calloc(1, sizeof(*request));

	if (request == NULL)
		return NULL;
	request->text = malloc(text.len + 1);
	if (request->text == NULL) {
		free(request);
		return NULL;
	}
	memcpy(request->text, text.ptr, text.len);
	request->len = text.len;
	request->stdio = stdio;
	request->progress.fire = on_progress;
	request->is_due = true;
	request->link = stdio->last;
	*stdio->last = request;
	stdio->last = &request->next;
	stdio->count++;
	return request;
}

/* The span at the same place of the copy. */
static struct span
in_copy(const struct stdio_request *request, struct span part, struct span text)
{
	if (part.ptr == NULL)
		return part;
	return span_make(request->text + (part.ptr - text.ptr), part.len);
}

static void
cancel(struct stdio *stdio, struct jval id)
{
	struct span wanted = token_of(id);

	for (struct stdio_request *request = stdio->first; request != NULL;
	     request = request->next) {
		if (wanted.ptr == NULL || request->id.ptr == NULL ||
		    !span_eq(request->id, wanted))
			continue;
		mcp_cancel(request->post);
		finish(request);
		return;
	}
}

static void
take_message(struct stdio *stdio, struct span text, struct jval root)
{
	struct jval params = jval_member(root, "params");
	struct jval id = jval_member(root, "id");
	struct stdio_request *request;

	if (jval_is(
		jval_member(root, "method"), SPAN("notifications/cancelled"))) {
		cancel(stdio, jval_member(params, "requestId"));
		return;
	}
	if (stdio->count >= STDIO_REQUESTS_MAX) {
		write_error(stdio, token_of(id), RPC_INTERNAL_ERROR,
		    "too many requests wait for their answers");
		return;
	}
	request = request_new(stdio, text);
	if (request == NULL) {
		write_error(
		    stdio, token_of(id), RPC_INTERNAL_ERROR, "out of memory");
		return;
	}
	request->id = in_copy(request, token_of(id), text);
	request->needs_answer =
	    request->id.ptr != NULL || jval_type(root) == JARRAY;
	if (jval_is(jval_member(root, "method"), SPAN("tools/call")))
		request->token = in_copy(request,
		    token_of(jval_member(
			jval_member(params, "_meta"), "progressToken")),
		    text);
	start_due(stdio);
}

static void
take_line(struct stdio *stdio, struct span text)
{
	struct jscan doc = {.count = 0};

	text = span_trim(text);
	if (text.len > 0 && text.ptr[text.len - 1] == '\r')
		text = span_trim(span_sub(text, 0, text.len - 1));
	if (text.len == 0)
		return;
	if (jscan_parse(&doc, text, DEPTH_MAX, NULL) == ERR_OK)
		take_message(stdio, text, jscan_root(&doc));
	else
		write_error(stdio, span_make(NULL, 0), RPC_PARSE_ERROR,
		    "Parse error: a line must be one JSON-RPC message");
	jscan_fini(&doc);
}

/* --- the stream ----------------------------------------------------------- */

static void
keep(struct stdio *stdio, struct span bytes)
{
	if (stdio->too_long)
		return;
	buf_add_span(&stdio->in, bytes);
	if (buf_end(&stdio->in) == ERR_OK)
		return;
	stdio->too_long = true;
	buf_clear(&stdio->in);
	write_error(stdio, span_make(NULL, 0), RPC_INVALID_REQUEST,
	    "a message is longer than 4 MiB");
}

void
stdio_feed(struct stdio *stdio, struct span bytes)
{
	size_t end;

	assert(!stdio->ended);
	while ((end = span_find(bytes, '\n')) < bytes.len) {
		keep(stdio, span_sub(bytes, 0, end));
		bytes = span_from(bytes, end + 1);
		if (!stdio->too_long)
			take_line(stdio, buf_span(&stdio->in));
		stdio->too_long = false;
		buf_clear(&stdio->in);
	}
	keep(stdio, bytes);
}

void
stdio_end(struct stdio *stdio)
{
	assert(!stdio->ended);
	if (!stdio->too_long)
		take_line(stdio, buf_span(&stdio->in));
	stdio->ended = true;
	if (stdio->count == 0)
		stdio->spec.idle(stdio->spec.arg);
}

enum err
stdio_open(struct stdio **out, const struct stdio_spec *spec)
{
	struct stdio *stdio = calloc(1, sizeof(*stdio));

	assert(spec->write != NULL && spec->idle != NULL);
	*out = NULL;
	if (stdio == NULL)
		return ERR_NO_MEMORY;
	stdio->spec = *spec;
	stdio->last = &stdio->first;
	buf_init(&stdio->in, STDIO_LINE_MAX);
	*out = stdio;
	return ERR_OK;
}

void
stdio_close(struct stdio *stdio)
{
	if (stdio == NULL)
		return;
	while (stdio->first != NULL) {
		mcp_cancel(stdio->first->post);
		drop(stdio->first);
	}
	buf_fini(&stdio->in);
	free(stdio);
}
