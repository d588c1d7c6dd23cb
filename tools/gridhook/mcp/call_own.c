/*
 * call_own: tools that the server answers itself: its status, the conversation,
 * a message shown.
 */
#include "tools/gridhook/mcp/call_priv.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "common/date.h"
#include "common/display.h"
#include "common/members.h"
#include "config.h"

#define HISTORY_LIMIT 20
#define NOT_RUNNING \
	"gridhook is not running, so %s: start it with \"gridhook\" or " \
	"\"systemctl --user start gridhook\"."

/* The members of the server's status, under the names of this answer. */
static void
put_server(struct calls *calls, struct jsonw *json)
{
	static const struct {
		const char *from, *to;
	} names[] = {{"listening", "listening"}, {"port", "port"},
	    {"path", "path"}, {"secretConfigured", "secret_configured"}};
	struct jsonw inner;
	struct jscan doc;
	struct buf buf;

	buf_init(&buf, 65536);
	jsonw_init(&inner, &buf);
	calls->status(calls->status_arg, &inner);
	if (jsonw_end(&inner) == ERR_OK &&
	    jscan_parse(&doc, buf_span(&buf), 8, NULL) == ERR_OK) {
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			jsonw_key(json, names[i].to);
			jsonw_raw(json,
			    jval_raw(
				jval_member(jscan_root(&doc), names[i].from)));
		}
		jscan_fini(&doc);
	}
	buf_fini(&buf);
}

/* For each tool whether it works here, and why not. */
void
call_put_tools(struct calls *calls, struct span speech, struct jsonw *json)
{
	struct works_facts facts = {
	    .window = calls->relay != NULL && relay_has_window(calls->relay),
	    .speech = speech};

	jsonw_key(json, "tools");
	jsonw_array_begin(json);
	for (unsigned i = 0; i < TOOL_COUNT; i++) {
		facts.offered = calls_offer(calls, &toolset[i]);
		works_write(&calls->works, json, &toolset[i], &facts);
	}
	jsonw_array_end(json);
}

static enum err
tell_status(struct calls *calls, struct jsonw *json)
{
	int64_t up = date_monotonic_ns() - calls->started_ns;
	struct journal *journal = calls->journal;

	jsonw_object_begin(json);
	members_string(json, "app", calls->settings->app);
	members_string(json, "version", PACKAGE_VERSION);
	members_int(json, "uptime_s", up / 1000000000);
	members_string(json, "hud_state",
	    calls->relay == NULL ? "none" : relay_hud(calls->relay));
	members_bool(json, "display", display_is_named());
	if (calls->status != NULL)
		put_server(calls, json);
	members_bool(json, "window_attached",
	    calls->relay != NULL && relay_has_window(calls->relay));
	if (journal != NULL) {
		members_int(
		    json, "stored_events", (int64_t)journal_count(journal));
		members_int(
		    json, "pending_events", (int64_t)journal_pending(journal));
	}
	if (calls->relay != NULL)
		members_int(json, "unread", relay_unread(calls->relay));
	call_put_tools(calls, SPAN(""), json);
	jsonw_object_end(json);
	return ERR_OK;
}

static void
answer_status(struct calls *calls, struct jval args, struct result *result)
{
	struct jsonw json;
	struct buf buf;

	(void)args;
	buf_init(&buf, OWN_MAX);
	jsonw_init(&json, &buf);
	tell_status(calls, &json);
	if (jsonw_end(&json) == ERR_OK)
		result_structured(result, buf_span(&buf));
	else
		result_error(result, "The status could not be written.");
	buf_fini(&buf);
}

static void
answer_history(struct calls *calls, struct jval args, struct result *result)
{
	struct arena *arena = arena_new(65536);
	struct jval before = jval_member(args, "before");
	int64_t limit = HISTORY_LIMIT;
	struct span id = SPAN("");
	struct jsonw json;
	struct buf buf;
	bool found = true;
	enum err err = ERR_NO_MEMORY;

	jval_int(jval_member(args, "limit"), &limit);
	if (arena != NULL)
		id = jval_text(before, arena);
	buf_init(&buf, OWN_MAX);
	jsonw_init(&json, &buf);
	jsonw_object_begin(&json);
	if (calls->journal == NULL) {
		result_error(result, NOT_RUNNING, "there is no history");
		goto out;
	}
	if (arena != NULL)
		err = journal_history(
		    calls->journal, &json, (unsigned)limit, id, &found);
	jsonw_object_end(&json);
	if (err == ERR_OK)
		err = jsonw_end(&json);
	if (err != ERR_OK)
		result_error(
		    result, "The history cannot be read: %s.", err_text(err));
	else if (!found)
		result_error(result,
		    "There is no message with the id given as \"before\"; "
		    "leave it out for the newest ones.");
	else
		result_structured(result, buf_span(&buf));
out:
	buf_fini(&buf);
	arena_free(arena);
}

/* No window: the message waits for one, as a push would. */
static void
answer_message(struct calls *calls, struct jval args, struct result *result)
{
	struct arena *arena = arena_new((size_t)1 << 20);
	struct event event = {
	    .source = span_of(calls->settings->app), .markdown = true};
	struct event_place place = {.push = SPAN("show_message"), .count = 1};
	char text[160], id[64];
	enum err err = ERR_NO_MEMORY;

	if (calls->journal == NULL) {
		result_error(result, NOT_RUNNING, "the message was not kept");
		arena_free(arena);
		return;
	}
	if (arena != NULL) {
		event.text = jval_text(jval_member(args, "text"), arena);
		if (jval_is(jval_member(args, "role"), SPAN("system")))
			event.kind = EVENT_STATUS;
		event_finish(&event, arena);
		err = journal_add(calls->journal, &event, &place);
	}
	if (err == ERR_OK) {
		event_id(
		    id, sizeof(id), journal_epoch(calls->journal), place.seq);
		snprintf(text, sizeof(text),
		    "{\"id\":\"%s\",\"shown\":false,\"queued\":true}", id);
		result_structured(result, span_of(text));
	} else
		result_error(
		    result, "The message cannot be kept: %s.", err_text(err));
	arena_free(arena);
}

static const struct own owns[] = {
    {"get_app_status", false, true, answer_status},
    {"get_conversation_history", false, false, answer_history},
    {"show_message", true, false, answer_message},
};

const struct own *
call_own(const struct desk_tool *tool)
{
	for (size_t i = 0; i < sizeof(owns) / sizeof(owns[0]); i++)
		if (strcmp(owns[i].name, tool->shown.name) == 0)
			return &owns[i];
	return NULL;
}
