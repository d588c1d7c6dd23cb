/*
 * kept: the connections that a worker process keeps open between requests.
 *
 * One epoll has the listener, what tells the process to stop, and every
 * connection whose next request has not come yet. Any thread waits there, and
 * takes what is ready: the connection is then its own, and armed for nobody,
 * until it is armed again or dropped. So a connection without a request costs a
 * place in a table and a socket of the kernel's, and no thread.
 *
 * A place is a number; its connection is closed by kept_drop(), by the
 * thread that sheds, or by kept_expire().
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"

/* No place: the table is full, or the connection is not to be kept. */
#define KEPT_NO_PLACE UINT32_MAX

enum kept_what {
	KEPT_LISTENER, /* somebody may wait to be accepted */
	KEPT_STOP, /* the worker is to stop; told each time */
	KEPT_CONNECTION /* a request, or the end; the caller's own now */
};

struct kept_found {
	enum kept_what what;
	uint32_t place; /* of a connection */
	int fd;
	int64_t since_ns; /* it has waited (date_monotonic_ns) */
};

/* Notes of a connection's owner; all false at first. */
struct kept_notes {
	bool served; /* it has carried a request */
	bool limited; /* its limits for sending are set */
};

struct kept_connections;

/*
 * A table of `most` places. `listener` and `stop` stay the caller's; ERR_SYSTEM
 * with errno when they cannot be waited for.
 */
enum err kept_open(
    struct kept_connections **out, int listener, int stop, uint32_t most);

/* Closes all connections; no thread may be at work any more. NULL is fine. */
void kept_close(struct kept_connections *kept);

/*
 * Waits until something is ready. False when it is for nobody any more: another
 * thread has taken it.
 */
bool kept_wait(struct kept_found *found, struct kept_connections *kept);

/* A place for a connection, the caller's own; KEPT_NO_PLACE: it is as it was. */
uint32_t kept_add(struct kept_connections *kept, int fd);

/*
 * Lets the connection wait for its next request: from now on any thread may
 * take it. A connection that cannot be waited for is closed.
 */
void kept_arm(struct kept_connections *kept, uint32_t place);

/* Closes a connection of the caller's own. */
void kept_drop(struct kept_connections *kept, uint32_t place);

/*
 * Takes any connection that waits for a request, as if it were ready. False
 * when there is none.
 */
bool kept_take_any(struct kept_found *found, struct kept_connections *kept);

/* Closes those that have waited since before `since_ns`. */
void kept_expire(struct kept_connections *kept, int64_t since_ns);

/*
 * Closes all that wait and have carried a request. A first request, which may
 * be a write, is always taken.
 */
void kept_shed(struct kept_connections *kept);

/* The listener wakes nobody here any more. */
void kept_no_more(struct kept_connections *kept);

struct kept_notes *kept_notes(struct kept_connections *kept, uint32_t place);

/* How many connections there are, those included that a thread serves. */
uint32_t kept_count(struct kept_connections *kept);
