/* metrics_priv: what counting and the text of /metrics share. */
#pragma once

#include "fcgi/metrics.h"

/* Each status of reply.c's table; any other counts as the last, "other". */
extern const int metrics_statuses[METRICS_STATUSES];

/* From a page's microseconds to a computation's limit, [compute] timeout. */
extern const int64_t metrics_edges_us[METRICS_BUCKETS - 1];
