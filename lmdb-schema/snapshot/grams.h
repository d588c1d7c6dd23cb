/*
 * grams: which rows may hold a text. For each three bytes that follow one
 * another in a row's folded text, the row stands in a list; a row that holds a
 * word stands in the lists of all the word's grams. Few other rows do, so it
 * remains to look at those alone.
 *
 * Rows are dealt with in chunks of 65,536, so that 16 bits name one:
 *
 *	SNAP_GRAM_AT  u32[chunks][2^bits + 1]: where in SNAP_GRAMS a list
 *	              begins, and so where the one before ends
 *	SNAP_GRAMS    u16[]: the lists' rows in their chunk, ascending
 *
 * A list is found by a hash of its three bytes; several may share one. Grams
 * with a blank or SNAP_TEXT_END in them are not kept: no word has those.
 *
 * Example: 200 rows have 2^11 lists in one chunk. "lai" hashes to list 1234,
 * and when it begins at 70 and the next one at 72, SNAP_GRAMS[70] and [71]
 * are all the rows that may hold "lait".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"
#include "lmdb-schema/store/blocks.h"

#define GRAMS_CHUNK 65536u

/* With fewer rows than these a scan is as fast: no lists are kept. */
#define GRAMS_ROWS_MIN 128

/* Most grams of a question that are looked up. */
#define GRAMS_ASKED_MAX 48

static inline uint32_t
grams_chunks(uint32_t rows)
{
	return rows < GRAMS_ROWS_MIN ? 0 : (rows - 1) / GRAMS_CHUNK + 1;
}

/* Three bytes, for lists of all sizes: each takes as many bits as it has. */
static inline uint32_t
grams_hash(const char *bytes)
{
	const unsigned char *byte = (const unsigned char *)bytes;

	return (byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16) *
	    UINT32_C(0x9e3779b1);
}

/*
 * Lists in a chunk, as a power of two: eight times the rows, within bounds.
 * Asked for at every look-up, so it is done without a loop.
 */
#define GRAMS_BITS_MIN 10
#define GRAMS_BITS_MAX 16
static inline unsigned
grams_bits(uint32_t rows)
{
	if (rows > UINT32_C(1) << (GRAMS_BITS_MAX - 4))
		return GRAMS_BITS_MAX;
	if (rows <= UINT32_C(1) << (GRAMS_BITS_MIN - 3))
		return GRAMS_BITS_MIN;
	return 32 - (unsigned)__builtin_clz(rows - 1) + 3;
}

/* Entries of SNAP_GRAM_AT. */
static inline uint64_t
grams_at_count(uint32_t rows)
{
	return ((UINT64_C(1) << grams_bits(rows)) + 1) * grams_chunks(rows);
}

/* What snapwrite is to put. */
struct grams_made {
	uint32_t *at; /* grams_at_count() of them */
	uint16_t *lists;
	size_t count;
};

/* at[i]..at[i + 1] is a row's text. ERR_NO_MEMORY, ERR_TOO_LARGE. */
enum err grams_make(struct grams_made *out, struct span text,
    const uint32_t *text_at, uint32_t rows);
void grams_made_fini(struct grams_made *made);

/* The two sections of a snapshot. */
struct grams {
	const uint32_t *at;
	const uint16_t *lists;
	uint64_t count; /* of `lists` */
	uint32_t rows;
	struct blocks *guard; /* asked before a list is read; NULL: nobody */
};

/* The words' grams, to be looked up in any number of snapshots. */
struct grams_asked {
	unsigned count;
	uint32_t hash[GRAMS_ASKED_MAX];
};

/* False when no word has three bytes: nothing is known of any row then. */
bool grams_ask(struct grams_asked *asked, struct span words);

/*
 * Leaves of what is asked no more than `most`: those that fewest rows of a
 * snapshot have, which is to be a large one. For who asks many snapshots, each
 * of them somewhere else in memory.
 */
void grams_ask_fewest(
    struct grams_asked *asked, const struct grams *sample, unsigned most);

/*
 * Rows that may hold all words. grams_most() bounds how many; grams_find()
 * writes them, ascending, into `rows`. ERR_DAMAGED when a list cannot be; in
 * a damaged file a row may still be one that is not there.
 */
enum err grams_most(
    uint32_t *most, const struct grams *grams, const struct grams_asked *asked);
enum err grams_find(uint32_t *rows, uint32_t *count, const struct grams *grams,
    const struct grams_asked *asked);

/*
 * Has the processor fetch what the two will read, for who has something else
 * to do meanwhile: first where the lists begin; then, when that is there, the
 * lists' beginnings. In a damaged file they do nothing.
 */
void grams_expect_places(
    const struct grams *grams, const struct grams_asked *asked);
void grams_expect_lists(
    const struct grams *grams, const struct grams_asked *asked);

/* Whether each list is ascending and in its place: for a check of all. */
bool grams_sound(const struct grams *grams);
