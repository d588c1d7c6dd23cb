#include "tools/gridhook/mcp/call.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/date.h"
#include "common/log.h"
#include "common/mcp/toolargs.h"
#include "common/members.h"
#include "config.h"
#include "tools/gridhook/mcp/call_priv.h"

struct mcp_call {
	struct calls *calls;
	struct helper *helper;
	struct relay_call *relayed;
	const struct desk_tool *tool;
	void (*done)(void *arg, const struct result *result);
	void *arg;
};

bool
calls_offer(const struct calls *calls, const struct desk_tool *tool)
{
	assert(calls->settings != NULL && tool != NULL);
	return !settings_list_has(
		   calls->settings->disabled, span_of(tool->shown.name)) &&
	    (tool->shown.read_only || !calls->settings->read_only);
}

void
calls_fini(struct calls *calls)
{
	works_fini(&calls->works);
}

const struct desk_tool *
calls_find(const struct calls *calls, struct jval name)
{
	assert(calls->settings != NULL);
	for (unsigned i = 0; i < TOOL_COUNT; i++)
		if (jval_is(name, span_of(toolset[i].shown.name)))
			return calls_offer(calls, &toolset[i]) ? &toolset[i]
							       : NULL;
	return NULL;
}

/* --- pace ----------------------------------------------------------------- */

/* True, or the milliseconds until it will be. */
static bool
take_token(struct calls *calls, enum tool_pace pace, int64_t *wait_ms)
{
	struct bucket *bucket = &calls->buckets[pace];
	double rate = (double)calls->settings->rate[pace];
	double burst = (double)calls->settings->burst[pace];
	int64_t now = date_monotonic_ns();

	if (bucket->last_ns == 0)
		bucket->tokens = burst;
	else
		bucket->tokens += rate * (double)(now - bucket->last_ns) / 1e9;
	if (bucket->tokens > burst)
		bucket->tokens = burst;
	bucket->last_ns = now;
	if (bucket->tokens >= 1) {
		bucket->tokens -= 1;
		return true;
	}
	*wait_ms = (int64_t)((1 - bucket->tokens) / rate * 1000) + 1;
	return false;
}

/* --- the call ------------------------------------------------------------- */

static void
refuse(const struct desk_tool *tool, const struct fault *fault,
    void (*done)(void *arg, const struct result *result), void *arg)
{
	struct result result;

	result_init(&result);
	result_error(&result, "Wrong arguments for %s: %s %s.",
	    tool->shown.name, fault->place, fault->message);
	done(arg, &result);
	result_fini(&result);
}

static void
say_error(void (*done)(void *arg, const struct result *result), void *arg,
    const char *text)
{
	struct result result;

	result_init(&result);
	result_error(&result, "%s", text);
	done(arg, &result);
	result_fini(&result);
}

static void
on_done(void *arg, const struct result *result)
{
	struct mcp_call *call = arg;
	void (*done)(void *arg_, const struct result *result_) = call->done;
	void *done_arg = call->arg;

	free(call);
	done(done_arg, result);
}

/* The window's status lacks what only the server and its helper know. */
static void
on_status(void *arg, const struct result *result)
{
	struct mcp_call *call = arg;
	struct span object = buf_span(&result->structured);
	struct arena *arena = arena_new(65536);
	struct result whole;
	struct jscan doc;
	struct jwalk walk;
	struct jval name, value;
	struct jsonw json;
	struct buf buf;

	result_init(&whole);
	buf_init(&buf, OWN_MAX);
	if (arena != NULL && !result->is_error &&
	    jscan_parse(&doc, object, 64, NULL) == ERR_OK) {
		jsonw_init(&json, &buf);
		jsonw_object_begin(&json);
		walk = jwalk_begin(jscan_root(&doc));
		while (jwalk_next(&walk, &name, &value)) {
			if (jval_is(name, SPAN("tools")) ||
			    jval_is(name, SPAN("uptime_s")))
				continue;
			jsonw_key_span(&json, jval_text(name, arena));
			jsonw_raw(&json, jval_raw(value));
		}
		members_int(&json, "uptime_s",
		    (date_monotonic_ns() - call->calls->started_ns) /
			1000000000);
		call_put_tools(call->calls,
		    jval_text(
			jval_member(jscan_root(&doc), "speech_why_not"), arena),
		    &json);
		jsonw_object_end(&json);
		if (jsonw_end(&json) == ERR_OK)
			result_structured(&whole, buf_span(&buf));
		jscan_fini(&doc);
	}
	on_done(call, whole.structured.len > 0 ? &whole : result);
	result_fini(&whole);
	buf_fini(&buf);
	arena_free(arena);
}

/* A window that shows a message need not tell its id. */
static void
on_shown(void *arg, const struct result *result)
{
	static unsigned long shown;
	struct result with_id;
	char text[80];

	if (result->is_error || result->structured.len > 0) {
		on_done(arg, result);
		return;
	}
	snprintf(text, sizeof(text),
	    "{\"id\":\"shown-%lu\",\"shown\":true,\"queued\":false}", ++shown);
	result_init(&with_id);
	result_structured(&with_id, span_of(text));
	on_done(arg, &with_id);
	result_fini(&with_id);
}

