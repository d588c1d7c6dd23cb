/*
 * part: a node's part of a search over all suppliers, or of an article at several
 * of them, where each node keeps a part of the suppliers (rows/holder.h): the
 * question that another node sends, and the answer. Both are of lmdb-schema/pack.h:
 *
 *	question  text "ask 1", text address of the request that is answered,
 *	          unsigned rows to pass over, unsigned rows, unsigned whether their
 *	          text is wanted, unsigned count of suppliers, a text for each:
 *	          ascending
 *	answer    text "part 1", unsigned rows that match, unsigned suppliers that
 *	          were searched, unsigned a hash of what they show, unsigned a hash
 *	          of their snapshots, text the head of an article, unsigned how many
 *	          of the suppliers it has no snapshot of, a text for each: ascending;
 *	          for each row: 1, text its order (rows/sort_bytes.h), text its JSON;
 *	          then 0
 *
 * An answer has fewer rows than were asked for where they are too many bytes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/span.h"
#include "fcgi/search/scope.h"
#include "lmdb-schema/pack.h"

struct arena;
struct call;
struct rowset_query;

#define PART_SUPPLIERS_MAX 100000
#define PART_QUESTION_MAX ((size_t)4 << 20)
#define PART_ANSWER_MAX ((size_t)64 << 20)
/* Rows end beyond so many bytes; one is longer only by itself. */
#define PART_BYTES ((size_t)4 << 20)

struct part_question {
	struct span address;
	uint64_t first, count;
	bool text; /* of the rows, not their order alone */
	struct scope_wanted wanted;
};

void part_question_write(struct buf *out, const struct part_question *question);

/* ERR_BAD_INPUT; what it has is of `bytes` and of the arena. */
enum err part_question_read(
    struct part_question *out, struct span bytes, struct arena *arena);

/* The hash of the suppliers. */
void part_hash(struct scope_wanted *wanted);

struct part {
	uint64_t total, suppliers, sum, places;
	struct span head;
	struct unpack lacks; /* texts, `lack_count` of them */
	uint64_t lack_count;
	struct unpack rows;
	struct span order, text; /* of the row */
};

/* Whether this node has a snapshot of the supplier. */
bool part_is_here(struct call *call, struct span supplier);

/* Up to the number of the suppliers that lack, which the caller writes. */
void part_write(struct buf *out, const struct part *head);

/* The same, and the suppliers that lack, by this node's catalogue. */
void part_write_lacking(struct buf *out, const struct part *head,
    struct call *call, const struct scope_wanted *wanted);
void part_write_row(struct buf *out, struct span order, struct span text);
void part_write_end(struct buf *out);

/* A row as splice_row() has made it, without the separator behind it. */
struct iovbuf;
void part_write_pieces(
    struct buf *out, struct span order, const struct iovbuf *row);

/*
 * Looks at all of the answer, which must stay. ERR_BAD_INPUT: it is none, or its
 * rows are not in their order.
 */
enum err part_read(struct part *out, struct span bytes);

/* Advances to the first row, and to the next; false behind the last. */
bool part_next(struct part *part);

/* The answer of this node to a question that a search has. */
enum err part_search(struct buf *out, struct call *call,
    const struct rowset_query *query, const struct part_question *question);
