/*
 * bus: calls on the session's or the system's D-Bus. bus.c is the door to
 * sd-bus; types are written as D-Bus writes them ("su", "a{sv}").
 *
 * Each call has a time limit of its own, so that a peer that hangs is
 * ERR_TIMED_OUT and not the end of us.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"

struct bus; /* a connection */
struct bus_message; /* a reply or a signal, read from its start on */

enum bus_kind { BUS_SESSION, BUS_SYSTEM };

/* The object that is called, and by which interface. */
struct bus_peer {
	const char *name, *path, *interface;
};

/* ERR_NOT_READY: "no session bus" or "no system bus". */
enum err bus_open(struct bus **out, enum bus_kind kind, struct fault *fault);
void bus_close(struct bus *bus);

/* Our own name on it: ":1.42". */
const char *bus_own_name(struct bus *bus);

#define BUS_CALL_MS 2000

/*
 * Calls a method; `types` and what follows are its arguments, a{sv} as its
 * count and then its entries. `reply` may be NULL.
 *
 *   ERR_NOT_FOUND  no program has that name, or no such object or method
 *   ERR_DENIED     refused by the bus or the peer
 *   ERR_TIMED_OUT
 *   ERR_SYSTEM     the peer's own error
 *
 * The fault holds the peer's words.
 */
enum err bus_call(struct bus *bus, const struct bus_peer *peer,
    const char *method, struct bus_message **reply, struct fault *fault,
    const char *types, ...);

/* A property of the peer's interface: a message whose value can be read. */
enum err bus_property(struct bus *bus, const struct bus_peer *peer,
    const char *name, const char *type, struct bus_message **value,
    struct fault *fault);

/* Whether a program has that name now. */
bool bus_has_name(struct bus *bus, const char *name);

/*
 * Watches for a signal before what brings it about is called; then waits for
 * it. One at a time. ERR_TIMED_OUT is quiet.
 */
enum err bus_watch(struct bus *bus, const struct bus_peer *peer,
    const char *signal, struct fault *fault);
enum err bus_await(struct bus *bus, int timeout_ms, struct bus_message **out);

/*
 * Reads on: simple types into pointers. Strings are borrowed until
 * bus_message_free(). False when it holds something else.
 */
bool bus_read(struct bus_message *message, const char *types, ...);

/*
 * Into an array: `entries` is the type of one. Then bus_read() or
 * bus_enter_struct() until false, and bus_leave().
 */
bool bus_enter_array(struct bus_message *message, const char *entries);
bool bus_leave(struct bus_message *message);

/* At an a{sv}: the string under `key`; false when it has none. */
bool bus_read_entry(
    struct bus_message *message, const char *key, const char **value);

void bus_message_free(struct bus_message *message);
