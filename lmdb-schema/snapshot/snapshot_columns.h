/*
 * snapshot_columns: the columns of a snapshot that filters compare and groups
 * are made of: texts, months, stores, trends. Arrays of one entry a row, used in
 * place, as long as the snapshot is open.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/span.h"
#include "lmdb-schema/snapshot/snapfile.h"

struct snapshot;

/*
 * The different texts of a column, in the order of their folded forms, then
 * bytewise; and which of them each row has.
 */
struct snapshot_terms {
	uint32_t count;
	const uint32_t *of; /* by row, SNAP_NO_TERM: null; NULL: all have 0 */
	const uint32_t *folded_at, *text_at; /* [count + 1] */
	struct span folded; /* all folded forms, each ended by SNAP_TEXT_END */
	struct span texts;
};

/* False when they are damaged. Not for ranges, whose texts change. */
bool snapshot_terms(
    struct snapshot *snap, unsigned column, struct snapshot_terms *out);

/* Whether the folded forms stand one behind the other, for searches in all. */
bool snapshot_terms_fit(const struct snapshot_terms *terms);

/* A term below `count`: as the row has it, and folded. */
struct span snapshot_term(const struct snapshot_terms *terms, uint32_t term);
struct span snapshot_term_folded(
    const struct snapshot_terms *terms, uint32_t term);

/* A row's term, or SNAP_NO_TERM. */
static inline uint32_t
snapshot_term_of(const struct snapshot_terms *terms, uint32_t row)
{
	uint32_t term;

	if (terms->of == NULL)
		return terms->count == 0 ? SNAP_NO_TERM : 0;
	term = terms->of[row];
	return term < terms->count ? term : SNAP_NO_TERM;
}

/* The first term whose folded form is `folded` or comes after it. */
uint32_t snapshot_term_at(
    const struct snapshot_terms *terms, struct span folded);

/* The term of exactly that text, whose folded form is given; or SNAP_NO_TERM. */
uint32_t snapshot_term_find(
    const struct snapshot_terms *terms, struct span text, struct span folded);

/* Decimals by row, narrow when they are small: see struct snap_narrow. */
struct snapshot_narrow {
	int64_t unit; /* millionths */
	const int32_t *narrow; /* INT32_MIN: no value */
	const int64_t
	    *wide; /* one of the two is not NULL; NUM_NULL: no value */
};

/* A row's value in millionths, or NUM_NULL. */
int64_t snapshot_narrow_value(
    const struct snapshot_narrow *values, uint32_t row);

/* The sums over all stores in a month 0..11 of the period. False: damaged. */
bool snapshot_month(struct snapshot *snap, enum snap_measure measure,
    unsigned month, struct snapshot_narrow *out);

/* Whether totals by store are there: SNAP_STORES_MAX says when they are not. */
bool snapshot_has_stores(const struct snapshot *snap);

/* A store's totals. False: damaged. */
bool snapshot_store(struct snapshot *snap, enum snap_measure measure,
    unsigned store, struct snapshot_narrow *out);

/* The stores by number; false when their codes are damaged. */
struct snapshot_stores {
	uint32_t count;
	const uint32_t *at;
	struct span codes;
};
bool snapshot_stores(struct snapshot *snap, struct snapshot_stores *out);
struct span snapshot_store_code(
    const struct snapshot_stores *stores, unsigned store);

/* The number of the store of that code, or -1. */
int snapshot_store_find(const struct snapshot_stores *stores, struct span code);

/* trend_code() of each row; NULL when they are damaged. */
const uint8_t *snapshot_trends(struct snapshot *snap);

/* Whether all of the columns are as snapfile.h says; for snapshot_verify(). */
bool snapshot_columns_sound(struct snapshot *snap);
