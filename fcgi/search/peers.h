/*
 * peers: what a worker needs to ask the other nodes of a cluster for their parts of
 * the suppliers (part.h), and which of them gave no answer just now.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "common/err.h"
#include "common/web/ask.h"
#include "lmdb-schema/state/share.h"
#include "lmdb-schema/store/cluster.h"

struct peers {
	struct cluster_peers files; /* as they are asked for files */
	struct ask_trust trust; /* into it */
	/* Until when a node of the list with so many changes is not asked. */
	atomic_ullong changes;
	atomic_llong rests_ns[SHARE_NODES_MAX];
	atomic_llong answered_ns[SHARE_NODES_MAX]; /* when it did last */
	/*
	 * The nodes' orders of the suppliers with that hash, in that list, a byte
	 * for each node: a SHA-256 for each would be most of a search.
	 */
	pthread_mutex_t lock;
	uint64_t orders_changes, orders_hash;
	size_t orders_bytes;
	uint8_t *orders;
};

/* Of the data directory's cluster.conf; what is wrong there the fault says. */
enum err peers_new(struct peers **out, const char *dir, struct fault *fault);
void peers_free(struct peers *peers); /* NULL is fine */
