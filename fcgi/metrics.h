/*
 * metrics: counters that all processes of the pool share, in memory that the
 * supervisor maps before it forks. Written with relaxed atomics; read by the
 * /metrics page.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/buf.h"
#include "fcgi/key_rates.h"
#include "lmdb-schema/schema.h"

#define METRICS_STATUSES 16 /* their table is in metrics.c */
#define METRICS_BUCKETS 22 /* and that of the buckets' edges */
#define METRICS_WORKERS 1024
#define METRICS_REFUSAL_MAX 160

/*
 * Resources that a worker holds now. Each process writes its own, so that
 * the supervisor can forget what a dead one held; a page adds them up.
 */
struct gauges {
	/* On a cache line of its own: it is written at each request. */
	_Alignas(64) atomic_llong requests;
	atomic_llong snapshots_open;
	atomic_llong computations_running, computations_waiting;
};

/*
 * Contents of the store, which housekeeping counts each minute. Names, labels and
 * meaning are in metrics_text.c's table. Times are seconds since 1970, 0 for never.
 */
enum stock {
	STOCK_COUNTED_S,
	STOCK_IMPORTED_S,
	STOCK_SUPPLIERS,
	STOCK_ARTICLES,
	STOCK_SNAPSHOTS_CURRENT,
	STOCK_SNAPSHOTS_STALE,
	STOCK_SNAPSHOTS_ABSENT,
	STOCK_SNAPSHOTS_DAMAGED,
	STOCK_SHARED_MADE,
	STOCK_SHARED_TAKEN,
	STOCK_SHARED_KEPT,
	STOCK_SHARED_LACKING,
	STOCK_PENDING,
	STOCK_VALIDATED,
	STOCK_PENDING_SINCE_S,
	STOCK_HOOKS_FINE,
	STOCK_HOOKS_CATCHING_UP,
	STOCK_HOOKS_FAILING,
	STOCK_HOOKS_STOPPED,
	STOCK_HOOK_WAITING,
	STOCK_HOOK_LOST,
	STOCK_HOOK_SINCE_S,
	STOCK_HOOK_DELIVERED,
	STOCK_HOOK_REPEATED,
	STOCK_HOOK_GIVEN_UP,
	STOCK_BYTES_FACTS,
	STOCK_BYTES_SNAPSHOTS,
	STOCK_BYTES_PACKED_ROWS,
	STOCK_BYTES_WORDS,
	STOCK_BYTES_LIVE,
	STOCK_BYTES_CATALOG,
	STOCK_BYTES_STATE,
	STOCK_BYTES_TRAIL,
	STOCK_BYTES_FREE,
	STOCK_BACKUP_MADE_S, /* in the order of enum backup_event */
	STOCK_BACKUP_SENT_S,
	STOCK_BACKUP_TESTED_S,
	STOCK_NIGHT_BEGAN_S,
	STOCK_NIGHT_ENDED_S,
	STOCK_NIGHT_WAITING, /* steps, in the order of enum night_state */
	STOCK_NIGHT_RUNNING,
	STOCK_NIGHT_DONE,
	STOCK_NIGHT_FAILED,
	STOCK_NIGHT_SKIPPED,
	STOCK_NIGHT_TAKE_S, /* in the order of enum night_kind */
	STOCK_NIGHT_CHECK_S,
	STOCK_NIGHT_IMPORT_S,
	STOCK_NIGHT_COMPUTE_S,
	STOCK_NIGHT_INDEX_S,
	STOCK_NIGHT_PACK_S,
	STOCK_NIGHT_EXPORT_S,
	STOCK_NIGHT_BACKUP_S,
	STOCK_NIGHT_SEND_S,
	STOCK_NIGHT_PRUNE_S,
	STOCK_NIGHT_REPORT_S,
	STOCK_COUNT
};

/* Of several nodes, as the process that follows the others finds them. */
enum cluster_gauge {
	CLUSTER_LOG_AWAY, /* 1 or 0 */
	CLUSTER_FOLLOWED, /* the outcome of the last look at the log */
	CLUSTER_LACKS_RIGHTS, /* 1 or 0; which: metrics_refusal() */
	CLUSTER_IMPORT_SHOWN, /* their numbers */
	CLUSTER_IMPORT_LAST,
	CLUSTER_PULL_FAILS, /* 1 or 0: of imports */
	CLUSTER_PULL_FAILS_NS, /* since then, by the monotonic clock; or 0 */
	CLUSTER_PUSH_FAILS,
	CLUSTER_COMPUTED_FAILS, /* as the first, of snapshots */
	CLUSTER_GAUGES
};

/*
 * Threads write a part each, as far as there are as many: a line that several
 * processors write would pass between them at each answer.
 */
#define METRICS_PARTS 16

