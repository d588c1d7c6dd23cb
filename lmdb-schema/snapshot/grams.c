/*
 * Lists are made in two passes over the text: one counts the rows of each list,
 * the other writes them. Rows come in order, so the lists come out sorted.
 *
 * A search intersects the shortest lists first: after two or three of them most
 * candidates match, and reading longer lists would cost more than checking the
 * remaining rows.
 */
#include "lmdb-schema/snapshot/grams.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lmdb-schema/snapshot/snapfile.h"

/* A list is worth intersecting up to this many times the candidates left. */
#define WORTH 16

/* Checking this many rows costs no more than fetching another list. */
#define FEW 4

static inline bool
parts(char byte)
{
	return byte == ' ' || byte == SNAP_TEXT_END;
}

/* --- making ------------------------------------------------------------- */

struct making {
	struct span text;
	const uint32_t *text_at;
	unsigned shift;
	uint32_t lists; /* in a chunk */
	uint32_t *last; /* by list: the last row in it, + 1 */
};

/*
 * Visits each distinct list of each row of a chunk. Without `out`, counts the
 * row in at[]; with `out`, writes it at the offset in at[] and advances it.
 */
static void
walk_chunk(struct making *making, uint32_t first, uint32_t end, uint32_t *at,
    uint16_t *out)
{
	memset(making->last, 0, making->lists * sizeof(*making->last));
	for (uint32_t row = first; row < end; row++) {
		const char *text = making->text.ptr;
		uint32_t i = making->text_at[row];
		uint32_t stop = making->text_at[row + 1];

		for (; i + 3 <= stop; i++) {
			uint32_t list;

			if (parts(text[i]) || parts(text[i + 1]) ||
			    parts(text[i + 2]))
				continue;
			list = grams_hash(text + i) >> making->shift;
			if (making->last[list] == row - first + 1)
				continue;
			making->last[list] = row - first + 1;
			if (out != NULL)
				out[at[list]] = (uint16_t)(row - first);
			at[list]++;
		}
	}
}

/* Turns lengths into offsets; *total runs on from chunk to chunk. */
static enum err
add_up(uint32_t *at, uint32_t lists, uint64_t *total)
{
	for (uint32_t i = 0; i <= lists; i++) {
		uint32_t len = i < lists ? at[i] : 0;

		at[i] = (uint32_t)*total;
		*total += len;
	}
	return *total > UINT32_MAX ? ERR_TOO_LARGE : ERR_OK;
}

static enum err
make_chunks(struct grams_made *out, struct making *making, uint32_t rows)
{
	uint32_t chunks = grams_chunks(rows), stride = making->lists + 1;
	uint64_t total = 0;
	enum err err = ERR_OK;

	for (int pass = 0; pass < 2 && err == ERR_OK; pass++) {
		for (uint32_t i = 0; i < chunks && err == ERR_OK; i++) {
			uint32_t first = i * GRAMS_CHUNK;
			uint32_t end = rows - first > GRAMS_CHUNK
			    ? first + GRAMS_CHUNK
			    : rows;
			uint32_t *at = out->at + (size_t)i * stride;

			walk_chunk(making, first, end, at,
			    pass == 0 ? NULL : out->lists);
			if (pass == 0)
				err = add_up(at, making->lists, &total);
			else {
				/*
				 * Writing advanced each offset to the next
				 * list's: shift back.
				 */
				memmove(
				    at + 1, at, making->lists * sizeof(*at));
				at[0] = i == 0 ? 0 : at[-1];
			}
		}
		if (pass == 0 && err == ERR_OK) {
			out->count = total;
			out->lists = malloc(total * sizeof(*out->lists) + 1);
			if (out->lists == NULL)
				err = ERR_NO_MEMORY;
		}
	}
	return err;
}

