/*
 * write_queue: joins the writes of several threads into one commit, so that
 * they share one flush.
 */
#pragma once

#include <stdbool.h>

#include "common/err.h"
#include "lmdb-schema/store/engine.h"

struct kv;
struct kv_txn;
struct write_queue; /* of one environment */

/* NULL when memory is out. */
struct write_queue *write_queue_new(enum store_env env);
void write_queue_free(struct write_queue *queue);

/*
 * From now on every commit is an entry of the engine's log, or is confirmed by it
 * where it changes nothing: write_log.h.
 */
void write_queue_share(struct write_queue *queue, struct engine *engine);

/* Refuses with this, as long as it has no engine, what is not local. */
void write_queue_refuse(struct write_queue *queue, enum err err);

/*
 * Runs `work` in a write transaction of `kv`: with ERR_OK all of its writes are
 * on disk, otherwise none is stored. Jobs that other threads queue meanwhile
 * share the next commit. `work` may be called more than once, each time on a
 * transaction without its earlier writes. What it writes with `local` concerns
 * this node's files alone, and is in no entry.
 */
enum err write_queue_run(struct write_queue *queue, struct kv *kv,
    enum err (*work)(void *context, struct kv_txn *txn), void *context,
    bool local);
