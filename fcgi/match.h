/*
 * match: which rows hold what was asked for.
 */
#pragma once

#include "fcgi/rowset.h"

/* Row numbers on the heap, ascending. */
struct matches {
	uint32_t *rows; /* the caller's to free */
	uint32_t count;
};

/* 1 for each row that matches; without regard to words. */
enum err match_mask(uint8_t *mask, struct snapshot *snap,
    const struct ranges *ranges, const struct rowset_query *query);

/*
 * The rows that hold all the words, and match. query->words is not empty.
 * By the snapshot's grams when it has them and a word has three bytes, by a
 * scan of its text otherwise; what comes out is the same.
 */
enum err match_words(struct matches *out, struct snapshot *snap,
    const struct ranges *ranges, const struct rowset_query *query);
