/*
 * gather: rows of many suppliers in one order, where each node of a cluster keeps a
 * part of the suppliers: each node that is needed is asked for its part (part.h),
 * all at the same time, this one without the network.
 *
 * A node that gives no answer, or none that can be read, is asked no more: the next
 * node that keeps its suppliers is. That is done GATHER_ROUNDS times at most, each
 * for GATHER_MS. What nobody answers for counts as absent.
 *
 * An answer need not have all rows that it was asked for, and further questions
 * ask for the others. The waits for these have a bound together, by the number of
 * rows that are wanted: the node that most of it was spent on counts as one that
 * gives no answer.
 *
 * Of the slow pool alone: pages of other nodes make the parts, and those wait for
 * nobody. So threads that wait are never waited for.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/span.h"
#include "fcgi/search/cover.h"
#include "fcgi/search/part.h"

#define GATHER_ROUNDS 3u
#define GATHER_MS 4000
#define GATHER_MORE_MS 8000 /* for all further questions, */
#define GATHER_ROW_MS 2 /* and so much more for each row */
#define GATHER_PARTS_MAX (GATHER_ROUNDS * (SHARE_NODES_MAX + 1))

struct gather_part {
	struct cover_part from;
	struct buf answer;
	struct part part;
	uint64_t at; /* of its rows: the one in part.order */
	uint64_t next; /* the one behind those that the answer has */
	int64_t waited_ns; /* for answers to further questions */
	bool there; /* there is one */
};

struct gather {
	struct call *call;
	/* Makes this node's answer. */
	enum err (*own)(struct buf *out, struct call *call,
	    const struct part_question *question, void *context);
	void *context;
	bool steady; /* as long as snapshots are the same, places of rows are */
	struct cover *cover;
	int64_t total; /* rows that match */
	int64_t suppliers, absent;
	uint64_t sum; /* of all that they show, from whatever node */
	struct span *left; /* suppliers of those that nobody answers for */
	unsigned left_count;
	struct gather_part *parts[GATHER_PARTS_MAX];
	unsigned count;
	struct gather_part *top; /* has the row that comes next */
	struct buf body, last; /* of a question; the order of the last row */
	bool text;
	uint64_t rows; /* of the page, not shown yet */
	int64_t more_ns; /* what further questions may take yet */
	bool shown; /* the row of `top` was */
};

/* The 503 of ERR_BUSY. */
enum err gather_refuse(struct call *call);

/* Pair with gather_end(). */
enum err gather_begin(struct gather *gather, struct call *call);
void gather_end(struct gather *gather);

/*
 * Asks for the first `count` rows of these suppliers, which are ascending. May be
 * called again.
 */
enum err gather_ask(struct gather *gather, const struct span *codes,
    unsigned code_count, uint64_t count, bool text);

/*
 * Goes to the row `first`, of which `count` exist, with their text. ERR_BUSY: what
 * was asked for has changed meanwhile, or is out of reach now, or comes too slowly:
 * ask again.
 */
enum err gather_seek(struct gather *gather, uint64_t first, uint64_t count);

/* The next row's text, until the next call. ERR_BUSY as above. */
enum err gather_next(struct gather *gather, struct span *text);
