#include "lmdb-schema/state/trail_parts.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/date.h"
#include "common/kv/kv.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/state/trail.h"
#include "lmdb-schema/state/trail_lost.h"
#include "lmdb-schema/store/sealed.h"
#include "lmdb-schema/store/store.h"

/* Bytes of an article's entries in a part. */
#define PIECES_MAX ((size_t)1 << 32)

static const char name[] = "part", last_name[] = "parts";

/* --- rows ----------------------------------------------------------------- */

static struct key
row_key(uint64_t first)
{
	return key_pair_u64(span_of(name), first);
}

static enum err
read_row(struct trail_parts_row *row, struct span key, struct span value)
{
	struct unpack from;

	unpack_init(&from, value);
	row->first = key_read_u64(span_from(key, sizeof(name)));
	row->last = unpack_unsigned(&from);
	row->month = (uint32_t)unpack_unsigned(&from);
	row->bytes = unpack_unsigned(&from);
	row->crc = (uint32_t)unpack_unsigned(&from);
	row->oldest_ms = unpack_signed(&from);
	row->newest_ms = unpack_signed(&from);
	row->away = unpack_unsigned(&from) != 0;
	return unpack_done(&from) && row->first > 0 && row->last >= row->first
	    ? ERR_OK
	    : ERR_DAMAGED;
}

enum err
trail_parts_each(struct kv_txn *txn,
    enum err (*each)(void *context, const struct trail_parts_row *row),
    void *context)
{
	struct kv_walk *walk = kv_walk_begin(
	    txn, STATE_META, span_make(name, sizeof(name)), SPAN(""));
	struct trail_parts_row row;
	struct span key, value;
	enum err err;

	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK) {
		err = read_row(&row, key, value);
		if (err == ERR_OK)
			err = each(context, &row);
		if (err != ERR_OK)
			break;
	}
	return kv_walk_done(walk, err);
}

enum err
trail_parts_row(struct trail_parts_row *row, struct kv_txn *txn, uint64_t first)
{
	struct key key = row_key(first);
	struct span value;
	enum err err = kv_get(txn, STATE_META, key_span(&key), &value);

	return err == ERR_OK ? read_row(row, key_span(&key), value) : err;
}

enum err
trail_parts_last(struct kv_txn *txn, uint64_t *number)
{
	return store_number(txn, last_name, number);
}

enum err
trail_parts_put(struct kv_txn *txn, const struct trail_parts_row *row)
{
	struct key key = row_key(row->first);
	struct buf value;

	assert(row->first > 0 && row->last >= row->first);
	buf_init(&value, 128);
	pack_add_unsigned(&value, row->last);
	pack_add_unsigned(&value, row->month);
	pack_add_unsigned(&value, row->bytes);
	pack_add_unsigned(&value, row->crc);
	pack_add_signed(&value, row->oldest_ms);
	pack_add_signed(&value, row->newest_ms);
	pack_add_unsigned(&value, row->away);
	return store_put(txn, STATE_META, key_span(&key), &value);
}

enum err
trail_parts_put_last(struct kv_txn *txn, uint64_t number)
{
	return store_set_number(txn, last_name, number);
}

enum err
trail_parts_left(struct kv_txn *txn, uint64_t *first)
{
	struct kv_walk *walk =
	    kv_walk_begin(txn, STATE_AUDIT, SPAN(""), SPAN(""));
	struct span key = SPAN(""), value;
	enum err err = kv_walk_next(walk, &key, &value);

	*first = key.len == 0 ? 0 : key_read_u64(key);
	kv_walk_end(walk);
	return err == ERR_NOT_FOUND || err == ERR_DAMAGED ? ERR_OK : err;
}

/* --- files ---------------------------------------------------------------- */

#define NUMBER_LEN KEY_GENERATION_LEN

enum err
trail_parts_path(char path[FS_PATH_MAX], const struct store *store,
    uint32_t month, uint64_t first, const char *suffix)
{
	char text[DATE_TEXT_MAX], number[NUMBER_LEN + 1];

	if (date_month_dashed_text(text, (int32_t)month) == 0)
		snprintf(text, sizeof(text), "0000-00");
	key_generation_text(number, first);
	return fs_path(path, "%s/trail/%s-%s.part%s", store_dir(store), text,
	    number, suffix);
}

#define MONTH_LEN 8 /* "2026-03-" */

uint64_t
trail_parts_first(const char *file, bool *temporary)
{
	struct span text = span_of(file);
	uint64_t first;

	*temporary = false;
	if (text.len < MONTH_LEN + NUMBER_LEN || file[MONTH_LEN - 1] != '-' ||
	    !key_generation(&first, span_sub(text, MONTH_LEN, NUMBER_LEN)))
		return 0;
	text = span_from(text, MONTH_LEN + NUMBER_LEN);
	*temporary = span_eq(text, SPAN(".part.tmp"));
	return *temporary || span_eq(text, SPAN(".part")) ? first : 0;
}

