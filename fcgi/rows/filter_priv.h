/* filter_priv: internals shared by filter*.c only. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/num.h"
#include "fcgi/http/condition.h"
#include "fcgi/rows/rowset.h"
#include "lmdb-schema/snapshot/snapshot_columns.h"

/* The numbers of a list, with open addressing; NUM_NULL marks an empty slot. */
struct filter_set {
	int64_t *slots;
	uint64_t mask; /* slots - 1, a power of two less 1 */
};

/* A condition, ready for the snapshot. */
struct filter_test {
	const struct condition *condition;
	enum filter_way {
		FILTER_CONSTANT, /* the same for all rows */
		FILTER_WIDE, /* i64 */
		FILTER_NARROW, /* i32 */
		FILTER_CODES, /* u8, by a table */
		FILTER_TERM_RANGE, /* terms first .. first + span - 1 */
		FILTER_TERM_TABLE, /* a byte for each term */
		FILTER_READ /* a value that is read for each row */
	} way;
	bool negated, nulls; /* nulls: the result for a row without value */
	bool constant;
	union {
		const int64_t *wide;
		const int32_t *narrow;
		const uint8_t *codes;
	} values;
	int64_t low, unit;
	uint64_t width;
	struct filter_set set; /* without slots: a range */
	uint8_t table[256]; /* FILTER_CODES */
	struct snapshot_terms terms;
	uint32_t first, span;
	uint8_t *term_table; /* made when a mask is asked for */
	struct span store_key; /* FILTER_READ of a map: "\"001\":{" */
};

struct filter {
	struct snapshot *snap;
	const struct ranges *ranges;
	const struct rowset_query *query;
	uint32_t rows;
	unsigned count;
	struct filter_test tests[];
};

static inline uint64_t
filter_slot(const struct filter_set *set, int64_t value)
{
	uint64_t hash = (uint64_t)value * UINT64_C(0x9e3779b97f4a7c15);

	return (hash >> 32) & set->mask;
}

static inline bool
filter_set_has(const struct filter_set *set, int64_t value)
{
	uint64_t at = filter_slot(set, value);

	while (set->slots[at] != NUM_NULL && set->slots[at] != value)
		at = (at + 1) & set->mask;
	return set->slots[at] == value && value != NUM_NULL;
}

enum snap_measure filter_measure(unsigned column); /* of a map */

/* The place of a month among a map's twelve; SCHEMA_MONTHS or more: none. */
unsigned filter_month(
    const struct snapshot *snap, unsigned column, int32_t month);

/* Prepares a condition; ERR_DAMAGED. */
enum err filter_ready(struct filter_test *test, const struct filter *filter);

/* The same on a text column. */
enum err filter_text(struct filter_test *test, struct snapshot *snap);

/* Makes the table of a FILTER_TERM_TABLE, unless it exists. */
enum err filter_text_table(struct filter_test *test);

/* Whether one term meets the condition; for FILTER_TERM_TABLE without table. */
bool filter_text_term(const struct filter_test *test, uint32_t term);

/*
 * A store's total by the JSON of a map by store; NUM_NULL when it has none.
 * `stock`: the value of the month `newest` instead of the sum.
 */
int64_t filter_store_total(
    struct span map, struct span key, bool stock, int32_t newest);
