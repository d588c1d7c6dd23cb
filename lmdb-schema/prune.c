/*
 * catalog_prune(): which files nobody needs any more. A file goes only when
 * the catalogue does not name it and whoever could be making it holds no lock.
 */
#include <stdlib.h>
#include <unistd.h>

#include "common/date.h"
#include "common/fs.h"
#include "common/kv.h"
#include "common/log.h"
#include "lmdb-schema/catalog.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/source.h"
#include "lmdb-schema/store.h"

struct pruning {
	struct store *store;
	struct catalog_pruned *pruned;
	struct catalog_view *view; /* while a supplier's folder is listed */
	struct span supplier;
	char folder[FS_PATH_MAX];
	uint64_t facts; /* current generation */
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

/* Takes what has been retired long enough out of the catalogue. */
static enum err
forget_retired(struct store *store, int64_t grace_ms)
{
	struct kv_txn *txn;
	struct kv_walk *walk;
	struct span key, value;
	int64_t now = date_now_ms();
	enum err err = kv_write(&txn, store_catalog(store));

	if (err != ERR_OK)
		return err;
	walk = kv_walk_begin(txn, CATALOG_RETIRED, SPAN(""), SPAN(""));
	if (walk == NULL)
		err = ERR_NO_MEMORY;
	while (err == ERR_OK) {
		int64_t since;

		err = kv_walk_next(walk, &key, &value);
		if (err != ERR_OK)
			break;
		since = (int64_t)key_value_u64(value);
		/* A clock that was set back must not keep files for ever. */
		if (now - since >= grace_ms || since > now + grace_ms)
			err = kv_walk_del(walk);
	}
	kv_walk_end(walk);
	if (err == ERR_NOT_FOUND)
		return kv_commit(txn);
	kv_abort(txn);
	return err;
}

/* The generation in "019a….mdb" or "019a….mdb.tmp"; 0 for another name. */
static uint64_t
generation_of(const char *name, bool *temporary)
{
	struct span text = span_of(name);
	uint64_t generation = 0;

	*temporary = span_ends(text, SPAN(".tmp"));
	if (*temporary)
		text.len -= 4;
	if (!span_ends(text, SPAN(".mdb")) ||
	    !key_generation(&generation, span_sub(text, 0, text.len - 4)))
		return 0;
	return generation;
}

static enum err
prune_snapshot(void *context, const char *name)
{
	struct pruning *pruning = context;
	char path[FS_PATH_MAX];
	bool temporary;
	uint64_t generation = generation_of(name, &temporary);
	enum err err;

	if (generation == 0 ||
	    (!temporary &&
		catalog_keeps(pruning->view, pruning->supplier, generation)))
		return ERR_OK;
	err = fs_path(path, "%s/%s", pruning->folder, name);
	if (err != ERR_OK)
		return err;
	return remove_file(pruning, path,
	    temporary ? &pruning->pruned->leftovers
		      : &pruning->pruned->snapshots);
}

/* The supplier's lock keeps a computation from being disturbed. */
static enum err
prune_supplier(struct pruning *pruning, struct span supplier)
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

/* A folder's name back to the supplier's code. */
static enum err
prune_folder(void *context, const char *name)
{
	char code[KEY_FILE_MAX];
	size_t len = 0;

	for (; *name != '\0' && len + 1 < sizeof(code); name++) {
		if (*name == '%' && name[1] != '\0' && name[2] != '\0') {
			char hex[3] = {name[1], name[2], '\0'};

			code[len++] = (char)strtoul(hex, NULL, 16);
			name += 2;
		} else
			code[len++] = *name;
	}
	if (!key_code_ok(span_make(code, len)))
		return ERR_OK; /* none of ours */
	return prune_supplier(context, span_make(code, len));
}

static enum err
prune_fact(void *context, const char *name)
{
	struct pruning *pruning = context;
	char path[FS_PATH_MAX];
	bool temporary;
	uint64_t generation = generation_of(name, &temporary);
	enum err err;

	if (generation == 0 || (!temporary && generation == pruning->facts))
		return ERR_OK;
	err = fs_path(path, "%s/facts/%s", store_dir(pruning->store), name);
	if (err != ERR_OK)
		return err;
	return remove_file(pruning, path,
	    temporary ? &pruning->pruned->leftovers : &pruning->pruned->facts);
}

/* Readers hold the old facts open; unlinking does not disturb them. */
static enum err
prune_facts(struct pruning *pruning)
{
	char path[FS_PATH_MAX];
	int lock;
	enum err err = store_lock_import(&lock, pruning->store, false);

	if (err != ERR_OK)
		return err == ERR_BUSY ? ERR_OK : err;
	err = source_current(&pruning->facts, pruning->store);
	if (err == ERR_OK)
		err = fs_path(path, "%s/facts", store_dir(pruning->store));
	if (err == ERR_OK)
		err = fs_list(path, prune_fact, pruning);
	close(lock);
	return err;
}

enum err
catalog_prune(
    struct store *store, int64_t grace_seconds, struct catalog_pruned *pruned)
{
	struct pruning pruning = {.store = store, .pruned = pruned};
	char path[FS_PATH_MAX];
	enum err err;

	memset(pruned, 0, sizeof(*pruned));
	err = forget_retired(store, grace_seconds * 1000);
	if (err == ERR_OK)
		err = fs_path(path, "%s/snapshots", store_dir(store));
	if (err == ERR_OK)
		err = fs_list(path, prune_folder, &pruning);
	if (err == ERR_OK)
		err = prune_facts(&pruning);
	return err;
}

enum err
catalog_prune_supplier(struct store *store, struct span supplier,
    int64_t grace_seconds, struct catalog_pruned *pruned)
{
	struct pruning pruning = {.store = store, .pruned = pruned};
	enum err err;

	memset(pruned, 0, sizeof(*pruned));
	err = forget_retired(store, grace_seconds * 1000);
	return err == ERR_OK ? prune_supplier(&pruning, supplier) : err;
}
