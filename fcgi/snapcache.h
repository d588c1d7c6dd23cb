/*
 * snapcache: the snapshots that a worker keeps open, and what it has worked
 * out about each: the ranges of today, row lists of filters.
 *
 * The least recently used one is closed when there are too many; one that is
 * pinned stays.
 */
#pragma once

#include <stdint.h>

#include "common/err.h"
#include "common/span.h"
#include "fcgi/metrics.h"
#include "lmdb-schema/snapshot.h"

struct snapcache;
struct store;
struct ranges;
struct rowlists;

struct pinned {
	struct snapshot *snap;
	struct ranges_slot *ranges; /* ranges.c */
	struct rowlists *lists; /* rowset.c */
	struct packed_slot *packed; /* packed.c */
};

struct snapcache *snapcache_new(
    struct store *store, unsigned most, struct metrics *metrics);
void snapcache_free(struct snapcache *cache);

/* As snapshot_open(); pair with snapcache_unpin(). */
enum err snapcache_pin(struct pinned **out, struct snapcache *cache,
    struct span supplier, uint64_t generation);
void snapcache_unpin(struct snapcache *cache, struct pinned *pinned);

/* Closes what nobody has used for `seconds`. */
void snapcache_tick(struct snapcache *cache, int64_t seconds);
