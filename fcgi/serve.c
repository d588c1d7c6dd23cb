/*
 * A request's life, in order:
 *
 *	uri -> query -> route -> auth -> params -> endpoint -> reply
 *
 * Each step answers by itself when it ends the request.
 */
#include "fcgi/serve.h"

#include <string.h>

#include "common/arena.h"
#include "common/date.h"
#include "fcgi/auth.h"
#include "fcgi/call.h"
#include "fcgi/metrics.h"
#include "fcgi/route.h"
#include "fcgi/server.h"
#include "lmdb-schema/facts/live.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/state/state.h"
#include "fcgi/fail.h"

#define RETRY_SECONDS 2

static enum err
take_views(struct serving *serving)
{
	enum err err = live_view_renew(serving->live);

	if (err == ERR_OK)
		err = catalog_view_renew(serving->catalog);
	if (err == ERR_OK)
		err = state_view_renew(serving->state);
	return err;
}

static void
rest_views(struct serving *serving)
{
	live_view_rest(serving->live);
	catalog_view_rest(serving->catalog);
	state_view_rest(serving->state);
}

static bool
step_query(struct call *call)
{
	struct fault fault;

	fault_clear(&fault);
	if (query_parse(&call->query, call->request->uri, call->serving->arena,
		&fault) == ERR_OK)
		return true;
	reply_fail(call->reply, 400, CODE_BAD_REQUEST, "%s %s", fault.place,
	    fault.message);
	return false;
}

static bool
step_route(struct call *call)
{
	char allowed[64];
	enum err err = route_find(call, allowed);

	if (err == ERR_OK)
		return true;
	if (err == ERR_NOT_FOUND) {
		reply_fail(call->reply, 404, CODE_NOT_FOUND,
		    "There is nothing at this path; /api/v1/openapi.json "
		    "lists what there is.");
		return false;
	}
	if (call->request->method == METHOD_OPTIONS) {
		call->reply->status = 204;
	} else
		reply_fail(call->reply, 405, CODE_BAD_REQUEST,
		    "This path does not know the method %.*s, only %s.",
		    call->request->method_text.len > 20
			? 20
			: (int)call->request->method_text.len,
		    call->request->method_text.ptr, allowed);
	reply_header(call->reply, "Allow", "%s", allowed);
	return false;
}

static bool
step_auth(struct call *call)
{
	enum err err;

	if (call->route->auth == ROUTE_OPEN)
		return true;
	err = auth_subject(call);
	if (err == ERR_DENIED)
		auth_refuse(call);
	else if (err != ERR_OK)
		fail_storage(call, err);
	else if (call->subject.kind == SUBJECT_USER &&
	    auth_changes(call->request) && !auth_same_site(call))
		return false;
	else if (call->route->auth == ROUTE_SESSION &&
	    call->subject.kind != SUBJECT_USER) {
		reply_fail(call->reply, 403, CODE_FORBIDDEN,
		    "Only a person's session may do this, not an API key.");
		return false;
	}
	return err == ERR_OK;
}

static bool
step_params(struct call *call)
{
	struct serving *serving = call->serving;
	enum err err;

	buf_clear(&serving->message);
	buf_clear(&serving->details);
	err = params_read(&call->params, &call->query, call->route->use,
	    &serving->message, &serving->details);
	if (err == ERR_BAD_INPUT)
		reply_error(call->reply, 400, CODE_BAD_REQUEST,
		    buf_span(&serving->message), buf_span(&serving->details));
	else if (err != ERR_OK)
		fail_storage(call, err);
	return err == ERR_OK;
}

static void
run_steps(struct call *call)
{
	enum err err = take_views(call->serving);

	if (err != ERR_OK)
		fail_storage(call, err);
	else if (step_query(call) && step_route(call) && step_auth(call) &&
	    step_params(call))
		call->route->run(call);
	if (call->reply->err != ERR_OK || call->reply->body.err != ERR_OK) {
		err = call->reply->err == ERR_OK ? call->reply->body.err
						 : call->reply->err;
		if (!call->reply->streaming)
			fail_storage(call, err);
	}
}

static void
note_end(struct call *call, enum err err)
{
	struct metrics *metrics = call->server->metrics;
	unsigned endpoint = route_count;

	if (call->handed_over)
		return; /* whoever answers counts it */
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
	rest_views(serving);
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
