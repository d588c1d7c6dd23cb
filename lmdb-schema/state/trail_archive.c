#include "lmdb-schema/state/trail_archive.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/date.h"
#include "common/log.h"
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

/* --- the copy ------------------------------------------------------------- */

static enum err
copy_bytes(const char *from, const char *to)
{
	struct sealed file;
	int fd = -1;
	enum err err = sealed_open(&file, from);

	if (err == ERR_OK)
		err = sealed_create(&fd, to);
	if (err == ERR_OK)
		err = sealed_put(fd, file.bytes, file.len, 0);
	if (err == ERR_OK && fsync(fd) != 0)
		err = ERR_SYSTEM;
	if (fd >= 0)
		close(fd);
	sealed_close(&file);
	return err;
}

/* Reads the copy as a whole: the file here is about to go. */
static enum err
verify_copy(const char *path, const struct trail_parts_row *row)
{
	struct trail_part *part;
	enum err err = trail_part_open(&part, path);

	if (err != ERR_OK)
		return err;
	err = trail_part_head(part)->crc == row->crc ? trail_part_verify(part)
						     : ERR_DAMAGED;
	trail_part_close(part);
	return err;
}

static enum err
copy(const char *from, const char *to, const struct trail_parts_row *row)
{
	char made[FS_PATH_MAX];
	enum err err = fs_path(made, "%s.tmp", to);

	if (err != ERR_OK)
		return err;
	err = copy_bytes(from, made);
	if (err == ERR_OK)
		err = verify_copy(made, row);
	if (err == ERR_OK)
		err = fs_publish(made, to);
	if (err != ERR_OK)
		(void)fs_unlink(made);
	return err;
}

/* --- all ------------------------------------------------------------------ */

struct archiving {
	struct store *store;
	const char *folder;
	int64_t before_ms;
	uint64_t left; /* the first entry that state.mdb has */
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
take(struct archiving *archiving, struct trail_parts_row *row)
{
	char from[FS_PATH_MAX], to[FS_PATH_MAX];
	enum err err = trail_parts_path(
	    from, archiving->store, row->month, row->first, "");

	if (err == ERR_OK)
		err = fs_path(
		    to, "%s/%s", archiving->folder, strrchr(from, '/') + 1);
	if (err == ERR_OK)
		err = copy(from, to, row);
	row->away = true;
	if (err == ERR_OK)
		err = store_write_local(
		    archiving->store, STORE_STATE, put_away, row);
	if (err == ERR_OK)
		err = fs_unlink(from);
	if (err == ERR_OK)
		log_info("a part of the trail is in the archive: file=%s", to);
	else
		log_error("a part of the trail was not archived: file=%s "
			  "error=%s",
		    from, err_text(err));
	return err;
}

static enum err
take_all(struct archiving *archiving, uint64_t *moved)
{
	enum err err = choose_all(archiving);

	for (size_t i = 0; i < archiving->count && err == ERR_OK; i++) {
		err = take(archiving, &archiving->rows[i]);
		*moved += err == ERR_OK;
	}
	free(archiving->rows);
	return err;
}

enum err
trail_archive(
    uint64_t *moved, struct store *store, const char *folder, int64_t before_ms)
{
	struct archiving archiving = {
	    .store = store, .folder = folder, .before_ms = before_ms};
	struct stat st;
	int lock;
	enum err err;

	*moved = 0;
	if (stat(folder, &st) != 0 || !S_ISDIR(st.st_mode))
		return ERR_NOT_FOUND;
	err = store_lock_trail(&lock, store, false);
	if (err != ERR_OK)
		return err;
	err = take_all(&archiving, moved);
	close(lock);
	return err;
}
