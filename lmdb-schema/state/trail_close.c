#include "lmdb-schema/state/trail_close.h"

#include <assert.h>
#include <endian.h>
#include <string.h>
#include <unistd.h>

#include "common/date.h"
#include "common/kv/kv.h"
#include "common/log.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/schema.h"
#include "lmdb-schema/state/trail.h"
#include "lmdb-schema/state/trail_parts.h"
#include "lmdb-schema/store/store.h"

/* Entries that one commit removes: proposals wait for it. */
#define REMOVE_MOST 2000

struct closing {
	struct store *store;
	struct trail_closed *closed;
	uint32_t most;
	int64_t end_ns;
};

/* --- what is over --------------------------------------------------------- */

static int32_t
month_of(const struct audit_entry *entry)
{
	return date_month_of_day(date_day_from_ms(entry->when_ms));
}

static bool
ends(int32_t month, int32_t next)
{
	return next > month || next < month - 1;
}

static enum err
take_one(void *context, const struct audit_entry *entry)
{
	*(struct audit_entry *)context = *entry;
	return ERR_EXISTS;
}

static enum err
entry_at(struct audit_entry *entry, struct kv_txn *txn, uint64_t number)
{
	enum err err = audit_each_in(txn, number, take_one, entry);

	if (err == ERR_OK || (err == ERR_EXISTS && entry->number != number)) {
		log_error("the trail lacks an entry, and its months are not "
			  "closed: number=%llu",
		    (unsigned long long)number);
		return ERR_DAMAGED;
	}
	return err == ERR_EXISTS ? ERR_OK : err;
}

/*
 * Whether a part that begins with entry `first` is over: the last entry shows it
 * for certain, so that the month that runs is not read each time.
 */
static enum err
is_over(bool *over, struct kv_txn *txn, uint64_t first, uint32_t most)
{
	struct audit_entry begin, end;
	uint64_t last = 0, indexed = 0;
	enum err err = store_number(txn, "audit", &last);

	*over = false;
	/* The entries of a program without index come later: trail.h. */
	if (err == ERR_OK)
		err = store_number(txn, "trail", &indexed);
	if (err != ERR_OK || last <= first || indexed < last)
		return err;
	err = entry_at(&begin, txn, first);
	if (err == ERR_OK)
		err = entry_at(&end, txn, last);
	if (err == ERR_OK)
		*over = last - first >= most ||
		    ends(month_of(&begin), month_of(&end));
	return err;
}

/* --- a part --------------------------------------------------------------- */

struct taking {
	struct closing *closing;
	struct trail_making *file;
	uint64_t next;
	int32_t month;
	uint32_t count;
};

/* ERR_EXISTS: the part ends before this entry. */
static enum err
take(struct taking *taking, uint64_t number, struct span value)
{
	struct audit_entry entry;
	enum err err = audit_read(&entry, number, value);

	if (number != taking->next)
		err = ERR_DAMAGED;
	if (err != ERR_OK)
		return err;
	if (taking->count == 0)
		taking->month = month_of(&entry);
	if (taking->count == taking->closing->most ||
	    ends(taking->month, month_of(&entry)))
		return ERR_EXISTS;
	taking->next++;
	taking->count++;
	return trail_making_add(taking->file, value, &entry);
}

static enum err
take_all(struct taking *taking, struct kv_txn *txn)
{
	uint64_t from = htobe64(taking->next);
	struct kv_walk *walk = kv_walk_begin(
	    txn, STATE_AUDIT, SPAN(""), span_make(&from, sizeof(from)));
	struct span key, value;
	enum err err;

	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK) {
		err = take(taking, key_read_u64(key), value);
		if (err != ERR_OK)
			break;
	}
	kv_walk_end(walk);
	if (err == ERR_DAMAGED)
		log_error("an entry of the trail cannot be read, and its month "
			  "is not closed: number=%llu",
		    (unsigned long long)taking->next);
	/* The end of the table: is_over() was wrong. */
	if (err == ERR_NOT_FOUND)
		return ERR_INTERNAL;
	return err == ERR_EXISTS ? ERR_OK : err;
}

/* Writes the file under its temporary name, and describes it in `row`. */
static enum err
write_file(struct trail_parts_row *row, const char *path,
    struct closing *closing, struct kv_txn *txn, uint64_t first)
{
	struct taking taking = {.closing = closing, .next = first};
	struct trail_part *part;
	enum err err = trail_making_begin(&taking.file, path, first);

