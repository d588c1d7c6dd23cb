/*
 * aggregate: count, sum, least and greatest of columns over rows of one
 * snapshot, by groups of rows, months and stores. Sums are exact.
 */
#pragma once

#include <stdint.h>

#include "common/err.h"
#include "fcgi/http/groups.h"
#include "fcgi/rows/ranges.h"
#include "fcgi/rows/rowset.h"

/*
 * Values that are kept at most, 48 bytes each: in the slow pool, and among
 * pages, which must not wait for them.
 */
#define AGGREGATE_VALUES_MAX (UINT64_C(1) << 20)
#define AGGREGATE_VALUES_FEW (UINT64_C(1) << 15)

/* A key of rows without value. */
#define AGGREGATE_NONE UINT32_MAX

struct aggregate_value {
	__int128 sum; /* millionths; of a whole number column, units */
	int64_t min, max;
	uint64_t count; /* of values that are not null */
};

/*
 * The groups of rows, each with `cells` cells: 1, or a cell for each month,
 * store, or month of a store.
 */
struct aggregate {
	struct group_list groups;
	struct value_list columns;
	uint64_t most; /* values that there is room for */
	unsigned months, stores; /* 1 where they are no key */
	uint32_t count; /* groups of rows */
	uint32_t *articles; /* rows, by group */
	struct aggregate_value *values; /* see aggregate_at() */
	struct aggregate_value totals[GROUPS_VALUES_MAX]; /* of all */
	/* Each level of keys: a group's key, and its group one level above. */
	unsigned levels;
	enum group_key level_keys[GROUPS_MAX];
	uint32_t *keys[GROUPS_MAX], *above[GROUPS_MAX];
};

static inline unsigned
aggregate_cells(const struct aggregate *aggregate)
{
	return aggregate->months * aggregate->stores;
}

/* The values of a group's cell; a store's months follow one another. */
static inline struct aggregate_value *
aggregate_at(const struct aggregate *aggregate, uint32_t group, unsigned cell)
{
	return aggregate->values +
	    ((uint64_t)group * aggregate_cells(aggregate) + cell) *
	    aggregate->columns.count;
}

/*
 * A group's key: a classification code, a term of the brands, a range, a trend
 * (trend.h); AGGREGATE_NONE for none. Of months and stores the cell tells.
 */
uint32_t aggregate_key(
    const struct aggregate *aggregate, uint32_t group, enum group_key key);

struct figures_cache;

/*
 * Over `count` rows, the first ones when `rows` is NULL; pair with
 * aggregate_fini(), whatever comes of it. Figures by month and store are kept
 * in `figures`, if not NULL.
 *
 *	ERR_TOO_LARGE       more groups than `most` has room for
 *	ERR_DAMAGED         the snapshot is damaged
 *	ERR_DAMAGED_BESIDE  a network record is damaged, which has been logged
 */
enum err aggregate_make(struct aggregate *aggregate, const uint32_t *rows,
    uint32_t count, struct snapshot *snap, const struct ranges *ranges,
    const struct rowset_query *query, struct figures_cache *figures);
void aggregate_fini(struct aggregate *aggregate);
