#include "fcgi/within.h"

#include <assert.h>
#include <string.h>

#include "fcgi/call.h"
#include "fcgi/route.h"
#include "fcgi/steps.h"

/* The caller's request, without the headers that are about its own answer. */
static struct request
request_of(
    struct call *call, enum method method, struct span uri, struct span body)
{
	struct request request = *call->request;

	request.method = method;
	request.method_text =
	    method == METHOD_POST ? SPAN("POST") : SPAN("GET");
	request.uri = uri;
	request.body = body;
	request.content_type = SPAN("application/json");
	request.accept = request.accept_encoding = span_make(NULL, 0);
	request.if_none_match = span_make(NULL, 0);
	request.accept_language = SPAN("en");
	return request;
}

static enum err
find_route(struct call *call)
{
	char allowed[64];
	enum err err = route_find(call, allowed);

	if (err != ERR_OK)
		return reply_fail(call->reply, 404, CODE_NOT_FOUND,
		    "There is nothing of that name.");
	assert(
	    call->route->auth == ROUTE_ANY || call->route->auth == ROUTE_READS);
	return ERR_OK;
}

static void
run(struct call *call)
{
	struct views *views = &call->serving->views;
	enum err err;

	views_rest(views);
	err = views_renew(views);
	if (err == ERR_OK)
		err = steps_query(call);
	if (err == ERR_OK)
		err = find_route(call);
	if (err == ERR_OK)
		err = steps_params(call);
	if (err == ERR_OK)
		err = call->route->run(call);
	steps_end(call, err);
}

enum err
within_ask(struct within *out, struct buf *room, struct call *call,
    enum method method, struct span uri, struct span body)
{
	struct request request = request_of(call, method, uri, body);
	struct sink sink = sink_to_buf(room);
	struct reply reply;
	struct call inner;
	const char *end;
	struct span got;
	enum err err;

	assert(call->subject.kind != SUBJECT_NOBODY);
	assert(call->serving->held_count == 0);
	memset(&inner, 0, offsetof(struct call, query));
	inner.serving = call->serving;
	inner.server = call->server;
	inner.request = &request;
	inner.subject = call->subject;
	inner.reply = &reply;
	buf_clear(room);
	reply_init(&reply);
	reply_begin(&reply, &sink, &request);
	run(&inner);
	err = reply_end(&reply);
	call_release_held(call->serving);
	got = buf_span(room);
	end = got.len == 0 ? NULL : memmem(got.ptr, got.len, "\r\n\r\n", 4);
	*out = (struct within){.status = reply.status,
	    .body = end == NULL ? SPAN("")
				: span_from(got, (size_t)(end - got.ptr) + 4),
	    .handed_over = inner.handed_over,
	    .passed = inner.passed};
	reply_fini(&reply);
	return err == ERR_OK ? buf_end(room) : err;
}