	if (err == ERR_OK)
		err = take_all(&taking, txn);
	err = trail_making_end(taking.file, err);
	if (err == ERR_OK)
		err = trail_part_open(&part, path);
	if (err != ERR_OK)
		return err;
	*row = (struct trail_parts_row){.first = first,
	    .last = trail_part_head(part)->last,
	    .bytes = trail_part_head(part)->bytes,
	    .month = trail_part_head(part)->month,
	    .crc = trail_part_head(part)->crc,
	    .oldest_ms = trail_part_head(part)->oldest_ms,
	    .newest_ms = trail_part_head(part)->newest_ms};
	err = trail_part_verify(part);
	trail_part_close(part);
	return err;
}

static enum err
put_row(void *context, struct kv_txn *txn)
{
	const struct trail_parts_row *row = context;
	enum err err = trail_parts_put(txn, row);

	if (err == ERR_OK)
		err = trail_parts_put_last(txn, row->last);
	return err == ERR_OK ? store_raise_version(txn, SCHEMA_STATE_PARTS)
			     : err;
}

/* Gives the file its name, and puts its row. */
static enum err
publish(struct closing *closing, const char *made, struct trail_parts_row *row)
{
	char path[FS_PATH_MAX];
	enum err err =
	    trail_parts_path(path, closing->store, row->month, row->first, "");

	if (err == ERR_OK)
		err = fs_publish(made, path);
	if (err == ERR_OK)
		err = store_write_local(
		    closing->store, STORE_STATE, put_row, row);
	if (err != ERR_OK)
		return err;
	closing->closed->parts++;
	closing->closed->entries += row->last - row->first + 1;
	log_info("a part of the trail is closed: file=%s entries=%llu "
		 "bytes=%llu",
	    path, (unsigned long long)(row->last - row->first + 1),
	    (unsigned long long)row->bytes);
	return ERR_OK;
}

/* Writes the next part, if it is over, as `path`. */
static enum err
write_next(bool *over, struct trail_parts_row *row, char path[FS_PATH_MAX],
    struct closing *closing, struct kv_txn *txn)
{
	struct audit_entry entry;
	uint64_t last;
	enum err err = trail_parts_last(txn, &last);

	*over = false;
	if (err == ERR_OK)
		err = is_over(over, txn, last + 1, closing->most);
	if (err != ERR_OK || !*over)
		return err;
	err = entry_at(&entry, txn, last + 1);
	if (err == ERR_OK)
		err = trail_parts_path(path, closing->store,
		    (uint32_t)month_of(&entry), last + 1, ".tmp");
	return err == ERR_OK ? write_file(row, path, closing, txn, last + 1)
			     : err;
}

/* *more: there was one to close. */
static enum err
close_next(bool *more, struct closing *closing)
{
	char path[FS_PATH_MAX];
	struct trail_parts_row row;
	struct kv_txn *txn;
	enum err err = kv_read(&txn, store_state(closing->store));

	*more = false;
	if (err != ERR_OK)
		return err;
	err = write_next(more, &row, path, closing, txn);
	/* The map can grow only without a reader. */
	kv_abort(txn);
	if (err == ERR_OK && *more)
		err = publish(closing, path, &row);
	return err;
}

/* --- removing ------------------------------------------------------------- */

struct removing {
	const struct trail_parts_row *row;
	struct trail_part *part;
	uint32_t count; /* in this commit */
	bool more;
};

/* An entry that is damaged here is sound in the part. */
static enum err
remove_one(struct removing *removing, struct kv_txn *txn, struct kv_walk *walk,
    uint64_t number, const struct span *value)
{
	struct audit_entry entry;
	struct span kept;
	enum err err = trail_part_get(removing->part, number, &kept);

	if (err == ERR_OK && value != NULL && !span_eq(kept, *value)) {
		log_error("a part of the trail differs from its entries, which "
			  "stay: number=%llu",
		    (unsigned long long)number);
		return ERR_DAMAGED;
	}
	if (err == ERR_OK)
		err = audit_read(&entry, number, kept);
	if (err == ERR_OK)
		err = kv_walk_del(walk);
	if (err == ERR_OK)
		err = trail_remove(txn, number, &entry);
	removing->count++;
	return err;
}

