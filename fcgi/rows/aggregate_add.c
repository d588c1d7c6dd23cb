/* A column's values, added to the groups of their rows. */
#include "fcgi/rows/aggregate_priv.h"
#include "fcgi/rows/filter_priv.h"
#include "fcgi/rows/shown.h"
#include "lmdb-schema/snapshot/snapshot_columns.h"

static enum err
add_numbers(struct aggregating *making, unsigned place, unsigned column)
{
	bool today = shown_differs_in(
	    making->snap, making->ranges, making->query, column);
	const int64_t *numbers = snapshot_numbers(making->snap, column);
	enum err err = numbers == NULL ? ERR_DAMAGED : ERR_OK;

	for (uint32_t i = 0; i < making->count && err == ERR_OK; i++) {
		uint32_t row = making->rows[i];
		int64_t value = numbers[row];

		if (today)
			err = shown_value_in(&value, row, making->snap,
			    making->ranges, making->query, column);
		aggregate_value_add(
		    aggregate_place(making, i, 0, place), value);
	}
	return err;
}

static void
add_narrow(struct aggregating *making, unsigned place, unsigned cell,
    const struct snapshot_narrow *values)
{
	for (uint32_t i = 0; i < making->count; i++)
		aggregate_value_add(aggregate_place(making, i, cell, place),
		    snapshot_narrow_value(values, making->rows[i]));
}

static enum err
add_months(struct aggregating *making, unsigned place, enum snap_measure kind)
{
	for (unsigned month = 0; month < SCHEMA_MONTHS; month++) {
		struct snapshot_narrow values;

		if (!snapshot_month(making->snap, kind, month, &values))
			return ERR_DAMAGED;
		add_narrow(making, place, month, &values);
	}
	return ERR_OK;
}

static enum err
add_stores(struct aggregating *making, unsigned place, enum snap_measure kind)
{
	for (unsigned store = 0; store < making->out->stores; store++) {
		struct snapshot_narrow values;

		if (!snapshot_store(making->snap, kind, store, &values))
			return ERR_DAMAGED;
		add_narrow(making, place, store, &values);
	}
	return ERR_OK;
}

enum err
aggregate_add(struct aggregating *making, unsigned place)
{
	unsigned column = making->out->columns.columns[place];
	bool months = group_has(&making->out->groups, GROUP_MONTH);
	bool stores = group_has(&making->out->groups, GROUP_STORE);

	if (!months && !stores)
		return add_numbers(making, place, column);
	if (!stores)
		return add_months(making, place, filter_measure(column));
	if (!months && snapshot_has_stores(making->snap))
		return add_stores(making, place, filter_measure(column));
	return aggregate_add_maps(making, place, filter_measure(column));
}
