/*
 * write_queue: the write transactions of several threads in one commit, so that
 * several pay for one flush.
 */
#pragma once

#include "common/err.h"

struct kv;
struct kv_txn;
struct write_queue; /* one environment's */

struct write_queue *write_queue_new(void); /* NULL when memory is out */
void write_queue_free(struct write_queue *queue);

/*
 * Runs `work` in a write transaction of `kv`: with ERR_OK all it wrote is on
 * disk, else nothing of it is stored. Work that other threads bring meanwhile
 * goes into one commit after it. `work` may be called more than once, each time
 * on a transaction without its former writing.
 */
enum err write_queue_run(struct write_queue *queue, struct kv *kv,
    enum err (*work)(void *context, struct kv_txn *txn), void *context);
