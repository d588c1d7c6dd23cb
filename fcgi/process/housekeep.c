#include "fcgi/process/housekeep.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/date.h"
#include "common/limits.h"
#include "common/log.h"
#include "fcgi/process/aside.h"
#include "fcgi/process/scrub.h"
#include "fcgi/process/stock.h"
#include "lmdb-schema/state/trail_archive.h"
#include "lmdb-schema/state/trail_close.h"
#include "lmdb-schema/state/trail_part.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/prune.h"

/* The lowest priority: a computation may be using the processor. */
#define NICE 10
#define LONGEST_S 600

static int
prune(struct store *store, int64_t grace_s)
{
	struct pruned pruned;
	enum err err = prune_all(store, grace_s, &pruned);

	if (err != ERR_OK) {
		log_error("old snapshots were not removed: %s", err_text(err));
		return 1;
	}
	if (pruned.snapshots + pruned.facts + pruned.leftovers > 0)
		log_info("removed: snapshots=%llu facts=%llu leftovers=%llu "
			 "bytes=%llu",
		    (unsigned long long)pruned.snapshots,
		    (unsigned long long)pruned.facts,
		    (unsigned long long)pruned.leftovers,
		    (unsigned long long)pruned.bytes);
	return 0;
}

#define CLOSING_NS INT64_C(20000000000) /* the rest follows a minute later */

static void
close_months(struct store *store)
{
	struct trail_closed closed = {.parts = 0};
	enum err err = trail_close(&closed, store, TRAIL_PART_ENTRIES_MAX,
	    date_monotonic_ns() + CLOSING_NS);

	if (err != ERR_OK && err != ERR_BUSY)
		log_error(
		    "months of the trail were not closed: %s", err_text(err));
}

static void
archive_months(struct store *store, const struct api_settings *settings)
{
	struct fault fault;
	uint64_t moved;

	if (settings->trail_keep == 0)
		return;
	fault_clear(&fault);
	/* Of each part that stays, the log says why. */
	if (trail_archive(&moved, store, settings->trail_archive,
		trail_archive_before(date_now_ms(), settings->trail_keep),
		&fault) == ERR_BAD_INPUT)
		log_error("months of the trail were not archived: %s: %s",
		    fault.place, fault.message);
}

static int
work(const struct api_settings *settings, struct metrics *metrics)
{
	struct store *store = NULL;
	char text[FAULT_TEXT_MAX];
	struct fault fault;
	int result;
	int dead;
	enum err err;

	fault_clear(&fault);
	err = store_open(&store, settings->data_dir, &fault);
	if (err != ERR_OK) {
		log_error("%s", fault_text(text, &fault, err));
		return 1;
	}
	dead = store_reap(store);
	if (dead > 0)
		log_info("readers that died were let go: count=%d", dead);
	result = prune(store, settings->retention_s);
	close_months(store);
	archive_months(store, settings);
	stock_take(store, metrics);
	scrub_some(store, settings, metrics);
	store_close(store);
	return result;
}

pid_t
housekeep_start(const struct api_settings *settings,
    const struct listen *listen, struct metrics *metrics)
{
	pid_t pid = aside_fork(listen);
	char why[LIMITS_TEXT_MAX];

	if (pid < 0)
		log_error("no process for housekeeping: %s",
		    limits_why_no_thread(why, errno));
	if (pid != 0)
		return pid < 0 ? 0 : pid;
	alarm(LONGEST_S);
	if (nice(NICE) == -1)
		log_debug("housekeeping keeps its priority");
	_exit(work(settings, metrics));
}
