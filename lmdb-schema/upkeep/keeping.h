/*
 * keeping: the part of the suppliers that this node of a cluster keeps: the
 * records of state/share.h, by this node's name and its cluster.conf.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"
#include "lmdb-schema/state/share.h"

struct store;

struct keeping {
	struct share share;
	unsigned number; /* this node's in it */
};

/* Of a machine on its own, too, which keeps all. */
enum err keeping_look(struct keeping *out, struct store *store);

static inline bool
keeping_keeps(const struct keeping *keeping, struct span supplier)
{
	return share_keeps(&keeping->share, keeping->number, supplier);
}

/*
 * Puts this node's record as its cluster.conf says. A node that keeps all has one
 * where another node has one. `keep` and the own record are of *own.
 */
enum err keeping_tell(
    struct store *store, const struct engine_node *own, unsigned keep);

/*
 * Notes which nodes the engine has, and drops the records of those that it has not
 * had for KEEPING_GONE_S, so that others take their shares; the caller calls it now
 * and then, with what is zero at first. The time is that of date_monotonic_ns().
 */
#define KEEPING_GONE_S 900

struct keeping_absent {
	char name[ENGINE_NODE_NAME_MAX];
	int64_t since_ns;
};

struct keeping_watching {
	struct keeping_absent absent[SHARE_NODES_MAX];
	unsigned count;
	uint64_t away; /* a bit for each node of the list that is not there */
	uint64_t changes; /* of which list: share.changes */
};

enum err keeping_watch(struct keeping_watching *watch, struct store *store,
    struct engine *engine, const char *own, int64_t now_ns);

/*
 * Grows with each change of the records and each snapshot that is published for all
 * nodes. A node tells the others the one at which it had all of its part
 * (engine_node.places[STORE_CATALOG]).
 */
enum err keeping_version(uint64_t *version, struct store *store);

/*
 * Retires the snapshots of suppliers that this node need not keep, once all nodes
 * that keep them and are alive have told that they have all of their part; one of
 * them must be. prune.h removes the files after the grace time. *given is how many;
 * *left, how many others are not this node's.
 */
enum err keeping_give_up(uint64_t *given, uint64_t *left, struct store *store);
