/*
 * A request's life, in order:
 *
 *	uri -> query -> route -> auth -> params -> endpoint -> reply
 *
 * A step that ends the request makes the answer and gives ERR_ANSWERED.
 */
#include "fcgi/serve.h"

#include <assert.h>
#include <string.h>

#include "common/arena.h"
#include "common/date.h"
#include "common/members.h"
#include "fcgi/auth.h"
#include "fcgi/call.h"
#include "fcgi/fail.h"
#include "fcgi/http/format.h"
#include "fcgi/metrics.h"
#include "fcgi/route.h"
#include "fcgi/server.h"

#define RETRY_SECONDS 2

/* As params_read() tells what is wrong with a parameter. */
static enum err
refuse_pair(struct call *call, const struct fault *fault)
{
	struct buf *message = &call->serving->message;
	struct jsonw json;

	buf_clear(message);
	buf_addf(message, "%s %s", fault->place, fault->message);
	if (buf_end(message) != ERR_OK)
		return buf_end(message);
	fail_begin(&json, call);
	jsonw_key(&json, "issues");
	jsonw_array_begin(&json);
	jsonw_object_begin(&json);
	members_text(&json, "parameter", span_of(fault->place));
	members_text(&json, "message", span_of(fault->message));
	jsonw_object_end(&json);
	jsonw_array_end(&json);
	return fail_end(&json, call, 400, CODE_BAD_REQUEST, buf_span(message));
}

static enum err
step_query(struct call *call)
{
	struct fault fault;
	enum err err;

	fault_clear(&fault);
	err = query_parse(
	    &call->query, call->request->uri, call->serving->arena, &fault);
	if (err == ERR_OK)
		return ERR_OK;
	if (call->query.bad_pair)
		return refuse_pair(call, &fault);
	return reply_fail(call->reply, 400, CODE_BAD_REQUEST, "%s %s",
	    fault.place, fault.message);
}

/* A path that exists, asked by a method that it does not have. */
static enum err
refuse_method(struct call *call, const char *allowed)
{
	struct span method = call->request->method_text;

	if (call->request->method == METHOD_OPTIONS)
		call->reply->status = 204;
	else
		reply_fail(call->reply, 405, CODE_BAD_REQUEST,
		    "This path does not know the method %.*s, only %s.",
		    method.len > 20 ? 20 : (int)method.len, method.ptr,
		    allowed);
	reply_header(call->reply, "Allow", "%s", allowed);
	return ERR_ANSWERED;
}

static enum err
step_route(struct call *call)
{
	char allowed[64];
	enum err err = route_find(call, allowed);

	if (err == ERR_NOT_FOUND)
		return reply_fail(call->reply, 404, CODE_NOT_FOUND,
		    "There is nothing at this path; /api/v1/openapi.json "
		    "lists what there is.");
	return err == ERR_OK ? ERR_OK : refuse_method(call, allowed);
}

static enum err
step_auth(struct call *call)
{
	bool user;
	enum err err;

	if (call->route->auth == ROUTE_OPEN)
		return ERR_OK;
	err = auth_subject(call);
	if (err == ERR_DENIED)
		return auth_refuse(call);
	user = call->subject.kind == SUBJECT_USER;
	if (err == ERR_OK && user && !route_reads(call->request))
		err = auth_same_site(call);
	if (err == ERR_OK)
		err = auth_rate(call);
	if (err == ERR_OK && !user && call->route->auth == ROUTE_SESSION)
		return reply_fail(call->reply, 403, CODE_FORBIDDEN,
		    "Only a person's session may do this, not an API key.");
	return err;
}

/* Says which formats there are. */
static enum err
refuse_format(struct call *call)
{
	struct buf *message = &call->serving->message;
	struct jsonw json;

	buf_clear(message);
	fail_begin(&json, call);
	jsonw_key(&json, "formats");
	jsonw_array_begin(&json);
	buf_add_text(message, "There is no such format; format is one of");
	for (unsigned i = 0; i < FORMATS; i++) {
		const struct format_info *info = &format_infos[i];

		buf_addf(message, "%s %.*s", i == 0 ? "" : ",",
		    SPAN_ARG(info->name));
		jsonw_object_begin(&json);
		members_text(&json, "format", info->name);
		members_text(&json, "type", info->type);
		jsonw_object_end(&json);
	}
	jsonw_array_end(&json);
	if (buf_end(message) != ERR_OK)
		return buf_end(message);
	return fail_end(&json, call, 406, CODE_BAD_REQUEST, buf_span(message));
}

