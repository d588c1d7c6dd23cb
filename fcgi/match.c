/*
 * Words are looked for in one of two ways. With grams (lmdb-schema/grams.h) a
 * few lists name the rows to look at. Without, the longest word is looked for
 * in all the text at once, and the others in the rows that have it.
 */
#include "fcgi/match.h"

#include <stdlib.h>
#include <string.h>

#define AHEAD 12 /* rows whose text is on its way */

/* --- by columns -------------------------------------------------------- */

/* Each filter leaves 1 where the row still matches. */
static void
match_code(uint8_t *mask, const uint32_t *code3, uint32_t rows,
    const struct code_filter *filter)
{
	uint32_t low = filter->code * filter->divisor;
	uint32_t width = filter->divisor;

	/* One comparison: what is below `low` wraps round to far above. */
	for (uint32_t i = 0; i < rows; i++)
		mask[i] &= code3[i] - low < width;
}

static void
match_gamme(uint8_t *mask, const uint8_t *gammes, uint32_t rows, uint8_t gamme)
{
	for (uint32_t i = 0; i < rows; i++)
		mask[i] &= gammes[i] == gamme;
}

/* While nothing has changed since the computation, nothing is pending. */
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

enum err
match_mask(uint8_t *mask, struct snapshot *snap, const struct ranges *ranges,
    const struct rowset_query *query)
{
	uint32_t rows = snapshot_rows(snap);
	const uint8_t *gammes = ranges == NULL ? snapshot_gammes(snap)
	    : query->raw                       ? ranges->raw
					       : ranges->shown;
	const uint32_t *code3 = snapshot_code3(snap);

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
	return ERR_OK;
}

/* Whether anything beside words is asked for. */
static bool
asks_columns(const struct rowset_query *query)
{
	for (unsigned i = 0; i < query->code_count; i++)
		if (has_code(query, i))
			return true;
	return query->gamme != ROW_GAMME_NONE || query->pending;
}

static enum err
keep_matching(struct matches *out, struct snapshot *snap,
    const struct ranges *ranges, const struct rowset_query *query)
{
	uint8_t *mask;
	uint32_t kept = 0;
	enum err err;

	if (!asks_columns(query) || out->count == 0)
		return ERR_OK;
	mask = malloc(snapshot_rows(snap) + 1u);
	if (mask == NULL)
		return ERR_NO_MEMORY;
	err = match_mask(mask, snap, ranges, query);
	for (uint32_t i = 0; i < out->count && err == ERR_OK; i++)
		if (mask[out->rows[i]] != 0)
			out->rows[kept++] = out->rows[i];
	out->count = kept;
	free(mask);
	return err;
}

/* --- by words ------------------------------------------------------------ */

typedef unsigned char bytes16 __attribute__((vector_size(16)));

/* The first place where `word` may begin: its first and last byte are there. */
static const char *
find_ends(const char *from, const char *stop, struct span word)
{
	size_t gap = word.len - 1;
	bytes16 first = (bytes16){0} + (unsigned char)word.ptr[0];
	bytes16 last = (bytes16){0} + (unsigned char)word.ptr[gap];

	for (; stop - from >= 16; from += 16) {
		bytes16 here, there;
		uint64_t both[2];

		memcpy(&here, from, sizeof(here));
		memcpy(&there, from + gap, sizeof(there));
		here = (bytes16)((here == first) & (there == last));
		memcpy(both, &here, sizeof(both));
		if (both[0] != 0)
			return from + __builtin_ctzll(both[0]) / 8;
		if (both[1] != 0)
			return from + 8 + __builtin_ctzll(both[1]) / 8;
	}
	for (; from < stop; from++)
		if (from[0] == word.ptr[0] && from[gap] == word.ptr[gap])
			return from;
	return NULL;
}

/*
 * memmem() makes a table for each call, too much for a row's text, and looks
 * for two bytes one by one. This compares 16 places at once by two bytes each.
 */
static const char *
find_word(const char *from, const char *end, struct span word)
{
	const char *stop; /* where it can begin no more */

	if (word.len == 1)
		return memchr(from, word.ptr[0], (size_t)(end - from));
	if ((size_t)(end - from) < word.len)
		return NULL;
	stop = end - word.len + 1;
	for (; (from = find_ends(from, stop, word)) != NULL; from++)
		if (memcmp(from, word.ptr, word.len) == 0)
			return from;
	return NULL;
}

static bool
holds_all(const char *text, const char *end, struct span words)
{
	struct span word;

	while (span_cut(&word, &words, ' '))
		if (word.len > 0 && find_word(text, end, word) == NULL)
			return false;
	return true;
}

/*
 * The texts of the rows that come next are asked for ahead: each lies
 * somewhere else, and to wait for it would be most of the work.
 */
