#include "fcgi/metrics.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* Each status of reply.c's table; any other counts as the last, "other". */
static const int statuses[METRICS_STATUSES] = {200, 202, 204, 304, 400, 401,
    403, 404, 405, 409, 413, 415, 429, 500, 503, 0};

/* From a page's microseconds to a computation's limit, [compute] timeout. */
static const int64_t edges_us[METRICS_BUCKETS - 1] = {50, 100, 250, 500, 1000,
    2500, 5000, 10000, 25000, 50000, 100000, 250000, 500000, 1000000, 2500000,
    5000000, 10000000, 30000000, 60000000, 120000000, 300000000};

struct metrics *
metrics_new(void)
{
	struct metrics *metrics = mmap(NULL, sizeof(*metrics),
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return metrics == MAP_FAILED ? NULL : metrics;
}

void
metrics_free(struct metrics *metrics)
{
	if (metrics != NULL)
		munmap(metrics, sizeof(*metrics));
}

unsigned
metrics_free_place(const struct metrics *metrics)
{
	unsigned place = 0;

	while (place + 1 < METRICS_WORKERS && metrics->owners[place] != 0)
		place++;
	return place;
}

void
metrics_own(struct metrics *metrics, unsigned place, pid_t pid)
{
	assert(pid > 0);
	if (place + 1 < METRICS_WORKERS)
		metrics->owners[place] = pid;
}

void
metrics_disown(struct metrics *metrics, pid_t pid)
{
	for (unsigned i = 0; i + 1 < METRICS_WORKERS; i++)
		if (metrics->owners[i] == pid) {
			memset(&metrics->gauges[i], 0, sizeof(struct gauges));
			metrics->owners[i] = 0;
		}
}

static unsigned my_place = METRICS_WORKERS - 1;

void
metrics_take_place(unsigned place)
{
	assert(place < METRICS_WORKERS);
	my_place = place;
}

struct gauges *
metrics_mine(struct metrics *metrics)
{
	return &metrics->gauges[my_place];
}

/* The sum over all workers of the member at `offset` of their gauges. */
static long long
held(const struct metrics *metrics, size_t offset)
{
	long long sum = 0;

	for (unsigned i = 0; i < METRICS_WORKERS; i++)
		sum += atomic_load_explicit(
		    (const atomic_llong *)(const void
			    *)((const char *)&metrics->gauges[i] + offset),
		    memory_order_relaxed);
	return sum;
}

static void
add(atomic_ullong *counter, uint64_t value)
{
	atomic_fetch_add_explicit(counter, value, memory_order_relaxed);
}

static unsigned long long
get(const atomic_ullong *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

static unsigned
status_place(int status)
{
	unsigned i = 0;

	while (i + 1 < METRICS_STATUSES && statuses[i] != status)
		i++;
	return i;
}

static unsigned
bucket_of(int64_t took_us)
{
	unsigned i = 0;

	while (i + 1 < METRICS_BUCKETS && took_us > edges_us[i])
		i++;
	return i;
}

void
metrics_count(
    struct metrics *metrics, unsigned endpoint, int status, int64_t took_ns)
{
	int64_t took_us = took_ns / 1000;

	assert(endpoint < METRICS_ENDPOINTS && took_ns >= 0);
	add(&metrics->requests[endpoint][status_place(status)], 1);
	add(&metrics->latency[endpoint][bucket_of(took_us)], 1);
	add(&metrics->latency_sum_us[endpoint], (uint64_t)took_us);
}

static void
write_one(struct buf *buf, const char *name, const char *type, const char *help,
    long long value)
{
	buf_addf(buf, "# HELP %s %s\n# TYPE %s %s\n%s %lld\n", name, help, name,
	    type, name, value);
}

static void
write_requests(struct buf *buf, const struct metrics *metrics,
    const char *const *names, unsigned count)
{
	buf_addf(buf,
	    "# HELP gridapi_requests_total Answers by endpoint and status.\n"
	    "# TYPE gridapi_requests_total counter\n");
	for (unsigned i = 0; i < count; i++)
		for (unsigned k = 0; k < METRICS_STATUSES; k++) {
			unsigned long long n = get(&metrics->requests[i][k]);
			char status[8] = "other";

			if (statuses[k] != 0)
				snprintf(
				    status, sizeof(status), "%d", statuses[k]);
			if (n > 0)
				buf_addf(buf,
				    "gridapi_requests_total{endpoint=\"%s\","
				    "status=\"%s\"} %llu\n",
				    names[i], status, n);
		}
}

static bool
was_asked(const struct metrics *metrics, unsigned i)
{
	for (unsigned k = 0; k < METRICS_BUCKETS; k++)
		if (get(&metrics->latency[i][k]) > 0)
			return true;
	return false;
}

static void
write_histogram(struct buf *buf, const struct metrics *metrics, unsigned i,
    const char *name)
{
	unsigned long long sum = 0;

	for (unsigned k = 0; k < METRICS_BUCKETS; k++) {
		sum += get(&metrics->latency[i][k]);
		if (k + 1 < METRICS_BUCKETS)
			buf_addf(buf,
			    "gridapi_request_seconds_bucket{endpoint=\"%s\","
			    "le=\"%g\"} %llu\n",
			    name, (double)edges_us[k] / 1e6, sum);
		else
			buf_addf(buf,
			    "gridapi_request_seconds_bucket{endpoint=\"%s\","
			    "le=\"+Inf\"} %llu\n",
			    name, sum);
	}
	buf_addf(buf,
	    "gridapi_request_seconds_sum{endpoint=\"%s\"} %.6f\n"
	    "gridapi_request_seconds_count{endpoint=\"%s\"} %llu\n",
	    name, (double)get(&metrics->latency_sum_us[i]) / 1e6, name, sum);
}

void
metrics_write(struct buf *buf, const struct metrics *metrics,
    const char *const *names, unsigned count)
{
	assert((names != NULL || count == 0) && count <= METRICS_ENDPOINTS);
	write_requests(buf, metrics, names, count);
	buf_addf(buf,
	    "# HELP gridapi_request_seconds Time from accepting a request to "
	    "its last byte.\n# TYPE gridapi_request_seconds histogram\n");
	for (unsigned i = 0; i < count; i++)
		if (was_asked(metrics, i))
			write_histogram(buf, metrics, i, names[i]);
	write_one(buf, "gridapi_sent_bytes_total", "counter",
	    "Bytes of answers.", (long long)get(&metrics->bytes_out));
	write_one(buf, "gridapi_requests_in_flight", "gauge",
	    "Requests under way, this one included.",
	    held(metrics, offsetof(struct gauges, requests)));
	write_one(buf, "gridapi_connections_total", "counter",
	    "Connections of nginx that workers accepted.",
	    (long long)get(&metrics->connections));
	write_one(buf, "gridapi_snapshots_open", "gauge",
	    "Snapshots held open by all workers.",
	    held(metrics, offsetof(struct gauges, snapshots_open)));
	write_one(buf, "gridapi_computations_running", "gauge",
	    "On-demand computations under way.",
	    held(metrics, offsetof(struct gauges, computations_running)));
	write_one(buf, "gridapi_computations_waiting", "gauge",
	    "Requests that wait for a computation.",
	    held(metrics, offsetof(struct gauges, computations_waiting)));
	write_one(buf, "gridapi_computations_total", "counter",
	    "On-demand computations that ended well.",
	    (long long)get(&metrics->computations_done));
	write_one(buf, "gridapi_computations_failed_total", "counter",
	    "On-demand computations that failed or ran out of time.",
	    (long long)get(&metrics->computations_failed));
	write_one(buf, "gridapi_workers_replaced_total", "counter",
	    "Workers that died and were started again.",
	    (long long)get(&metrics->workers_replaced));
	write_one(buf, "gridapi_damages_total", "counter",
	    "Damaged files that were met: snapshots, packed rows, the index of "
	    "words.",
	    (long long)get(&metrics->damages));
	write_one(buf, "gridapi_scrubs_total", "counter",
	    "Walks through all published files that came to their end.",
	    (long long)get(&metrics->scrubs));
	write_one(buf, "gridapi_requests_aborted_total", "counter",
	    "Requests whose client had gone.",
	    (long long)get(&metrics->requests_aborted));
}
