/* The text of /metrics. */
#include "fcgi/metrics_priv.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "common/procstat.h"
#include "common/version.h"
#include "config.h"

/* Gauges, and counters in "_total"; lines of one name stand together. */
static const struct {
	const char *name, *labels, *help;
	bool is_time; /* 0 is never: no line; nor where nothing is shared */
} stock_lines[STOCK_COUNT] = {
    [STOCK_COUNTED_S] = {"gridapi_data_counted_timestamp_seconds", "",
	"When housekeeping last counted what is stored.", true},
    [STOCK_IMPORTED_S] = {"gridapi_imported_timestamp_seconds", "",
	"When the current facts were imported.", true},
    [STOCK_SUPPLIERS] = {"gridapi_suppliers", "", "Suppliers known.", false},
    [STOCK_ARTICLES] = {"gridapi_articles", "", "Articles imported.", false},
    [STOCK_SNAPSHOTS_CURRENT] = {"gridapi_snapshots", "{state=\"current\"}",
	"Suppliers by the state of their snapshot.", false},
    [STOCK_SNAPSHOTS_STALE] = {"gridapi_snapshots", "{state=\"stale\"}", "",
	false},
    [STOCK_SNAPSHOTS_ABSENT] = {"gridapi_snapshots", "{state=\"absent\"}", "",
	false},
    [STOCK_SNAPSHOTS_DAMAGED] = {"gridapi_snapshots", "{state=\"damaged\"}", "",
	false},
    [STOCK_SHARED_MADE] = {"gridapi_shared_snapshots_total", "{from=\"here\"}",
	"Snapshots that nodes share, by the node that made them.", true},
    [STOCK_SHARED_TAKEN] = {"gridapi_shared_snapshots_total",
	"{from=\"elsewhere\"}", "", true},
    [STOCK_SHARED_KEPT] = {"gridapi_shared_snapshots_kept", "",
	"Suppliers with a snapshot that nodes share and this one keeps.", true},
    [STOCK_SHARED_LACKING] = {"gridapi_shared_snapshots_lacking", "",
	"Suppliers whose newest snapshot another node has, and this one not.",
	true},
    [STOCK_PENDING] = {"gridapi_proposals", "{state=\"pending\"}",
	"Proposed ranges that wait for a buyer, and validated ones that wait "
	"for an import.",
	false},
    [STOCK_VALIDATED] = {"gridapi_proposals", "{state=\"validated\"}", "",
	false},
    [STOCK_PENDING_SINCE_S] = {"gridapi_proposals_oldest_timestamp_seconds", "",
	"When the oldest pending range was proposed.", true},
    [STOCK_HOOKS_FINE] = {"gridapi_hooks", "{state=\"fine\"}",
	"Addresses that events are sent to, by how they do.", false},
    [STOCK_HOOKS_CATCHING_UP] = {"gridapi_hooks", "{state=\"catching_up\"}", "",
	false},
    [STOCK_HOOKS_FAILING] = {"gridapi_hooks", "{state=\"failing\"}", "", false},
    [STOCK_HOOKS_STOPPED] = {"gridapi_hooks", "{state=\"stopped\"}", "", false},
    [STOCK_HOOK_WAITING] = {"gridapi_hook_events", "{state=\"waiting\"}",
	"Events of hooks that are not delivered.", false},
    [STOCK_HOOK_LOST] = {"gridapi_hook_events", "{state=\"given_up\"}", "",
	false},
    [STOCK_HOOK_SINCE_S] = {"gridapi_hook_events_oldest_timestamp_seconds", "",
	"When the oldest event that waits came to be.", true},
    [STOCK_HOOK_DELIVERED] = {"gridapi_hook_tries_total",
	"{outcome=\"delivered\"}", "Tries to send an event, by outcome.",
	false},
    [STOCK_HOOK_REPEATED] = {"gridapi_hook_tries_total", "{outcome=\"failed\"}",
	"", false},
    [STOCK_HOOK_GIVEN_UP] = {"gridapi_hook_tries_total",
	"{outcome=\"given_up\"}", "", false},
    [STOCK_BYTES_FACTS] = {"gridapi_data_bytes", "{kind=\"facts\"}",
	"Bytes on the disk by kind of file.", false},
    [STOCK_BYTES_SNAPSHOTS] = {"gridapi_data_bytes", "{kind=\"snapshots\"}", "",
	false},
    [STOCK_BYTES_PACKED_ROWS] = {"gridapi_data_bytes", "{kind=\"packed_rows\"}",
	"", false},
    [STOCK_BYTES_WORDS] = {"gridapi_data_bytes", "{kind=\"words\"}", "", false},
    [STOCK_BYTES_LIVE] = {"gridapi_data_bytes", "{kind=\"live\"}", "", false},
    [STOCK_BYTES_CATALOG] = {"gridapi_data_bytes", "{kind=\"catalog\"}", "",
	false},
    [STOCK_BYTES_STATE] = {"gridapi_data_bytes", "{kind=\"state\"}", "", false},
    [STOCK_BYTES_TRAIL] = {"gridapi_data_bytes", "{kind=\"trail\"}", "", false},
    [STOCK_BYTES_FREE] = {"gridapi_data_free_bytes", "",
	"Bytes free on the data directory's disk.", false},
    [STOCK_BACKUP_MADE_S] = {"gridapi_backup_made_timestamp_seconds", "",
	"When gridctl last made a backup.", true},
    [STOCK_BACKUP_SENT_S] = {"gridapi_backup_sent_timestamp_seconds", "",
	"When a backup was last sent to another host and compared there.",
	true},
    [STOCK_BACKUP_TESTED_S] = {"gridapi_backup_tested_timestamp_seconds", "",
	"When a backup was last restored and checked (gridctl night "
	"test-restore).",
	true},
    [STOCK_NIGHT_BEGAN_S] = {"gridapi_night_began_timestamp_seconds", "",
	"When the last night began (gridctl night).", true},
    [STOCK_NIGHT_ENDED_S] = {"gridapi_night_ended_timestamp_seconds", "",
	"When it ended.", true},
    [STOCK_NIGHT_WAITING] = {"gridapi_night_steps", "{state=\"waiting\"}",
	"Steps of the last night by state.", false},
    [STOCK_NIGHT_RUNNING] = {"gridapi_night_steps", "{state=\"running\"}", "",
	false},
    [STOCK_NIGHT_DONE] = {"gridapi_night_steps", "{state=\"done\"}", "", false},
    [STOCK_NIGHT_FAILED] = {"gridapi_night_steps", "{state=\"failed\"}", "",
	false},
    [STOCK_NIGHT_SKIPPED] = {"gridapi_night_steps", "{state=\"skipped\"}", "",
	false},
    [STOCK_NIGHT_TAKE_S] = {"gridapi_night_step_seconds", "{step=\"take\"}",
	"Whole seconds that the steps of a kind took in the last night.",
	false},
    [STOCK_NIGHT_CHECK_S] = {"gridapi_night_step_seconds", "{step=\"check\"}",
	"", false},
    [STOCK_NIGHT_IMPORT_S] = {"gridapi_night_step_seconds", "{step=\"import\"}",
	"", false},
    [STOCK_NIGHT_COMPUTE_S] = {"gridapi_night_step_seconds",
	"{step=\"compute\"}", "", false},
    [STOCK_NIGHT_INDEX_S] = {"gridapi_night_step_seconds", "{step=\"index\"}",
	"", false},
    [STOCK_NIGHT_PACK_S] = {"gridapi_night_step_seconds", "{step=\"pack\"}", "",
	false},
    [STOCK_NIGHT_EXPORT_S] = {"gridapi_night_step_seconds", "{step=\"export\"}",
	"", false},
    [STOCK_NIGHT_BACKUP_S] = {"gridapi_night_step_seconds", "{step=\"backup\"}",
	"", false},
    [STOCK_NIGHT_SEND_S] = {"gridapi_night_step_seconds", "{step=\"send\"}", "",
	false},
    [STOCK_NIGHT_PRUNE_S] = {"gridapi_night_step_seconds", "{step=\"prune\"}",
	"", false},
    [STOCK_NIGHT_REPORT_S] = {"gridapi_night_step_seconds", "{step=\"report\"}",
	"", false},
};

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

