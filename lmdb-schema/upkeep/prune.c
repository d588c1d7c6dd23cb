/*
 * A file is removed only when the catalogue does not name it and no process
 * holds the lock needed to make it.
 */
#include "lmdb-schema/upkeep/prune.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/date.h"
#include "common/fs.h"
#include "common/kv/kv.h"
#include "lmdb-schema/codemap.h"
#include "lmdb-schema/facts/source.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/search/word_index.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/state/trail_parts.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/computed.h"

struct pruning {
	struct store *store;
	struct pruned *pruned;
	struct catalog_view *view; /* while a supplier's folder is listed */
	struct span supplier;
	char folder[FS_PATH_MAX];
	struct source *facts; /* the current ones; NULL: none */
	bool all_facts; /* which files they consist of is not known */
	uint64_t closed; /* the trail up to this number is in files */
};

static enum err
remove_file(struct pruning *pruning, const char *path, uint64_t *count)
{
	uint64_t bytes, on_disk;
	enum err err = fs_size(path, &bytes, &on_disk);

	if (err == ERR_OK)
		err = fs_unlink(path);
	if (err != ERR_OK)
		return err == ERR_NOT_FOUND ? ERR_OK : err;
	(*count)++;
	pruning->pruned->bytes += on_disk;
	return ERR_OK;
}

/* --- suppliers that are gone --------------------------------------------- */

struct gone {
	struct source *source;
	struct codemap *suppliers;
};

static enum err
note_gone(
    void *context, struct span supplier, const struct catalog_entry *entry)
{
	struct gone *gone = context;
	struct source_supplier info;
	uint32_t number;

	(void)entry;
	if (source_supplier(gone->source, supplier, &info) != ERR_NOT_FOUND)
		return ERR_OK;
	return codemap_add(gone->suppliers, supplier, &number);
}

static enum err
list_gone(struct gone *gone, struct store *store)
{
	struct catalog_view *view;
	enum err err = catalog_view_open(&view, store);

	gone->suppliers = codemap_new();
	if (gone->suppliers == NULL)
		err = ERR_NO_MEMORY;
	if (err == ERR_OK)
		err = catalog_each(view, note_gone, gone);
	catalog_view_close(view);
	return err;
}

/*
 * Snapshots of suppliers that the facts no longer have count as replaced.
 * Unreadable facts and damaged entries are skipped here: `gridctl check`
 * reports them.
 */
static enum err
forget_gone(struct store *store)
{
	struct gone gone = {NULL, NULL};
	enum err err = source_open(&gone.source, store);

	if (err != ERR_OK)
		return err == ERR_NO_MEMORY ? err : ERR_OK;
	err = list_gone(&gone, store);
	if (err == ERR_DAMAGED)
		err = ERR_OK;
	for (uint32_t i = 0; err == ERR_OK && i < codemap_count(gone.suppliers);
	     i++)
		err = catalog_forget(store, codemap_code(gone.suppliers, i));
	codemap_free(gone.suppliers);
	source_close(gone.source);
	return err;
}

/* Without the log the nodes' records stay, and go another time. */
static enum err
forget_records(struct store *store)
{
	enum err err = computed_forget_gone(store);

	return err == ERR_NO_MEMORY ? err : ERR_OK;
}

/* --- generations --------------------------------------------------------- */

/*
 * Removes generations that were retired long enough ago from the catalogue. The
 * names of their files for other nodes go with the next call, when these are gone.
 */
static enum err
forget_retired(void *context, struct kv_txn *txn)
{
	struct kv_walk *walk;
	struct span key, value;
	int64_t now = date_now_ms(), grace_ms = *(const int64_t *)context;
	enum err err = catalog_forget_files(txn);

	if (err != ERR_OK)
		return err;
	walk = kv_walk_begin(txn, CATALOG_RETIRED, SPAN(""), SPAN(""));
	while (err == ERR_OK) {
		int64_t since;

		err = kv_walk_next(walk, &key, &value);
		/* An unreadable time of retirement counts as long ago. */
		if (err != ERR_OK && (err != ERR_DAMAGED || key.len == 0))
			break;
		since = err == ERR_OK ? (int64_t)key_value_u64(value) : 0;
		err = ERR_OK;
		/*
		 * A time in the future (the clock was set back) must not keep
		 * files for ever.
		 */
		if (now - since >= grace_ms || since > now + grace_ms)
			err = kv_walk_del(walk);
	}
	return kv_walk_done(walk, err);
}

