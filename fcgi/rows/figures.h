/*
 * figures: the figures of a supplier by store and month, read once from the
 * maps of all rows and kept for the next sums: a plane of a figure a row for
 * each month of each store, as narrow as they allow.
 *
 * All threads share them. The bytes of a process have a ceiling; the least
 * recently used figures go first.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "fcgi/rows/plane.h"
#include "lmdb-schema/snapshot/snapshot.h"

/* Two measures of 130,000 articles in 20 stores. */
#define FIGURES_BYTES ((size_t)128 << 20)

struct figures_cache; /* of a process */
struct figures; /* of a snapshot and a measure */

/* Keeps at most `most` bytes. */
struct figures_cache *figures_cache_new(size_t most);
void figures_cache_free(struct figures_cache *cache);

/*
 * Pair with figures_release(). NULL when they are not kept, and with `make`
 * when they would not fit.
 *
 *	ERR_DAMAGED  the snapshot is damaged
 */
enum err figures_get(struct figures **out, struct figures_cache *cache,
    struct snapshot *snap, enum snap_measure measure, bool make);
void figures_release(struct figures_cache *cache, struct figures *figures);

/* The rows' figures in a month 0..11 of the period at a store. */
struct plane figures_plane(
    const struct figures *figures, unsigned store, unsigned month);

/* Drops what was not used for so many seconds. */
void figures_cache_tick(struct figures_cache *cache, int64_t seconds);
