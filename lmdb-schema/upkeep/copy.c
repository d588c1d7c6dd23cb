#include "lmdb-schema/upkeep/copy.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/kv/kv.h"
#include "common/limits.h"
#include "common/log.h"
#include "lmdb-schema/facts/source.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/state/trail_parts.h"
#include "lmdb-schema/store/store.h"

struct copying {
	struct store *from, *to;
	const char *base; /* NULL: none */
	struct copy_counts *counts;
	struct fault *fault;
};

#define COPY_BYTES ((size_t)1 << 20)

/* Copies by read and write, where the kernel cannot copy by itself. */
static int
copy_by_hand(int from, int to)
{
	char *bytes = malloc(COPY_BYTES);
	enum err err = bytes == NULL ? ERR_NO_MEMORY : ERR_OK;
	ssize_t got = 1;
	int errnum = 0;

	while (err == ERR_OK && got > 0) {
		got = read(from, bytes, COPY_BYTES);
		if (got < 0 && errno == EINTR)
			got = 1;
		else if (got > 0)
			err = fs_write_all(to, bytes, (size_t)got);
	}
	errnum = errno;
	free(bytes);
	if (err == ERR_NO_MEMORY)
		return ENOMEM;
	return err != ERR_OK || got < 0 ? errnum : 0;
}

/*
 * Lets the kernel copy, which works within a file system and mostly between two
 * of the same type.
 */
static int
copy_bytes(int from, int to)
{
	for (;;) {
		ssize_t got =
		    copy_file_range(from, NULL, to, NULL, 1u << 30, 0);

		if (got == 0)
			return 0;
		if (got < 0 &&
		    (errno == EXDEV || errno == EOPNOTSUPP || errno == ENOSYS ||
			errno == EINVAL))
			return copy_by_hand(from, to); /* go on from here */
		if (got < 0 && errno != EINTR)
			return errno;
	}
}

enum err
copy_file_bytes(int from, int to)
{
	int errnum = copy_bytes(from, to);

	return errnum == 0 ? ERR_OK : err_from_errno(errnum);
}

/*
 * Opens a regular file only: *fd is -1 for a link, which could lead to a file
 * that only this process may read, and for devices and pipes, which could
 * block.
 */
static enum err
open_regular(int *fd, struct stat *st, const char *path, struct fault *fault)
{
	int errnum = 0;

	*fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (*fd < 0 || fstat(*fd, st) != 0)
		errnum = errno;
	else if (S_ISREG(st->st_mode))
		return ERR_OK;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	if (errnum != 0 && errnum != ELOOP && errnum != ENXIO)
		return err_from_errno(errnum);
	fault_set(fault, path,
	    "is no regular file, but a link or the like, and is not copied: "
	    "put back what was there, or remove it and compute or import "
	    "again");
	return ERR_DAMAGED;
}