static inline void
fetch_ahead(const struct matches *out, uint32_t i, uint32_t rows,
    const char *text, const uint32_t *at)
{
	uint32_t row;

	if (i + AHEAD >= out->count)
		return;
	row = out->rows[i + AHEAD];
	if (row < rows) {
		__builtin_prefetch(text + at[row]);
		__builtin_prefetch(text + at[row] + 64);
	}
}

/* Keeps the rows that hold every word. */
static enum err
look(struct matches *out, struct snapshot *snap, struct span words)
{
	uint32_t rows = snapshot_rows(snap), kept = 0;
	struct span text;
	const uint32_t *at;

	if (!snapshot_text(snap, &text, &at))
		return ERR_DAMAGED;
	for (uint32_t i = 0; i < out->count; i++) {
		uint32_t row = out->rows[i];

		fetch_ahead(out, i, rows, text.ptr, at);
		if (row >= rows || at[row] > at[row + 1] ||
		    at[row + 1] > text.len)
			return ERR_DAMAGED;
		out->rows[kept] = row;
		kept += holds_all(
		    text.ptr + at[row], text.ptr + at[row + 1], words);
	}
	out->count = kept;
	return ERR_OK;
}

/* Those that the grams name, looked at. */
static enum err
by_grams(struct matches *out, struct snapshot *snap, const struct grams *grams,
    const struct grams_asked *asked, uint32_t most, struct span words)
{
	enum err err;

	if (most == 0)
		return ERR_OK;
	out->rows = malloc(most * sizeof(*out->rows));
	if (out->rows == NULL)
		return ERR_NO_MEMORY;
	err = grams_find(out->rows, &out->count, grams, asked);
	return err == ERR_OK ? look(out, snap, words) : err;
}

/* The row whose text holds the place: the last one that begins at or before. */
static uint32_t
row_at(const uint32_t *at, uint32_t low, uint32_t rows, size_t place)
{
	uint32_t high = low + 1, step = 1;

	while (high < rows && at[high] <= place) {
		low = high;
		high = rows - low > step ? low + step : rows;
		step *= 2;
	}
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (at[middle] <= place)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static void
scan(struct matches *out, uint32_t rows, struct span text, const uint32_t *at,
    struct span word)
{
	const char *from = text.ptr, *end = text.ptr + text.len;
	uint32_t next = 0;
	const char *hit;

	while (next < rows && (hit = find_word(from, end, word)) != NULL) {
		uint32_t row = row_at(at, next, rows, (size_t)(hit - text.ptr));

		out->rows[out->count++] = row;
		next = row + 1;
		from = text.ptr + at[next];
	}
}

static bool
places_fit(struct span text, const uint32_t *at, uint32_t rows)
{
	for (uint32_t i = 0; i < rows; i++)
		if (at[i] > at[i + 1])
			return false;
	return at[rows] == text.len;
}

/* The longest word first: it has the fewest hits. */
static enum err
by_scan(struct matches *out, struct snapshot *snap, struct span words)
{
	struct span text, word, rest = words, longest = SPAN("");
	uint32_t rows = snapshot_rows(snap);
	const uint32_t *at;

	if (!snapshot_text(snap, &text, &at) || !places_fit(text, at, rows))
		return ERR_DAMAGED;
	out->rows = malloc((rows + 1u) * sizeof(*out->rows));
	if (out->rows == NULL)
		return ERR_NO_MEMORY;
	while (span_cut(&word, &rest, ' '))
		if (word.len > longest.len)
			longest = word;
	scan(out, rows, text, at, longest);
	if (longest.len == words.len)
		return ERR_OK;
	return look(out, snap, words);
}

/* Grams that a good part of the rows have save nothing. */
static enum err
by_words(struct matches *out, struct snapshot *snap, struct span words)
{
	struct grams_asked asked;
	struct grams grams;
	uint32_t most;
	enum err err;

	if (!grams_ask(&asked, words) || !snapshot_grams(snap, &grams))
		return by_scan(out, snap, words);
	err = grams_most(&most, &grams, &asked);
	if (err != ERR_OK)
		return err;
	if (most > grams.rows / 4)
		return by_scan(out, snap, words);
	return by_grams(out, snap, &grams, &asked, most, words);
}

enum err
match_words(struct matches *out, struct snapshot *snap,
    const struct ranges *ranges, const struct rowset_query *query)
{
	enum err err;

	*out = (struct matches){NULL, 0};
	err = by_words(out, snap, query->words);
	if (err == ERR_OK)
		err = keep_matching(out, snap, ranges, query);
	if (err != ERR_OK || out->count == 0) {
		free(out->rows);
		*out = (struct matches){NULL, 0};
	}
	return err;
}
