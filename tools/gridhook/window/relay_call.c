/* Calls of the window's tools: each ends once, whatever happens to it. */
#include "common/members.h"
#include "tools/gridhook/window/relay_priv.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define CALLS_MAX 64

static void
forget_call(struct relay_call *call)
{
	loop_timer_stop(&call->timer);
	*call->link = call->next;
	if (call->next != NULL)
		call->next->link = call->link;
	call->relay->call_count--;
	free(call);
}

static void
finish_call(struct relay_call *call, const struct result *result)
{
	void (*done)(void *arg, const struct result *result_) = call->done;
	void *arg = call->arg;

	forget_call(call);
	done(arg, result);
}

static void
fail_call(struct relay_call *call, const char *text)
{
	struct result result;

	result_init(&result);
	result_error(&result, "%s", text);
	finish_call(call, &result);
	result_fini(&result);
}

static void
tell_cancel(struct relay *relay, uint64_t id)
{
	struct jsonw json;

	if (relay->window == NULL)
		return;
	relay_line_begin(relay, &json, "cancel");
	members_int(&json, "id", (int64_t)id);
	relay_line_end(relay, &json, relay->window);
}

static void
on_call_deadline(struct loop_timer *timer)
{
	struct relay_call *call = (struct relay_call *)((char *)timer -
	    offsetof(struct relay_call, timer));
	char text[160];

	snprintf(text, sizeof(text),
	    "%s timed out: the interface window gave no answer within %d ms.",
	    call->tool, call->deadline_ms);
	tell_cancel(call->relay, call->id);
	fail_call(call, text);
}

struct relay_call *
relay_call(struct relay *relay, const char *tool, struct span args,
    int deadline_ms, void (*done)(void *arg, const struct result *result),
    void *arg)
{
	struct relay_call *call;
	struct jsonw json;

	assert(tool != NULL && done != NULL && deadline_ms > 0);
	if (relay->window == NULL || relay->call_count >= CALLS_MAX)
		return NULL;
	call = calloc(1, sizeof(*call));
	if (call == NULL)
		return NULL;
	*call = (struct relay_call){.relay = relay,
	    .next = relay->calls,
	    .link = &relay->calls,
	    .id = ++relay->call_last,
	    .deadline_ms = deadline_ms,
	    .tool = tool,
	    .done = done,
	    .arg = arg};
	if (call->next != NULL)
		call->next->link = &call->next;
	relay->calls = call;
	relay->call_count++;
	call->timer.fire = on_call_deadline;
	loop_timer_set(relay->loop, &call->timer, deadline_ms);
	relay_line_begin(relay, &json, "call");
	members_int(&json, "id", (int64_t)call->id);
	members_string(&json, "name", tool);
	jsonw_key(&json, "args");
	jsonw_raw(&json, args);
	members_int(&json, "deadline_ms", deadline_ms);
	relay_line_end(relay, &json, relay->window);
	return call;
}

void
relay_call_cancel(struct relay_call *call)
{
	assert(call == NULL || call->relay->call_count > 0);
	if (call == NULL)
		return;
	tell_cancel(call->relay, call->id);
	forget_call(call);
}

void
relay_fail_calls(struct relay *relay, const char *text)
{
	assert(text != NULL);
	while (relay->calls != NULL)
		fail_call(relay->calls, text);
}

static struct relay_call *
find_call(struct relay *relay, struct jval id)
{
	int64_t number = 0;

	if (!jval_int(id, &number))
		return NULL;
	for (struct relay_call *call = relay->calls; call != NULL;
	     call = call->next)
		if (call->id == (uint64_t)number)
			return call;
	return NULL;
}

static void
take_result(struct relay_call *call, struct jval line)
{
	struct jval error = jval_member(line, "error");
	struct arena *arena = arena_new(65536);
	struct result result;

	result_init(&result);
	if (jval_type(jval_member(line, "ok")) == JTRUE) {
		if (!result_take(&result, line))
			result_error(&result,
			    "The interface window's result is not "
			    "understood.");
	} else if (arena != NULL && jval_type(error) == JSTRING)
		result_error(
		    &result, "%.*s", SPAN_ARG(jval_text(error, arena)));
	else
		result_error(&result, "The interface window failed.");
	finish_call(call, &result);
	result_fini(&result);
	arena_free(arena);
}

/* The call may be over: it was cancelled, or its deadline came. */
bool
relay_on_result(struct peer *peer, struct jval line)
{
	struct relay_call *call =
	    find_call(peer->relay, jval_member(line, "id"));

	assert(peer->relay != NULL);
	if (call != NULL && peer->relay->window == peer)
		take_result(call, line);
	return true;
}
