/*
 * With grams (lmdb-schema/snapshot/grams.h), a few lists name the rows that may
 * contain the words. Without, all the text is scanned for the longest word, and
 * the rows that contain it are searched for the others.
 */
#include "fcgi/rows/match.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/words.h"
#include "fcgi/rows/filter.h"

/* How far ahead lists are prefetched in haystacks, and text in rows. */
#define HAYS_AHEAD 8
#define ROWS_AHEAD 12

/* The number of grams used in each haystack when there are many haystacks. */
#define GRAMS_EACH 3

#define ROOM_MIN 1024

/* --- by columns -------------------------------------------------------- */

/* Each filter keeps the 1 of a row that still matches. */
static void
match_code(uint8_t *mask, const uint32_t *code3, uint32_t rows,
    const struct code_filter *filter)
{
	uint32_t low = filter->code * filter->divisor;
	uint32_t width = filter->divisor;

	/* A single comparison: below `low` wraps to a large number. */
	for (uint32_t i = 0; i < rows; i++)
		mask[i] &= code3[i] - low < width;
}

static void
match_gamme(uint8_t *mask, const uint8_t *gammes, uint32_t rows, uint8_t gamme)
{
	for (uint32_t i = 0; i < rows; i++)
		mask[i] &= gammes[i] == gamme;
}

/* Without changes since the computation, no proposal is pending. */
static void
match_pending(uint8_t *mask, const struct ranges *ranges, uint32_t rows)
{
	for (uint32_t i = 0; i < rows; i++)
		mask[i] &=
		    ranges != NULL && ranges->pending[i] != ROW_GAMME_NONE;
}

static bool
has_code(const struct rowset_query *query, unsigned i)
{
	return query->codes[i].code != PARAMS_NO_CODE;
}

/* The ranges that the filter compares; NULL when they are damaged. */
static const uint8_t *
gammes_of(struct snapshot *snap, const struct ranges *ranges,
    const struct rowset_query *query)
{
	if (ranges == NULL)
		return snapshot_gammes(snap);
	return query->raw ? ranges->raw : ranges->shown;
}

enum err
match_mask(uint8_t *mask, struct snapshot *snap, const struct ranges *ranges,
    const struct rowset_query *query)
{
	uint32_t rows = snapshot_rows(snap);
	const uint8_t *gammes = gammes_of(snap, ranges, query);
	const uint32_t *code3 = snapshot_code3(snap);

	assert(mask != NULL);
	if (gammes == NULL || code3 == NULL)
		return ERR_DAMAGED;
	memset(mask, 1, rows);
	for (unsigned i = 0; i < query->code_count; i++)
		if (has_code(query, i))
			match_code(mask, code3, rows, &query->codes[i]);
	if (query->gamme != ROW_GAMME_NONE)
		match_gamme(mask, gammes, rows, query->gamme);
	if (query->pending)
		match_pending(mask, ranges, rows);
	return filter_mask(mask, snap, ranges, query);
}

bool
match_asks_columns(const struct rowset_query *query)
{
	for (unsigned i = 0; i < query->code_count; i++)
		if (has_code(query, i))
			return true;
	return query->gamme != ROW_GAMME_NONE || query->pending ||
	    query->condition_count > 0;
}

/* Tests a single row: for a few rows a mask of all rows would cost more. */
static bool
row_matches(uint32_t row, const uint8_t *gammes, const uint32_t *code3,
    const struct ranges *ranges, const struct rowset_query *query)
{
	for (unsigned i = 0; i < query->code_count; i++) {
		const struct code_filter *filter = &query->codes[i];

		if (has_code(query, i) &&
		    code3[row] - filter->code * filter->divisor >=
			filter->divisor)
			return false;
	}
	if (query->gamme != ROW_GAMME_NONE && gammes[row] != query->gamme)
		return false;
	return !query->pending ||
	    (ranges != NULL && ranges->pending[row] != ROW_GAMME_NONE);
}

