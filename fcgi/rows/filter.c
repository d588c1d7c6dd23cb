#include "fcgi/rows/filter.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/num.h"
#include "fcgi/rows/filter_priv.h"
#include "fcgi/rows/shown.h"

/* --- a filter ------------------------------------------------------------- */

static void
filter_free(struct filter *filter)
{
	if (filter == NULL)
		return;
	for (unsigned i = 0; i < filter->count; i++) {
		free(filter->tests[i].set.slots);
		free(filter->tests[i].term_table);
		free((char *)(uintptr_t)filter->tests[i].store_key.ptr);
	}
	free(filter);
}

static enum err
filter_new(struct filter **out, struct snapshot *snap,
    const struct ranges *ranges, const struct rowset_query *query)
{
	unsigned count = query->condition_count;
	struct filter *filter =
	    calloc(1, sizeof(*filter) + count * sizeof(filter->tests[0]));
	enum err err = ERR_OK;

	*out = NULL;
	if (filter == NULL)
		return ERR_NO_MEMORY;
	filter->snap = snap;
	filter->ranges = ranges;
	filter->query = query;
	filter->rows = snapshot_rows(snap);
	for (unsigned i = 0; i < count && err == ERR_OK; i++) {
		filter->tests[i].condition = &query->conditions[i];
		filter->count++;
		err = filter_ready(&filter->tests[i], filter);
	}
	if (err != ERR_OK) {
		filter_free(filter);
		return err;
	}
	*out = filter;
	return ERR_OK;
}

/* --- one value ------------------------------------------------------------ */

static inline bool
meets_number(const struct filter_test *test, int64_t value)
{
	bool hit = test->set.slots != NULL
	    ? filter_set_has(&test->set, value)
	    : (uint64_t)value - (uint64_t)test->low <= test->width;

	return (hit != test->negated) && (value != NUM_NULL || test->nulls);
}

static inline bool
meets_narrow(const struct filter_test *test, int32_t value)
{
	bool hit = test->set.slots != NULL
	    ? value != INT32_MIN &&
		filter_set_has(&test->set, value * test->unit)
	    : (uint32_t)value - (uint32_t)test->low <= (uint32_t)test->width;

	return (hit != test->negated) && (value != INT32_MIN || test->nulls);
}

static inline bool
meets_term(const struct filter_test *test, uint32_t term)
{
	if (term == SNAP_NO_TERM)
		return test->nulls;
	if (test->condition->kind == CONDITION_NULL)
		return !test->nulls;
	return (test->way == FILTER_TERM_RANGE
		       ? term - test->first < test->span
		       : filter_text_term(test, term)) != test->negated;
}

/* A value that no array has: one of today, or of a map. */
static enum err
meets_read(const struct filter *filter, const struct filter_test *test,
    uint32_t row, bool *out)
{
	unsigned column = test->condition->column;
	int64_t value = NUM_NULL;
	uint8_t code;
	enum err err;

	if (test->condition->target == CONDITION_TREND) {
		err =
		    shown_trend(&code, row, filter->snap, filter->query->live);
		*out = test->table[code];
		return err;
	}
	if (test->condition->target == CONDITION_STORE) {
		struct span map = snapshot_value(filter->snap, row, column);

		err = map.len == 0 ? ERR_DAMAGED : ERR_OK;
		value = filter_store_total(map, test->store_key,
		    filter_measure(column) == SNAP_STOCK,
		    snapshot_head(filter->snap)->last_month);
	} else
		err = shown_value_in(&value, row, filter->snap, filter->ranges,
		    filter->query, column);
	*out = meets_number(test, value);
	return err;
}

static enum err
meets(const struct filter *filter, const struct filter_test *test, uint32_t row,
    bool *out)
{
	switch (test->way) {
	case FILTER_CONSTANT:
		*out = test->constant;
		break;
	case FILTER_WIDE:
		*out = meets_number(test, test->values.wide[row]);
		break;
	case FILTER_NARROW:
		*out = meets_narrow(test, test->values.narrow[row]);
		break;
	case FILTER_CODES:
		*out = test->table[test->values.codes[row]];
		break;
	case FILTER_TERM_RANGE:
	case FILTER_TERM_TABLE:
		*out = meets_term(test, snapshot_term_of(&test->terms, row));
		break;
	default:
		return meets_read(filter, test, row, out);
	}
	return ERR_OK;
}

static enum err
keep_rows(const struct filter *filter, uint32_t *rows, uint32_t *count)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < *count; i++) {
		bool met = true;

		for (unsigned k = 0; k < filter->count && met; k++) {
			enum err err =
			    meets(filter, &filter->tests[k], rows[i], &met);

			if (err != ERR_OK)
				return err;
		}
		rows[kept] = rows[i];
		kept += met;
	}
	*count = kept;
	return ERR_OK;
}

/* --- all rows ------------------------------------------------------------- */

/* Plain loops over two arrays, for speed. */
static void
mask_wide(uint8_t *mask, uint32_t rows, const struct filter_test *test)
{
	const int64_t *values = test->values.wide;
	uint64_t low = (uint64_t)test->low, width = test->width;
	uint8_t negated = test->negated, nulls = test->nulls;

	for (uint32_t i = 0; i < rows; i++)
		mask[i] &=
		    (uint8_t)(((uint64_t)values[i] - low <= width) ^ negated) &
		    (uint8_t)((values[i] != NUM_NULL) | nulls);
}

