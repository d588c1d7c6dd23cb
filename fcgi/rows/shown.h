/*
 * shown: sorts by what rows show, where that is not what was computed: ranges
 * of today, and network figures of today. The stored orders are of no use for
 * these columns then; those of all others are.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "fcgi/rows/ranges.h"
#include "fcgi/rows/rowset.h"
#include "lmdb-schema/facts/live.h"
#include "lmdb-schema/snapshot/snapshot.h"

/* True when the column that is sorted by may show other values. */
bool shown_differs(struct snapshot *snap, const struct ranges *ranges,
    const struct rowset_query *query);

/* The same for any column; of maps, for the trend. */
bool shown_differs_in(struct snapshot *snap, const struct ranges *ranges,
    const struct rowset_query *query, unsigned column);

/*
 * The value that a row shows in that column, one of ranges or one of which
 * shown_differs(): a number that sorts as the value does, NUM_NULL for null.
 *
 *	ERR_DAMAGED         the snapshot is
 *	ERR_DAMAGED_BESIDE  a network record is, which has been logged
 */
enum err shown_value(int64_t *out, uint32_t row, struct snapshot *snap,
    const struct ranges *ranges, const struct rowset_query *query);

/* The same for any column. */
enum err shown_value_in(int64_t *out, uint32_t row, struct snapshot *snap,
    const struct ranges *ranges, const struct rowset_query *query,
    unsigned column);

/* Today's trend of a row's product (trend_code()); fails the same way. */
enum err shown_trend(
    uint8_t *out, uint32_t row, struct snapshot *snap, struct live_view *live);

/* Brings rows, which are ascending, into the order of their codes. */
enum err shown_by_code(uint32_t *rows, uint32_t count, struct snapshot *snap);

/*
 * Brings rows, which are ascending, into the order of what they show: null
 * last, equals by codein, whichever way.
 */
enum err shown_sort(uint32_t *rows, uint32_t count, struct snapshot *snap,
    const struct ranges *ranges, const struct rowset_query *query);

/*
 * Today's metrics of a row's product; *known is whether the network has any.
 * Fails as shown_value() does.
 */
enum err shown_network(struct network *out, bool *known, uint32_t row,
    struct snapshot *snap, struct live_view *live);