enum err
match_keep(uint32_t *rows, uint32_t *count, struct snapshot *snap,
    const struct ranges *ranges, const struct rowset_query *query)
{
	const uint8_t *gammes;
	const uint32_t *code3;
	uint32_t kept = 0;

	assert(rows != NULL || *count == 0);
	if (!match_asks_columns(query))
		return ERR_OK;
	code3 = snapshot_code3(snap);
	gammes = gammes_of(snap, ranges, query);
	if (gammes == NULL || code3 == NULL)
		return ERR_DAMAGED;
	for (uint32_t i = 0; i < *count; i++) {
		rows[kept] = rows[i];
		kept += row_matches(rows[i], gammes, code3, ranges, query);
	}
	*count = kept;
	return filter_rows(rows, count, snap, ranges, query);
}

/* --- by words ------------------------------------------------------------ */

enum err
haystack_of(struct haystack *hay, struct snapshot *snap)
{
	assert(snap != NULL);
	hay->snap = snap;
	hay->epoch = snapshot_epoch(snap); /* before the first comparison */
	hay->rows = snapshot_rows(snap);
	hay->has_grams = snapshot_grams(snap, &hay->grams);
	if (!hay->has_grams && snapshot_has_grams(snap))
		return ERR_DAMAGED;
	hay->guard = snapshot_text_blocks(snap);
	return snapshot_text_places(snap, &hay->text, &hay->at) ? ERR_OK
								: ERR_DAMAGED;
}

/* A search, and the rows found so far. */
struct asking {
	struct words words;
	bool by_grams;
	struct grams_asked grams;
	const struct haystack *hays;
	unsigned count;
	struct match_rows *out;
	struct match_slice *slices;
};

static enum err
need_room(struct match_rows *out, size_t more)
{
	size_t room = out->room == 0 ? ROOM_MIN : out->room;
	uint32_t *rows;

	if (out->room - out->used >= more)
		return ERR_OK;
	while (room - out->used < more)
		room *= 2;
	rows = reallocarray(out->rows, room, sizeof(*rows));
	if (rows == NULL)
		return ERR_NO_MEMORY;
	out->rows = rows;
	out->room = room;
	return ERR_OK;
}

/*
 * Runs ahead of the search and prefetches the offset of the text of candidate
 * rows, or the text: waiting for memory would be most of the work.
 */
struct scout {
	const uint32_t *row;
	uint32_t left; /* of the haystack; 0: no haystack */
	unsigned which;
	const struct haystack *hay;
};

/* Advances to the next haystack with candidates. */
static void
scout_move(struct scout *scout, const struct asking *asking)
{
	while (scout->left == 0 && ++scout->which < asking->count) {
		const struct match_slice *slice = &asking->slices[scout->which];

		if (slice->looked || slice->count == 0)
			continue;
		scout->row = asking->out->rows + slice->first;
		scout->left = slice->count;
		scout->hay = &asking->hays[scout->which];
	}
}

static inline void
scout_next(struct scout *scout, const struct asking *asking, bool text)
{
	const struct haystack *hay = scout->hay;
	uint32_t row;

	if (scout->left == 0)
		return;
	row = *scout->row++;
	if (row < hay->rows && !text)
		span_expect_line(hay->at + row);
	else if (row < hay->rows) {
		span_expect_line(hay->text.ptr + hay->at[row]);
		span_expect_line(hay->text.ptr + hay->at[row] + 64);
	}
	if (--scout->left == 0)
		scout_move(scout, asking);
}

/* Two stages: the second reads what the first has prefetched. */
struct scouts {
	struct scout far, near;
};

static void
scouts_begin(struct scouts *scouts, const struct asking *asking)
{
	*scouts = (struct scouts){{.which = UINT_MAX}, {.which = UINT_MAX}};
	scout_move(&scouts->far, asking);
	scout_move(&scouts->near, asking);
	for (unsigned i = 0; i < 2 * ROWS_AHEAD; i++)
		scout_next(&scouts->far, asking, false);
	for (unsigned i = 0; i < ROWS_AHEAD; i++)
		scout_next(&scouts->near, asking, true);
}

/* Text that has been compared with its checksum: mostly the next row, too. */
struct known {
	uint64_t from, to;
};

