/* stock: counts what is stored, for /metrics. */
#pragma once

#include "fcgi/metrics.h"

struct store;

/* A failure is logged, and the counts before stay with their time. */
void stock_take(struct store *store, struct metrics *metrics);