/* Removes the file, unless the holder of that lock may still be writing it. */
static enum err
remove_unpublished(struct pruning *pruning, const char *path,
    enum err (*take_lock)(int *fd, struct store *store, bool wait))
{
	int lock;
	enum err err = take_lock(&lock, pruning->store, false);

	if (err != ERR_OK)
		return err == ERR_BUSY ? ERR_OK : err;
	err = remove_file(pruning, path, &pruning->pruned->leftovers);
	close(lock);
	return err;
}

/* The other nodes have a newer one, or get it elsewhere. */
static void
drop_shared(const struct pruning *pruning, uint64_t generation)
{
	char file[FILES_NAME_LEN + 1];

	if (catalog_file(pruning->view, pruning->supplier, generation, file) ==
		ERR_OK &&
	    file[0] != '\0')
		files_drop(store_dir(pruning->store), file);
}

/* Removes a snapshot's packed rows with it; they are not counted separately. */
static enum err
prune_snapshot(void *context, const char *name)
{
	struct pruning *pruning = context;
	char path[FS_PATH_MAX];
	bool temporary;
	uint64_t uncounted = 0, generation,
		 packed_rows = key_packed_generation(name, &temporary);
	enum err err;

	generation = packed_rows != 0 ? packed_rows
				      : key_file_generation(name, &temporary);
	if (generation == 0 ||
	    (!temporary &&
		catalog_keeps(pruning->view, pruning->supplier, generation)))
		return ERR_OK;
	err = fs_path(path, "%s/%s", pruning->folder, name);
	if (err != ERR_OK)
		return err;
	if (packed_rows != 0 && temporary)
		return remove_unpublished(pruning, path, store_lock_packing);
	if (packed_rows == 0 && !temporary)
		drop_shared(pruning, generation);
	return remove_file(pruning, path,
	    packed_rows != 0 ? &uncounted
		: temporary  ? &pruning->pruned->leftovers
			     : &pruning->pruned->snapshots);
}

/* The supplier's lock keeps a computation from being disturbed. */
static enum err
sweep_supplier(struct pruning *pruning, struct span supplier)
{
	int lock;
	enum err err =
	    store_lock_supplier(&lock, pruning->store, supplier, false);

	if (err != ERR_OK)
		return err == ERR_BUSY ? ERR_OK : err;
	pruning->supplier = supplier;
	err = store_snapshot_folder(pruning->folder, pruning->store, supplier);
	if (err == ERR_OK)
		err = catalog_view_open(&pruning->view, pruning->store);
	if (err == ERR_OK)
		err = fs_list(pruning->folder, prune_snapshot, pruning);
	catalog_view_close(pruning->view);
	pruning->view = NULL;
	close(lock);
	return err;
}

static enum err
prune_folder(void *context, const char *name)
{
	char code[KEY_FILE_MAX];
	struct span supplier = key_file_code(code, name);

	return supplier.len == 0 ? ERR_OK : sweep_supplier(context, supplier);
}

/* Of facts that cannot be read nobody knows the files: all are kept. */
static enum err
open_facts(struct pruning *pruning)
{
	uint64_t current;
	enum err err = source_current(&current, pruning->store);

	if (err != ERR_OK || current == 0)
		return err;
	err = source_open(&pruning->facts, pruning->store);
	pruning->all_facts = err != ERR_OK;
	return err == ERR_NO_MEMORY ? err : ERR_OK;
}

static bool
is_used(const struct pruning *pruning, const char *name)
{
	return pruning->all_facts ||
	    (pruning->facts != NULL && source_uses(pruning->facts, name));
}

static enum err
prune_fact(void *context, const char *name)
{
	struct pruning *pruning = context;
	char path[FS_PATH_MAX];
	bool temporary;
	uint64_t generation = key_facts_generation(name, &temporary);
	enum err err;

	if (generation == 0 || (!temporary && is_used(pruning, name)))
		return ERR_OK;
	err = fs_path(path, "%s/facts/%s", store_dir(pruning->store), name);
	if (err != ERR_OK)
		return err;
	return remove_file(pruning, path,
	    temporary ? &pruning->pruned->leftovers : &pruning->pruned->facts);
}

