#include "fcgi/metrics_priv.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/date.h"

const int metrics_statuses[METRICS_STATUSES] = {200, 202, 204, 304, 400, 401,
    403, 404, 405, 409, 413, 415, 429, 500, 503, 0};

const int64_t metrics_edges_us[METRICS_BUCKETS - 1] = {50, 100, 250, 500, 1000,
    2500, 5000, 10000, 25000, 50000, 100000, 250000, 500000, 1000000, 2500000,
    5000000, 10000000, 30000000, 60000000, 120000000, 300000000};

static size_t
size_of(unsigned endpoint_count)
{
	return sizeof(struct metrics) +
	    METRICS_PARTS * endpoint_count * sizeof(struct endpoint_counts);
}

struct metrics *
metrics_new(unsigned endpoint_count)
{
	struct metrics *metrics = mmap(NULL, size_of(endpoint_count),
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (metrics == MAP_FAILED)
		return NULL;
	metrics->supervisor = getpid();
	metrics->endpoint_count = endpoint_count;
	return metrics;
}

void
metrics_free(struct metrics *metrics)
{
	if (metrics != NULL)
		munmap(metrics, size_of(metrics->endpoint_count));
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

/*
 * The calling thread's part: a usual process has 8 threads, so that two of them
 * have all parts.
 */
static unsigned
my_part(void)
{
	static _Thread_local unsigned part = METRICS_PARTS;
	static atomic_uint taken;

	if (part == METRICS_PARTS)
		part = (my_place * 8 + atomic_fetch_add(&taken, 1)) %
		    METRICS_PARTS;
	return part;
}

static void
add(atomic_ullong *counter, uint64_t value)
{
	atomic_fetch_add_explicit(counter, value, memory_order_relaxed);
}

void
metrics_stock(struct metrics *metrics, const int64_t values[STOCK_COUNT])
{
	assert(values[STOCK_COUNTED_S] > 0);
	for (unsigned i = 0; i < STOCK_COUNT; i++)
		atomic_store_explicit(
		    &metrics->stock[i], values[i], memory_order_relaxed);
}

void
metrics_current(struct metrics *metrics, int64_t at_ns)
{
	atomic_store_explicit(
	    &metrics->current_ns, at_ns, memory_order_relaxed);
}

void
metrics_behind(struct metrics *metrics)
{
	if (metrics->current_ns == 0)
		metrics_current(
		    metrics, date_monotonic_ns() - METRICS_BEHIND_MS * 1000000);
}

int64_t
metrics_behind_ms(const struct metrics *metrics)
{
	int64_t at_ns =
	    atomic_load_explicit(&metrics->current_ns, memory_order_relaxed);

	return at_ns == 0 ? 0 : (date_monotonic_ns() - at_ns) / 1000000;
}

int64_t
metrics_cluster_now(const struct metrics *metrics, enum cluster_gauge gauge)
{
	return atomic_load_explicit(
	    &metrics->cluster[gauge], memory_order_relaxed);
}

void
metrics_pulled(struct metrics *metrics, bool fails, int64_t at_ns)
{
	if (!fails)
		metrics_cluster(metrics, CLUSTER_PULL_FAILS_NS, 0);
	else if (metrics_cluster_now(metrics, CLUSTER_PULL_FAILS_NS) == 0)
		metrics_cluster(metrics, CLUSTER_PULL_FAILS_NS, at_ns);
	metrics_cluster(metrics, CLUSTER_PULL_FAILS, fails);
}

bool
metrics_import_fails(const struct metrics *metrics)
{
	return metrics_cluster_now(metrics, CLUSTER_PULL_FAILS) != 0 &&
	    metrics_cluster_now(metrics, CLUSTER_IMPORT_SHOWN) !=
	    metrics_cluster_now(metrics, CLUSTER_IMPORT_LAST);
}

int64_t
metrics_import_fails_ms(const struct metrics *metrics)
{
	int64_t since_ns = metrics_cluster_now(metrics, CLUSTER_PULL_FAILS_NS);

	return since_ns != 0 && metrics_import_fails(metrics)
	    ? (date_monotonic_ns() - since_ns) / 1000000
	    : 0;
}

void
metrics_cluster(
    struct metrics *metrics, enum cluster_gauge gauge, int64_t value)
{
	atomic_store_explicit(
	    &metrics->cluster[gauge], value, memory_order_relaxed);
}

/* A page that reads while it changes shows a text that is made of two. */
void
metrics_refused(struct metrics *metrics, const char *refusal)
{
	if (strcmp(metrics->refusal, refusal) != 0)
		snprintf(
		    metrics->refusal, sizeof(metrics->refusal), "%s", refusal);
	metrics_cluster(metrics, CLUSTER_LACKS_RIGHTS, refusal[0] != '\0');
}

const char *
metrics_refusal(const struct metrics *metrics)
{
	return metrics_cluster_now(metrics, CLUSTER_LACKS_RIGHTS) != 0
	    ? metrics->refusal
	    : NULL;
}

void
metrics_nodes(struct metrics *metrics, uint64_t changes, uint64_t away)
{
	metrics->nodes_changes = 0;
	metrics->nodes_away = away;
	metrics->nodes_changes = changes;
}

uint64_t
metrics_nodes_away(const struct metrics *metrics, uint64_t changes)
{
	return metrics->nodes_changes == changes ? metrics->nodes_away : 0;
}

static unsigned
status_place(int status)
{
	unsigned i = 0;

	while (i + 1 < METRICS_STATUSES && metrics_statuses[i] != status)
		i++;
	return i;
}

static unsigned
bucket_of(int64_t took_us)
{
	unsigned i = 0;

	while (i + 1 < METRICS_BUCKETS && took_us > metrics_edges_us[i])
		i++;
	return i;
}

void
metrics_count(struct metrics *metrics, unsigned endpoint, int status,
    int64_t took_ns, uint64_t sent)
{
	int64_t took_us = took_ns / 1000;
	struct endpoint_counts *counts;

	assert(endpoint < metrics->endpoint_count && took_ns >= 0);
	counts =
	    &metrics->endpoints[my_part() * metrics->endpoint_count + endpoint];
	add(&counts->requests[status_place(status)], 1);
	add(&counts->latency[bucket_of(took_us)], 1);
	add(&counts->latency_sum_us, (uint64_t)took_us);
	add(&counts->bytes_out, sent);
}
