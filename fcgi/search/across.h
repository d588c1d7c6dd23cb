/*
 * across: the matching rows of many suppliers, in one order.
 *
 * The rows of each supplier are a stream in that order, and the streams are
 * merged as far as a page reaches. The rows from the word index are one stream,
 * already in the order of the ranks, unless another order or a range is
 * requested.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fcgi/rows/rowset.h"

struct buf;
struct call;
struct scope_wanted;
struct snapview;

struct across {
	struct call *call;
	struct rowset_query query;
	const struct scope_wanted *wanted; /* of all; or NULL */
	unsigned column; /* of the sort */
	int64_t total; /* exact number of matching rows */
	int64_t suppliers; /* suppliers searched */
	int64_t absent; /* never computed, or unreadable */
	uint64_t sum, places; /* as scope.h has them */
	/* across.c and across_order.c */
	bool plain; /* without the word index, which was unusable */
	bool damaged; /* because its contents are impossible */
	struct across_stream *broken; /* whose row could not be compared */
	struct scope *scope; /* the scope that has the word index */
	uint64_t *set; /* the rows found in it; the thread's memory */
	uint32_t set_count;
	struct across_stream *streams;
	unsigned count, room;
	struct found *found; /* rows that streams refer to */
	struct across_stream **heap;
	unsigned left; /* streams in the heap */
};

/* `query` must outlive it. Pair with across_end(). */
void across_begin(
    struct across *across, struct call *call, const struct rowset_query *query);
void across_end(struct across *across);

/*
 * Finds the matching rows of all suppliers, or of one; may be called again.
 * ERR_NOT_FOUND: that supplier has no articles.
 */
enum err across_ask(struct across *across, struct span supplier);

/*
 * Advances to the row `first`, after which the caller reads `count` rows, all
 * of which exist. ERR_NOT_READY: a supplier could not be opened; call
 * across_ask() again, perhaps with fewer suppliers. That happens at most once.
 */
enum err across_seek(struct across *across, int64_t first, int64_t count);

/*
 * The bytes by which the row that comes next is ordered, at this node and at any
 * other, behind what `out` has (sort_bytes.h): a row with lesser bytes comes first.
 */
enum err across_order(struct buf *out, struct across *across);

/*
 * The next row, valid until across_end(), and in the answer until that is put.
 */
enum err across_next(
    struct across *across, const struct snapview **view, uint32_t *row);
