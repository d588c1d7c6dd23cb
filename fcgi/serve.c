/*
 * A request's life, in order:
 *
 *	uri -> query -> route -> auth -> params -> endpoint -> reply
 *
 * Of several nodes, seen.h comes first.
 *
 * A step that ends the request makes the answer and gives ERR_ANSWERED.
 */
#include "fcgi/serve.h"

#include <assert.h>
#include <string.h>

#include "common/arena.h"
#include "common/date.h"
#include "fcgi/auth.h"
#include "fcgi/call.h"
#include "fcgi/metrics.h"
#include "fcgi/route.h"
#include "fcgi/seen.h"
#include "fcgi/server.h"
#include "fcgi/steps.h"

#define RETRY_SECONDS 2

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

static bool
is_for_persons(const struct route *route)
{
	return route->auth == ROUTE_SESSION ||
	    route->auth == ROUTE_ADMINISTRATOR;
}

/* Whether the endpoint is for a caller of this kind. */
static enum err
check_kind(struct call *call)
{
	bool user = call->subject.kind == SUBJECT_USER;

	if (!user && is_for_persons(call->route))
		return reply_fail(call->reply, 403, CODE_FORBIDDEN,
		    "Only a person's session may do this, not an API key.");
	if (user && call->route->auth == ROUTE_KEY)
		return reply_fail(call->reply, 403, CODE_FORBIDDEN,
		    "Only an API key may do this, not a person's session.");
	if (call->route->auth == ROUTE_ADMINISTRATOR &&
	    call->subject.rights.role != ROLE_ADMINISTRATOR)
		return reply_fail(call->reply, 403, CODE_FORBIDDEN,
		    "Only an administrator may manage API keys and users.");
	return ERR_OK;
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
	return err == ERR_OK ? check_kind(call) : err;
}

static enum err
step_endpoint(struct call *call)
{
	assert(
	    !is_for_persons(call->route) || call->subject.kind == SUBJECT_USER);
	assert(call->route->auth == ROUTE_OPEN ||
	    call->subject.kind != SUBJECT_NOBODY);
	return call->route->run(call);
}

/* Each step gives ERR_OK to go on, or ERR_ANSWERED. */
static void
run_steps(struct call *call)
{
	static enum err (*const steps[])(struct call * call) = {
	    steps_query, step_route, step_auth, steps_params, step_endpoint};
	enum err err = views_renew(&call->serving->views);

	if (call->server->node != NULL && err == ERR_OK)
		err = seen_step(call);
	for (unsigned i = 0;
	     i < sizeof(steps) / sizeof(steps[0]) && err == ERR_OK; i++)
		err = steps[i](call);
	steps_end(call, err);
	if (call->server->node != NULL)
		seen_end(call);
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
	    date_monotonic_ns() - call->request->start_ns, call->reply->sent);
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
	serving->reply.behind_s =
	    metrics_behind_ms(call.server->metrics) / METRICS_BEHIND_MS;
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
	    date_monotonic_ns() - request->start_ns, reply.sent);
	reply_fini(&reply);
	return err;
}
