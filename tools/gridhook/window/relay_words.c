/* Messages of a window, a function for each type. */
#include "common/members.h"
#include "tools/gridhook/window/relay_priv.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "common/log.h"

#define PROTOCOL 1

static void
send_welcome(struct relay *relay, struct peer *peer)
{
	struct jsonw json;

	relay_line_begin(relay, &json, "welcome");
	members_int(&json, "proto", PROTOCOL);
	members_string(&json, "epoch", journal_epoch(relay->journal));
	members_int(&json, "first", (int64_t)journal_first(relay->journal));
	members_int(&json, "next", (int64_t)journal_next(relay->journal));
	jsonw_key(&json, "status");
	relay->status(relay->status_arg, &json);
	relay_line_end(relay, &json, peer);
}

/* The last event that this window need not be sent. */
static uint64_t
start_after(struct relay *relay, struct jval hello)
{
	struct journal *journal = relay->journal;
	uint64_t last = journal_next(journal) - 1;
	int64_t ack = 0;

	if (jval_is(
		jval_member(hello, "epoch"), span_of(journal_epoch(journal))) &&
	    jval_int(jval_member(hello, "ack"), &ack) && ack >= 0) {
		if ((uint64_t)ack < last)
			last = (uint64_t)ack;
		journal_ack(journal, last);
		return last;
	}
	switch (relay->replay) {
	case REPLAY_ALL:
		return journal_first(journal) - 1;
	case REPLAY_NONE:
		return last;
	default:
		return journal_acked(journal);
	}
}

static void
read_caps(struct peer *peer, struct jval caps)
{
	struct jwalk walk = jwalk_begin(caps);
	struct jval name, each;
	struct span raw;
	size_t len = 1;

	snprintf(peer->caps, sizeof(peer->caps), " ");
	while (jwalk_next(&walk, &name, &each)) {
		raw = jval_raw(each);
		if (jval_type(each) != JSTRING || raw.len < 3 ||
		    len + raw.len > sizeof(peer->caps))
			continue;
		len +=
		    (size_t)snprintf(peer->caps + len, sizeof(peer->caps) - len,
			"%.*s ", SPAN_ARG(span_sub(raw, 1, raw.len - 2)));
	}
}

static bool
is_true(struct jval value)
{
	return span_eq(jval_raw(value), SPAN("true"));
}

static bool
on_hello(struct peer *peer, struct jval line)
{
	struct relay *relay = peer->relay;
	struct peer *old = relay->window;
	int64_t proto = 0;

	if (!jval_int(jval_member(line, "proto"), &proto) ||
	    proto != PROTOCOL) {
		relay_say_error(peer, "this server speaks protocol 1");
		lines_end(&peer->lines);
		return true;
	}
	if (peer->greeted)
		return true;
	peer->background = is_true(jval_member(line, "background"));
	peer->waits = peer->background && old != NULL && !old->background;
	if (peer->waits) {
		relay_say(peer, "taken");
		return true;
	}
	if (old != NULL) {
		relay_say(old, "superseded");
		lines_end(&old->lines);
		relay->window = NULL;
		relay_fail_calls(relay, "Another interface window took over.");
	}
	peer->greeted = true;
	peer->sent = peer->acked = start_after(relay, line);
	peer->old_before = journal_next(relay->journal);
	read_caps(peer, jval_member(line, "caps"));
	relay->window = peer;
	send_welcome(relay, peer);
	log_info("interface window attached: from=%" PRIu64 " next=%" PRIu64,
	    peer->sent + 1, journal_next(relay->journal));
	relay_pump(relay);
	return true;
}

static bool
on_ack(struct peer *peer, struct jval line)
{
	int64_t seq = 0;

	if (!jval_int(jval_member(line, "seq"), &seq) || seq < 0)
		return true;
	if ((uint64_t)seq > peer->sent) {
		log_warn(
		    "window acknowledged what it was not sent: seq=%" PRId64,
		    seq);
		return true;
	}
	if ((uint64_t)seq > peer->acked) {
		peer->acked = (uint64_t)seq;
		journal_ack(peer->relay->journal, (uint64_t)seq);
	}
	relay_pump(peer->relay);
	return true;
}

static bool
on_state(struct peer *peer, struct jval line)
{
	struct relay *relay = peer->relay;
	struct span hud = jval_raw(jval_member(line, "hud"));
	int64_t unread;

	if (hud.len > 2 && hud.ptr[0] == '"' &&
	    hud.len - 2 < sizeof(relay->hud))
		span_copy(relay->hud, sizeof(relay->hud),
		    span_sub(hud, 1, hud.len - 2));
	if (jval_int(jval_member(line, "unread"), &unread) && unread >= 0)
		relay->unread = unread;
	return true;
}

static bool
on_say(struct peer *peer, struct jval line)
{
	struct jval text = jval_member(line, "text");
	struct arena *arena = arena_new(RELAY_LINE_MAX);
	char id[64];

	if (arena != NULL && jval_type(text) == JSTRING)
		journal_say(peer->relay->journal,
		    jval_is(jval_member(line, "role"), SPAN("user"))
			? "user"
			: "assistant",
		    span_sub(jval_text(text, arena), 0, 65536), id);
	arena_free(arena);
	return true;
}

static bool
on_ping(struct peer *peer, struct jval line)
{
	(void)line;
	relay_say(peer, "pong");
	return true;
}

static bool
on_pong(struct peer *peer, struct jval line)
{
	(void)peer;
	(void)line;
	return true;
}

static const struct word {
	const char *type;
	bool before_hello;
	bool (*act)(struct peer *peer, struct jval line);
} words[] = {
    {"hello", true, on_hello},
    {"ack", false, on_ack},
    {"result", false, relay_on_result},
    {"state", false, on_state},
    {"say", false, on_say},
    {"ping", true, on_ping},
    {"pong", true, on_pong},
};

/* Unknown types are ignored: a newer window may send more. */
bool
relay_obey(struct peer *peer, struct jval line)
{
	struct jval type = jval_member(line, "t");

	assert(peer->relay != NULL);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!jval_is(type, span_of(words[i].type)))
			continue;
		/* A superseded window is ignored. */
		if (peer->greeted ? peer == peer->relay->window
				  : words[i].before_hello)
			return words[i].act(peer, line);
	}
	return true;
}
