/*
 * rowset: filters, a sort and a page -> row numbers, and how many match in
 * all.
 *
 * Without a filter a page is a piece of the stored order, wherever it lies.
 * With one, or by a column whose values have changed since (shown.h), the rows
 * are listed once in the order asked for, and the
 * list is kept beside the open snapshot: the next page is a piece of it.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "fcgi/http/params.h"
#include "fcgi/rows/ranges.h"
#include "fcgi/rows/snapcache.h"
#include "lmdb-schema/facts/live.h"

struct rowlists; /* a snapshot's lists, the last few used */

/* All of a process's lists together; those used least recently are dropped. */
#define ROWLISTS_BYTES ((size_t)32 << 20)
void rowlists_limit(size_t bytes); /* another ceiling */
size_t rowlists_bytes(void);

struct rowlists *rowlists_new(void);
void rowlists_free(struct rowlists *lists);

/* Rows that match, in the order that was asked for. */
struct rowlist {
	atomic_uint users;
	uint64_t key; /* hash of what was asked */
	uint64_t used;
	size_t key_len;
	char *key_text;
	size_t bytes; /* without its key's */
	uint32_t count;
	uint32_t *rows;
};

/* Answers of more rows are streamed; others are gathered first. */
#define ROWSET_GATHERED 2048

/*
 * Answers of more rows belong to the slow pool: many at once must not take the
 * threads that serve pages, and nginx must not compress them.
 */
#define ROWSET_DUMP 5000

struct rowset {
	uint32_t total;
	const uint32_t *order; /* NULL: the rows' own order */
	uint32_t first, count; /* the page: order[first .. first + count) */
	struct rowlist *list; /* holds `order`, when it is one of those */
};

/* A question: with the snapshot it decides which rows match. */
struct rowset_query {
	struct span words; /* folded search text; empty: none */
	uint8_t gamme; /* ROW_GAMME_NONE: any */
	bool pending; /* only rows with a proposal to validate */
	bool raw; /* what rows show is what enrich=0 shows */
	struct live_view *live; /* today's network figures; NULL: none */
	const struct code_filter *codes;
	unsigned code_count;
	const struct condition *conditions;
	unsigned condition_count;
	struct span condition_key; /* tells them from others */
	int sort; /* column, or -1 for COL_totalCa */
	bool descending;
	const struct sort_key *more; /* that decide where it does not */
	unsigned more_count;
};

static inline unsigned
rowset_column(const struct rowset_query *query)
{
	return query->sort < 0 ? COL_totalCa : (unsigned)query->sort;
}

/* Pair with rowset_release(). ERR_DAMAGED: the snapshot is. */
enum err rowset_get(struct rowset *set, struct pinned *pinned,
    const struct ranges *ranges, const struct rowset_query *query, int64_t page,
    int64_t limit);

/* A page of `total` rows that the caller keeps, in their order. */
void rowset_of(struct rowset *set, const uint32_t *rows, uint32_t total,
    int64_t page, int64_t limit);

/*
 * Brings rows of one snapshot, which are ascending, into the order asked for.
 */
enum err rowset_order(uint32_t *rows, uint32_t count, struct snapshot *snap,
    const struct ranges *ranges, const struct rowset_query *query);

void rowset_release(struct rowset *set);

/* The row that stands at place i of the whole order. */
static inline uint32_t
rowset_row(const struct rowset *set, uint32_t i)
{
	return set->order == NULL ? i : set->order[i];
}
