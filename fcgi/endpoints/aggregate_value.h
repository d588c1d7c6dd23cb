/* aggregate_value: a column's figures over a group, as JSON. */
#pragma once

#include "common/jsonw.h"
#include "fcgi/rows/aggregate.h"

/*
 * Writes the member of a column: count, sum, min, max, mean, and with `total`
 * the share of it. `total` is NULL for the totals themselves.
 */
void aggregate_value_write(struct jsonw *json, unsigned column,
    const struct aggregate_value *value, const struct aggregate_value *total);
