/*
 * across: the rows of many suppliers that match, in one order.
 *
 * Each supplier's come as a stream in that order, and the streams are merged
 * as far as a page reaches. What the word index answers for is one stream, whose
 * ranks are the order already, unless another order or a range is asked for.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fcgi/rows/rowset.h"

struct call;
struct snapview;

struct across {
	struct call *call;
	struct rowset_query query;
	unsigned column; /* that is sorted by */
	int64_t total; /* rows that match, exactly */
	int64_t suppliers; /* asked */
	int64_t absent; /* never computed, or not to be read */
	uint64_t tag; /* of all that they show */
	/* across.c and across_order.c */
	bool plain; /* without the book: it was of no use */
	bool damaged; /* because it cannot be what was written */
	struct across_stream *broken; /* whose row could not be compared */
	struct scope *scope; /* the one that has the book */
	uint64_t *set; /* what was found in it; the thread's */
	uint32_t set_count;
	struct across_stream *streams;
	unsigned count, room;
	struct found *found; /* rows that streams are of */
	struct across_stream **heap;
	unsigned left; /* streams in it */
};

/* `query` must outlive it. Pair with across_end(). */
void across_begin(
    struct across *across, struct call *call, const struct rowset_query *query);
void across_end(struct across *across);

/*
 * Asks all suppliers, or one, which rows match; can be said again.
 * ERR_NOT_FOUND: that supplier has no articles.
 */
enum err across_ask(struct across *across, struct span supplier);

/*
 * To the row `first`, from which `count` will be asked for; there are so many.
 * ERR_NOT_READY: one of them cannot be opened, ask again: those who asked may
 * then be fewer. That happens once.
 */
enum err across_seek(struct across *across, int64_t first, int64_t count);

/* The next one; good until across_end(), and in the answer until it is put. */
enum err across_next(
    struct across *across, const struct snapview **view, uint32_t *row);
