#include "lmdb-schema/upkeep/copy.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/kv/kv.h"
#include "lmdb-schema/facts/source.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/copy_priv.h"

static enum err
copy_env(
    struct copying *copying, struct kv *kv, const char *dir, const char *name)
{
	char path[FS_PATH_MAX];
	uint64_t bytes, on_disk;
	enum err err = fs_path(path, "%s/%s", dir, name);

	if (err != ERR_OK)
		return err;
	err = copy_unwritten(copying, path, kv_copy(kv, path));
	if (err == ERR_OK)
		err = fs_size(path, &bytes, &on_disk);
	if (err == ERR_OK)
		copying->counts->bytes += bytes;
	return err;
}

static enum err
copy_envs(struct copying *copying, const char *dir)
{
	struct store *from = copying->from;
	enum err err = copy_env(copying, store_live(from), dir, "live.mdb");

	if (err == ERR_OK)
		err =
		    copy_env(copying, store_catalog(from), dir, "catalog.mdb");
	if (err == ERR_OK)
		err = copy_env(copying, store_state(from), dir, "state.mdb");
	return err;
}

static enum err
copy_facts_file(void *context, const char *name)
{
	struct copying *copying = context;
	char from[FS_PATH_MAX], to[FS_PATH_MAX];
	enum err lost = ERR_OK;
	enum err err =
	    fs_path(from, "%s/facts/%s", store_dir(copying->from), name);

	if (err == ERR_OK)
		err = fs_path(to, "%s/facts/%s", store_dir(copying->to), name);
	if (err == ERR_OK)
		err = copy_file(copying, from, to, &lost);
	return err == ERR_OK ? copy_lost(copying, from, lost) : err;
}

static enum err
copy_any_facts(void *context, const char *name)
{
	bool temporary;

	return key_facts_generation(name, &temporary) != 0 && !temporary
	    ? copy_facts_file(context, name)
	    : ERR_OK;
}

/*
 * The files that the current facts consist of. Of those that cannot be read
 * nobody knows the files: all are copied as they are.
 */
static enum err
copy_facts(struct copying *copying)
{
	char path[FS_PATH_MAX];
	uint64_t generation;
	struct source *source;
	enum err err = source_current(&generation, copying->to);

	if (err != ERR_OK || generation == 0)
		return err;
	if (source_open(&source, copying->from) == ERR_OK)
		err = source_files(source, copy_facts_file, copying);
	else {
		err = store_facts_path(path, copying->from, generation, "");
		if (err == ERR_OK && access(path, F_OK) != 0)
			err = copy_lost(copying, path, err_from_errno(errno));
		if (err == ERR_OK)
			err =
			    fs_path(path, "%s/facts", store_dir(copying->from));
		if (err == ERR_OK)
			err = fs_list(path, copy_any_facts, copying);
	}
	source_close(source);
	return err;
}

/*
 * A snapshot that is missing or unreadable is removed from the copy's
 * catalogue.
 */
static enum err
copy_snapshot(
    void *context, struct span supplier, const struct catalog_entry *entry)
{
	struct copying *copying = context;
	char from[FS_PATH_MAX], to[FS_PATH_MAX], folder[FS_PATH_MAX];
	enum err lost = ERR_OK;
	enum err err = store_snapshot_path(
	    from, copying->from, supplier, entry->generation, "");

	if (err == ERR_OK)
		err = store_snapshot_folder(folder, copying->to, supplier);
	if (err == ERR_OK)
		err = copy_unwritten(copying, folder, fs_mkdir(folder));
	if (err == ERR_OK)
		err = store_snapshot_path(
		    to, copying->to, supplier, entry->generation, "");
	if (err != ERR_OK)
		return err;
	err = copy_file(copying, from, to, &lost);
	if (err == ERR_OK && lost == ERR_OK)
		copying->counts->snapshots++;
	if (err != ERR_OK || (lost != ERR_NOT_FOUND && lost != ERR_DENIED))
		return err == ERR_OK ? copy_lost(copying, from, lost) : err;
	copying->counts->skipped++;
	return catalog_forget(copying->to, supplier);
}

static enum err
copy_snapshots(struct copying *copying)
{
	struct catalog_view *view;
	enum err err = catalog_view_open(&view, copying->to);

	if (err == ERR_OK)
		err = catalog_each(view, copy_snapshot, copying);
	catalog_view_close(view);
	return err;
}

/*
 * Retired snapshots were not copied: no client pages through them in the copy.
 */
static enum err
forget_replaced(struct store *store)
{
	struct kv_txn *txn;
	enum err err = kv_write(&txn, store_catalog(store));

	if (err != ERR_OK)
		return err;
	err = kv_clear(txn, CATALOG_RETIRED);
	if (err == ERR_OK)
		return kv_commit(txn);
	kv_abort(txn);
	return err;
}

/*
 * Holds the import lock, so that the current facts file is not replaced or
 * removed, and that of the trail, whose files belong to the copied state.
 */
static enum err
copy_all(struct copying *copying, const char *dir)
{
	enum err err = copy_unwritten(copying, dir, store_prepare(dir));

	if (err == ERR_OK)
		err = copy_envs(copying, dir);
	if (err == ERR_OK)
		err = store_open_unmarked(&copying->to, dir, copying->fault);
	if (err == ERR_OK)
		err = copy_facts(copying);
	if (err == ERR_OK)
		err = copy_trail(copying);
	if (err == ERR_OK)
		err = copy_snapshots(copying);
	if (err == ERR_OK)
		err = forget_replaced(copying->to);
	if (err == ERR_OK)
		err = copy_unwritten(copying, dir, store_mark(dir));
	store_close(copying->to);
	return err;
}

static enum err
refuse(void *context, const char *name)
{
	(void)context;
	(void)name;
	return ERR_EXISTS;
}

static bool
is_one_folder(const char *a, const char *b)
{
	struct stat of_a, of_b;

	return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 &&
	    of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

enum err
store_copy(const char *from, const char *to, const char *base,
    const struct copy_listener *listener, struct copy_counts *counts,
    struct fault *fault)
{
	struct copying copying = {.base = base,
	    .listener = listener,
	    .counts = counts,
	    .fault = fault};
	const bool there = eaccess(to, F_OK) == 0;
	int lock = -1, trail_lock = -1;
	enum err err;

	assert(counts != NULL);
	memset(counts, 0, sizeof(*counts));
	if (there && fs_list(to, refuse, NULL) != ERR_OK) {
		fault_set(fault, to,
		    "exists already: name a folder that does not, or an empty "
		    "one");
		return ERR_EXISTS;
	}
	if (base != NULL && is_one_folder(base, from)) {
		fault_set(fault, base,
		    "is the data directory itself, and no "
		    "earlier backup of it");
		return ERR_BAD_INPUT;
	}
	err = store_open(&copying.from, from, fault);
	if (err == ERR_OK)
		err = store_lock_import(&lock, copying.from, true);
	if (err == ERR_OK)
		err = store_lock_trail(&trail_lock, copying.from, true);
	if (err == ERR_OK) {
		err = copy_all(&copying, to);
		if (err != ERR_OK)
			(void)(there ? fs_empty(to) : fs_remove_tree(to));
	}
	if (err != ERR_OK)
		fault_set(fault, from, "could not be copied to %s: %s", to,
		    err_text(err));
	if (trail_lock >= 0)
		close(trail_lock);
	if (lock >= 0)
		close(lock);
	store_close(copying.from);
	return err;
}
