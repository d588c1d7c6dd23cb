/*
 * filter: the rows of one snapshot that meet conditions on columns
 * (fcgi/http/condition.h), by the values that they show, today's ranges and
 * network figures included, unless the query is for raw rows.
 *
 * Numbers, codes and the numbers of texts are compared as the snapshot stores
 * them. A condition on texts is evaluated first for the distinct texts of the
 * column, so that each row costs one look-up in a table.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "fcgi/rows/ranges.h"
#include "fcgi/rows/rowset.h"

/*
 * Keeps the 1 in the mask of rows that meet all conditions of the query.
 *
 *	ERR_DAMAGED         the snapshot is damaged
 *	ERR_DAMAGED_BESIDE  a network record is damaged, which has been logged
 */
enum err filter_mask(uint8_t *mask, struct snapshot *snap,
    const struct ranges *ranges, const struct rowset_query *query);

/* Keeps those of a few rows that meet all conditions; fails the same way. */
enum err filter_rows(uint32_t *rows, uint32_t *count, struct snapshot *snap,
    const struct ranges *ranges, const struct rowset_query *query);

/* Whether a condition of the query is on network figures of today. */
bool filter_is_live(struct snapshot *snap, const struct ranges *ranges,
    const struct rowset_query *query);
