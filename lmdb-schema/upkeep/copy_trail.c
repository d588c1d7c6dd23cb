/*
 * The trail's files are the only place of their entries, and cannot be made again:
 * each is compared with its row while it is copied. Where the data directory has
 * no sound one, the base's is taken; else all other files are copied.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/kv/kv.h"
#include "lmdb-schema/state/trail_lost.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/copy_priv.h"

struct month {
	const struct trail_parts_row *row;
	char from[FS_PATH_MAX], to[FS_PATH_MAX];
	char base[FS_PATH_MAX]; /* the base's file that was taken, or empty */
	bool linked; /* `to` is the base's file, which is sound */
	enum err lost; /* why `from` is not as it was written */
};

/* Opens a copy of the row's file; ERR_DAMAGED for another one. */
static enum err
open_as(struct trail_part **part, const char *path,
    const struct trail_parts_row *row)
{
	struct stat st;
	enum err err;

	*part = NULL;
	if (lstat(path, &st) != 0)
		return err_from_errno(errno);
	err = S_ISREG(st.st_mode) ? trail_part_open(part, path) : ERR_DAMAGED;
	return err == ERR_OK && !trail_parts_is_of(*part, row) ? ERR_DAMAGED
							       : err;
}

/* Compares a file with its row: `whole` all bytes, else the head. */
static enum err
compare(const char *path, const struct trail_parts_row *row, bool whole)
{
	struct trail_part *part;
	enum err err = open_as(&part, path, row);

	if (err == ERR_OK && whole)
		err = trail_part_compare(part);
	trail_part_close(part);
	return err;
}

/* --- the base's file ------------------------------------------------------ */

/* In place of what was copied or linked; `lost` stays. */
static enum err
copy_from_base(struct copying *copying, const struct month *month)
{
	enum err lost = ERR_OK, err = fs_unlink(month->to);

	if (err == ERR_OK)
		err = copy_file(copying, month->base, month->to, &lost);
	return err == ERR_OK ? copy_lost(copying, month->base, lost) : err;
}

static enum err
take_base(struct copying *copying, struct month *month)
{
	enum err err;

	if (copying->base == NULL)
		return ERR_OK;
	err = copy_base_path(month->base, copying, month->to);
	if (err == ERR_OK)
		err = compare(month->base, month->row, true);
	if (err == ERR_OK)
		return month->linked ? ERR_OK : copy_from_base(copying, month);
	month->base[0] = '\0';
	return err_is_limit(err) ? err : ERR_OK;
}

/* Copies the file in place of the base's, which was linked and is not sound. */
static enum err
copy_instead(struct copying *copying, struct month *month)
{
	const struct copy_listener *listener = copying->listener;
	struct copying alone = *copying;
	char base[FS_PATH_MAX];
	enum err err = copy_base_path(base, copying, month->to);

	if (err == ERR_OK && listener != NULL)
		listener->tell_base(listener->context, base);
	if (err == ERR_OK)
		err = fs_unlink(month->to);
	alone.base = NULL;
	return err == ERR_OK
	    ? copy_file(&alone, month->from, month->to, &month->lost)
	    : err;
}

/*
 * A damaged file of the base would be in each later backup: one that is linked is
 * compared. Only a later program can compare one of a later version.
 */
static enum err
copy_or_link(struct copying *copying, struct month *month)
{
	const struct copy_counts before = *copying->counts;
	enum err err = copy_file(copying, month->from, month->to, &month->lost);

	if (err != ERR_OK || copying->counts->linked == before.linked)
		return err;
	err = compare(month->to, month->row, true);
	month->linked = err == ERR_OK || err == ERR_VERSION;
	if (month->linked)
		return ERR_OK;
	*copying->counts = before;
	return err_is_limit(err) ? err : copy_instead(copying, month);
}

/* --- a file --------------------------------------------------------------- */