/* Readers may have the old facts open; unlinking does not disturb them. */
static enum err
prune_facts(struct pruning *pruning)
{
	char path[FS_PATH_MAX];
	int lock;
	enum err err = store_lock_import(&lock, pruning->store, false);

	if (err != ERR_OK)
		return err == ERR_BUSY ? ERR_OK : err;
	err = open_facts(pruning);
	if (err == ERR_OK)
		err = fs_path(path, "%s/facts", store_dir(pruning->store));
	if (err == ERR_OK)
		err = fs_list(path, prune_fact, pruning);
	source_close(pruning->facts);
	pruning->facts = NULL;
	close(lock);
	return err;
}

static enum err
prune_words(struct pruning *pruning)
{
	char path[FS_PATH_MAX];
	enum err err = word_index_path(path, pruning->store, ".tmp");

	return err == ERR_OK
	    ? remove_unpublished(pruning, path, store_lock_words)
	    : err;
}

/*
 * Leftovers of a closing of months: unfinished files, and one whose row was not
 * put, so that all its entries are still in state.mdb.
 */
static enum err
prune_part(void *context, const char *name)
{
	struct pruning *pruning = context;
	char path[FS_PATH_MAX];
	bool temporary;
	uint64_t first = trail_parts_first(name, &temporary);
	enum err err;

	if (first == 0 || (!temporary && first <= pruning->closed))
		return ERR_OK;
	err = fs_path(path, "%s/trail/%s", store_dir(pruning->store), name);
	return err == ERR_OK
	    ? remove_file(pruning, path, &pruning->pruned->leftovers)
	    : err;
}

static enum err
note_closed(struct pruning *pruning)
{
	struct kv_txn *txn;
	enum err err = kv_read(&txn, store_state(pruning->store));

	if (err != ERR_OK)
		return err;
	err = trail_parts_last(txn, &pruning->closed);
	kv_abort(txn);
	return err;
}

static enum err
prune_trail(struct pruning *pruning)
{
	char path[FS_PATH_MAX];
	int lock;
	enum err err = store_lock_trail(&lock, pruning->store, false);

	if (err != ERR_OK)
		return err == ERR_BUSY ? ERR_OK : err;
	err = note_closed(pruning);
	if (err == ERR_OK)
		err = fs_path(path, "%s/trail", store_dir(pruning->store));
	if (err == ERR_OK)
		err = fs_list(path, prune_part, pruning);
	close(lock);
	/* Nothing was closed yet; or which files count is not known. */
	return err == ERR_NOT_FOUND || err == ERR_DAMAGED ? ERR_OK : err;
}

enum err
prune_all(struct store *store, int64_t grace_seconds, struct pruned *pruned)
{
	struct pruning pruning = {.store = store, .pruned = pruned};
	int64_t grace_ms = grace_seconds * 1000;
	char path[FS_PATH_MAX];
	enum err err;

	assert(grace_seconds >= 0 && pruned != NULL);
	memset(pruned, 0, sizeof(*pruned));
	err = forget_gone(store);
	if (err == ERR_OK)
		err = forget_records(store);
	if (err == ERR_OK)
		err = store_write(
		    store, STORE_CATALOG, forget_retired, &grace_ms);
	if (err == ERR_OK)
		err = fs_path(path, "%s/snapshots", store_dir(store));
	if (err == ERR_OK)
		err = fs_list(path, prune_folder, &pruning);
	if (err == ERR_OK)
		err = prune_facts(&pruning);
	if (err == ERR_OK)
		err = prune_words(&pruning);
	return err == ERR_OK ? prune_trail(&pruning) : err;
}

enum err
prune_supplier(struct store *store, struct span supplier, int64_t grace_seconds,
    struct pruned *pruned)
{
	struct pruning pruning = {.store = store, .pruned = pruned};
	int64_t grace_ms = grace_seconds * 1000;
	enum err err;

	assert(grace_seconds >= 0 && pruned != NULL);
	memset(pruned, 0, sizeof(*pruned));
	err = store_write(store, STORE_CATALOG, forget_retired, &grace_ms);
	return err == ERR_OK ? sweep_supplier(&pruning, supplier) : err;
}
