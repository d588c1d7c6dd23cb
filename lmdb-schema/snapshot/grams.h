/*
 * grams: an index of which rows may contain a text. A gram is three consecutive
 * bytes of a row's folded text, and each gram has a list of the rows that
 * contain it. A row that contains a word is in the lists of all the word's
 * grams. Few other rows are, so a search intersects the lists and checks only
 * the texts of the rows left.
 *
 * Rows are split into chunks of 65,536, so that 16 bits number a row:
 *
 *	SNAP_GRAM_AT  u32[chunks][2^bits + 1]: where in SNAP_GRAMS a list
 *	              begins, and so where the one before ends
 *	SNAP_GRAMS    u16[]: the lists' rows in their chunk, ascending
 *
 * A hash of the three bytes selects the list; several grams may share one.
 * Grams that contain a blank or SNAP_TEXT_END are not indexed: no word has
 * those.
 *
 * Example: 200 rows have 2^11 lists in one chunk. "lai" hashes to list 1234,
 * and when it begins at 70 and the next one at 72, SNAP_GRAMS[70] and [71] are
 * all the rows that may contain "lait".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"
#include "lmdb-schema/store/blocks.h"

#define GRAMS_CHUNK 65536u

/* Below this number of rows a scan is as fast, and no lists are stored. */
#define GRAMS_ROWS_MIN 128

/* The number of a search's grams that are looked up at most. */
#define GRAMS_ASKED_MAX 48

static inline uint32_t
grams_chunks(uint32_t rows)
{
	return rows < GRAMS_ROWS_MIN ? 0 : (rows - 1) / GRAMS_CHUNK + 1;
}

/*
 * A 32-bit hash of three bytes, for indexes of any size: each uses the upper
 * grams_bits() bits.
 */
static inline uint32_t
grams_hash(const char *bytes)
{
	const unsigned char *byte = (const unsigned char *)bytes;

	return (byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16) *
	    UINT32_C(0x9e3779b1);
}

/*
 * Lists in a chunk, as a power of two: eight times the rows, within bounds.
 * Computed on every look-up, hence without a loop.
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

/* The two sections, for snapwrite to put. */
struct grams_made {
	uint32_t *at; /* grams_at_count() of them */
	uint16_t *lists;
	size_t count;
};

/* Row i's text is text_at[i]..text_at[i + 1]. ERR_NO_MEMORY, ERR_TOO_LARGE. */
enum err grams_make(struct grams_made *out, struct span text,
    const uint32_t *text_at, uint32_t rows);
void grams_made_fini(struct grams_made *made);

/* The two sections of a snapshot. */
struct grams {
	const uint32_t *at;
	const uint16_t *lists;
	uint64_t count; /* of `lists` */
	uint32_t rows;
	struct blocks *guard; /* checks a list before it is read; may be NULL */
};

/* The grams of a search's words, to be looked up in any number of snapshots. */
struct grams_asked {
	unsigned count;
	uint32_t hash[GRAMS_ASKED_MAX];
};

/* False when no word has three bytes: then any row may match. */
bool grams_ask(struct grams_asked *asked, struct span words);

/*
 * Keeps at most `most` grams: the rarest ones in `sample`, which should be the
 * grams of a large snapshot. For a search of many snapshots, where each list
 * costs a cache miss in each of them.
 */
void grams_ask_fewest(
    struct grams_asked *asked, const struct grams *sample, unsigned most);

/*
 * Rows that may contain all words. grams_most() bounds their number;
 * grams_find() writes them, ascending, into `rows`. ERR_DAMAGED when a list is
 * malformed; in a damaged file a row number may still be out of bounds.
 */
enum err grams_most(
    uint32_t *most, const struct grams *grams, const struct grams_asked *asked);
enum err grams_find(uint32_t *rows, uint32_t *count, const struct grams *grams,
    const struct grams_asked *asked);

/*
 * Prefetch what grams_most() and grams_find() will read, for a caller that can
 * do other work in between: first the offsets of the lists; then, once those
 * are cached, the lists' beginnings. A damaged file does no harm.
 */
void grams_expect_places(
    const struct grams *grams, const struct grams_asked *asked);
void grams_expect_lists(
    const struct grams *grams, const struct grams_asked *asked);

/* Whether each list is ascending and within bounds; for snapshot_verify(). */
bool grams_sound(const struct grams *grams);