/* Sound, or in an archive alone. */
static bool
is_fine(const struct month *month)
{
	return month->lost == ERR_OK ||
	    (month->lost == ERR_NOT_FOUND && month->row->away);
}

static void
tell(struct copying *copying, const struct month *month)
{
	const enum err lost =
	    month->lost == ERR_NOT_FOUND || month->lost == ERR_BAD_INPUT
	    ? ERR_DAMAGED
	    : month->lost;
	struct copy_lost_month told = {.base = month->base};

	copying->counts->months_lost++;
	copying->counts->months_of_base += month->base[0] != '\0';
	if (copying->listener == NULL)
		return;
	trail_lost(&told.lost, copying->from, month->row, lost);
	told.irregular = month->lost == ERR_BAD_INPUT;
	copying->listener->tell(copying->listener->context, &told);
}

/*
 * Entries can be read of a file whose head is sound, and a later version reads
 * its own: such a file stays in the copy. Any other is left out.
 */
static enum err
leave_out(const struct month *month)
{
	enum err err = month->lost == ERR_DAMAGED
	    ? compare(month->from, month->row, false)
	    : month->lost;

	return err == ERR_OK || err == ERR_VERSION ? ERR_OK
						   : fs_unlink(month->to);
}

static enum err
copy_month(struct copying *copying, struct month *month)
{
	enum err err = copy_or_link(copying, month);

	if (err != ERR_OK)
		return err;
	if (month->lost == ERR_OK)
		month->lost = compare(month->from, month->row, true);
	if (err_is_limit(month->lost))
		return month->lost;
	if (is_fine(month))
		return ERR_OK;
	err = take_base(copying, month);
	if (err == ERR_OK && month->base[0] == '\0')
		err = leave_out(month);
	if (err == ERR_OK)
		tell(copying, month);
	return err;
}

static enum err
copy_part(void *context, const struct trail_parts_row *row)
{
	struct copying *copying = context;
	struct month month = {.row = row};
	enum err err = trail_parts_path(
	    month.from, copying->from, row->month, row->first, "");

	if (err == ERR_OK)
		err = trail_parts_path(
		    month.to, copying->to, row->month, row->first, "");
	return err == ERR_OK ? copy_month(copying, &month) : err;
}

enum err
copy_trail(struct copying *copying)
{
	char path[FS_PATH_MAX];
	struct kv_txn *txn;
	enum err err = fs_path(path, "%s/trail", store_dir(copying->to));

	if (err == ERR_OK)
		err = copy_unwritten(copying, path, fs_mkdir(path));
	if (err == ERR_OK)
		err = kv_read(&txn, store_state(copying->to));
	if (err != ERR_OK)
		return err;
	err = trail_parts_each(txn, copy_part, copying);
	kv_abort(txn);
	return err;
}

/* --- a copy that came otherwise ------------------------------------------- */

static enum err
verify_part(void *context, const struct trail_parts_row *row)
{
	struct copying *copying = context;
	struct month month = {.row = row};
	enum err err = trail_parts_path(
	    month.from, copying->from, row->month, row->first, "");

	if (err != ERR_OK)
		return err;
	month.lost = compare(month.from, row, true);
	if (err_is_limit(month.lost))
		return month.lost;
	if (!is_fine(&month))
		tell(copying, &month);
	return ERR_OK;
}

enum err
store_copy_verify(const char *dir, const struct copy_listener *listener,
    struct copy_counts *counts, struct fault *fault)
{
	struct copying copying = {
	    .listener = listener, .counts = counts, .fault = fault};
	struct kv_txn *txn;
	enum err err = store_open(&copying.from, dir, fault);

	memset(counts, 0, sizeof(*counts));
	if (err == ERR_OK)
		err = kv_read(&txn, store_state(copying.from));
	if (err == ERR_OK) {
		err = trail_parts_each(txn, verify_part, &copying);
		kv_abort(txn);
	}
	store_close(copying.from);
	return err;
}
