#include "fcgi/rows/splice.h"

#include <assert.h>

#include "fcgi/rows/splice_priv.h"

#define TEXT_MAX (1u << 24)
#define STEP 32 /* bytes, no more than IOVBUF_SPARE */

void
splice_init(struct splice *splice)
{
	memset(splice, 0, sizeof(*splice));
	buf_init(&splice->text, TEXT_MAX);
	buf_init(&splice->row, TEXT_MAX);
}

void
splice_fini(struct splice *splice)
{
	splice_release(splice);
	buf_fini(&splice->text);
	buf_fini(&splice->row);
}

static unsigned
make_runs(struct splice_run *runs, const struct columns *columns, unsigned from,
    unsigned to)
{
	unsigned count = 0;

	for (unsigned i = columns_next(columns, from); i < to;
	     i = columns_next(columns, i + 1)) {
		if (count > 0 && runs[count - 1].last + 1u == i)
			runs[count - 1].last = (uint16_t)i;
		else
			runs[count++] =
			    (struct splice_run){(uint16_t)i, (uint16_t)i};
	}
	return count;
}

void
splice_columns(struct splice *splice, const struct columns *columns)
{
	assert(columns != NULL);
	if (splice->chosen_count > 0 &&
	    memcmp(&splice->asked, columns, sizeof(*columns)) == 0)
		return;
	splice->asked = *columns;
	splice->all = !columns_any(columns);
	splice->columns = *columns;
	if (splice->all)
		for (unsigned i = 0; i < ROW_COLUMNS; i++)
			columns_add(&splice->columns, i);
	splice->flat_runs =
	    make_runs(splice->flat, &splice->columns, 0, ROW_FLATS);
	splice->map_runs =
	    make_runs(splice->map, &splice->columns, ROW_FLATS, ROW_COLUMNS);
	splice->has_gammes = splice->has_network = false;
	splice->chosen_count = splice->gamme_count = 0;
	for (unsigned i = columns_next(&splice->columns, 0); i < ROW_COLUMNS;
	     i = columns_next(&splice->columns, i + 1)) {
		if (splice_is_gamme(i)) {
			assert(splice->gamme_count < ROW_GAMMES);
			splice->gammes[splice->gamme_count++] =
			    (uint8_t)splice->chosen_count;
		}
		splice->chosen[splice->chosen_count++] = (uint8_t)i;
		splice->has_gammes |= splice_is_gamme(i);
		splice->has_network |= splice_is_network(i);
	}
}

void
splice_begin(struct splice *splice, struct snapshot *snap,
    const struct ranges *ranges, struct live_view *live, bool enrich,
    const struct columns *columns, enum splice_form form)
{
	assert(columns != NULL && form <= SPLICE_NDJSON);
	splice_columns(splice, columns);
	splice->enrich = enrich;
	splice->live = enrich ? live : NULL;
	splice->form = form;
	splice_turn(splice, snap, ranges);
}

void
splice_turn(
    struct splice *splice, struct snapshot *snap, const struct ranges *ranges)
{
	assert(snap != NULL);
	splice_release(splice);
	splice->snap = snap;
	splice->ranges = ranges;
	splice->some_lie = false;
	splice->in_order = false;
	splice->network_changed = splice->live != NULL && splice->has_network &&
	    !live_network_is_unchanged(splice->live, snapshot_supplier(snap),
		snapshot_head(snap)->facts, snapshot_head(snap)->network);
}

void
splice_in_order(struct splice *splice)
{
	/* All of the text is read without a gap, as processors expect it. */
	splice->in_order = !splice->all;
}

void
splice_keep(struct splice *splice, struct row_cache *row_cache)
{
	assert(splice->snap != NULL && splice->kept == NULL);
	if (!splice->all && splice->map_runs == 0)
		splice->kept =
		    row_cache_get(row_cache, splice->snap, &splice->columns);
}

void
splice_release(struct splice *splice)
{
	cached_rows_release(splice->kept);
	splice->kept = NULL;
}

bool
splice_is_plain(const struct splice *splice)
{
	return splice->all && splice->ranges == NULL &&
	    !splice->network_changed;
}

