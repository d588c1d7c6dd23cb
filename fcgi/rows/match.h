/*
 * match: finds the rows that match a search.
 *
 * Snapshots are scattered over memory, so most of a search is waiting for
 * memory. Therefore the places to read are collected in an array first, and
 * each is prefetched some steps before it is read.
 */
#pragma once

#include "fcgi/rows/rowset.h"

/* The parts of a snapshot that a search reads. */
struct haystack {
	struct snapshot *snap;
	unsigned epoch; /* of the snapshot when it was verified */
	uint32_t rows;
	bool has_grams;
	const uint32_t *at; /* offset of each row's text */
	struct span text;
	struct blocks *guard; /* compares a text before it is read */
	struct grams grams;
};

/* Valid as long as the snapshot is open. ERR_DAMAGED. */
enum err haystack_of(struct haystack *hay, struct snapshot *snap);

/* Row numbers, haystack after haystack; owned by the caller. */
struct match_rows {
	uint32_t *rows; /* the caller frees it, also after a failure */
	size_t used, room;
};

/* The part of them from one haystack, ascending. */
struct match_slice {
	size_t first;
	uint32_t count;
	bool looked; /* while searching: the text needs no check */
};

/*
 * The rows of each haystack that contain all the words; slices[count] belongs
 * to the caller. ERR_DAMAGED: *blame is the damaged haystack.
 *
 * Uses the snapshot's grams when it has them and a word has three bytes, else a
 * scan of its text; the result is the same.
 */
enum err match_each(struct match_rows *out, struct match_slice *slices,
    const struct haystack *hays, unsigned count, struct span words,
    unsigned *blame);

/* Whether the query has conditions besides words. */
bool match_asks_columns(const struct rowset_query *query);

/* Keeps the rows of one snapshot that match all of `query` except its words. */
enum err match_keep(uint32_t *rows, uint32_t *count, struct snapshot *snap,
    const struct ranges *ranges, const struct rowset_query *query);

/* Sets 1 for each row that matches, without regard to the words. */
enum err match_mask(uint8_t *mask, struct snapshot *snap,
    const struct ranges *ranges, const struct rowset_query *query);

/* Row numbers on the heap, ascending. */
struct matches {
	uint32_t *rows; /* the caller frees it */
	uint32_t count;
};

/* Both are for one snapshot; query->words is not empty. */
enum err match_words(struct matches *out, struct snapshot *snap,
    const struct ranges *ranges, const struct rowset_query *query);