static unsigned long long
get(const atomic_ullong *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

/* Adds what all parts have counted of an endpoint. */
static void
add_parts(struct endpoint_counts *sum, const struct metrics *metrics,
    unsigned endpoint)
{
	for (unsigned part = 0; part < METRICS_PARTS; part++) {
		const struct endpoint_counts *counts =
		    &metrics
			 ->endpoints[part * metrics->endpoint_count + endpoint];

		for (unsigned k = 0; k < METRICS_STATUSES; k++)
			sum->requests[k] += get(&counts->requests[k]);
		for (unsigned k = 0; k < METRICS_BUCKETS; k++)
			sum->latency[k] += get(&counts->latency[k]);
		sum->latency_sum_us += get(&counts->latency_sum_us);
		sum->bytes_out += get(&counts->bytes_out);
	}
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
    const char *(*name)(unsigned endpoint))
{
	buf_addf(buf,
	    "# HELP gridapi_requests_total Answers by endpoint and status.\n"
	    "# TYPE gridapi_requests_total counter\n");
	for (unsigned i = 0; i < metrics->endpoint_count; i++) {
		struct endpoint_counts counts = {0};

		add_parts(&counts, metrics, i);
		for (unsigned k = 0; k < METRICS_STATUSES; k++) {
			unsigned long long n = get(&counts.requests[k]);
			char status[8] = "other";

			if (metrics_statuses[k] != 0)
				snprintf(status, sizeof(status), "%d",
				    metrics_statuses[k]);
			if (n > 0)
				buf_addf(buf,
				    "gridapi_requests_total{endpoint=\"%s\","
				    "status=\"%s\"} %llu\n",
				    name(i), status, n);
		}
	}
}

static bool
was_asked(const struct endpoint_counts *counts)
{
	for (unsigned k = 0; k < METRICS_BUCKETS; k++)
		if (get(&counts->latency[k]) > 0)
			return true;
	return false;
}

static void
write_histogram(
    struct buf *buf, const struct endpoint_counts *counts, const char *name)
{
	unsigned long long sum = 0;

	for (unsigned k = 0; k < METRICS_BUCKETS; k++) {
		sum += get(&counts->latency[k]);
		if (k + 1 < METRICS_BUCKETS)
			buf_addf(buf,
			    "gridapi_request_seconds_bucket{endpoint=\"%s\","
			    "le=\"%g\"} %llu\n",
			    name, (double)metrics_edges_us[k] / 1e6, sum);
		else
			buf_addf(buf,
			    "gridapi_request_seconds_bucket{endpoint=\"%s\","
			    "le=\"+Inf\"} %llu\n",
			    name, sum);
	}
	buf_addf(buf,
	    "gridapi_request_seconds_sum{endpoint=\"%s\"} %.6f\n"
	    "gridapi_request_seconds_count{endpoint=\"%s\"} %llu\n",
	    name, (double)get(&counts->latency_sum_us) / 1e6, name, sum);
}

static void
write_stock(struct buf *buf, const struct metrics *metrics)
{
	const char *last = "";

	if (metrics->stock[STOCK_COUNTED_S] == 0)
		return; /* gridapi has just started */
	for (unsigned i = 0; i < STOCK_COUNT; i++) {
		const char *name = stock_lines[i].name;
		long long value = metrics->stock[i];

		if (value == 0 && stock_lines[i].is_time)
			continue;
		if (strcmp(name, last) != 0)
			buf_addf(buf, "# HELP %s %s\n# TYPE %s %s\n", name,
			    stock_lines[i].help, name,
			    span_ends(span_of(name), SPAN("_total")) ? "counter"
								     : "gauge");
		buf_addf(
		    buf, "%s%s %lld\n", name, stock_lines[i].labels, value);
		last = name;
	}
}

/* The supervisor and its workers; those that may not be looked at count not. */
static void
write_processes(struct buf *buf, const struct metrics *metrics)
{
	struct procstat all = {0}, one;
	long long workers = 0;

	if (procstat_read(&all, metrics->supervisor) == ERR_OK)
		all.cpu_us += all.children_cpu_us;
	for (unsigned i = 0; i + 1 < METRICS_WORKERS; i++) {
		pid_t pid = metrics->owners[i];

		if (pid == 0)
			continue;
		workers++;
		if (procstat_read(&one, pid) != ERR_OK)
			continue;
		all.cpu_us += one.cpu_us + one.children_cpu_us;
		all.private_bytes += one.private_bytes;
		all.open_files += one.open_files;
	}
	buf_addf(buf,
	    "# HELP gridapi_build_info The version that serves.\n"
	    "# TYPE gridapi_build_info gauge\n"
	    "gridapi_build_info{version=\"%s\"} 1\n"
	    "# HELP gridapi_cpu_seconds_total Processor time of all processes."
	    "\n# TYPE gridapi_cpu_seconds_total counter\n"
	    "gridapi_cpu_seconds_total %.2f\n",
	    version_text, (double)all.cpu_us / 1e6);
	write_one(
	    buf, "gridapi_workers", "gauge", "Workers that run.", workers);
	write_one(buf, "gridapi_private_bytes", "gauge",
	    "Memory of all processes, without mapped files.",
	    all.private_bytes);
	write_one(buf, "gridapi_open_files", "gauge",
	    "File descriptors that all processes have open.", all.open_files);
}

static const struct cluster_line {
	const char *name, *labels, *help;
} cluster_lines[CLUSTER_GAUGES] = {
    [CLUSTER_LOG_AWAY] = {"gridapi_log_away", "",
	"1 while the log that the nodes share is out of reach."},
    [CLUSTER_LACKS_RIGHTS] = {"gridapi_log_lacks_rights", "",
	"1 while the nodes' user has not all rights of the log: writes may be "
	"refused, and the node not be heard of."},
    [CLUSTER_IMPORT_SHOWN] = {"gridapi_nodes_import", "{kind=\"shown\"}",
	"The number of the import that this node shows, and of the nodes' last "
	"one."},
    [CLUSTER_IMPORT_LAST] = {"gridapi_nodes_import", "{kind=\"last\"}", ""},
    [CLUSTER_PULL_FAILS] = {"gridapi_files_fail", "{kind=\"pull\"}",
	"1 while files of the last import, or snapshots, do not come from "
	"other "
	"nodes or the bucket, or are not taken by the bucket."},
    [CLUSTER_PUSH_FAILS] = {"gridapi_files_fail", "{kind=\"push\"}", ""},
};

/* Imports and snapshots have one line. */
static long long
cluster_value(const struct metrics *metrics, enum cluster_gauge gauge)
{
	int64_t value = metrics_cluster_now(metrics, gauge);

	if (gauge == CLUSTER_PULL_FAILS && value == 0)
		value = metrics_cluster_now(metrics, CLUSTER_COMPUTED_FAILS);
	return (long long)value;
}

static void
write_cluster(struct buf *buf, const struct metrics *metrics)
{
	write_one(buf, "gridapi_behind_milliseconds", "gauge",
	    "For how long other nodes may have written what is not here.",
	    metrics_behind_ms(metrics));
	for (unsigned i = 0; i < CLUSTER_GAUGES; i++) {
		const struct cluster_line *line = &cluster_lines[i];

		if (line->name == NULL)
			continue;
		if (line->help[0] != '\0')
			buf_addf(buf, "# HELP %s %s\n# TYPE %s gauge\n",
			    line->name, line->help, line->name);
		buf_addf(buf, "%s%s %lld\n", line->name, line->labels,
		    cluster_value(metrics, i));
	}
}

void
metrics_write(struct buf *buf, const struct metrics *metrics,
    const char *(*name)(unsigned endpoint))
{
	unsigned long long bytes_out = 0;

	assert(name != NULL || metrics->endpoint_count == 0);
	write_requests(buf, metrics, name);
	buf_addf(buf,
	    "# HELP gridapi_request_seconds Time from accepting a request to "
	    "its last byte.\n# TYPE gridapi_request_seconds histogram\n");
	for (unsigned i = 0; i < metrics->endpoint_count; i++) {
		struct endpoint_counts counts = {0};

		add_parts(&counts, metrics, i);
		bytes_out += get(&counts.bytes_out);
		if (was_asked(&counts))
			write_histogram(buf, &counts, name(i));
	}
	write_one(buf, "gridapi_sent_bytes_total", "counter",
	    "Bytes of answers.", (long long)bytes_out);
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
	buf_addf(buf,
	    "# HELP gridapi_computations_seconds_total Seconds that "
	    "computations took, failed ones too.\n# TYPE "
	    "gridapi_computations_seconds_total counter\n"
	    "gridapi_computations_seconds_total %.3f\n",
	    (double)get(&metrics->computations_ms) / 1e3);
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
	write_one(buf, "gridapi_scrub_snapshots", "gauge",
	    "Snapshots that the walk under way, or else the last one, has "
	    "compared.",
	    (long long)get(&metrics->scrub_snapshots));
	write_one(buf, "gridapi_requests_aborted_total", "counter",
	    "Requests whose client had gone.",
	    (long long)get(&metrics->requests_aborted));
	if (metrics->current_ns != 0)
		write_cluster(buf, metrics);
	write_processes(buf, metrics);
	write_stock(buf, metrics);
}
