/*
 * roster: the nodes that a cluster has, also those that are down: a node's record
 * (engine.h) ends seconds after its gridapi. Each node that has joined, or whose
 * gridapi runs, has a text of the engine, which has no end:
 *
 *	"roster/" node -> when it was there, in ms since 1970 by its own clock
 *
 * It goes where the node leaves, or another node takes it out. A node of an earlier
 * version has none before its gridapi is of this one.
 */
#pragma once

#include <stdint.h>

#include "common/err.h"
#include "common/span.h"
#include "lmdb-schema/store/engine.h"

struct store;

#define ROSTER_EACH_S 60 /* between two texts of a node that runs */

/* Puts the node's text. ERR_AWAY. */
enum err roster_put(struct engine *engine, const char *node, int64_t now_ms);

/*
 * The same once in ROSTER_EACH_S; the caller calls it now and then, with *next_ns
 * zero at first. The last time is that of date_monotonic_ns().
 */
enum err roster_tell(int64_t *next_ns, struct engine *engine, const char *node,
    int64_t now_ms, int64_t now_ns);

/* Calls `each` for each node, by name. ERR_AWAY. */
enum err roster_each(struct engine *engine,
    enum err (*each)(void *context, struct span node, int64_t there_ms),
    void *context);

/* Takes the node out that leaves: what the engine has of it. ERR_AWAY. */
enum err roster_drop(struct engine *engine, const char *node);

/*
 * Takes another node out, which is gone for good, and its part of the suppliers
 * from it (state/share.h). Where it comes back it has its place again.
 *
 *   ERR_BUSY       it is alive
 *   ERR_NOT_FOUND  the cluster has none of that name
 */
enum err roster_remove(struct store *store, struct engine *engine,
    const char *node, struct fault *fault);
