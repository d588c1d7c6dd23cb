#include "lmdb-schema/state/trail_archive.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/date.h"
#include "common/log.h"
#include "lmdb-schema/state/trail_lost.h"
#include "lmdb-schema/state/trail_parts.h"
#include "lmdb-schema/store/sealed.h"
#include "lmdb-schema/store/store.h"

#define DAY_MS INT64_C(86400000)

int64_t
trail_archive_before(int64_t now_ms, int64_t months)
{
	int32_t month = date_month_of_day(date_day_from_ms(now_ms));

	assert(months >= 0 && months < month);
	return ((int64_t)date_month_last_day(month - (int32_t)months - 1) + 1) *
	    DAY_MS;
}

/* --- the folder ----------------------------------------------------------- */

/* Mounted at two places, say. */
static bool
is_same(const char *dir, const struct stat *found)
{
	char path[FS_PATH_MAX];
	struct stat own;

	return fs_path(path, "%s/trail", dir) == ERR_OK &&
	    stat(path, &own) == 0 && own.st_dev == found->st_dev &&
	    own.st_ino == found->st_ino;
}

enum err
trail_archive_check(const char *dir, const char *folder, struct fault *fault)
{
	const char *why = NULL,
		   *todo = "mount the disk, or make the folder and give it to "
			   "the data directory's owner";
	struct stat found;

	assert(dir != NULL && folder != NULL);
	if (stat(folder, &found) != 0)
		why = "is not there, or cannot be reached";
	else if (!S_ISDIR(found.st_mode))
		why = "is no folder";
	else if (fs_is_within(folder, dir) || is_same(dir, &found)) {
		why = "lies in the data directory";
		todo = "name a folder elsewhere, on another disk at best";
	} else if (eaccess(folder, W_OK | X_OK) != 0)
		why = "may not be written";
	if (why == NULL)
		return ERR_OK;
	fault_set(fault, "[trail] archive",
	    "%s: \"%s\"; months stay in the data directory: %s", why, folder,
	    todo);
	return ERR_BAD_INPUT;
}

/* --- the copy ------------------------------------------------------------- */

/* Reads the file as a whole. *ours: it is the row's, sound or damaged. */
static enum err
verify(bool *ours, const char *path, const struct trail_parts_row *row)
{
	struct trail_part *part;
	enum err err = trail_part_open(&part, path);

	*ours = err == ERR_OK && trail_parts_is_of(part, row);
	if (err == ERR_OK)
		err = *ours ? trail_part_verify(part) : ERR_DAMAGED;
	trail_part_close(part);
	return err;
}

static enum err
copy_bytes(const struct sealed *from, const char *to)
{
	int fd = -1;
	enum err err = sealed_create(&fd, to);

	if (err == ERR_OK)
		err = sealed_put(fd, from->bytes, from->len, 0);
	if (err == ERR_OK && fsync(fd) != 0)
		err = err_from_errno(errno);
	if (fd >= 0)
		close(fd);
	return err;
}

/* The copy is read, too, before it has its name: the file here is about to go. */
static enum err
copy(const struct sealed *from, const char *to,
    const struct trail_parts_row *row)
{
	char made[FS_PATH_MAX];
	bool ours;
	enum err err = fs_path(made, "%s.tmp", to);

	if (err != ERR_OK)
		return err;
	err = copy_bytes(from, made);
	if (err == ERR_OK)
		err = verify(&ours, made, row);
	if (err == ERR_OK)
		err = fs_publish(made, to);
	if (err != ERR_OK)
		(void)fs_unlink(made);
	return err;
}

/* --- a part --------------------------------------------------------------- */

static void
tell_lost(struct fault *fault, const struct store *store,
    const struct trail_parts_row *row, enum err err)
{
	struct trail_lost lost;

	trail_lost(&lost, store, row, err);
	fault_set(fault, lost.path, "%s: %s", lost.what, lost.todo);
}

/*
 * ERR_OK: the archive has it since a kill. ERR_NOT_FOUND: it may be written, over
 * a damaged copy of its own.
 */
static enum err
look_there(
    const char *to, const struct trail_parts_row *row, struct fault *fault)
{
	bool ours;
	enum err err = verify(&ours, to, row);

	if (err == ERR_OK || err == ERR_NOT_FOUND)
		return err;
	if (err != ERR_DAMAGED) {
		fault_set(fault, to, "cannot be read: %s", err_text(err));
		return err;
	}
	if (ours)
		return ERR_NOT_FOUND;
	fault_set(fault, to,
	    "is of another data directory, or of another state of this one: "
	    "nothing was replaced, and the month stays in the data directory: "
	    "name a folder of its own in [trail] archive");
	return ERR_EXISTS;
}

