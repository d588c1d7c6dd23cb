/* prune: removes the files of a data directory that are no longer needed. */
#pragma once

#include <stdint.h>

#include "common/err.h"
#include "common/span.h"

struct store;

/* The files that prune_all() removed. */
struct pruned {
	uint64_t snapshots, leftovers, facts, bytes;
};

/*
 * Removes the files of generations replaced more than `grace_seconds` ago (a
 * supplier that the facts no longer have counts as replaced), facts that are
 * not current, and leftovers of crashes. Never a file that may still be in the
 * making.
 */
enum err prune_all(
    struct store *store, int64_t grace_seconds, struct pruned *pruned);

/* As prune_all(), for one supplier's snapshots only. */
enum err prune_supplier(struct store *store, struct span supplier,
    int64_t grace_seconds, struct pruned *pruned);
