/* stock: counts the stored data, for /metrics. */
#pragma once

#include "fcgi/metrics.h"

struct store;

/*
 * After a failure, which is logged, the previous counts stay with their time.
 */
void stock_take(struct store *store, struct metrics *metrics);
