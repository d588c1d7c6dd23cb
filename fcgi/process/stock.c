#include "fcgi/process/stock.h"

#include <assert.h>
#include <time.h>

#include "common/log.h"
#include "lmdb-schema/upkeep/stat.h"

void
stock_take(struct store *store, struct metrics *metrics)
{
	struct stat_counts counts;
	enum err err = stat_collect(&counts, store);

	assert(metrics != NULL);
	if (err != ERR_OK) {
		log_error("what is stored was not counted: %s", err_text(err));
		return;
	}
	metrics_stock(metrics,
	    (int64_t[STOCK_COUNT]){
		[STOCK_COUNTED_S] = time(NULL),
		[STOCK_IMPORTED_S] = (int64_t)(counts.facts / 1000000),
		[STOCK_SUPPLIERS] = (int64_t)counts.suppliers,
		[STOCK_ARTICLES] = (int64_t)counts.articles,
		[STOCK_SNAPSHOTS_CURRENT] =
		    (int64_t)(counts.snapshots - counts.stale),
		[STOCK_SNAPSHOTS_STALE] = (int64_t)counts.stale,
		[STOCK_SNAPSHOTS_ABSENT] = (int64_t)counts.absent,
		[STOCK_SNAPSHOTS_DAMAGED] = (int64_t)counts.lost,
		[STOCK_PENDING] = (int64_t)counts.pending,
		[STOCK_PENDING_SINCE_S] =
		    (int64_t)(counts.pending_since_ms / 1000),
		[STOCK_VALIDATED] = (int64_t)counts.validated,
		[STOCK_HOOKS_FINE] = (int64_t)counts.hooks.fine,
		[STOCK_HOOKS_CATCHING_UP] = (int64_t)counts.hooks.catching_up,
		[STOCK_HOOKS_FAILING] = (int64_t)counts.hooks.failing,
		[STOCK_HOOKS_STOPPED] = (int64_t)counts.hooks.stopped,
		[STOCK_HOOK_WAITING] = (int64_t)counts.hooks.waiting,
		[STOCK_HOOK_LOST] = (int64_t)counts.hooks.lost,
		[STOCK_HOOK_SINCE_S] = (int64_t)(counts.hooks.oldest_ms / 1000),
		[STOCK_HOOK_DELIVERED] = (int64_t)counts.hooks.delivered,
		[STOCK_HOOK_REPEATED] = (int64_t)counts.hooks.repeated,
		[STOCK_HOOK_GIVEN_UP] = (int64_t)counts.hooks.given_up,
		[STOCK_BYTES_FACTS] = (int64_t)counts.facts_bytes,
		[STOCK_BYTES_SNAPSHOTS] = (int64_t)counts.snapshot_bytes,
		[STOCK_BYTES_PACKED_ROWS] = (int64_t)counts.packed_rows_bytes,
		[STOCK_BYTES_WORDS] = (int64_t)counts.words_bytes,
		[STOCK_BYTES_LIVE] = (int64_t)counts.live_bytes,
		[STOCK_BYTES_CATALOG] = (int64_t)counts.catalog_bytes,
		[STOCK_BYTES_STATE] = (int64_t)counts.state_bytes,
		[STOCK_BYTES_TRAIL] = (int64_t)counts.trail_bytes,
		[STOCK_BYTES_FREE] = (int64_t)counts.free_bytes,
	    });
}
