#include "common/members.h"
#include "tools/gridhook/window/relay_priv.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/log.h"

#define PEERS_MAX 8
#define OUT_MAX ((size_t)8 << 20)
#define OUT_FULL ((size_t)1 << 20) /* no further events until it has drained */
#define PING_MS 15000
#define GONE_AFTER 3 /* pings without a word */
#define DEPTH_MAX 64

/* --- sending -------------------------------------------------------------- */

/* Every line is {"t":"...", and more. */
void
relay_line_begin(struct relay *relay, struct jsonw *json, const char *type)
{
	assert(type != NULL);
	buf_clear(&relay->line);
	jsonw_init(json, &relay->line);
	jsonw_object_begin(json);
	members_string(json, "t", type);
}

void
relay_line_end(struct relay *relay, struct jsonw *json, struct peer *peer)
{
	assert(peer->relay == relay);
	jsonw_object_end(json);
	if (jsonw_end(json) == ERR_OK)
		lines_send(&peer->lines, buf_span(&relay->line));
	else
		log_error("a line to the window was dropped: reason=%s",
		    err_text(jsonw_end(json)));
}

void
relay_say(struct peer *peer, const char *type)
{
	struct jsonw json;

	assert(peer->relay != NULL);
	relay_line_begin(peer->relay, &json, type);
	relay_line_end(peer->relay, &json, peer);
}

void
relay_say_error(struct peer *peer, const char *message)
{
	struct jsonw json;

	assert(message != NULL);
	relay_line_begin(peer->relay, &json, "error");
	members_string(&json, "error", message);
	relay_line_end(peer->relay, &json, peer);
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
		relay_line_begin(relay, &json, "event");
		members_int(&json, "seq", (int64_t)seq);
		members_bool(&json, "replay", seq < window->old_before);
		jsonw_key(&json, "event");
		jsonw_raw(&json, buf_span(&record));
		window->sent = seq;
		relay_line_end(relay, &json, window);
	}
	buf_fini(&record);
	return err;
}

void
relay_pump(struct relay *relay)
{
	struct peer *window = relay->window;

	assert(window == NULL || window->greeted);
	if (window == NULL)
		return;
	while (
	    window->sent + 1 < journal_next(relay->journal) && may_send(window))
		if (send_event(relay, window) != ERR_OK)
			return;
}

/* --- peers ---------------------------------------------------------------- */

/* The place of the window is free for a peer in the background. */
static void
tell_waiting(struct relay *relay)
{
	for (struct peer *peer = relay->peers; peer != NULL; peer = peer->next)
		if (peer->waits)
			relay_say(peer, "free");
}

static bool
drop(struct peer *peer, const char *why)
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
	if (was_window) {
		relay_fail_calls(
		    relay, "The interface window went away during the call.");
		tell_waiting(relay);
	}
	return false;
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
		return drop(peer, "line too long");
	if (jscan_parse(&doc, text, DEPTH_MAX, &fault) != ERR_OK) {
		log_warn("window sent what is not JSON: place=%s reason=%s",
		    fault.place, fault.message);
		relay_say_error(peer, "a line was not JSON");
		return true;
	}
	stays = relay_obey(peer, jscan_root(&doc));
	jscan_fini(&doc);
	return stays;
}

static void
on_ended(struct lines *lines, const char *why)
{
	drop((struct peer *)lines, why);
}

static void
on_ping_time(struct loop_timer *timer)
{
	struct peer *peer =
	    (struct peer *)((char *)timer - offsetof(struct peer, ping));

	if (++peer->silent > GONE_AFTER || !(peer->greeted || peer->waits)) {
		drop(peer, peer->silent > GONE_AFTER ? "silent" : "no hello");
		return;
	}
	relay_say(peer, "ping");
	loop_timer_set(peer->relay->loop, timer, PING_MS);
}

void
relay_attach(struct relay *relay, int fd)
{
	struct peer *peer =
	    relay->peer_count < PEERS_MAX ? calloc(1, sizeof(*peer)) : NULL;

	assert(fd >= 0 && relay->peer_count <= PEERS_MAX);
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

	assert(tool != NULL);
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

	assert(relay->status != NULL);
	if (relay->window == NULL)
		return;
	relay_line_begin(relay, &json, "status");
	jsonw_key(&json, "status");
	relay->status(relay->status_arg, &json);
	relay_line_end(relay, &json, relay->window);
}

enum err
relay_open(struct relay **out, struct loop *loop, const char *path,
    struct journal *journal, enum settings_replay replay, relay_status status,
    void *status_arg)
{
	struct relay *relay = calloc(1, sizeof(*relay));
	enum err err = ERR_OK;

	assert(loop != NULL && journal != NULL && status != NULL);
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
		drop(relay->peers, "gridhook ends");
	lines_unlisten(relay->listener.fd, relay->path);
	buf_fini(&relay->line);
	free(relay);
}