enum err
grams_make(struct grams_made *out, struct span text, const uint32_t *text_at,
    uint32_t rows)
{
	unsigned bits = grams_bits(rows);
	struct making making = {.text = text,
	    .text_at = text_at,
	    .shift = 32 - bits,
	    .lists = UINT32_C(1) << bits};
	enum err err = ERR_NO_MEMORY;

	assert(text_at != NULL || rows == 0);
	memset(out, 0, sizeof(*out));
	if (grams_chunks(rows) == 0)
		return ERR_OK;
	out->at = calloc(grams_at_count(rows), sizeof(*out->at));
	making.last = malloc(making.lists * sizeof(*making.last));
	if (out->at != NULL && making.last != NULL)
		err = make_chunks(out, &making, rows);
	free(making.last);
	if (err != ERR_OK)
		grams_made_fini(out);
	return err;
}

void
grams_made_fini(struct grams_made *made)
{
	free(made->at);
	free(made->lists);
	memset(made, 0, sizeof(*made));
}

/*
 * --- searching -------------------------------------------------------------
 */

bool
grams_ask(struct grams_asked *asked, struct span words)
{
	const char *text = words.ptr;

	asked->count = 0;
	for (size_t i = 0; i + 3 <= words.len; i++)
		if (!parts(text[i]) && !parts(text[i + 1]) &&
		    !parts(text[i + 2]) && asked->count < GRAMS_ASKED_MAX)
			asked->hash[asked->count++] = grams_hash(text + i);
	return asked->count > 0;
}

struct list {
	const uint16_t *rows;
	uint32_t count;
};

/* The list of one gram in a chunk. */
static bool
get_list(
    struct list *list, const struct grams *grams, uint32_t chunk, uint32_t hash)
{
	unsigned bits = grams_bits(grams->rows);
	const uint32_t *at = grams->at + (((size_t)1 << bits) + 1) * chunk +
	    (hash >> (32 - bits));
	uint32_t rows = grams->rows - chunk * GRAMS_CHUNK;

	if (at[0] > at[1] || at[1] > grams->count || at[1] - at[0] > rows ||
	    at[1] - at[0] > GRAMS_CHUNK)
		return false;
	if (grams->guard != NULL &&
	    !blocks_sound(grams->guard, at[0] * sizeof(*list->rows),
		(at[1] - at[0]) * sizeof(*list->rows)))
		return false;
	list->rows = grams->lists + at[0];
	list->count = at[1] - at[0];
	return true;
}

/*
 * Gets a chunk's lists, shortest first; stops once one has so few rows that
 * further lists are not worth fetching.
 */
static bool
get_lists(struct list *lists, unsigned *count, const struct grams *grams,
    uint32_t chunk, const struct grams_asked *asked)
{
	unsigned i = 0;

	do {
		struct list list;
		unsigned at = i;

		if (!get_list(&list, grams, chunk, asked->hash[i]))
			return false;
		for (; at > 0 && lists[at - 1].count > list.count; at--)
			lists[at] = lists[at - 1];
		lists[at] = list;
	} while (++i < asked->count && lists[0].count > FEW);
	*count = i;
	return true;
}

/* The number of rows of the sample that have the gram. */
static uint32_t
weigh(const struct grams *sample, uint32_t hash)
{
	uint32_t weight = 0;

	for (uint32_t i = 0; i < grams_chunks(sample->rows); i++) {
		struct list list;

		if (get_list(&list, sample, i, hash))
			weight += list.count;
	}
	return weight;
}

void
grams_ask_fewest(
    struct grams_asked *asked, const struct grams *sample, unsigned most)
{
	uint32_t weights[GRAMS_ASKED_MAX] = {0};

	assert(asked->count <= GRAMS_ASKED_MAX && most > 0);
	for (unsigned i = 0; i < asked->count; i++) {
		uint32_t hash = asked->hash[i], weight = weigh(sample, hash);
		unsigned at = i;

		for (; at > 0 && weights[at - 1] > weight; at--) {
			weights[at] = weights[at - 1];
			asked->hash[at] = asked->hash[at - 1];
		}
		weights[at] = weight;
		asked->hash[at] = hash;
	}
	if (asked->count > most)
		asked->count = most;
}

