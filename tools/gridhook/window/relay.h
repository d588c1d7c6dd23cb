/*
 * relay: the interface window, at the other end of a Unix socket
 * (docs/interface-protocol.md). Events go to it in order and each once; calls
 * of interface tools go to it and their results come back.
 *
 * One window at a time is attached. A newer one takes over.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/jsonw.h"
#include "common/mcp/result.h"
#include "tools/gridhook/events/journal.h"
#include "tools/gridhook/net/loop.h"
#include "tools/gridhook/settings.h"

#define RELAY_LINE_MAX ((size_t)4 << 20)
#define RELAY_FLIGHT 64 /* events sent and not acknowledged */

struct relay;
struct relay_call;

/* Writes the server's status as one JSON value; for greetings and changes. */
typedef void (*relay_status)(void *arg, struct jsonw *json);

/* `path` NULL: no socket; peers are attached by hand, as tests do. */
enum err relay_open(struct relay **out, struct loop *loop, const char *path,
    struct journal *journal, enum settings_replay replay, relay_status status,
    void *status_arg);
void relay_close(struct relay *relay);

/* A connected peer; `fd` is taken. */
void relay_attach(struct relay *relay, int fd);

/* A window has said hello and is still there. */
bool relay_has_window(const struct relay *relay);

/* True when the window performs this tool itself, though the server could. */
bool relay_window_does(const struct relay *relay, const char *tool);

/*
 * The state that the window reported last: "idle", and the count of unread
 * messages.
 */
const char *relay_hud(const struct relay *relay);
int64_t relay_unread(const struct relay *relay);

/* Sends what has been committed; call at the end of each round. */
void relay_pump(struct relay *relay);

/* The server's status has changed. */
void relay_tell_status(struct relay *relay);

/*
 * Calls a tool of the window. `done` is called once, later: with its result,
 * or with an error when the deadline comes or the window goes. NULL when there
 * is no window, or too much is going on.
 */
struct relay_call *relay_call(struct relay *relay, const char *tool,
    struct span args, int deadline_ms,
    void (*done)(void *arg, const struct result *result), void *arg);

/* Tells the window not to bother; `done` is not called. */
void relay_call_cancel(struct relay_call *call);
