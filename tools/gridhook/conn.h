/*
 * conn: one HTTP connection: bytes in and out, deadlines, and the way it ends.
 *
 * Deadlines are total, not idle times: a sender who drips a byte a second is
 * cut off like one who sends nothing. A refusal that comes before its body was
 * read is followed by a lingering close, so that the sender can read it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "common/span.h"
#include "tools/gridhook/http.h"
#include "tools/gridhook/loop.h"

#define CONN_PEER_MAX 64

struct conn;

struct conn_limits {
	size_t body_max;
	int64_t first_byte_ms, head_ms, body_ms, write_ms, idle_ms, linger_ms;
	uint64_t linger_bytes;
};

/* What a connection asks of its server. */
struct conn_host {
	struct loop *loop;
	const struct conn_limits *limits;
	/* The head is there: conn_reply() refuses, else the body is read. */
	void (*head)(void *arg, struct conn *conn);
	/* The request is there: conn_reply() now, or conn_wait(). */
	void (*request)(void *arg, struct conn *conn);
	/* It is about to be freed. */
	void (*gone)(void *arg, struct conn *conn);
	void *arg;
};

struct reply {
	int status;
	struct span body; /* JSON; empty: none */
	const char *headers; /* more lines, each with CR LF; or NULL */
	bool close;
};

/* Takes `fd`, which is closed on failure too. `host` is kept by pointer. */
struct conn *conn_open(const struct conn_host *host, int fd,
    const struct sockaddr_storage *address);

/* Cuts it off, at once or when the callback that runs has returned. */
void conn_close(struct conn *conn);

struct http *conn_http(struct conn *conn);

/* "127.0.0.1:50123", for the log. */
const char *conn_peer(const struct conn *conn);
bool conn_is_from(
    const struct conn *conn, const struct sockaddr_storage *address);

/*
 * Before its first request or between two, and since when; for whoever needs
 * its place.
 */
bool conn_is_idle(const struct conn *conn, int64_t *since_ns);

/* A request has come, but has not been looked at. */
bool conn_has_input(const struct conn *conn);

/* Answers the request. The body is copied. */
void conn_reply(struct conn *conn, const struct reply *reply);

/* The same with {"error": message}. */
void conn_reply_error(struct conn *conn, int status, const char *message);

/*
 * The answer comes later. `left` is called if the caller goes away before;
 * with `half` also when it has only closed its sending side. No reply may
 * follow then.
 */
void conn_wait(
    struct conn *conn, void (*left)(void *arg), void *arg, bool half);
