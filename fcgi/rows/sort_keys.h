/*
 * sort_keys: rows by several columns, or by months of a map, each as rows show
 * it: null last whichever way, and codein last of all.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "fcgi/rows/ranges.h"
#include "fcgi/rows/rowset.h"

/*
 * Brings rows, which are ascending, into the order of the query's keys; fails as
 * shown_value() does.
 */
enum err sort_keys_order(uint32_t *rows, uint32_t count, struct snapshot *snap,
    const struct ranges *ranges, const struct rowset_query *query);

/* True when what decides an order of several keys may have changed since. */
bool sort_keys_differ(struct snapshot *snap, const struct ranges *ranges,
    const struct rowset_query *query);

/* A row of one of several snapshots. */
struct sort_place {
	struct snapshot *snap;
	const struct ranges *ranges;
	uint32_t row;
};

/*
 * How two rows compare by the keys behind the first: below 0 when `a` comes
 * first, 0 when they do not decide. Fails as shown_value() does.
 */
enum err sort_keys_compare(int *way, const struct sort_place *a,
    const struct sort_place *b, const struct rowset_query *query);

/* The same keys of a row as bytes (sort_bytes.h). */
enum err sort_keys_bytes(struct buf *out, const struct sort_place *at,
    const struct rowset_query *query);