/* Whether two immutable files are one and the same, by size and time. */
static bool
is_same(const struct stat *a, const struct stat *b)
{
	return S_ISREG(a->st_mode) && a->st_size == b->st_size &&
	    a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	    a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Links the base's copy of the file, where there is one; else false. */
static bool
link_base(struct copying *copying, const struct stat *st, const char *to)
{
	char path[FS_PATH_MAX];
	struct stat found;

	if (copying->base == NULL ||
	    fs_path(path, "%s%s", copying->base,
		to + strlen(store_dir(copying->to))) != ERR_OK ||
	    lstat(path, &found) != 0 || !is_same(&found, st) ||
	    link(path, to) != 0)
		return false;
	copying->counts->linked++;
	copying->counts->linked_bytes += (uint64_t)st->st_size;
	return true;
}

/* The time comes behind the bytes: a base's file with that time is whole. */
static int
copy_opened(int in, int out, const struct stat *st)
{
	int errnum = copy_bytes(in, out);

	if (errnum == 0 && fsync(out) != 0)
		errnum = errno;
	if (errnum == 0 &&
	    futimens(out,
		(struct timespec[]){{.tv_nsec = UTIME_OMIT}, st->st_mtim}) != 0)
		errnum = errno;
	return errnum;
}

/*
 * Copies an immutable file. A hard link to the data directory's would suffice on
 * one disk, but a backup must be a copy.
 */
static enum err
copy_file(struct copying *copying, const char *from, const char *to)
{
	int in, out, errnum = 0;
	char why[LIMITS_TEXT_MAX];
	struct stat st;
	enum err err = open_regular(&in, &st, from, copying->fault);

	if (err != ERR_OK)
		return err;
	if (link_base(copying, &st, to)) {
		close(in);
		return ERR_OK;
	}
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	if (out < 0)
		errnum = errno;
	if (errnum == 0)
		errnum = copy_opened(in, out, &st);
	close(in);
	if (out >= 0)
		close(out);
	copying->counts->bytes += (uint64_t)st.st_size;
	if (errnum == 0)
		return ERR_OK;
	log_error("cannot copy: from=%s to=%s error=%s", from, to,
	    limits_why(why, errnum));
	return err_from_errno(errnum);
}

static enum err
copy_env(
    struct copying *copying, struct kv *kv, const char *dir, const char *name)
{
	char path[FS_PATH_MAX];
	uint64_t bytes, on_disk;
	enum err err = fs_path(path, "%s/%s", dir, name);

	if (err == ERR_OK)
		err = kv_copy(kv, path);
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
	enum err err =
	    fs_path(from, "%s/facts/%s", store_dir(copying->from), name);

	if (err == ERR_OK)
		err = fs_path(to, "%s/facts/%s", store_dir(copying->to), name);
	return err == ERR_OK ? copy_file(copying, from, to) : err;
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
			err = err_from_errno(errno);
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
	enum err err = store_snapshot_path(
	    from, copying->from, supplier, entry->generation, "");

	if (err == ERR_OK)
		err = store_snapshot_folder(folder, copying->to, supplier);
	if (err == ERR_OK)
		err = fs_mkdir(folder);
	if (err == ERR_OK)
		err = store_snapshot_path(
		    to, copying->to, supplier, entry->generation, "");
	if (err != ERR_OK)
		return err;
	err = copy_file(copying, from, to);
	if (err == ERR_OK)
		copying->counts->snapshots++;
	if (err != ERR_NOT_FOUND && err != ERR_DENIED)
		return err;
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
 * A part of the trail that is missing is left out: check tells of it, here and
 * in the copy; but where it was archived.
 */
static enum err
copy_part(void *context, const struct trail_parts_row *row)
{
	struct copying *copying = context;
	char from[FS_PATH_MAX], to[FS_PATH_MAX];
	enum err err =
	    trail_parts_path(from, copying->from, row->month, row->first, "");

	if (err == ERR_OK)
		err = trail_parts_path(
		    to, copying->to, row->month, row->first, "");
	if (err == ERR_OK)
		err = copy_file(copying, from, to);
	if (err != ERR_NOT_FOUND)
		return err;
	copying->counts->parts_missing += !row->away;
	return ERR_OK;
}

static enum err
copy_trail(struct copying *copying)
{
	char path[FS_PATH_MAX];
	struct kv_txn *txn;
	enum err err = fs_path(path, "%s/trail", store_dir(copying->to));

	if (err == ERR_OK)
		err = fs_mkdir(path);
	if (err == ERR_OK)
		err = kv_read(&txn, store_state(copying->to));
	if (err != ERR_OK)
		return err;
	err = trail_parts_each(txn, copy_part, copying);
	kv_abort(txn);
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
	enum err err = store_prepare(dir);

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
		err = store_mark(dir);
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
    struct copy_counts *counts, struct fault *fault)
{
	struct copying copying = {
	    .base = base, .counts = counts, .fault = fault};
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
		fault_set(fault, to, "could not be written: %s", err_text(err));
	if (trail_lock >= 0)
		close(trail_lock);
	if (lock >= 0)
		close(lock);
	store_close(copying.from);
	return err;
}
