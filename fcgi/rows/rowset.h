/*
 * rowset: turns filters, a sort and a page into row numbers and the number of
 * all matches.
 *
 * Without a filter a page is a slice of a stored order. With one, or with a
 * sort by values that have changed since the computation (shown.h), the rows
 * are listed once in the requested order, and the list is kept beside the open
 * snapshot: the next page is a slice of it.
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

struct rowlists; /* the last lists of a snapshot */

/*
 * The ceiling of all lists of a process; the least recently used are dropped.
 */
#define ROWLISTS_BYTES ((size_t)32 << 20)
void rowlists_limit(size_t bytes); /* sets another ceiling */
size_t rowlists_bytes(void);

struct rowlists *rowlists_new(void);
void rowlists_free(struct rowlists *lists);

/* Matching rows in the requested order. */
struct rowlist {
	atomic_uint users;
	uint64_t key; /* hash of the query */
	uint64_t used;
	size_t key_len;
	char *key_text;
	size_t bytes; /* without the key */
	uint32_t count;
	uint32_t *rows;
};

/* Answers of more rows are streamed; smaller ones are gathered first. */
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
	struct rowlist *list; /* owns `order`, if that is a list */
};

/* A query: together with the snapshot it decides which rows match. */
struct rowset_query {
	struct span words; /* folded search text; empty: none */
	uint8_t gamme; /* ROW_GAMME_NONE: any */
	bool pending; /* only rows with a proposal to validate */
	bool raw; /* compare the values that enrich=0 shows */
	struct live_view *live; /* today's network figures; NULL: none */
	const struct code_filter *codes;
	unsigned code_count;
	const struct condition *conditions;
	unsigned condition_count;
	struct span condition_key; /* identifies the conditions */
	int sort; /* column, or -1 for COL_totalCa */
	int32_t month; /* the month of that map; 0: a scalar column */
	bool descending;
	const struct sort_key *more; /* further sort keys, for ties */
	unsigned more_count;
};

static inline unsigned
rowset_column(const struct rowset_query *query)
{
	return query->sort < 0 ? COL_totalCa : (unsigned)query->sort;
}

/* Whether a query's order is one of several keys, or of a month. */
static inline bool
rowset_has_keys(const struct rowset_query *query)
{
	return query->more_count > 0 || query->month != 0;
}

/* Pair with rowset_release(). ERR_DAMAGED: the snapshot is. */
enum err rowset_get(struct rowset *set, struct pinned *pinned,
    const struct ranges *ranges, const struct rowset_query *query, int64_t page,
    int64_t limit);

/* Takes a page of `total` rows of the caller, in their order. */
void rowset_of(struct rowset *set, const uint32_t *rows, uint32_t total,
    int64_t page, int64_t limit);

/* Sorts ascending row numbers of one snapshot in the requested order. */
enum err rowset_order(uint32_t *rows, uint32_t count, struct snapshot *snap,
    const struct ranges *ranges, const struct rowset_query *query);

void rowset_release(struct rowset *set);

/* The row at place i of the whole order. */
static inline uint32_t
rowset_row(const struct rowset *set, uint32_t i)
{
	return set->order == NULL ? i : set->order[i];
}
