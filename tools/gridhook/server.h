/*
 * server: the listening socket and its states, as the document's table has
 * them: start stops a previous server first, stop closes all connections, and
 * what goes wrong stands in the status.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/jsonw.h"
#include "common/span.h"
#include "tools/gridhook/router.h"
#include "tools/gridhook/net/loop.h"
#include "tools/gridhook/settings.h"

struct server;

/* `settings`, `loop` and `gate` are kept by pointer. Does not listen yet. */
enum err server_open(struct server **out, struct hook_settings *settings,
    struct loop *loop, struct router *gate);
void server_close(struct server *server);

/* Called after each change of the status. */
void server_on_change(
    struct server *server, void (*changed)(void *arg), void *arg);

/*
 * Listens on the port that the text names. ERR_BAD_INPUT for what is no port;
 * else the refusal of the system. The status says the same in words.
 */
enum err server_start(struct server *server, struct span port);

/* Closes everything; fine when nothing is open. */
void server_stop(struct server *server);

bool server_is_listening(const struct server *server);

/* "" when the last start went well. */
const char *server_error(const struct server *server);

/* {listening, port, path, secretConfigured, error?}; a relay_status. */
void server_status(void *server, struct jsonw *json);
