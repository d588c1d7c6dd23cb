/*
 * kept: the connections that a worker process keeps open between requests.
 *
 * One epoll has the listener, the descriptor that tells the process to stop,
 * and every connection whose next request has not come yet. All threads wait
 * there. A thread that takes a ready connection owns it, disarmed, until the
 * thread arms or drops it. So a connection without a request costs a place in a
 * table and a socket in the kernel, and no thread.
 *
 * A place is a number; kept_drop(), the shedding thread or kept_expire() closes
 * its connection.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"

/* No place: the table is full, or the connection is not kept. */
#define KEPT_NO_PLACE UINT32_MAX

enum kept_what {
	KEPT_LISTENER, /* a connection may wait to be accepted */
	KEPT_STOP, /* the worker must stop; returned each time */
	KEPT_CONNECTION /* a request, or its end; now owned by the caller */
};

struct kept_found {
	enum kept_what what;
	uint32_t place; /* of a connection */
	int fd;
	int64_t since_ns; /* waiting since (date_monotonic_ns) */
};

/* Notes of the owner of a connection; all false at first. */
struct kept_notes {
	bool served; /* it has carried a request */
	bool limited; /* its limits for sending are set */
};

struct kept_connections;

/*
 * Makes a table of `most` places. `listener` and `stop` stay the caller's.
 * ERR_SYSTEM, with errno: epoll cannot watch them.
 */
enum err kept_open(
    struct kept_connections **out, int listener, int stop, uint32_t most);

/* Closes all connections; no thread may use them any more. NULL is fine. */
void kept_close(struct kept_connections *kept);

/* Waits for an event. False when another thread has already taken it. */
bool kept_wait(struct kept_found *found, struct kept_connections *kept);

/*
 * Gets a place, owned by the caller, for a connection. KEPT_NO_PLACE: nothing
 * has changed.
 */
uint32_t kept_add(struct kept_connections *kept, int fd);

/*
 * Lets the connection wait for its next request: from now on any thread may
 * take it. Closes a connection that epoll cannot watch.
 */
void kept_arm(struct kept_connections *kept, uint32_t place);

/* Closes a connection that the caller owns. */
void kept_drop(struct kept_connections *kept, uint32_t place);

/*
 * Takes any waiting connection, as if it were ready. False when there is none.
 */
bool kept_take_any(struct kept_found *found, struct kept_connections *kept);

/* Closes connections that have waited since before `since_ns`. */
void kept_expire(struct kept_connections *kept, int64_t since_ns);

/*
 * Closes all waiting connections that have carried a request. A first request,
 * which may be a write, is always accepted.
 */
void kept_shed(struct kept_connections *kept);

/* Removes the listener from the epoll. */
void kept_no_more(struct kept_connections *kept);

struct kept_notes *kept_notes(struct kept_connections *kept, uint32_t place);

/* The number of connections, including those that a thread serves. */
uint32_t kept_count(struct kept_connections *kept);