bool
splice_is_unchanged(const struct splice *splice)
{
	const struct ranges *ranges = splice->ranges;

	return !splice->network_changed &&
	    (ranges == NULL || !splice->has_gammes ||
		memchr(ranges->differs, 1, ranges->rows) == NULL);
}

/* --- rows as they lie ----------------------------------------------------- */

/*
 * Copies in whole steps, which takes a third of memcpy()'s time for the twenty
 * bytes of a value. The caller guarantees that the bytes read beyond `len`
 * exist.
 */
static char *
copy_steps(char *to, const char *from, size_t len)
{
	for (size_t at = 0; at < len; at += STEP)
		memcpy(to + at, from + at, STEP);
	return to + len;
}

static char
separator(const struct splice *splice)
{
	return splice->form == SPLICE_JSON ? ',' : '\n';
}

/* The comma after the last member becomes the brace. */
static char *
end_row(const struct splice *splice, char *to)
{
	to[-1] = '}';
	*to++ = separator(splice);
	return to;
}

/*
 * Copies the runs of scalars, each followed by a comma; without maps, that
 * completes the row. A step may write beyond its run: the next run overwrites
 * those bytes, or they lie in the spare bytes of the body. A step may read
 * beyond its run, but not beyond the row.
 */
static bool
copy_flat(struct splice *splice, uint32_t row, const struct snapshot_part *part,
    struct iovbuf *pieces)
{
	const uint16_t *off = part->off.flat;
	uint32_t most = off[ROW_FLATS], done = 1; /* after the brace */
	char *start, *to;

	start = to = iovbuf_room(pieces, 2 + most);
	if (to == NULL)
		return true; /* the pieces keep the failure */
	*to++ = '{';
	if (splice->in_order)
		splice_expect_behind(splice, part);
	for (unsigned i = 0; i < splice->flat_runs; i++) {
		uint32_t from = off[splice->flat[i].first];
		uint32_t end = off[splice->flat[i].last + 1];

		/* Offsets that descend would make the row longer than it is. */
		if (from < done || from >= end || end > most)
			return false;
		done = end;
		if (end + STEP <= most)
			to = copy_steps(to, part->json + from, end - from);
		else
			to = mempcpy(to, part->json + from, end - from);
	}
	if (splice->map_runs == 0)
		to = end_row(splice, to);
	if (splice->kept != NULL)
		cached_rows_keep(splice->kept, row,
		    span_make(start, (size_t)(to - start) - 1));
	iovbuf_used(pieces, start, (size_t)(to - start));
	return true;
}

static bool
copy_maps(struct splice *splice, const struct snapshot_part *part,
    struct iovbuf *pieces)
{
	const uint32_t *off = part->off.maps;

	for (unsigned i = 0; i < splice->map_runs; i++) {
		uint32_t from = off[splice->map[i].first - ROW_FLATS];
		uint32_t end = off[splice->map[i].last + 1 - ROW_FLATS];

		if (end > off[ROW_MAPCOUNT] || from >= end)
			return false;
		iovbuf_refer(pieces, part->json + from, end - from - 1);
		iovbuf_text(pieces, ",");
	}
	return true;
}

/* All columns: two references into the file; only the separator is copied. */
static bool
refer_all(struct splice *splice, const struct snapshot_part *flat,
    const struct snapshot_part *maps, struct iovbuf *pieces)
{
	uint32_t len = maps->off.maps[ROW_MAPCOUNT];

	iovbuf_refer(pieces, flat->json, flat->off.flat[ROW_FLATS]);
	if (splice->form == SPLICE_JSON)
		/* In the file, too, a comma follows the row. */
		iovbuf_refer(pieces, maps->json, len + 1);
	else {
		iovbuf_refer(pieces, maps->json, len);
		iovbuf_text(pieces, "\n");
	}
	return true;
}

/* Prefetches the bytes that copy_flat() will read, each cache line once. */
static void
expect_flat(const struct splice *splice, const struct snapshot_part *part)
{
	const uint16_t *off = part->off.flat;
	const char *line = NULL;

	for (unsigned i = 0; i < splice->flat_runs; i++) {
		const char *at = part->json + off[splice->flat[i].first];
		const char *end = part->json + off[splice->flat[i].last + 1];

		at -= (uintptr_t)at % SPAN_LINE;
		for (at = at > line ? at : line; at < end; at += SPAN_LINE)
			span_expect_line(at);
		line = at;
	}
}

