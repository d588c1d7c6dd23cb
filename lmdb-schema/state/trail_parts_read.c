/* trail_parts_read: entries of the parts that are here, as trail.c asks for them. */
#include <assert.h>
#include <stdlib.h>

#include "common/buf.h"
#include "lmdb-schema/state/trail.h"
#include "lmdb-schema/state/trail_lost.h"
#include "lmdb-schema/state/trail_parts.h"

/* Bytes of an article's entries in a part. */
#define PIECES_MAX ((size_t)1 << 32)

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