/* False when the text from..to is out of bounds or damaged. */
static __attribute__((noinline)) bool
get_known(
    struct known *known, const struct haystack *hay, uint64_t from, uint64_t to)
{
	if (from > to || to > hay->text.len ||
	    !blocks_sound(hay->guard, from, to - from))
		return false;
	known->from = from & ~(BLOCKS_BYTES - 1);
	known->to = (to + BLOCKS_BYTES - 1) & ~(BLOCKS_BYTES - 1);
	if (known->to > hay->text.len)
		known->to = hay->text.len;
	return true;
}

/* False: the row or its text does not exist. */
static inline bool
row_text(struct span *text, struct known *known, const struct haystack *hay,
    uint32_t row)
{
	uint64_t from, to;

	if (row >= hay->rows)
		return false;
	from = hay->at[row];
	to = hay->at[row + 1];
	if ((from < known->from || to > known->to || from > to) &&
	    !get_known(known, hay, from, to))
		return false;
	*text = span_make(hay->text.ptr + from, to - from);
	return true;
}

/* Keeps the rows that contain every word. */
static enum err
look(struct asking *asking, unsigned which, struct scouts *scouts)
{
	const struct haystack *hay = &asking->hays[which];
	struct match_slice *slice = &asking->slices[which];
	uint32_t *rows =
	    slice->count == 0 ? NULL : asking->out->rows + slice->first;
	const char *limit = hay->text.ptr + hay->text.len;
	struct known known = {0, 0};
	uint32_t kept = 0;

	for (uint32_t i = 0; i < slice->count; i++) {
		uint32_t row = rows[i];
		struct span text;

		if (scouts != NULL) {
			scout_next(&scouts->far, asking, false);
			scout_next(&scouts->near, asking, true);
		}
		if (!row_text(&text, &known, hay, row))
			return ERR_DAMAGED;
		rows[kept] = row;
		kept += words_in(text, limit, &asking->words);
	}
	slice->count = kept;
	return ERR_OK;
}

/* Searches the candidate rows from the grams. */
static enum err
look_all(struct asking *asking, unsigned *blame)
{
	struct scouts scouts;
	enum err err = ERR_OK;

	scouts_begin(&scouts, asking);
	for (unsigned i = 0; i < asking->count && err == ERR_OK; i++) {
		*blame = i;
		if (!asking->slices[i].looked)
			err = look(asking, i, &scouts);
	}
	return err;
}

static void
scan(struct match_rows *out, const struct haystack *hay, struct span word)
{
	const char *end = hay->text.ptr + hay->text.len, *from = hay->text.ptr;
	uint32_t next = 0;
	const char *hit;

	while (next < hay->rows &&
	    (hit = words_find(
		 span_make(from, (size_t)(end - from)), end, word)) != NULL) {
		uint32_t row = words_which(
		    hay->at, next, hay->rows, (size_t)(hit - hay->text.ptr));

		out->rows[out->used++] = row;
		next = row + 1;
		from = hay->text.ptr + hay->at[next];
	}
}

static bool
places_fit(const struct haystack *hay)
{
	for (uint32_t i = 0; i < hay->rows; i++)
		if (hay->at[i] > hay->at[i + 1])
			return false;
	return hay->at[hay->rows] == hay->text.len;
}

/* Takes the longest word first, which has the fewest matches. */
static enum err
by_scan(struct asking *asking, unsigned which)
{
	const struct haystack *hay = &asking->hays[which];
	struct match_slice *slice = &asking->slices[which];
	enum err err = need_room(asking->out, hay->rows + (size_t)1);

	if (err != ERR_OK)
		return err;
	if (!places_fit(hay) || !blocks_all(hay->guard))
		return ERR_DAMAGED;
	scan(asking->out, hay, asking->words.longest);
	slice->count = (uint32_t)(asking->out->used - slice->first);
	slice->looked = true;
	return words_single(&asking->words) ? ERR_OK
					    : look(asking, which, NULL);
}

