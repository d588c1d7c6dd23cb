/*
 * match: which rows hold what was asked for.
 *
 * Snapshots lie all over memory, so most of a search is waiting for it. What
 * is looked through is therefore known beforehand, as an array, and each part
 * of it is asked for some steps before it is looked at.
 */
#pragma once

#include "fcgi/rows/rowset.h"

/* The parts of a snapshot that a search reads. */
struct haystack {
	struct snapshot *snap;
	unsigned epoch; /* of the snapshot, when it was found sound */
	uint32_t rows;
	bool has_grams;
	const uint32_t *at; /* where each row's text begins */
	struct span text;
	struct blocks *guard; /* asked before a text is read */
	struct grams grams;
};

/* Good as long as the snapshot is open. ERR_DAMAGED. */
enum err haystack_of(struct haystack *hay, struct snapshot *snap);

/* Row numbers, of one haystack behind those of another; the caller's. */
struct match_rows {
	uint32_t *rows; /* to be freed, also after a failure */
	size_t used, room;
};

/* The rows of a haystack among them, ascending. */
struct match_slice {
	size_t first;
	uint32_t count;
	bool looked; /* while they are found: no look at the texts is needed */
};

/*
 * The rows of each haystack that hold all the words; slices[count] are the
 * caller's. ERR_DAMAGED: *blame is the haystack that is.
 *
 * By the snapshot's grams when it has them and a word has three bytes, by a
 * scan of its text otherwise; what comes out is the same.
 */
enum err match_each(struct match_rows *out, struct match_slice *slices,
    const struct haystack *hays, unsigned count, struct span words,
    unsigned *blame);

/* Whether anything beside words is asked for. */
bool match_asks_columns(const struct rowset_query *query);

/* Of rows of one snapshot, those that match all of `query` but its words. */
enum err match_keep(uint32_t *rows, uint32_t *count, struct snapshot *snap,
    const struct ranges *ranges, const struct rowset_query *query);

/* 1 for each row that matches; without regard to words. */
enum err match_mask(uint8_t *mask, struct snapshot *snap,
    const struct ranges *ranges, const struct rowset_query *query);

/* Row numbers on the heap, ascending. */
struct matches {
	uint32_t *rows; /* the caller's to free */
	uint32_t count;
};

/* Both for one snapshot. query->words is not empty. */
enum err match_words(struct matches *out, struct snapshot *snap,
    const struct ranges *ranges, const struct rowset_query *query);
