/*
 * relay_priv: internals shared by the relay's files only.
 *
 *	relay.c        the socket, its peers, events on their way
 *	relay_words.c  what a window says
 *	relay_call.c   calls of its tools
 */
#pragma once

#include "common/fs.h"
#include "tools/gridhook/net/lines.h"
#include "tools/gridhook/window/relay.h"

/* A peer; a window once it has said hello. */
struct peer {
	struct lines lines;
	struct relay *relay;
	struct peer *next, **link;
	struct loop_timer ping;
	unsigned silent; /* pings since its last word */
	bool greeted;
	bool background; /* gives way to a window that a person sees */
	bool waits; /* in the background, for the window's place */
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

/* --- relay.c --- */

/* Every line is {"t":"...", and more; at its end it is sent. */
void relay_line_begin(
    struct relay *relay, struct jsonw *json, const char *type);
void relay_line_end(struct relay *relay, struct jsonw *json, struct peer *peer);

/* A line that is its type and nothing more. */
void relay_say(struct peer *peer, const char *type);
void relay_say_error(struct peer *peer, const char *message);

/* --- relay_words.c --- */

/* False when the peer has gone. */
bool relay_obey(struct peer *peer, struct jval line);

/* --- relay_call.c --- */

/* Ends all calls that are under way with that error. */
void relay_fail_calls(struct relay *relay, const char *text);

/* A "result" line. */
bool relay_on_result(struct peer *peer, struct jval line);
