#include "fcgi/seen.h"

#include <assert.h>
#include <stdio.h>
#include <unistd.h>

#include "common/date.h"
#include "common/num.h"
#include "fcgi/auth.h"
#include "fcgi/route.h"
#include "fcgi/settings.h"
#include "lmdb-schema/state/state.h"
#include "lmdb-schema/store/store.h"

#define PAUSE_US 4000
#define RETRY_S 1
#define COOKIE SPAN("grid_seen=")
/* A node that is connected has it long before. */
#define COOKIE_S 10

/* "state:12" */
static bool
read_number(uint64_t *number, struct span text)
{
	static const struct span log = {"state:", 6};
	int64_t value;

	if (!span_starts(text, log) ||
	    !num_int(&value, span_from(text, log.len), 0, INT64_MAX - 1))
		return false;
	*number = (uint64_t)value;
	return true;
}

/* The screen's: one that is not right counts as none. */
static uint64_t
of_cookie(const struct request *request)
{
	struct span pair, rest = request->cookie;
	uint64_t number = 0;

	while (span_cut(&pair, &rest, ';')) {
		pair = span_trim(pair);
		if (span_starts(pair, COOKIE) &&
		    read_number(&number, span_from(pair, COOKIE.len)))
			return number;
	}
	return 0;
}

/* As far as the views show it. */
static enum err
look(struct call *call)
{
	return state_view_number(
	    &call->reply->seen, call->serving->views.state);
}

static enum err
renew(struct views *views)
{
	views_rest(views);
	usleep(PAUSE_US);
	return views_renew(views);
}

static bool
has_gone(const struct request *request)
{
	return request->gone != NULL && request->gone(request->connection);
}

static enum err
wait_for(struct call *call, uint64_t number)
{
	int64_t end = date_monotonic_ns() + SEEN_WAIT_MS * INT64_C(1000000);
	enum err err = look(call);

	while (err == ERR_OK && call->reply->seen < number &&
	    date_monotonic_ns() < end && !has_gone(call->request)) {
		err = renew(&call->serving->views);
		if (err == ERR_OK)
			err = look(call);
	}
	return err;
}

static enum err
refuse(struct call *call)
{
	reply_fail(call->reply, 503, CODE_INTERNAL,
	    "This node has not yet what X-Grid-Seen names. Nothing was done: "
	    "repeat the request, here or at another node.");
	reply_header(call->reply, "Retry-After", "%d", RETRY_S);
	return ERR_ANSWERED;
}

/* Half of the threads may wait: the others go on. */
static enum err
wait_in_turn(struct call *call, uint64_t number)
{
	struct server *server = call->server;
	const struct api_settings *settings = server->settings;
	unsigned threads =
	    (unsigned)(call->request->slow_pool ? settings->slow_threads
						: settings->pages_threads);
	enum err err = ERR_OK;

	if (atomic_fetch_add(&server->waiting, 1) < (threads + 1) / 2)
		err = wait_for(call, number);
	atomic_fetch_sub(&server->waiting, 1);
	return err;
}

enum err
seen_step(struct call *call)
{
	const struct request *request = call->request;
	uint64_t number = of_cookie(request);
	enum err err = look(call);

	assert(call->server->node != NULL);
	call->reply->node = call->server->node;
	/* Too low for a write: seen_end() has that. */
	call->reply->has_seen = route_reads(request);
	if (request->grid_seen.len > 0 &&
	    !read_number(&number, request->grid_seen))
		return reply_fail(call->reply, 400, CODE_BAD_REQUEST,
		    "X-Grid-Seen is state:NUMBER, as an answer had it.");
	if (err == ERR_OK && call->reply->seen < number)
		err = wait_in_turn(call, number);
	if (err == ERR_OK && call->reply->seen < number)
		return refuse(call);
	return err;
}

static bool
is_screen(const struct request *request)
{
	return span_starts(request->uri, SPAN("/app/"));
}

void
seen_end(struct call *call)
{
	struct reply *reply = call->reply;

	if (route_reads(call->request) || reply->begun || call->handed_over)
		return;
	reply->has_seen = store_place(call->server->store, STORE_STATE,
			      &reply->seen) == ERR_OK;
	if (reply->has_seen && is_screen(call->request) && reply->status < 300)
		reply_header(reply, "Set-Cookie",
		    "grid_seen=state:%llu; Path=/; HttpOnly; SameSite=Strict; "
		    "Max-Age=%d%s",
		    (unsigned long long)reply->seen, COOKIE_S,
		    auth_by_tls(call) ? "; Secure" : "");
}

void
seen_at_most(char text[SEEN_TEXT_MAX], struct call *call)
{
	uint64_t number;

	/* The next entry when it was tried, or one that came meanwhile. */
	text[0] = '\0';
	if (store_place(call->server->store, STORE_STATE, &number) == ERR_OK)
		snprintf(text, SEEN_TEXT_MAX, "state:%llu",
		    (unsigned long long)number + 1);
}
