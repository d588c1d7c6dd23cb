/*
 * write_queue: joins the writes of several threads into one commit, so that
 * they share one flush.
 */
#pragma once

#include "common/err.h"

struct kv;
struct kv_txn;
struct write_queue; /* of one environment */

struct write_queue *write_queue_new(void); /* NULL when memory is out */
void write_queue_free(struct write_queue *queue);

/*
 * Runs `work` in a write transaction of `kv`: with ERR_OK all of its writes are
 * on disk, otherwise none is stored. Jobs that other threads queue meanwhile
 * share the next commit. `work` may be called more than once, each time on a
 * transaction without its earlier writes.
 */
enum err write_queue_run(struct write_queue *queue, struct kv *kv,
    enum err (*work)(void *context, struct kv_txn *txn), void *context);
