/* aggregate_cells: which cells a line of /grid/aggregates has in flat formats. */
#pragma once

#include "common/err.h"
#include "fcgi/rows/aggregate.h"
#include "fcgi/table/table.h"

struct arena;

#define AGGREGATE_PARTS 6 /* count, sum, min, max, mean, share */
#define AGGREGATE_CELLS_MAX \
	(2 * GROUPS_MAX + 1 + AGGREGATE_PARTS * GROUPS_VALUES_MAX)

/*
 * The cells of a line: keys with their labels, articles, values. Their names
 * are taken from `arena`: ERR_NO_MEMORY.
 */
enum err aggregate_cell_columns(
    struct table_column columns[AGGREGATE_CELLS_MAX], unsigned *count,
    const struct aggregate *aggregate, struct arena *arena);
