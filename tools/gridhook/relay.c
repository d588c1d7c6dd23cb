#include "tools/gridhook/relay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/log.h"
#include "tools/gridhook/lines.h"

#define PROTOCOL 1
#define PEERS_MAX 8
#define CALLS_MAX 64
#define OUT_MAX ((size_t)8 << 20)
#define OUT_FULL \
	((size_t)1 << 20) /* no further events until it has drained \
			   */
#define PING_MS 15000
#define GONE_AFTER 3 /* pings without a word */
#define DEPTH_MAX 64

/* A peer; a window once it has said hello. */
struct peer {
	struct lines lines;
	struct relay *relay;
	struct peer *next, **link;
	struct loop_timer ping;
	unsigned silent; /* pings since its last word */
	bool greeted;
	uint64_t sent, acked;
	uint64_t old_before; /* events before this one are replayed */
	char caps[512]; /* " speech focus " */
};

struct relay_call {
	struct relay *relay;
	struct relay_call *next, **link;
	struct loop_timer timer;
	uint64_t id;
	int deadline_ms;
	const char *tool;
	void (*done)(void *arg, const struct result *result);
	void *arg;
};

struct relay {
	struct loop *loop;
	struct loop_io listener;
	char path[FS_PATH_MAX];
	struct journal *journal;
	enum settings_replay replay;
	relay_status status;
	void *status_arg;
	struct peer *peers;
	unsigned peer_count;
	struct peer *window;
	struct relay_call *calls;
	unsigned call_count;
	uint64_t call_last;
	char hud[32];
	int64_t unread;
	struct buf line;
};

/* --- sending -------------------------------------------------------------- */

/* Every line is {"t":"...", and more. */
static void
line_begin(struct relay *relay, struct jsonw *json, const char *type)
{
	buf_clear(&relay->line);
	jsonw_init(json, &relay->line);
	jsonw_object_begin(json);
	jsonw_key(json, "t");
	jsonw_text(json, type);
}

static void
line_end(struct relay *relay, struct jsonw *json, struct peer *peer)
{
	jsonw_object_end(json);
	if (jsonw_end(json) == ERR_OK)
		lines_send(&peer->lines, buf_span(&relay->line));
	else
		log_error("a line to the window was dropped: reason=%s",
		    err_text(jsonw_end(json)));
}

static void
send_simple(struct peer *peer, const char *type)
{
	struct jsonw json;

	line_begin(peer->relay, &json, type);
	line_end(peer->relay, &json, peer);
}

static void
send_error(struct peer *peer, const char *message)
{
	struct jsonw json;

	line_begin(peer->relay, &json, "error");
	jsonw_key(&json, "error");
	jsonw_text(&json, message);
	line_end(peer->relay, &json, peer);
}

/* --- calls ---------------------------------------------------------------- */

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
	line_begin(relay, &json, "cancel");
	jsonw_key(&json, "id");
	jsonw_int(&json, (int64_t)id);
	line_end(relay, &json, relay->window);
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
	line_begin(relay, &json, "call");
	jsonw_key(&json, "id");
	jsonw_int(&json, (int64_t)call->id);
	jsonw_key(&json, "name");
	jsonw_text(&json, tool);
	jsonw_key(&json, "args");
	jsonw_raw(&json, args);
	jsonw_key(&json, "deadline_ms");
	jsonw_int(&json, deadline_ms);
	line_end(relay, &json, relay->window);
	return call;
}

void
relay_call_cancel(struct relay_call *call)
{
	if (call == NULL)
		return;
	tell_cancel(call->relay, call->id);
	forget_call(call);
}

/* --- events --------------------------------------------------------------- */

static bool
may_send(const struct peer *window)
{
	return lines_waiting(&window->lines) < OUT_FULL &&
	    (window->sent == window->acked ||
		window->sent - window->acked < RELAY_FLIGHT);
}

static enum err
send_event(struct relay *relay, struct peer *window)
{
	struct jsonw json;
	struct buf record;
	uint64_t seq;
	enum err err;

	buf_init(&record, RELAY_LINE_MAX);
	err = journal_read(relay->journal, window->sent + 1, &seq, &record);
	if (err == ERR_OK) {
		line_begin(relay, &json, "event");
		jsonw_key(&json, "seq");
		jsonw_int(&json, (int64_t)seq);
		jsonw_key(&json, "replay");
		jsonw_bool(&json, seq < window->old_before);
		jsonw_key(&json, "event");
		jsonw_raw(&json, buf_span(&record));
		window->sent = seq;
		line_end(relay, &json, window);
	}
	buf_fini(&record);
	return err;
}

