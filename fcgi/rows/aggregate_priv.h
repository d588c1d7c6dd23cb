/* aggregate_priv: what aggregate.c and aggregate_add.c share. */
#pragma once

#include "fcgi/rows/aggregate.h"

/* Sums in the making. */
struct aggregating {
	struct aggregate *out;
	const uint32_t *rows;
	uint32_t count;
	uint32_t *of; /* each row's group, by its place in `rows` */
	struct snapshot *snap;
	const struct ranges *ranges;
	const struct rowset_query *query;
};

/* Adds the values of a column, by its place in out->columns. */
enum err aggregate_add(struct aggregating *making, unsigned place);
