/*
 * snapcache: the snapshots that a worker keeps open, with the data derived from
 * each: today's ranges, and row lists of filters.
 *
 * When there are too many, the least recently used one is closed; a pinned one
 * stays.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"
#include "fcgi/metrics.h"
#include "lmdb-schema/snapshot/snapshot.h"

struct snapcache;
struct store;
struct ranges;
struct rowlists;

struct pinned {
	struct snapshot *snap;
	atomic_llong looked_ns; /* time of the last check of its file */
	struct ranges_slot *ranges; /* ranges.c */
	struct rowlists *lists; /* rowset.c */
	struct packed_slot *packed; /* packed.c */
};

struct snapcache *snapcache_new(
    struct store *store, unsigned most, struct metrics *metrics);
void snapcache_free(struct snapcache *cache);

/*
 * Checks the file of a snapshot that stays pinned, as snapcache_pin() does:
 * whether it was touched (snapshot_look()), unless that was done within the
 * last millisecond. `now_ns` is the monotonic clock.
 */
void snapcache_look(struct pinned *pinned, int64_t now_ns);

/* As snapshot_open(); pair with snapcache_unpin(). */
enum err snapcache_pin(struct pinned **out, struct snapcache *cache,
    struct span supplier, uint64_t generation);
void snapcache_unpin(struct snapcache *cache, struct pinned *pinned);

/* Closes what nobody has used for `seconds`. */
void snapcache_tick(struct snapcache *cache, int64_t seconds);