static enum err
remove_some(void *context, struct kv_txn *txn)
{
	struct removing *removing = context;
	uint64_t from = htobe64(removing->row->first);
	struct kv_walk *walk = kv_walk_begin(
	    txn, STATE_AUDIT, SPAN(""), span_make(&from, sizeof(from)));
	struct span key, value;
	enum err err = ERR_OK;

	removing->count = 0;
	removing->more = false;
	while (err == ERR_OK) {
		err = kv_walk_next(walk, &key, &value);
		if (err != ERR_OK && (err != ERR_DAMAGED || key.len == 0))
			break;
		if (key_read_u64(key) > removing->row->last) {
			err = ERR_NOT_FOUND;
			break;
		}
		removing->more = removing->count == REMOVE_MOST;
		if (removing->more) {
			err = ERR_NOT_FOUND;
			break;
		}
		err = remove_one(removing, txn, walk, key_read_u64(key),
		    err == ERR_OK ? &value : NULL);
	}
	return kv_walk_done(walk, err);
}

struct finding {
	uint64_t number;
	struct trail_parts_row row;
	bool found;
};

static enum err
find_row(void *context, const struct trail_parts_row *row)
{
	struct finding *finding = context;

	if (row->last < finding->number)
		return ERR_OK;
	finding->row = *row;
	finding->found = row->first <= finding->number;
	return ERR_EXISTS;
}

/* The part that has the first entry left in state.mdb. */
static enum err
find_rest(struct finding *finding, struct store *store)
{
	struct kv_txn *txn;
	enum err err = kv_read(&txn, store_state(store));

	*finding = (struct finding){.found = false};
	if (err != ERR_OK)
		return err;
	err = trail_parts_left(txn, &finding->number);
	if (err == ERR_OK && finding->number > 0)
		err = trail_parts_each(txn, find_row, finding);
	kv_abort(txn);
	return err == ERR_EXISTS ? ERR_OK : err;
}

/* Of the parts that are made already. *more: there was something to remove. */
static enum err
remove_next(bool *more, struct closing *closing)
{
	struct finding finding;
	struct removing removing = {.row = &finding.row};
	enum err err = find_rest(&finding, closing->store);

	*more = false;
	if (err != ERR_OK || !finding.found)
		return err;
	err = trail_parts_open(&removing.part, closing->store, &finding.row);
	if (err != ERR_OK)
		return err;
	do {
		err = store_write_local(
		    closing->store, STORE_STATE, remove_some, &removing);
		if (err == ERR_OK)
			closing->closed->removed += removing.count;
	} while (err == ERR_OK && removing.more &&
	    date_monotonic_ns() < closing->end_ns);
	trail_part_close(removing.part);
	*more = err == ERR_OK;
	return err;
}

/* --- all ------------------------------------------------------------------ */

static enum err
close_all(struct closing *closing)
{
	bool removed, made;
	enum err err;

	do {
		made = false;
		err = remove_next(&removed, closing);
		if (err == ERR_OK && !removed)
			err = close_next(&made, closing);
	} while (err == ERR_OK && (removed || made) &&
	    date_monotonic_ns() < closing->end_ns);
	return err;
}

/* Schema 1 has none: its record of the version is a u64. */
static enum err
has_sums(bool *sums, struct store *store)
{
	struct kv_txn *txn;
	enum err err = kv_read(&txn, store_state(store));

	if (err != ERR_OK)
		return err;
	err = store_has_sums(sums, txn);
	kv_abort(txn);
	return err;
}

enum err
trail_close(struct trail_closed *closed, struct store *store, uint32_t most,
    int64_t end_ns)
{
	struct closing closing = {store, closed, most, end_ns};
	char path[FS_PATH_MAX];
	int lock = -1;
	bool sums;
	enum err err;

	assert(most > 0 && most <= TRAIL_PART_ENTRIES_MAX);
	*closed = (struct trail_closed){.parts = 0};
	err = has_sums(&sums, store);
	if (err != ERR_OK || !sums)
		return err;
	err = store_lock_trail(&lock, store, false);
	if (err != ERR_OK)
		return err;
	err = fs_path(path, "%s/trail", store_dir(store));
	if (err == ERR_OK)
		err = fs_mkdir(path);
	if (err == ERR_OK)
		err = close_all(&closing);
	close(lock);
	return err;
}