/* Finds the candidate rows, or, by a scan, the matching rows. */
static enum err
search(struct asking *asking, unsigned which)
{
	const struct haystack *hay = &asking->hays[which];
	struct match_slice *slice = &asking->slices[which];
	uint32_t most = 0;
	enum err err = ERR_OK;

	*slice = (struct match_slice){.first = asking->out->used};
	if (hay->epoch != snapshot_epoch(hay->snap)) {
		struct haystack again; /* the file was touched meanwhile */

		err = haystack_of(&again, hay->snap);
		if (err != ERR_OK)
			return err;
	}
	if (!asking->by_grams || !hay->has_grams)
		return by_scan(asking, which);
	err = grams_most(&most, &hay->grams, &asking->grams);
	if (err != ERR_OK || most == 0)
		return err;
	/* Grams that many of the rows contain do not narrow the search. */
	if (most > hay->rows / 4)
		return by_scan(asking, which);
	err = need_room(asking->out, most);
	if (err == ERR_OK)
		err = grams_find(asking->out->rows + slice->first,
		    &slice->count, &hay->grams, &asking->grams);
	asking->out->used += slice->count;
	return err;
}

/* Prefetches, in two stages, the data that search() will read. */
static void
expect(const struct asking *asking, unsigned which)
{
	const struct haystack *hays = asking->hays;

	if (!asking->by_grams)
		return;
	if (which < asking->count && hays[which].has_grams)
		grams_expect_places(&hays[which].grams, &asking->grams);
	if (which < HAYS_AHEAD)
		return;
	which -= HAYS_AHEAD;
	if (which < asking->count && hays[which].has_grams)
		grams_expect_lists(&hays[which].grams, &asking->grams);
}

/* Assumes that a gram which is rare in the largest snapshot is rare in all. */
static void
ask_fewest(struct asking *asking)
{
	const struct haystack *largest = asking->hays;

	if (asking->count < 2 || !asking->by_grams)
		return;
	for (unsigned i = 0; i < asking->count; i++)
		if (asking->hays[i].rows > largest->rows)
			largest = &asking->hays[i];
	if (largest->has_grams)
		grams_ask_fewest(&asking->grams, &largest->grams, GRAMS_EACH);
}

enum err
match_each(struct match_rows *out, struct match_slice *slices,
    const struct haystack *hays, unsigned count, struct span words,
    unsigned *blame)
{
	struct asking asking = {
	    .hays = hays, .count = count, .out = out, .slices = slices};
	enum err err = ERR_OK;

	assert(slices != NULL && (hays != NULL || count == 0));
	assert(count == 0 || (hays != NULL && slices != NULL));
	*out = (struct match_rows){NULL, 0, 0};
	*blame = 0;
	words_split(&asking.words, words);
	asking.by_grams = grams_ask(&asking.grams, words);
	ask_fewest(&asking);
	if (count > 1) /* a single one gains nothing */
		for (unsigned i = 0; i < 2 * HAYS_AHEAD; i++)
			expect(&asking, i);
	for (unsigned i = 0; i < count && err == ERR_OK; i++) {
		if (count > 1)
			expect(&asking, i + 2 * HAYS_AHEAD);
		*blame = i;
		err = search(&asking, i);
	}
	return err == ERR_OK ? look_all(&asking, blame) : err;
}

enum err
match_words(struct matches *out, struct snapshot *snap,
    const struct ranges *ranges, const struct rowset_query *query)
{
	struct match_rows rows = {NULL, 0, 0};
	struct match_slice slice = {0, 0, false};
	struct haystack hay;
	unsigned blame;
	enum err err = haystack_of(&hay, snap);

	assert(query->words.len > 0);
	if (err == ERR_OK)
		err = match_each(&rows, &slice, &hay, 1, query->words, &blame);
	if (err == ERR_OK)
		err = match_keep(rows.rows, &slice.count, snap, ranges, query);
	if (err != ERR_OK || slice.count == 0) {
		free(rows.rows);
		*out = (struct matches){NULL, 0};
	} else
		*out = (struct matches){rows.rows, slice.count};
	return err;
}
