#include "fcgi/process/stock.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/log.h"
#include "lmdb-schema/snapshot/catalog_format.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/backup_note.h"
#include "lmdb-schema/upkeep/night.h"
#include "lmdb-schema/upkeep/stat.h"

/* Before the first night, and of a file that cannot be read, there is nothing. */
static void
take_night(int64_t values[STOCK_COUNT], const char *data_dir)
{
	struct night *night;
	int64_t took_ms[NIGHT_KINDS] = {0};

	if (night_read(&night, data_dir) != ERR_OK)
		return;
	values[STOCK_NIGHT_BEGAN_S] = night->began_ms / 1000;
	values[STOCK_NIGHT_ENDED_S] = night->ended_ms / 1000;
	for (unsigned i = 0; i < night->count; i++) {
		const struct night_step *step = &night->steps[i];

		values[STOCK_NIGHT_WAITING + step->state]++;
		if (step->ended_ms > step->began_ms)
			took_ms[step->kind] += step->ended_ms - step->began_ms;
	}
	for (unsigned i = 0; i < NIGHT_KINDS; i++)
		values[STOCK_NIGHT_TAKE_S + i] = took_ms[i] / 1000;
	free(night);
}

static void
take_backups(int64_t values[STOCK_COUNT], const char *data_dir)
{
	struct backup_note note;

	if (backup_note_read(&note, data_dir) != ERR_OK)
		return;
	for (unsigned i = 0; i < BACKUP_EVENTS; i++)
		values[STOCK_BACKUP_MADE_S + i] = note.ms[i] / 1000;
}

/* After an upgrade, so that the next time no file is opened. */
static void
note_formats(struct store *store, const struct stat_counts *counts)
{
	enum err err =
	    counts->unnoted > 0 ? catalog_note_formats(store) : ERR_OK;

	if (err != ERR_OK)
		log_warn("the versions of snapshots were not noted: %s",
		    err_text(err));
}

_Static_assert(STOCK_BACKUP_TESTED_S - STOCK_BACKUP_MADE_S + 1 == BACKUP_EVENTS,
    "a metric for each event");
_Static_assert(STOCK_NIGHT_SKIPPED - STOCK_NIGHT_WAITING + 1 == NIGHT_STATES &&
	STOCK_NIGHT_REPORT_S - STOCK_NIGHT_TAKE_S + 1 == NIGHT_KINDS,
    "a metric for each state and kind");

void
stock_take(struct store *store, struct metrics *metrics)
{
	int64_t values[STOCK_COUNT];
	struct stat_counts counts;
	enum err err = stat_collect(&counts, store);

	assert(metrics != NULL);
	if (err != ERR_OK) {
		log_error("what is stored was not counted: %s", err_text(err));
		return;
	}
	memcpy(values,
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
		[STOCK_SHARED_MADE] = (int64_t)counts.made,
		[STOCK_SHARED_TAKEN] = (int64_t)counts.taken,
		[STOCK_SHARED_KEPT] = (int64_t)counts.kept,
		[STOCK_SHARED_LACKING] = (int64_t)counts.lacking,
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
	    },
	    sizeof(values));
	note_formats(store, &counts);
	take_backups(values, store_dir(store));
	take_night(values, store_dir(store));
	metrics_stock(metrics, values);
}
