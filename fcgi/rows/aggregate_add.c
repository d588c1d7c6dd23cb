/*
 * A column's values, added to the groups of their rows. Figures by month or
 * store stand plane by plane, each in the order of the rows: the rows are put
 * in the order of their groups once, so that a group's figures of a plane are
 * summed up in registers.
 */
#include <stdlib.h>

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

/* --- planes --------------------------------------------------------------- */

static void
add_run(struct aggregate_value *to, const struct plane *plane,
    const uint32_t *rows, uint32_t count)
{
	struct plane_sum sum = plane_sum(plane, rows, count);

	if (sum.count == 0)
		return;
	if (to->count == 0 || sum.min < to->min)
		to->min = sum.min;
	if (to->count == 0 || sum.max > to->max)
		to->max = sum.max;
	to->sum += sum.sum;
	to->count += sum.count;
}

/* Puts the rows in the order of their groups, unless that was done. */
static enum err
sort_rows(struct aggregating *making)
{
	uint32_t groups = making->out->count, *at;

	if (making->sorted != NULL || groups == 1)
		return ERR_OK;
	making->sorted = malloc((making->count + 1u) * sizeof(*making->sorted));
	at = malloc((groups + 1u) * sizeof(*at));
	if (making->sorted == NULL || at == NULL) {
		free(at);
		return ERR_NO_MEMORY;
	}
	at[0] = 0;
	for (uint32_t group = 0; group < groups; group++)
		at[group + 1] = at[group] + making->out->articles[group];
	for (uint32_t i = 0; i < making->count; i++)
		making->sorted[at[making->of[i]]++] = making->rows[i];
	free(at);
	return ERR_OK;
}

enum err
aggregate_add_plane(struct aggregating *making, unsigned place, unsigned cell,
    const struct plane *plane)
{
	struct aggregate *out = making->out;
	const uint32_t *rows;
	enum err err = sort_rows(making);

	if (err != ERR_OK)
		return err;
	rows = making->sorted != NULL ? making->sorted
	    : making->all             ? NULL
				      : making->rows;
	for (uint32_t group = 0, at = 0; group < out->count; group++) {
		uint32_t count = out->articles[group];

		add_run(aggregate_at(out, group, cell) + place, plane,
		    rows == NULL ? NULL : rows + at, count);
		at += count;
	}
	return ERR_OK;
}

static enum err
add_narrow(struct aggregating *making, unsigned place, unsigned cell,
    const struct snapshot_narrow *values)
{
	struct plane plane = {values->narrow, 4, values->unit};

	if (values->narrow == NULL)
		plane = (struct plane){values->wide, 8, 1};
	return aggregate_add_plane(making, place, cell, &plane);
}

static enum err
add_months(struct aggregating *making, unsigned place, enum snap_measure kind)
{
	enum err err = ERR_OK;

	for (unsigned month = 0; month < SCHEMA_MONTHS && err == ERR_OK;
	     month++) {
		struct snapshot_narrow values;

		if (!snapshot_month(making->snap, kind, month, &values))
			return ERR_DAMAGED;
		err = add_narrow(making, place, month, &values);
	}
	return err;
}

static enum err
add_stores(struct aggregating *making, unsigned place, enum snap_measure kind)
{
	enum err err = ERR_OK;

	for (unsigned store = 0; store < making->out->stores && err == ERR_OK;
	     store++) {
		struct snapshot_narrow values;

		if (!snapshot_store(making->snap, kind, store, &values))
			return ERR_DAMAGED;
		err = add_narrow(making, place, store, &values);
	}
	return err;
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
