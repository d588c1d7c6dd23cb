/*
 * conn: one HTTP connection: bytes in and out, deadlines, and the way it ends.
 *
 * A head has a deadline in all. A body and an answer have one for each
 * CONN_PROGRESS bytes: however large they are, they go through while they move,
 * and a sender who drips a byte a second is cut off like one who sends nothing.
 * A refusal that comes before its body was read is followed by a lingering
 * close, so that the sender can read it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "common/span.h"
#include "tools/gridhook/net/address.h"
#include "tools/gridhook/net/http.h"
#include "tools/gridhook/net/loop.h"

#define CONN_PROGRESS 65536

struct conn;

struct conn_limits {
	size_t body_max;
	int64_t first_byte_ms, head_ms, body_ms, write_ms, idle_ms, linger_ms;
	uint64_t linger_bytes;
};

/* Callbacks and limits that a connection's server provides. */
struct conn_host {
	struct loop *loop;
	const struct conn_limits *limits;
	/* The head is there: conn_reply() refuses, else the body is read. */
	void (*head)(void *arg, struct conn *conn);
	/* The request is there: conn_reply() now, or conn_wait(). */
	void (*request)(void *arg, struct conn *conn);
	/* Whether a refusal of its gets a line in the log. */
	bool (*may_log)(void *arg, struct conn *conn);
	/* The connection is about to be freed. */
	void (*gone)(void *arg, struct conn *conn);
	void *arg;
};

struct reply {
	int status;
	struct span body; /* JSON; empty: none */
	const char *headers; /* more lines, each with CR LF; or NULL */
	bool close;
};

/*
 * Takes `fd`, which is closed on failure too. `host` is kept by pointer, the
 * address is an unmapped one.
 */
struct conn *conn_open(const struct conn_host *host, int fd,
    const struct sockaddr_storage *address);

/* Cuts it off, at once or when the callback that runs has returned. */
void conn_close(struct conn *conn);

struct http *conn_http(struct conn *conn);

/* "127.0.0.1:50123", for the log. */
const char *conn_peer(const struct conn *conn);
const struct sockaddr_storage *conn_address(const struct conn *conn);
const struct sockaddr_storage *conn_own_address(const struct conn *conn);

/* address_user() of it, asked once. */
enum err conn_user(struct conn *conn, uid_t *out);

/*
 * How much a connection's place is worth when others need one, and since when. A
 * request that was let in keeps its place until it is answered.
 */
enum conn_worth {
	CONN_IDLE, /* before its first request or between two */
	CONN_ASKING, /* half a head, or a refusal that goes out */
	CONN_UNREAD, /* what came in was not looked at: perhaps a request */
	CONN_BUSY
};
enum conn_worth conn_worth(const struct conn *conn, int64_t *since_ns);

/* Answers the request. The body is copied. */
void conn_reply(struct conn *conn, const struct reply *reply);

/* The same with {"error": message}. */
void conn_reply_error(struct conn *conn, int status, const char *message);

/*
 * From within `head`: it is called again after this time, and finds
 * conn_was_held() then. Nothing is read meanwhile.
 */
void conn_hold(struct conn *conn, int64_t ms);
bool conn_was_held(const struct conn *conn);

/* The right secret has come on this connection. */
void conn_trust(struct conn *conn);
bool conn_is_trusted(const struct conn *conn);

/*
 * The answer comes later. `left` is called if the caller goes away before;
 * with `half` also when it has only closed its sending side. No reply may
 * follow then.
 */
void conn_wait(
    struct conn *conn, void (*left)(void *arg), void *arg, bool half);
