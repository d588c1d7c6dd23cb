/* Prepares conditions for a snapshot: where the values are, and their type. */
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/jsonw.h"
#include "common/num.h"
#include "fcgi/rows/filter_priv.h"
#include "fcgi/rows/shown.h"

#define KEY_MAX_BYTES 1024

/* --- sets of numbers ------------------------------------------------------ */

/* At most a quarter full, so that the first slot mostly decides. */
static enum err
make_set(struct filter_set *set, const struct condition *condition)
{
	uint64_t size = 4;

	while (size < condition->count * UINT64_C(4))
		size *= 2;
	set->slots = malloc(size * sizeof(*set->slots));
	if (set->slots == NULL)
		return ERR_NO_MEMORY;
	set->mask = size - 1;
	for (uint64_t i = 0; i < size; i++)
		set->slots[i] = NUM_NULL;
	for (unsigned i = 0; i < condition->count; i++) {
		uint64_t at = filter_slot(set, condition->numbers[i]);

		while (set->slots[at] != NUM_NULL)
			at = (at + 1) & set->mask;
		set->slots[at] = condition->numbers[i];
	}
	return ERR_OK;
}

/* --- readying numbers ----------------------------------------------------- */

static void
set_constant(struct filter_test *test, bool value)
{
	test->way = FILTER_CONSTANT;
	test->constant = value;
}

/* A range of millionths as one of units: both ends rounded inwards. */
static void
narrow_range(struct filter_test *test)
{
	int64_t low = test->low, high;
	int64_t unit = test->unit;

	if (low == NUM_NULL) {
		test->low = INT32_MIN;
		return;
	}
	high = (int64_t)((uint64_t)low + test->width);
	low = low / unit + (low > 0 && low % unit != 0);
	high = high / unit - (high < 0 && high % unit != 0);
	if (low < -INT32_MAX)
		low = -INT32_MAX;
	if (high > INT32_MAX)
		high = INT32_MAX;
	test->low = low > high ? INT32_MIN : low;
	test->width = low > high ? 0 : (uint64_t)(high - low);
}

static enum err
ready_number(struct filter_test *test, enum filter_way way)
{
	const struct condition *condition = test->condition;

	test->way = way;
	if (condition->kind == CONDITION_NUMBER_LIST)
		return make_set(&test->set, condition);
	test->low = condition->low;
	test->width = condition->width;
	if (condition->kind == CONDITION_NULL) {
		test->low = NUM_NULL;
		test->width = 0;
		test->nulls = true;
	}
	if (way == FILTER_NARROW)
		narrow_range(test);
	return ERR_OK;
}

static enum err
ready_narrow(struct filter_test *test, const struct snapshot_narrow *values)
{
	test->unit = values->unit;
	if (values->narrow == NULL) {
		test->values.wide = values->wide;
		return ready_number(test, FILTER_WIDE);
	}
	test->values.narrow = values->narrow;
	return ready_number(test, FILTER_NARROW);
}

/* A column in which no row has a value. */
static enum err
ready_nothing(struct filter_test *test)
{
	set_constant(
	    test, test->condition->kind == CONDITION_NULL && !test->negated);
	return ERR_OK;
}

enum snap_measure
filter_measure(unsigned column)
{
	switch (column) {
	case COL_sales12m:
	case COL_sales12mByStore:
		return SNAP_SALES;
	case COL_stock12m:
	case COL_stock12mByStore:
		return SNAP_STOCK;
	case COL_sales12mN1:
		return SNAP_SALES_N1;
	default:
		return SNAP_RECEPTIONS;
	}
}

unsigned
filter_month(const struct snapshot *snap, unsigned column, int32_t month)
{
	int32_t first = snapshot_head(snap)->last_month - (SCHEMA_MONTHS - 1);

	if (column == COL_sales12mN1)
		first -= SCHEMA_MONTHS;
	return (unsigned)(month - first);
}

static enum err
ready_month(struct filter_test *test, struct snapshot *snap)
{
	const struct condition *condition = test->condition;
	unsigned month =
	    filter_month(snap, condition->column, condition->month);
	struct snapshot_narrow values;

	if (month >= SCHEMA_MONTHS)
		return ready_nothing(test);
	return snapshot_month(
		   snap, filter_measure(condition->column), month, &values)
	    ? ready_narrow(test, &values)
	    : ERR_DAMAGED;
}

