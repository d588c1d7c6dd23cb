/*
 * client: the window's end of docs/interface-protocol.md, without a socket:
 * bytes go in and out, and what the server says becomes calls of `ops`. Time
 * is the caller's, in milliseconds of a clock that never steps back.
 *
 * An event that was seen already is passed over here; one that is new is
 * handed on and must be stored before client_ack().
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/jsonr.h"
#include "common/span.h"

#define CLIENT_LINE_MAX ((size_t)4 << 20)
#define CLIENT_EPOCH_MAX 64
#define CLIENT_PING_MS 15000
#define CLIENT_GONE_MS 45000
#define CLIENT_RETRY_FIRST_MS 250
#define CLIENT_RETRY_MOST_MS 10000

struct client_welcome {
	struct span epoch;
	uint64_t first, next;
	const struct jsonr_value *status;
};

struct client_ops {
	/* A failure ends the connection; the client tries again later. */
	enum err (*welcome)(void *arg, const struct client_welcome *welcome);
	enum err (*event)(void *arg, uint64_t seq, bool replay,
	    const struct jsonr_value *event);
	void (*call)(void *arg, int64_t id, struct span name,
	    const struct jsonr_value *args, int64_t deadline_ms);
	void (*cancel)(void *arg, int64_t id);
	void (*status)(void *arg, const struct jsonr_value *status);
	void (*superseded)(void *arg);
};

enum client_state {
	CLIENT_AWAY, /* not connected; client_due_ms() says when to try */
	CLIENT_GREETING, /* hello has been said */
	CLIENT_WAITING, /* in the background: another window has the place */
	CLIENT_ATTACHED,
	CLIENT_SUPERSEDED /* another window took over: no further tries */
};

struct client {
	const struct client_ops *ops;
	void *arg;
	bool background; /* gives way to other windows, and comes back */
	char name[17]; /* random, the same for the process's life */
	char epoch[CLIENT_EPOCH_MAX]; /* as told at the greeting */
	enum client_state state;
	struct buf in, out;
	size_t scanned; /* of `in`: no line ends before it */
	uint64_t last; /* the last event that was handed on */
	int64_t heard_ms, pinged_ms;
	int64_t retry_at_ms;
	int64_t retry_ms; /* the next pause */
	char why[128]; /* it is away */
};

void client_init(
    struct client *client, const struct client_ops *ops, void *arg);
void client_fini(struct client *client);

/* Connected: says hello, with what is known of the sequence. */
void client_connected(
    struct client *client, int64_t now_ms, struct span epoch, uint64_t last);

/* Not connected, or not any more; the pauses grow from try to try. */
void client_lost(struct client *client, int64_t now_ms, const char *why);

/* After CLIENT_SUPERSEDED: tries again, at once. */
void client_take_back(struct client *client, int64_t now_ms);

/* Takes received bytes. Anything but ERR_OK: close, and client_lost(). */
enum err client_feed(struct client *client, struct span bytes, int64_t now_ms);

/* Pings; ERR_TIMED_OUT when the server has been silent for too long. */
enum err client_tick(struct client *client, int64_t now_ms);

/* When client_tick() or a new try is due. */
int64_t client_due_ms(const struct client *client);

/* True when a connection should be tried now. */
bool client_wants_connection(const struct client *client, int64_t now_ms);

/* The bytes to send; client_sent() says how many were. */
struct span client_out(const struct client *client);
void client_sent(struct client *client, size_t len);

/* Messages of the window. Nothing is said while it is not attached. */
void client_ack(struct client *client, uint64_t seq);
void client_say(struct client *client, const char *role, struct span text);
void client_tell_state(struct client *client, unsigned unread, const char *hud,
    bool focused, const char *theme);

/* Results: one text, perhaps an object as well; or what went wrong. */
void client_answer(
    struct client *client, int64_t id, struct span text, struct span object);
void client_refuse(struct client *client, int64_t id, const char *error);