enum err
trail_parts_open(struct trail_part **out, const struct store *store,
    const struct trail_parts_row *row)
{
	char path[FS_PATH_MAX];
	enum err err =
	    trail_parts_path(path, store, row->month, row->first, "");

	*out = NULL;
	if (err == ERR_OK)
		err = trail_part_open(out, path);
	if (err == ERR_NOT_FOUND && row->away)
		return err;
	if (err == ERR_OK && trail_parts_is_of(*out, row))
		return err;
	if (err == ERR_OK) {
		sealed_log_damage(path, 0, 0, "another file");
		err = ERR_DAMAGED;
	}
	trail_part_close(*out);
	*out = NULL;
	if (err == ERR_NOT_FOUND)
		err = ERR_DAMAGED;
	trail_lost_log(store, row, err);
	return err;
}

/* --- reading -------------------------------------------------------------- */

struct rows {
	struct trail_parts_row *rows;
	size_t count, room;
	uint64_t from, to;
};

static enum err
add_row(void *context, const struct trail_parts_row *row)
{
	struct rows *rows = context;

	if (row->last < rows->from || row->first > rows->to)
		return ERR_OK;
	if (rows->count == rows->room) {
		size_t room = rows->room * 2 + 16;
		struct trail_parts_row *more =
		    reallocarray(rows->rows, room, sizeof(*more));

		if (more == NULL)
			return ERR_NO_MEMORY;
		rows->rows = more;
		rows->room = room;
	}
	rows->rows[rows->count++] = *row;
	return ERR_OK;
}

/* The view's part: the one that it read last stays open until it rests. */
static enum err
open_part(struct trail_part **part, struct state_view *view,
    const struct trail_parts_row *row)
{
	struct trail_part **kept = state_view_part(view);
	enum err err = ERR_OK;

	if (*kept == NULL || trail_part_head(*kept)->crc != row->crc ||
	    trail_part_head(*kept)->first != row->first) {
		trail_part_close(*kept);
		err = trail_parts_open(kept, state_view_store(view), row);
	}
	*part = *kept;
	return err;
}

/*
 * Logs damage that a part showed when it was read, unless the reader is told of it:
 * opening tells of all else.
 */
static enum err
tell_damage(struct state_view *view, const struct trail_left_out *left_out,
    const struct trail_parts_row *row, enum err err)
{
	if (err == ERR_DAMAGED && left_out == NULL)
		trail_lost_log(state_view_store(view), row, err);
	return err;
}

/* After `err` of a part: ERR_OK when the reading goes on behind it. */
static enum err
leave_out(const struct trail_left_out *left_out,
    const struct trail_parts_row *row, enum err err)
{
	if (left_out == NULL || (err != ERR_NOT_FOUND && !trail_is_lost(err)))
		return err;
	left_out->tell(left_out->context, row, err);
	return ERR_OK;
}

/* The same of one that cannot be opened, or is in an archive. */
static enum err
leave_out_all(const struct trail_left_out *left_out,
    const struct trail_parts_row *row, enum err err)
{
	if (left_out == NULL)
		return err == ERR_NOT_FOUND ? ERR_OK : err;
	left_out->lacks(left_out->context, row->first, row->last);
	return leave_out(left_out, row, err);
}

enum err
trail_parts_walk(struct state_view *view, const struct trail_wanted *wanted,
    uint64_t from, uint64_t to, bool back,
    enum err (*each)(void *context, const struct audit_entry *entry),
    void *context)
{
	const struct trail_left_out *left_out =
	    wanted == NULL ? NULL : wanted->left_out;
	struct rows rows = {.from = from, .to = to};
	enum err err = trail_parts_each(state_view_txn(view), add_row, &rows);

	for (size_t i = 0; i < rows.count && err == ERR_OK; i++) {
		const struct trail_parts_row *row =
		    &rows.rows[back ? rows.count - 1 - i : i];
		struct trail_part *part;

		if (!trail_parts_may_have(row, wanted))
			continue;
		err = open_part(&part, view, row);
		if (err != ERR_OK) {
			err = leave_out_all(left_out, row, err);
			continue;
		}
		err = tell_damage(view, left_out, row,
		    trail_part_each(
			part, wanted, from, to, back, each, context));
		err = leave_out(left_out, row, err);
	}
	free(rows.rows);
	return err;
}

/* The row of the part that has an entry. */
static enum err
find(struct trail_parts_row *row, struct state_view *view, uint64_t number)
{
	struct rows rows = {.from = number, .to = number};
	enum err err = trail_parts_each(state_view_txn(view), add_row, &rows);

	if (err == ERR_OK && rows.count == 0)
		err = ERR_NOT_FOUND;
	if (err == ERR_OK)
		*row = rows.rows[0];
	free(rows.rows);
	return err;
}

enum err
trail_parts_get(
    struct state_view *view, uint64_t number, struct audit_entry *entry)
{
	struct trail_parts_row row;
	struct trail_part *part;
	struct span value;
	enum err err = find(&row, view, number);