/* Totals that are not kept are read from the map of each row. */
static enum err
ready_store_read(struct filter_test *test)
{
	struct buf key;
	char *text;
	size_t len;

	buf_init(&key, KEY_MAX_BYTES);
	jsonw_quote(&key, test->condition->store);
	buf_add_text(&key, ":{");
	text = buf_take(&key, &len);
	buf_fini(&key);
	if (text == NULL)
		return ERR_NO_MEMORY;
	test->store_key = span_make(text, len);
	return ready_number(test, FILTER_READ);
}

static enum err
ready_store(struct filter_test *test, struct snapshot *snap)
{
	const struct condition *condition = test->condition;
	struct snapshot_narrow values;
	struct snapshot_stores stores;
	int store;

	if (!snapshot_stores(snap, &stores))
		return ERR_DAMAGED;
	store = snapshot_store_find(&stores, condition->store);
	if (store < 0)
		return ready_nothing(test);
	if (!snapshot_has_stores(snap))
		return ready_store_read(test);
	return snapshot_store(snap, filter_measure(condition->column),
		   (unsigned)store, &values)
	    ? ready_narrow(test, &values)
	    : ERR_DAMAGED;
}

/* --- readying codes ------------------------------------------------------- */

static void
fill_table(struct filter_test *test)
{
	const struct condition *condition = test->condition;
	bool null = condition->kind == CONDITION_NULL;

	for (unsigned i = 1; i < 256; i++) {
		bool hit = !null && i < 32 && (condition->codes >> i & 1) != 0;

		test->table[i] = hit != condition->negated;
	}
	test->table[0] = null && !condition->negated;
}

static enum err
ready_codes(struct filter_test *test, const uint8_t *codes)
{
	if (codes == NULL)
		return ERR_DAMAGED;
	test->way = FILTER_CODES;
	test->values.codes = codes;
	return ERR_OK;
}

static enum err
ready_gamme(struct filter_test *test, const struct filter *filter)
{
	const struct ranges *ranges = filter->ranges;
	bool raw = filter->query->raw;

	switch (test->condition->column) {
	case COL_codeGamme:
		if (ranges != NULL)
			return ready_codes(
			    test, raw ? ranges->raw : ranges->shown);
		break;
	case COL_gammeAValider:
		if (ranges != NULL)
			return ready_codes(test, ranges->pending);
		set_constant(test, test->table[0] != 0);
		return ERR_OK;
	default:
		if (ranges != NULL && !raw)
			return ready_codes(test, ranges->server);
	}
	return ready_codes(test, snapshot_gammes(filter->snap));
}

/* True when the column may show other values than were computed. */
static bool
is_live(const struct filter *filter, unsigned column)
{
	return shown_differs_in(
	    filter->snap, filter->ranges, filter->query, column);
}

static enum err
ready_trend(struct filter_test *test, const struct filter *filter)
{
	if (!is_live(filter, COL_trend))
		return ready_codes(test, snapshot_trends(filter->snap));
	test->way = FILTER_READ;
	return ERR_OK;
}

static enum err
ready_column(struct filter_test *test, const struct filter *filter)
{
	unsigned column = test->condition->column;

	if (row_is_gamme(column))
		return ready_gamme(test, filter);
	if (!row_is_number(column))
		return filter_text(test, filter->snap);
	if (is_live(filter, column))
		return ready_number(test, FILTER_READ);
	test->values.wide = snapshot_numbers(filter->snap, column);
	return test->values.wide == NULL ? ERR_DAMAGED
					 : ready_number(test, FILTER_WIDE);
}

enum err
filter_ready(struct filter_test *test, const struct filter *filter)
{
	test->negated = test->condition->negated;
	fill_table(test);
	switch (test->condition->target) {
	case CONDITION_MONTH:
		return ready_month(test, filter->snap);
	case CONDITION_STORE:
		return ready_store(test, filter->snap);
	case CONDITION_TREND:
		return ready_trend(test, filter);
	default:
		return ready_column(test, filter);
	}
}