struct endpoint_counts {
	_Alignas(64) atomic_ullong requests[METRICS_STATUSES];
	/* Latency: up to 50 us, 100 us, 250 us, ... 300 s, and beyond. */
	atomic_ullong latency[METRICS_BUCKETS];
	atomic_ullong latency_sum_us;
	atomic_ullong bytes_out;
};

struct metrics {
	atomic_ullong computations_done, computations_failed;
	atomic_ullong computations_ms; /* of both */
	atomic_ullong workers_replaced; /* died and were started again */
	atomic_ullong connections; /* accepted; each carries many requests */
	atomic_ullong requests_aborted; /* the client had gone */
	atomic_ullong damages; /* found in what was to be shown, or walked */
	struct key_rates rates; /* of keys that have one */
	/* Housekeeping's: how far a walk through all files has come. */
	int64_t scrub_began_ns;
	char scrub_at[SCHEMA_CODE_MAX + 1]; /* the last supplier; "": done */
	uint64_t scrub_trail; /* the last entry in files; 0: none yet */
	atomic_ullong scrubs; /* rounds that came to their end */
	atomic_ullong scrub_snapshots; /* compared in this round, or the last */
	atomic_llong stock[STOCK_COUNT];
	/* By the monotonic clock, when this node had all that others have
	   written; 0: there is no other. */
	atomic_llong current_ns;
	atomic_llong cluster[CLUSTER_GAUGES];
	atomic_bool cut_off_told; /* by a process, in the log */
	char refusal[METRICS_REFUSAL_MAX]; /* while a right is lacking */
	/* Of several nodes those that are away, a bit for each; of which list. */
	atomic_ullong nodes_away, nodes_changes;
	/* The supervisor's own pid, and who has which place, 0 for nobody. */
	pid_t supervisor;
	unsigned endpoint_count;
	pid_t owners[METRICS_WORKERS];
	struct gauges gauges[METRICS_WORKERS];
	/* METRICS_PARTS times one for each route, by its number */
	struct endpoint_counts endpoints[];
};

/*
 * Shared between processes, zeroed, with room for as many endpoints; NULL when
 * memory is out.
 */
struct metrics *metrics_new(unsigned endpoint_count);
void metrics_free(struct metrics *metrics);

/*
 * The gauges' places. The supervisor finds a free one before it forks, tells
 * whose it is, and frees it when that process has ended, however it did. The
 * last one is shared by all who have none, and never freed.
 */
unsigned metrics_free_place(const struct metrics *metrics);
void metrics_own(struct metrics *metrics, unsigned place, pid_t pid);
void metrics_disown(struct metrics *metrics, pid_t pid);

/* Sets the place of the calling process; its gauges. */
void metrics_take_place(unsigned place);
struct gauges *metrics_mine(struct metrics *metrics);

/*
 * Of several nodes: notes when this one had all that was written, or that it
 * has not yet; then, how many milliseconds it may lack, 0 for a node alone.
 */
void metrics_current(struct metrics *metrics, int64_t at_ns);
void metrics_behind(struct metrics *metrics);
int64_t metrics_behind_ms(const struct metrics *metrics);

/* Notes whether the last import could not be had at this time. */
void metrics_pulled(struct metrics *metrics, bool fails, int64_t at_ns);

/*
 * Whether the last import of all nodes is not shown here, and does not come; for how
 * many milliseconds, 0 where it is not so.
 */
bool metrics_import_fails(const struct metrics *metrics);
int64_t metrics_import_fails_ms(const struct metrics *metrics);

void metrics_cluster(
    struct metrics *metrics, enum cluster_gauge gauge, int64_t value);
int64_t metrics_cluster_now(
    const struct metrics *metrics, enum cluster_gauge gauge);

/*
 * Notes the refusal of the log, as the process that follows the others finds it: "" where
 * the nodes' user lacks no right. Then that text for a page, or NULL.
 */
void metrics_refused(struct metrics *metrics, const char *refusal);
const char *metrics_refusal(const struct metrics *metrics);

/*
 * The nodes that are away, of the list with so many changes
 * (lmdb-schema/state/share.h): a hint. Of another list none is known to be.
 */
void metrics_nodes(struct metrics *metrics, uint64_t changes, uint64_t away);
uint64_t metrics_nodes_away(const struct metrics *metrics, uint64_t changes);
#define METRICS_BEHIND_MS 1000 /* what is told to callers */

/* Takes over what was counted in the data directory. */
void metrics_stock(struct metrics *metrics, const int64_t values[STOCK_COUNT]);

/* Counts one answer of `sent` bytes. `endpoint` is the route's number. */
void metrics_count(struct metrics *metrics, unsigned endpoint, int status,
    int64_t took_ns, uint64_t sent);

/* Prometheus text; `name` gives an endpoint's by its number. */
void metrics_write(struct buf *buf, const struct metrics *metrics,
    const char *(*name)(unsigned endpoint));