	if (err == ERR_OK)
		err = open_part(&part, view, &row);
	if (err == ERR_OK)
		err = tell_damage(
		    view, NULL, &row, trail_part_get(part, number, &value));
	return err == ERR_OK ? audit_read(entry, number, value) : err;
}

/* --- an article's history ------------------------------------------------- */

/* An article's entries in a part, with copies of their values. */
struct piece {
	uint64_t number;
	size_t at, len; /* in the values */
};

struct pieces {
	const struct trail_article *article;
	struct buf values;
	struct buf pieces; /* struct piece of each */
};

static enum err
add_piece(void *context, const struct audit_entry *entry, struct span value)
{
	struct pieces *pieces = context;
	struct piece piece = {entry->number, pieces->values.len, value.len};

	if (!trail_in_bounds(pieces->article, entry->number))
		return ERR_OK;
	buf_add_span(&pieces->values, value);
	buf_add(&pieces->pieces, &piece, sizeof(piece));
	return buf_end(&pieces->pieces);
}

static int
by_number(const void *a, const void *b)
{
	uint64_t left = ((const struct piece *)a)->number,
		 right = ((const struct piece *)b)->number;

	return left < right ? -1 : left > right;
}

static enum err
tell_pieces(const struct pieces *pieces,
    enum err (*each)(void *context, const struct audit_entry *entry),
    void *context)
{
	const struct piece *piece = (const void *)pieces->pieces.data;
	size_t count = pieces->pieces.len / sizeof(*piece);
	enum err err = buf_end(&pieces->values);

	if (err == ERR_OK && count > 0)
		qsort(pieces->pieces.data, count, sizeof(*piece), by_number);
	for (size_t i = 0; i < count && err == ERR_OK; i++) {
		size_t at = pieces->article->back ? count - 1 - i : i;
		struct audit_entry entry;

		err = audit_read(&entry, piece[at].number,
		    span_sub(buf_span(&pieces->values), piece[at].at,
			piece[at].len));
		if (err == ERR_OK)
			err = each(context, &entry);
	}
	return err;
}

/* An article's entries among all of a part. */
struct picking {
	const struct trail_article *article;
	enum err (*each)(void *context, const struct audit_entry *entry);
	void *context;
};

static enum err
pick(void *context, const struct audit_entry *entry)
{
	const struct picking *picking = context;

	return trail_is_of(picking->article, entry)
	    ? picking->each(picking->context, entry)
	    : ERR_OK;
}

/*
 * The entries are in a part twice: where those by article are damaged, a reader
 * that goes on gets them from the others. ERR_DAMAGED all the same.
 */
static enum err
pick_all(struct trail_part *part, const struct trail_article *article,
    enum err (*each)(void *context, const struct audit_entry *entry),
    void *context)
{
	const struct trail_wanted wanted = {
	    .supplier = article->supplier, .left_out = article->left_out};
	struct picking picking = {article, each, context};
	enum err err = trail_part_each(part, &wanted, article->from,
	    article->to == 0 ? UINT64_MAX : article->to, article->back, pick,
	    &picking);

	return err == ERR_OK ? ERR_DAMAGED : err;
}

static enum err
history_of_part(struct pieces *pieces, struct state_view *view,
    const struct trail_parts_row *row,
    enum err (*each)(void *context, const struct audit_entry *entry),
    void *context)
{
	const struct trail_article *article = pieces->article;
	struct trail_part *part;
	enum err err = open_part(&part, view, row);

	if (err != ERR_OK)
		return leave_out_all(article->left_out, row, err);
	buf_clear(&pieces->values);
	buf_clear(&pieces->pieces);
	err = tell_damage(view, article->left_out, row,
	    trail_part_of(
		part, article->supplier, article->codein, add_piece, pieces));
	if (err == ERR_OK)
		err = tell_pieces(pieces, each, context);
	else if (err == ERR_DAMAGED && article->left_out != NULL)
		err = pick_all(part, article, each, context);
	return leave_out(article->left_out, row, err);
}

enum err
trail_parts_history(struct state_view *view,
    const struct trail_article *article,
    enum err (*each)(void *context, const struct audit_entry *entry),
    void *context)
{
	struct pieces pieces = {.article = article};
	struct rows rows = {.from = article->from,
	    .to = article->to == 0 ? UINT64_MAX : article->to};
	enum err err = trail_parts_each(state_view_txn(view), add_row, &rows);

	buf_init(&pieces.values, PIECES_MAX);
	buf_init(&pieces.pieces, PIECES_MAX);
	for (size_t i = 0; i < rows.count && err == ERR_OK; i++)
		err = history_of_part(&pieces, view,
		    &rows.rows[article->back ? rows.count - 1 - i : i], each,
		    context);
	buf_fini(&pieces.values);
	buf_fini(&pieces.pieces);
	free(rows.rows);
	return err;
}
