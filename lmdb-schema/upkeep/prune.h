/*
 * prune: removes the files of a data directory that nobody needs any more.
 */
#pragma once

#include <stdint.h>

#include "common/err.h"
#include "common/span.h"

struct store;

/* What prune_all() did. */
struct pruned {
	uint64_t snapshots, leftovers, facts, bytes;
};

/*
 * Removes the files of generations replaced more than `grace_seconds` ago (a
 * supplier that the facts have no more is replaced by nothing), of facts that
 * are not current, and what crashes have left. Never what may still
 * be in the making.
 */
enum err prune_all(
    struct store *store, int64_t grace_seconds, struct pruned *pruned);

/* The same for one supplier's snapshots only. */
enum err prune_supplier(struct store *store, struct span supplier,
    int64_t grace_seconds, struct pruned *pruned);