enum err
grams_most(
    uint32_t *most, const struct grams *grams, const struct grams_asked *asked)
{
	assert(asked->count > 0 && asked->count <= GRAMS_ASKED_MAX);
	*most = 0;
	for (uint32_t i = 0; i < grams_chunks(grams->rows); i++) {
		uint32_t least = UINT32_MAX;
		struct list list;

		for (unsigned k = 0; k < asked->count && least > FEW; k++) {
			if (!get_list(&list, grams, i, asked->hash[k]))
				return ERR_DAMAGED;
			if (list.count < least)
				least = list.count;
		}
		*most += least;
	}
	return ERR_OK;
}

/* Keeps the rows[] that are in the list too; returns their number. */
static uint32_t
cross(uint32_t *rows, uint32_t count, uint32_t base, struct list list)
{
	uint32_t kept = 0, i = 0, k = 0;

	/*
	 * Stores every step and advances only on a match: no branch to
	 * mispredict.
	 */
	while (i < count && k < list.count) {
		uint32_t a = rows[i], b = base + list.rows[k];

		rows[kept] = a;
		kept += a == b;
		i += a <= b;
		k += b <= a;
	}
	return kept;
}

static uint32_t
find_in_chunk(uint32_t *rows, uint32_t base, const struct list *lists,
    unsigned list_count)
{
	uint32_t count = lists[0].count;

	for (uint32_t i = 0; i < count; i++)
		rows[i] = base + lists[0].rows[i];
	for (unsigned i = 1; i < list_count && count > 0; i++) {
		if (lists[i].count / WORTH > count)
			break;
		count = cross(rows, count, base, lists[i]);
	}
	return count;
}

enum err
grams_find(uint32_t *rows, uint32_t *count, const struct grams *grams,
    const struct grams_asked *asked)
{
	struct list lists[GRAMS_ASKED_MAX];

	assert(asked->count > 0 && asked->count <= GRAMS_ASKED_MAX);
	*count = 0;
	for (uint32_t i = 0; i < grams_chunks(grams->rows); i++) {
		uint32_t base = i * GRAMS_CHUNK;
		unsigned list_count;

		if (!get_lists(lists, &list_count, grams, i, asked))
			return ERR_DAMAGED;
		*count += find_in_chunk(rows + *count, base, lists, list_count);
	}
	return ERR_OK;
}

/* Prefetches the offsets of the lists of grams from..to. */
static inline void
expect_places(const struct grams *grams, const struct grams_asked *asked,
    unsigned from, unsigned to)
{
	unsigned bits = grams_bits(grams->rows);
	const uint32_t *at = grams->at;

	for (uint32_t i = 0; i < grams_chunks(grams->rows); i++) {
		for (unsigned k = from; k < to; k++)
			span_expect_line(at + (asked->hash[k] >> (32 - bits)));
		at += ((size_t)1 << bits) + 1;
	}
}

void
grams_expect_places(const struct grams *grams, const struct grams_asked *asked)
{
	assert(asked->count > 0);
	expect_places(grams, asked, 0, 1);
}

void
grams_expect_lists(const struct grams *grams, const struct grams_asked *asked)
{
	bool more = false;

	assert(asked->count > 0);
	for (uint32_t i = 0; i < grams_chunks(grams->rows); i++) {
		struct list list;

		if (!get_list(&list, grams, i, asked->hash[0]))
			return;
		span_expect_line(list.rows);
		more |= list.count > FEW;
	}
	if (more)
		expect_places(grams, asked, 1, asked->count);
}

bool
grams_sound(const struct grams *grams)
{
	uint32_t lists = UINT32_C(1) << grams_bits(grams->rows);

	for (uint32_t i = 0; i < grams_chunks(grams->rows); i++) {
		uint32_t rows = grams->rows - i * GRAMS_CHUNK;

		for (uint32_t k = 0; k < lists; k++) {
			struct list list;

			if (!get_list(&list, grams, i,
				k << (32 - grams_bits(grams->rows))))
				return false;
			for (uint32_t j = 0; j < list.count; j++)
				if (list.rows[j] >= rows ||
				    (j > 0 && list.rows[j - 1] >= list.rows[j]))
					return false;
		}
	}
	return true;
}
