/*
 * metrics: counters that all processes of the pool share, in memory that the
 * supervisor maps before it forks. Written with relaxed atomics; read by the
 * /metrics page.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "common/buf.h"

#define METRICS_ENDPOINTS 32
#define METRICS_STATUSES 8 /* see metrics_status() */
#define METRICS_BUCKETS 16

struct metrics {
	atomic_ullong requests[METRICS_ENDPOINTS][METRICS_STATUSES];
	/* Latency: up to 50 us, 100 us, 200 us, ... and beyond. */
	atomic_ullong latency[METRICS_ENDPOINTS][METRICS_BUCKETS];
	atomic_ullong latency_sum_us[METRICS_ENDPOINTS];
	atomic_ullong bytes_out;
	atomic_llong snapshots_open;
	atomic_llong computations_running, computations_waiting;
	atomic_ullong computations_done, computations_failed;
	atomic_ullong workers_replaced; /* died and were started again */
	atomic_ullong requests_aborted; /* the client had gone */
};

/* Shared between processes, zeroed; NULL when memory is out. */
struct metrics *metrics_new(void);
void metrics_free(struct metrics *metrics);

/* Counts one answer. `endpoint` is the route's number. */
void metrics_count(
    struct metrics *metrics, unsigned endpoint, int status, int64_t took_ns);

/* Prometheus text; `names` are the endpoints', `count` of them. */
void metrics_write(struct buf *buf, const struct metrics *metrics,
    const char *const *names, unsigned count);