/* A row's text from the row cache; empty: not kept. */
static struct span
kept_text(const struct splice *splice, uint32_t row)
{
	return splice->kept == NULL ? SPAN("")
				    : cached_rows_row(splice->kept, row);
}

static void
expect_offsets(struct splice *splice, uint32_t row)
{
	struct span text = kept_text(splice, row);

	if (text.len > 0) {
		span_expect(text);
		return;
	}
	splice->some_lie = true;
	snapshot_expect(splice->snap, row, splice->map_runs > 0);
}

static void
expect_text(struct splice *splice, uint32_t row)
{
	struct snapshot_part flat;

	if (kept_text(splice, row).len > 0)
		return;
	if (splice->map_runs > 0)
		snapshot_expect_maps(splice->snap, row);
	if (snapshot_glance(splice->snap, row, &flat))
		expect_flat(splice, &flat);
}

void
splice_expect(struct splice *splice, const uint32_t *rows, unsigned count,
    enum splice_step step)
{
	assert(rows != NULL && count > 0);
	if (step == SPLICE_KEPT) {
		if (splice->kept != NULL)
			cached_rows_expect(splice->kept, rows, count);
		return;
	}
	/*
	 * Whole rows, and mostly maps, are sent by reference, so only the
	 * kernel reads them.
	 */
	if (step == SPLICE_TEXT && (splice->all || !splice->some_lie))
		return;
	for (unsigned i = 0; i < count; i++)
		if (step == SPLICE_OFFSETS)
			expect_offsets(splice, rows[i]);
		else
			expect_text(splice, rows[i]);
}

void
splice_close_row(struct splice *splice, struct iovbuf *pieces)
{
	iovbuf_drop_last(pieces);
	if (splice->form == SPLICE_JSON)
		iovbuf_text(pieces, "},");
	else
		iovbuf_text(pieces, "}\n");
}

static void
add_kept(struct splice *splice, struct span text, struct iovbuf *pieces)
{
	char *start = iovbuf_room(pieces, text.len + 1);

	if (start == NULL)
		return; /* the pieces keep the failure */
	memcpy(start, text.ptr, text.len);
	start[text.len] = separator(splice);
	iovbuf_used(pieces, start, text.len + 1);
}

static enum err
stored_row(struct splice *splice, uint32_t row, struct iovbuf *pieces)
{
	struct snapshot_part flat, maps;

	if (!snapshot_flat(splice->snap, row, &flat))
		return ERR_DAMAGED;
	if (splice->all) {
		if (!snapshot_maps(splice->snap, row, &maps))
			return ERR_DAMAGED;
		refer_all(splice, &flat, &maps, pieces);
		return ERR_OK;
	}
	if (!copy_flat(splice, row, &flat, pieces))
		return ERR_DAMAGED;
	if (splice->map_runs == 0)
		return ERR_OK;
	if (!snapshot_maps(splice->snap, row, &maps) ||
	    !copy_maps(splice, &maps, pieces))
		return ERR_DAMAGED;
	splice_close_row(splice, pieces);
	return ERR_OK;
}

static enum err
plain_row(struct splice *splice, uint32_t row, struct iovbuf *pieces)
{
	struct span text = kept_text(splice, row);

	if (text.len == 0)
		return stored_row(splice, row, pieces);
	add_kept(splice, text, pieces);
	return ERR_OK;
}

/* --- rows of today --------------------------------------------------------- */

/* A row that differs from the snapshot by today's values, perhaps. */
static enum err
row_today(struct splice *splice, uint32_t row, struct iovbuf *pieces)
{
	struct splice_today today = {.row = row};
	bool differs;
	enum err err = splice_differs(splice, &today, &differs);

	if (err != ERR_OK)
		return err;
	if (differs)
		return splice_live_row(splice, &today, pieces);
	return plain_row(splice, row, pieces);
}

enum err
splice_row(struct splice *splice, uint32_t row, struct iovbuf *pieces)
{
	if (splice->network_changed || splice_gammes_differ(splice, row))
		return row_today(splice, row, pieces);
	return plain_row(splice, row, pieces);
}