static bool
goes_to_window(const struct calls *calls, const struct desk_tool *tool,
    const struct own *own)
{
	if (tool->by == TOOL_BY_WINDOW)
		return true;
	return own != NULL && calls->relay != NULL &&
	    relay_has_window(calls->relay) &&
	    (own->window_first ||
		relay_window_does(calls->relay, tool->shown.name));
}

/*
 * The function that takes a window's result; on_done() passes it on as it is.
 */
static void (*taker_of(const struct own *own))(
    void *arg, const struct result *result)
{
	if (own == NULL)
		return on_done;
	return own->window_first ? on_shown
	    : own->needs_works   ? on_status
				 : on_done;
}

static bool
hand_over(struct calls *calls, struct mcp_call *call, struct jval args,
    const struct own *own)
{
	const struct desk_tool *tool = call->tool;
	struct buf text;

	buf_init(&text, RESULT_MAX);
	if (jval_is_absent(args))
		buf_add_text(&text, "{}");
	else
		jval_compact(args, &text);
	if (buf_end(&text) == ERR_OK && goes_to_window(calls, tool, own)) {
		if (calls->relay != NULL)
			call->relayed = relay_call(calls->relay,
			    tool->shown.name, buf_span(&text),
			    tool->deadline_ms, taker_of(own), call);
	} else if (buf_end(&text) == ERR_OK && calls->helpers != NULL)
		call->helper = helper_start(calls->helpers, tool->shown.name,
		    buf_span(&text), tool->deadline_ms, on_done, call);
	buf_fini(&text);
	return call->helper != NULL || call->relayed != NULL;
}

static const char *
why_not(const struct calls *calls, const struct desk_tool *tool)
{
	if (tool->by == TOOL_BY_HELPER)
		return "Too many tools are at work; try again in a while.";
	if (calls->relay == NULL || !relay_has_window(calls->relay))
		return "No interface window is attached.";
	return "The interface window is busy; try again in a while.";
}

/* By the window where it can, else by the server. */
static void
answer_with_works(struct mcp_call *call)
{
	static const struct jval none = {NULL, NULL};
	const struct own *own = call_own(call->tool);
	struct result result;

	if (goes_to_window(call->calls, call->tool, own) &&
	    hand_over(call->calls, call, none, own))
		return;
	result_init(&result);
	own->answer(call->calls, none, &result);
	on_done(call, &result);
	result_fini(&result);
}

static void
on_works(void *arg, const struct result *result)
{
	struct mcp_call *call = arg;

	call->helper = NULL;
	works_take(&call->calls->works, result);
	answer_with_works(call);
}

static struct mcp_call *
start(struct calls *calls, const struct desk_tool *tool, struct jval args,
    void (*done)(void *arg, const struct result *result), void *arg)
{
	const struct own *own = call_own(tool);
	struct result result;
	struct mcp_call *call;

	call = calloc(1, sizeof(*call));
	if (call == NULL) {
		say_error(done, arg, err_text(ERR_NO_MEMORY));
		return NULL;
	}
	*call = (struct mcp_call){
	    .calls = calls, .tool = tool, .done = done, .arg = arg};
	if (own != NULL && own->needs_works && calls->helpers != NULL &&
	    !works_is_fresh(&calls->works)) {
		call->helper = helper_start(calls->helpers, WORKS_TOOL,
		    SPAN("{}"), WORKS_MS, on_works, call);
		if (call->helper != NULL)
			return call;
	}
	if (own != NULL && !goes_to_window(calls, tool, own)) {
		free(call);
		result_init(&result);
		own->answer(calls, args, &result);
		done(arg, &result);
		result_fini(&result);
		return NULL;
	}
	if (hand_over(calls, call, args, own))
		return call;
	free(call);
	say_error(done, arg, why_not(calls, tool));
	return NULL;
}

struct mcp_call *
call_start(struct calls *calls, const struct desk_tool *tool, struct jval args,
    void (*done)(void *arg, const struct result *result), void *arg)
{
	struct fault fault = {.place = ""};
	int64_t wait_ms;
	char text[160];

	assert(calls->settings != NULL && tool != NULL && done != NULL);
	if (toolargs_check(&tool->shown, args, &fault) != ERR_OK) {
		refuse(tool, &fault, done, arg);
		return NULL;
	}
	if (!take_token(calls, tool->pace, &wait_ms)) {
		snprintf(text, sizeof(text),
		    "Too many calls: %s may be called %" PRId64
		    " times a second; try again in %" PRId64 " ms.",
		    tool->shown.name, calls->settings->rate[tool->pace],
		    wait_ms);
		say_error(done, arg, text);
		return NULL;
	}
	log_info("tool called: name=%s", tool->shown.name);
	return start(calls, tool, args, done, arg);
}

void
call_cancel(struct mcp_call *call)
{
	assert(call == NULL || call->calls != NULL);
	if (call == NULL)
		return;
	log_info("tool call cancelled: name=%s", call->tool->shown.name);
	helper_cancel(call->helper);
	relay_call_cancel(call->relayed);
	free(call);
}
