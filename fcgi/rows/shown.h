/*
 * shown: sorts by the values that rows show, for columns that may differ from
 * the computation: ranges and network figures of today. The stored orders do
 * not apply to these columns then; those of all other columns do.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "fcgi/rows/ranges.h"
#include "fcgi/rows/rowset.h"
#include "lmdb-schema/facts/live.h"
#include "lmdb-schema/snapshot/snapshot.h"

/* True when the sort column may show other values than the snapshot has. */
bool shown_differs(struct snapshot *snap, const struct ranges *ranges,
    const struct rowset_query *query);

/* The same for any column; of the maps only for the trend. */
bool shown_differs_in(struct snapshot *snap, const struct ranges *ranges,
    const struct rowset_query *query, unsigned column);

/*
 * The value that a row shows in a column of ranges, or in one of which
 * shown_differs(): a number that sorts like the value, NUM_NULL for null.
 *
 *	ERR_DAMAGED         the snapshot is damaged
 *	ERR_DAMAGED_BESIDE  a network record is damaged, which has been logged
 */
enum err shown_value(int64_t *out, uint32_t row, struct snapshot *snap,
    const struct ranges *ranges, const struct rowset_query *query);

/* The same for any column. */
enum err shown_value_in(int64_t *out, uint32_t row, struct snapshot *snap,
    const struct ranges *ranges, const struct rowset_query *query,
    unsigned column);

/* Today's trend of a row's product (trend_code()); fails like shown_value(). */
enum err shown_trend(
    uint8_t *out, uint32_t row, struct snapshot *snap, struct live_view *live);

/* Sorts ascending row numbers by the codes of the rows. */
enum err shown_by_code(uint32_t *rows, uint32_t count, struct snapshot *snap);

/*
 * Sorts ascending row numbers by the shown values: null last, ties by codein,
 * in both directions.
 */
enum err shown_sort(uint32_t *rows, uint32_t count, struct snapshot *snap,
    const struct ranges *ranges, const struct rowset_query *query);

/*
 * Today's metrics of a row's product; *known: the network has any. Fails like
 * shown_value().
 */
enum err shown_network(struct network *out, bool *known, uint32_t row,
    struct snapshot *snap, struct live_view *live);
