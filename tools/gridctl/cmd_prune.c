/* gridctl prune: removes old files, as compute does in passing. */
#include <stdio.h>

#include "common/fs.h"
#include "common/opt.h"
#include "lmdb-schema/state/trail_close.h"
#include "lmdb-schema/state/trail_part.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/checkpoint.h"
#include "lmdb-schema/upkeep/prune.h"
#include "tools/gridctl/cmd.h"

#define SWEPT_AFTER_S INT64_C(86400)

struct options {
	int64_t grace;
};

static const struct opt_row rows[] = {
    {"--grace", 0, OPT_SECONDS, offsetof(struct options, grace), 0, 31536000,
	"TIME", "how long a replaced snapshot is kept (default 15m)"},
};

static const struct opt_spec spec = {
    .usage = "gridctl [--data DIR] prune [--grace TIME]",
    .about =
	"Removes replaced snapshots whose grace time is over, facts that are "
	"not current, leftovers of crashes, and files that no node of a "
	"cluster needs. Files in use stay readable. "
	"Moves months of the audit trail that are over into files, which "
	"gridapi, not prune, takes to an archive ([trail] keep).",
    .rows = rows,
    .count = 1,
};

/* Without the log nobody knows which ones are needed: another time. */
static enum err
sweep(struct store *store)
{
	uint64_t removed;
	enum err err = ERR_OK;

	if (store_is_shared(store))
		err = checkpoint_sweep(&removed, store, SWEPT_AFTER_S);
	return err == ERR_AWAY || err == ERR_NOT_FOUND ? ERR_OK : err;
}

static void
tell_removed(const struct pruned *pruned)
{
	cmd_set_rows(pruned->snapshots + pruned->facts + pruned->leftovers);
	printf("%s snapshots, %s facts files, %s leftovers removed: %s\n",
	    cmd_count(pruned->snapshots), cmd_count(pruned->facts),
	    cmd_count(pruned->leftovers), cmd_bytes(pruned->bytes));
}

static int
not_closed(enum err err)
{
	char folder[FS_PATH_MAX];
	struct fault fault;

	fault_clear(&fault);
	(void)fs_path(folder, "%s/trail", cmd_data_dir());
	fault_set(&fault, folder,
	    "months of the audit trail that are over stay in state.mdb, and "
	    "the next run moves them here: %s",
	    err_text(err));
	return cmd_fail("prune", err, &fault);
}

static int
close_months(struct store *store)
{
	struct trail_closed closed = {.parts = 0};
	enum err err =
	    trail_close(&closed, store, TRAIL_PART_ENTRIES_MAX, INT64_MAX);

	if (err != ERR_OK && err != ERR_BUSY) /* busy: gridapi is at it */
		return not_closed(err);
	if (closed.entries > 0)
		printf("%s entries of the audit trail went into files of their "
		       "months\n",
		    cmd_count(closed.entries));
	return CMD_DONE;
}

int
cmd_prune(int argc, char **argv)
{
	struct options options = {15 * 60};
	struct pruned pruned;
	struct store *store;
	int args, result;
	enum err err;

	result = cmd_start(&store, "prune", &options, &spec, argc, argv, &args);
	if (result != CMD_GO)
		return result;
	err = prune_all(store, options.grace, &pruned);
	if (err == ERR_OK)
		err = sweep(store);
	if (err != ERR_OK)
		result = cmd_fail("prune", err, NULL);
	else {
		tell_removed(&pruned);
		result = close_months(store);
	}
	store_close(store);
	return result;
}