void
relay_pump(struct relay *relay)
{
	struct peer *window = relay->window;

	if (window == NULL)
		return;
	while (window->sent + 1 < journal_next(relay->journal) &&
	    may_send(window)) {
		if (send_event(relay, window) != ERR_OK)
			return;
	}
}

/* --- what a window says --------------------------------------------------- */

static bool
drop_peer(struct peer *peer, const char *why)
{
	struct relay *relay = peer->relay;
	bool was_window = relay->window == peer;

	log_info("interface window gone: reason=%s", why);
	if (was_window)
		relay->window = NULL;
	*peer->link = peer->next;
	if (peer->next != NULL)
		peer->next->link = peer->link;
	relay->peer_count--;
	loop_timer_stop(&peer->ping);
	lines_close(&peer->lines);
	free(peer);
	while (was_window && relay->window == NULL && relay->calls != NULL)
		fail_call(relay->calls,
		    "The interface window went away during the call.");
	return false;
}

static void
send_welcome(struct relay *relay, struct peer *peer)
{
	struct jsonw json;

	line_begin(relay, &json, "welcome");
	jsonw_key(&json, "proto");
	jsonw_int(&json, PROTOCOL);
	jsonw_key(&json, "epoch");
	jsonw_text(&json, journal_epoch(relay->journal));
	jsonw_key(&json, "first");
	jsonw_int(&json, (int64_t)journal_first(relay->journal));
	jsonw_key(&json, "next");
	jsonw_int(&json, (int64_t)journal_next(relay->journal));
	jsonw_key(&json, "status");
	relay->status(relay->status_arg, &json);
	line_end(relay, &json, peer);
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
on_hello(struct peer *peer, struct jval line)
{
	struct relay *relay = peer->relay;
	struct peer *old = relay->window;
	int64_t proto = 0;

	if (!jval_int(jval_member(line, "proto"), &proto) ||
	    proto != PROTOCOL) {
		send_error(peer, "this server speaks protocol 1");
		lines_end(&peer->lines);
		return true;
	}
	if (peer->greeted)
		return true;
	if (old != NULL) {
		send_simple(old, "superseded");
		lines_end(&old->lines);
		relay->window = NULL;
		while (relay->calls != NULL)
			fail_call(relay->calls,
			    "Another interface window took over.");
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

static struct relay_call *
find_call(struct relay *relay, struct jval id)
{
	struct relay_call *call;
	int64_t number = 0;

	if (!jval_int(id, &number))
		return NULL;
	for (call = relay->calls; call != NULL; call = call->next) {
		if (call->id == (uint64_t)number)
			return call;
	}
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
static bool
on_result(struct peer *peer, struct jval line)
{
	struct relay_call *call =
	    find_call(peer->relay, jval_member(line, "id"));

	if (call != NULL && peer->relay->window == peer)
		take_result(call, line);
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
	send_simple(peer, "pong");
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
    {"result", false, on_result},
    {"state", false, on_state},
    {"say", false, on_say},
    {"ping", true, on_ping},
    {"pong", true, on_pong},
};

/* What is unknown is passed over: a newer window may say more. */
static bool
obey(struct peer *peer, struct jval line)
{
	struct jval type = jval_member(line, "t");
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!jval_is(type, span_of(words[i].type)))
			continue;
		/* One that was superseded has nothing more to say. */
		if (peer->greeted ? peer == peer->relay->window
				  : words[i].before_hello)
			return words[i].act(peer, line);
	}
	return true;
}

static bool
on_line(struct lines *lines, struct span text)
{
	struct peer *peer = (struct peer *)lines;
	struct fault fault = {.place = ""};
	struct jscan doc;
	bool stays;

	peer->silent = 0;
	if (text.len > RELAY_LINE_MAX)
		return drop_peer(peer, "line too long");
	if (jscan_parse(&doc, text, DEPTH_MAX, &fault) != ERR_OK) {
		log_warn("window sent what is not JSON: place=%s reason=%s",
		    fault.place, fault.message);
		send_error(peer, "a line was not JSON");
		return true;
	}
	stays = obey(peer, jscan_root(&doc));
	jscan_fini(&doc);
	return stays;
}

static void
on_ended(struct lines *lines, const char *why)
{
	drop_peer((struct peer *)lines, why);
}

static void
on_ping_time(struct loop_timer *timer)
{
	struct peer *peer =
	    (struct peer *)((char *)timer - offsetof(struct peer, ping));

	if (++peer->silent > GONE_AFTER || !peer->greeted) {
		drop_peer(peer, peer->greeted ? "silent" : "no hello");
		return;
	}
	send_simple(peer, "ping");
	loop_timer_set(peer->relay->loop, timer, PING_MS);
}

void
relay_attach(struct relay *relay, int fd)
{
	struct peer *peer =
	    relay->peer_count < PEERS_MAX ? calloc(1, sizeof(*peer)) : NULL;

	if (peer == NULL) {
		log_warn("too many local peers: one was refused");
		close(fd);
		return;
	}
	peer->relay = relay;
	peer->lines.line = on_line;
	peer->lines.ended = on_ended;
	if (lines_open(&peer->lines, relay->loop, fd, RELAY_LINE_MAX,
		OUT_MAX) != ERR_OK) {
		close(fd);
		free(peer);
		return;
	}
	peer->next = relay->peers;
	peer->link = &relay->peers;
	if (peer->next != NULL)
		peer->next->link = &peer->next;
	relay->peers = peer;
	relay->peer_count++;
	peer->ping.fire = on_ping_time;
	loop_timer_set(relay->loop, &peer->ping, PING_MS);
}

static void
on_peer(struct loop_io *io, uint32_t events)
{
	struct relay *relay =
	    (struct relay *)((char *)io - offsetof(struct relay, listener));
	int fd = lines_accept(io->fd);

	(void)events;
	if (fd >= 0)
		relay_attach(relay, fd);
}

/* --- the rest ------------------------------------------------------------- */

bool
relay_has_window(const struct relay *relay)
{
	return relay->window != NULL;
}

bool
relay_window_does(const struct relay *relay, const char *tool)
{
	char word[80];

	snprintf(word, sizeof(word), " %s ", tool);
	return relay->window != NULL &&
	    strstr(relay->window->caps, word) != NULL;
}

const char *
relay_hud(const struct relay *relay)
{
	return relay->window == NULL ? "none" : relay->hud;
}

int64_t
relay_unread(const struct relay *relay)
{
	return relay->unread;
}

void
relay_tell_status(struct relay *relay)
{
	struct jsonw json;

	if (relay->window == NULL)
		return;
	line_begin(relay, &json, "status");
	jsonw_key(&json, "status");
	relay->status(relay->status_arg, &json);
	line_end(relay, &json, relay->window);
}

enum err
relay_open(struct relay **out, struct loop *loop, const char *path,
    struct journal *journal, enum settings_replay replay, relay_status status,
    void *status_arg)
{
	struct relay *relay = calloc(1, sizeof(*relay));
	enum err err = ERR_OK;

	*out = NULL;
	if (relay == NULL)
		return ERR_NO_MEMORY;
	relay->loop = loop;
	relay->journal = journal;
	relay->replay = replay;
	relay->status = status;
	relay->status_arg = status_arg;
	relay->listener = (struct loop_io){.fd = -1, .ready = on_peer};
	snprintf(relay->hud, sizeof(relay->hud), "idle");
	buf_init(&relay->line, RELAY_LINE_MAX);
	if (path != NULL) {
		err = fs_path(relay->path, "%s", path);
		if (err == ERR_OK)
			err = lines_listen(&relay->listener.fd, path);
		if (err == ERR_OK)
			err = loop_add(loop, &relay->listener, EPOLLIN);
	}
	if (err == ERR_OK)
		*out = relay;
	else
		relay_close(relay);
	return err;
}

void
relay_close(struct relay *relay)
{
	if (relay == NULL)
		return;
	loop_remove(relay->loop, &relay->listener);
	while (relay->peers != NULL)
		drop_peer(relay->peers, "gridhook ends");
	lines_unlisten(relay->listener.fd, relay->path);
	buf_fini(&relay->line);
	free(relay);
}