static enum err
step_params(struct call *call)
{
	struct serving *serving = call->serving;
	enum err err;

	buf_clear(&serving->message);
	buf_clear(&serving->details);
	err = params_read(&call->params, &call->query, call->route->use,
	    serving->arena, &serving->message, &serving->details);
	if (err == ERR_OK && call->params.format == FORMATS)
		return refuse_format(call);
	if (err != ERR_BAD_INPUT)
		return err;
	return reply_error(call->reply, 400, CODE_BAD_REQUEST,
	    buf_span(&serving->message), buf_span(&serving->details));
}

static enum err
step_endpoint(struct call *call)
{
	assert(call->route->auth != ROUTE_SESSION ||
	    call->subject.kind == SUBJECT_USER);
	assert(call->route->auth == ROUTE_OPEN ||
	    call->subject.kind != SUBJECT_NOBODY);
	return call->route->run(call);
}

/*
 * Each step gives ERR_OK to go on, or ERR_ANSWERED. Any other failure means
 * that memory is out or that the storage is damaged or unreadable, which the
 * door to it has logged: its 500 is made here and nowhere else.
 */
static void
run_steps(struct call *call)
{
	static enum err (*const steps[])(struct call * call) = {
	    step_query, step_route, step_auth, step_params, step_endpoint};
	struct reply *reply = call->reply;
	enum err err = views_renew(&call->serving->views);

	for (unsigned i = 0;
	     i < sizeof(steps) / sizeof(steps[0]) && err == ERR_OK; i++)
		err = steps[i](call);
	if (err == ERR_ANSWERED)
		err = ERR_OK;
	/* The writers of an answer keep their first failure; see reply.h. */
	if (err == ERR_OK && !reply->streaming)
		err = reply->err == ERR_OK ? reply->body.err : reply->err;
	if (err != ERR_OK)
		reply_fail(reply, 500, CODE_INTERNAL,
		    "The data could not be read (%s). The request can be "
		    "repeated; the server's log says more.",
		    err_text(err));
}

static void
note_end(struct call *call, enum err err)
{
	struct metrics *metrics = call->server->metrics;
	unsigned endpoint = route_count;

	if (call->handed_over)
		return; /* the pool that answers counts it */
	if (call->route != NULL)
		endpoint = (unsigned)(call->route - routes);
	metrics_count(metrics, endpoint, call->reply->status,
	    date_monotonic_ns() - call->request->start_ns);
	metrics->bytes_out += call->reply->sent;
	if (err == ERR_CLOSED)
		metrics->requests_aborted++;
}

enum err
serve(struct serving *serving, const struct request *request, struct sink *out)
{
	struct call call;
	enum err err;

	assert(serving->held_count == 0 && out != NULL);
	memset(&call, 0, offsetof(struct call, query));
	call.serving = serving;
	call.server = serving->server;
	call.request = request;
	call.reply = &serving->reply;
	arena_reset(serving->arena);
	reply_begin(&serving->reply, out, request);
	run_steps(&call);
	err = reply_end(&serving->reply);
	call_release_held(serving);
	views_rest(&serving->views);
	serving_give_back(serving);
	note_end(&call, err);
	return err;
}

enum err
serve_without_store(
    struct metrics *metrics, const struct request *request, struct sink *out)
{
	struct reply reply;
	enum err err;

	assert(metrics != NULL && out != NULL);
	reply_init(&reply);
	reply_begin(&reply, out, request);
	reply_fail(&reply, 503, CODE_INTERNAL,
	    "The server cannot open its data at present; its log says why. "
	    "The request can be repeated.");
	reply_header(&reply, "Retry-After", "%d", RETRY_SECONDS);
	err = reply_end(&reply);
	metrics_count(metrics, route_count, reply.status,
	    date_monotonic_ns() - request->start_ns);
	metrics->bytes_out += reply.sent;
	reply_fini(&reply);
	return err;
}
