/*
 * share: which nodes of a cluster keep the snapshot of a supplier, where a node
 * need not keep all of them (`keep` in cluster.conf). Each node that takes part
 * has a record in the state's table meta:
 *
 *	"node" 00 name -> packed: text address, unsigned how many nodes it wants
 *	       to keep a supplier; 0: this one keeps all
 *	"nodes" -> u64 how often the records have changed
 *
 * Each supplier has an order of the nodes, by a hash of both (rendezvous
 * hashing), and a node that wants N keeps the suppliers in whose order it is
 * among the first N. So a node that comes or goes moves its own share alone, and
 * nodes that have come equally far in the log agree. A node without a record, and
 * a machine on its own, keeps all.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"
#include "lmdb-schema/store/engine.h"

struct kv_txn;
struct store;

#define SHARE_NODES_MAX 64

struct share_node {
	char name[ENGINE_NODE_NAME_MAX];
	char address[ENGINE_NODE_TEXT_MAX];
	unsigned keep; /* 0: all */
};

struct share {
	struct share_node nodes[SHARE_NODES_MAX]; /* by name */
	unsigned count;
	uint64_t changes;
};

/* Nodes beyond the maximum, and records that cannot be read, count as none. */
enum err share_read(struct share *out, struct kv_txn *txn);
enum err share_look(struct share *out, struct store *store);
enum err share_changes(uint64_t *changes, struct kv_txn *txn);

/* The number of the node of that name in the list; `count`: it has no record. */
unsigned share_find(const struct share *share, const char *name);

/*
 * The numbers of all nodes in the supplier's order: a node keeps it that is among
 * the first `keep` of it, or keeps all.
 */
void share_order(unsigned order[SHARE_NODES_MAX], const struct share *share,
    struct span supplier);

/* Whether the node of that number keeps it; of one without a record true. */
bool share_keeps(
    const struct share *share, unsigned number, struct span supplier);

/* An entry of the log where the record is another one. */
enum err share_put(struct store *store, const struct share_node *node);
enum err share_drop(struct store *store, const char *name);