static void
mask_narrow(uint8_t *mask, uint32_t rows, const struct filter_test *test)
{
	const int32_t *values = test->values.narrow;
	uint32_t low = (uint32_t)test->low, width = (uint32_t)test->width;
	uint8_t negated = test->negated, nulls = test->nulls;

	for (uint32_t i = 0; i < rows; i++)
		mask[i] &=
		    (uint8_t)(((uint32_t)values[i] - low <= width) ^ negated) &
		    (uint8_t)((values[i] != INT32_MIN) | nulls);
}

/* By a list: the number's slot almost always decides. */
static void
mask_set(uint8_t *mask, uint32_t rows, const struct filter_test *test)
{
	if (test->way == FILTER_WIDE)
		for (uint32_t i = 0; i < rows; i++)
			mask[i] &= meets_number(test, test->values.wide[i]);
	else
		for (uint32_t i = 0; i < rows; i++)
			mask[i] &= meets_narrow(test, test->values.narrow[i]);
}

static void
mask_codes(uint8_t *mask, uint32_t rows, const struct filter_test *test)
{
	for (uint32_t i = 0; i < rows; i++)
		mask[i] &= test->table[test->values.codes[i]];
}

static void
mask_terms(uint8_t *mask, uint32_t rows, const struct filter_test *test)
{
	const uint32_t *of = test->terms.of;
	uint32_t count = test->terms.count;
	uint32_t first = test->first, span = test->span;
	uint8_t negated = test->negated, nulls = test->nulls;

	if (test->condition->kind == CONDITION_NULL)
		negated = !nulls; /* the run is empty */
	if (of == NULL) {
		if (!meets_term(test, count == 0 ? SNAP_NO_TERM : 0))
			memset(mask, 0, rows);
	} else if (test->way == FILTER_TERM_RANGE) {
		for (uint32_t i = 0; i < rows; i++)
			mask[i] &= of[i] < count
			    ? (uint8_t)((of[i] - first < span) ^ negated)
			    : nulls;
	} else {
		for (uint32_t i = 0; i < rows; i++)
			mask[i] &= of[i] < count
			    ? (uint8_t)(test->term_table[of[i]] ^ negated)
			    : nulls;
	}
}

/* Row by row, only for rows that all other conditions have kept. */
static enum err
mask_each(
    uint8_t *mask, const struct filter *filter, const struct filter_test *test)
{
	for (uint32_t i = 0; i < filter->rows; i++) {
		bool met;
		enum err err;

		if (mask[i] == 0)
			continue;
		err = meets(filter, test, i, &met);
		if (err != ERR_OK)
			return err;
		mask[i] = met;
	}
	return ERR_OK;
}

static enum err
mask_one(uint8_t *mask, struct filter *filter, struct filter_test *test)
{
	enum err err = ERR_OK;

	switch (test->way) {
	case FILTER_CONSTANT:
		if (!test->constant)
			memset(mask, 0, filter->rows);
		break;
	case FILTER_WIDE:
	case FILTER_NARROW:
		if (test->set.slots != NULL)
			mask_set(mask, filter->rows, test);
		else if (test->way == FILTER_WIDE)
			mask_wide(mask, filter->rows, test);
		else
			mask_narrow(mask, filter->rows, test);
		break;
	case FILTER_CODES:
		mask_codes(mask, filter->rows, test);
		break;
	case FILTER_TERM_RANGE:
	case FILTER_TERM_TABLE:
		err = filter_text_table(test);
		if (err == ERR_OK)
			mask_terms(mask, filter->rows, test);
		break;
	default:
		err = mask_each(mask, filter, test);
	}
	return err;
}

static enum err
mask_all(struct filter *filter, uint8_t *mask)
{
	enum err err = ERR_OK;

	for (unsigned pass = 0; pass < 2; pass++)
		for (unsigned i = 0; i < filter->count && err == ERR_OK; i++)
			if ((filter->tests[i].way == FILTER_READ) ==
			    (pass == 1))
				err = mask_one(mask, filter, &filter->tests[i]);
	return err;
}

/* --- a query's ------------------------------------------------------------ */

enum err
filter_mask(uint8_t *mask, struct snapshot *snap, const struct ranges *ranges,
    const struct rowset_query *query)
{
	struct filter *filter;
	enum err err;

	assert(mask != NULL);
	if (query->condition_count == 0)
		return ERR_OK;
	err = filter_new(&filter, snap, ranges, query);
	if (err == ERR_OK)
		err = mask_all(filter, mask);
	filter_free(filter);
	return err;
}

enum err
filter_rows(uint32_t *rows, uint32_t *count, struct snapshot *snap,
    const struct ranges *ranges, const struct rowset_query *query)
{
	struct filter *filter;
	enum err err;

	assert(rows != NULL || *count == 0);
	if (query->condition_count == 0 || *count == 0)
		return ERR_OK;
	err = filter_new(&filter, snap, ranges, query);
	if (err == ERR_OK)
		err = keep_rows(filter, rows, count);
	filter_free(filter);
	return err;
}

bool
filter_is_live(struct snapshot *snap, const struct ranges *ranges,
    const struct rowset_query *query)
{
	for (unsigned i = 0; i < query->condition_count; i++) {
		unsigned column = query->conditions[i].column;

		if (!row_is_gamme(column) &&
		    shown_differs_in(snap, ranges, query, column))
			return true;
	}
	return false;
}