/* Where the copy is not sound, the file here may not be, or a disk. */
static enum err
write_there(const struct store *store, const char *from, const char *to,
    const struct trail_parts_row *row, struct fault *fault)
{
	struct sealed file;
	bool ours;
	enum err err = sealed_open(&file, from);

	if (err != ERR_OK) {
		tell_lost(fault, store, row,
		    err == ERR_NOT_FOUND ? ERR_DAMAGED : err);
		return err == ERR_NOT_FOUND ? ERR_DAMAGED : err;
	}
	err = copy(&file, to, row);
	sealed_close(&file);
	if (err == ERR_DAMAGED && verify(&ours, from, row) != ERR_OK)
		tell_lost(fault, store, row, err);
	else if (err == ERR_DAMAGED)
		fault_set(fault, to,
		    "the copy is not as it was written: test the archive's "
		    "disk");
	else if (err != ERR_OK)
		fault_set(fault, to, "cannot be written: %s", err_text(err));
	return err;
}

/* --- all ------------------------------------------------------------------ */

struct archiving {
	struct store *store;
	const char *folder;
	int64_t before_ms;
	uint64_t left; /* the first entry that state.mdb has */
	struct fault *fault; /* of the first part that stays */
	struct trail_parts_row *rows;
	size_t count, room;
};

/* Of a part whose entries are still being removed, the file is needed here. */
static enum err
choose(void *context, const struct trail_parts_row *row)
{
	struct archiving *archiving = context;

	if (row->away || row->newest_ms >= archiving->before_ms ||
	    (archiving->left != 0 && row->last >= archiving->left))
		return ERR_OK;
	if (archiving->count == archiving->room) {
		size_t room = archiving->room * 2 + 16;
		struct trail_parts_row *more =
		    reallocarray(archiving->rows, room, sizeof(*more));

		if (more == NULL)
			return ERR_NO_MEMORY;
		archiving->rows = more;
		archiving->room = room;
	}
	archiving->rows[archiving->count++] = *row;
	return ERR_OK;
}

static enum err
choose_all(struct archiving *archiving)
{
	struct kv_txn *txn;
	enum err err = kv_read(&txn, store_state(archiving->store));

	if (err != ERR_OK)
		return err;
	err = trail_parts_left(txn, &archiving->left);
	if (err == ERR_OK)
		err = trail_parts_each(txn, choose, archiving);
	kv_abort(txn);
	return err;
}

static enum err
put_away(void *context, struct kv_txn *txn)
{
	return trail_parts_put(txn, context);
}

static enum err
take(struct archiving *archiving, struct trail_parts_row *row,
    struct fault *fault)
{
	char from[FS_PATH_MAX], to[FS_PATH_MAX];
	enum err err = trail_parts_path(
	    from, archiving->store, row->month, row->first, "");

	if (err == ERR_OK)
		err = fs_path(
		    to, "%s/%s", archiving->folder, strrchr(from, '/') + 1);
	if (err == ERR_OK)
		err = look_there(to, row, fault);
	if (err == ERR_NOT_FOUND)
		err = write_there(archiving->store, from, to, row, fault);
	row->away = true;
	if (err == ERR_OK)
		err = store_write_local(
		    archiving->store, STORE_STATE, put_away, row);
	if (err == ERR_OK)
		err = fs_unlink(from);
	if (err == ERR_OK)
		log_info("a part of the trail is in the archive: file=%s", to);
	else if (!fault_is_set(fault))
		fault_set(fault, from, "%s", err_text(err));
	return err;
}

/* Without room, no other file finds any. */
static enum err
take_all(struct archiving *archiving, uint64_t *moved)
{
	enum err first = ERR_OK, err = choose_all(archiving);
	size_t count = err == ERR_OK ? archiving->count : 0;

	if (err != ERR_OK)
		fault_set(archiving->fault, archiving->folder,
		    "which months are to be taken there cannot be read: %s",
		    err_text(err));
	for (size_t i = 0; i < count && err != ERR_NO_SPACE; i++) {
		struct fault fault;

		fault_clear(&fault);
		err = take(archiving, &archiving->rows[i], &fault);
		*moved += err == ERR_OK;
		if (err == ERR_OK)
			continue;
		log_error("a part of the trail was not archived: %s: %s",
		    fault.place, fault.message);
		fault_set(archiving->fault, fault.place, "%s", fault.message);
		if (first == ERR_OK)
			first = err;
	}
	free(archiving->rows);
	return first == ERR_OK ? err : first;
}

enum err
trail_archive(uint64_t *moved, struct store *store, const char *folder,
    int64_t before_ms, struct fault *fault)
{
	struct archiving archiving = {.store = store,
	    .folder = folder,
	    .before_ms = before_ms,
	    .fault = fault};
	int lock;
	enum err err;

	*moved = 0;
	err = trail_archive_check(store_dir(store), folder, fault);
	if (err == ERR_OK)
		err = store_lock_trail(&lock, store, false);
	if (err != ERR_OK)
		return err;
	err = take_all(&archiving, moved);
	close(lock);
	return err;
}
