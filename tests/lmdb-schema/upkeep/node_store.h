/* node_store: the store of a cluster's node, below scratch; nothing answers its etcd. */
#pragma once

#include "common/err.h"

struct kv_txn;
struct store;

/* Makes scratch and the store: `write` fills its state, before it is a node's. */
struct store *node_store_begin(
    enum err (*write)(void *context, struct kv_txn *txn));

/* Closes it, and removes scratch. */
void node_store_end(struct store *store);
