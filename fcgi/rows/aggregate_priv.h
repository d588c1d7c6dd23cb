/* aggregate_priv: what the files of aggregate.h share. */
#pragma once

#include "common/num.h"
#include "fcgi/rows/aggregate.h"
#include "fcgi/rows/figures.h"
#include "lmdb-schema/snapshot/snapfile.h"

/* Sums in the making. */
struct aggregating {
	struct aggregate *out;
	const uint32_t *rows;
	uint32_t count;
	uint32_t *of; /* each row's group, by its place in `rows` */
	struct snapshot *snap;
	const struct ranges *ranges;
	const struct rowset_query *query;
	struct figures_cache *figures;
	bool all; /* `rows` are all of the snapshot's, in their order */
	uint32_t *sorted; /* rows by group; NULL: not made */
};

/* Adds the values of a column, by its place in out->columns. */
enum err aggregate_add(struct aggregating *making, unsigned place);

/* Adds a plane's figures to a cell of each group. */
enum err aggregate_add_plane(struct aggregating *making, unsigned place,
    unsigned cell, const struct plane *plane);

/*
 * The same as aggregate_add() from the maps by store of the rows, where no column of the snapshot
 * has the figures.
 */
enum err aggregate_add_maps(
    struct aggregating *making, unsigned place, enum snap_measure kind);

static inline void
aggregate_value_add(struct aggregate_value *to, int64_t value)
{
	if (value == NUM_NULL)
		return;
	if (to->count == 0 || value < to->min)
		to->min = value;
	if (to->count == 0 || value > to->max)
		to->max = value;
	to->sum += value;
	to->count++;
}

static inline struct aggregate_value *
aggregate_place(
    const struct aggregating *making, uint32_t i, unsigned cell, unsigned place)
{
	return aggregate_at(making->out, making->of[i], cell) + place;
}
