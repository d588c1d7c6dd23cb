/* A column's values, added to the groups of their rows. */
#include <string.h>

#include "common/date.h"
#include "common/jsonw.h"
#include "common/num.h"
#include "fcgi/rows/aggregate_priv.h"
#include "fcgi/rows/filter_priv.h"
#include "fcgi/rows/shown.h"
#include "lmdb-schema/snapshot/snapshot_columns.h"

static inline void
add_value(struct aggregate_value *to, int64_t value)
{
	if (value == NUM_NULL)
		return;
	if (to->count == 0 || value < to->min)
		to->min = value;
	if (to->count == 0 || value > to->max)
		to->max = value;
	to->sum += value;
	to->count++;
}

static inline struct aggregate_value *
place_of(
    const struct aggregating *making, uint32_t i, unsigned cell, unsigned place)
{
	return aggregate_at(making->out, making->of[i], cell) + place;
}

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
		add_value(place_of(making, i, 0, place), value);
	}
	return err;
}

static void
add_narrow(struct aggregating *making, unsigned place, unsigned cell,
    const struct snapshot_narrow *values)
{
	for (uint32_t i = 0; i < making->count; i++)
		add_value(place_of(making, i, cell, place),
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

/* --- maps ----------------------------------------------------------------- */

/* The map by store of a row, taken apart. */
struct cells {
	struct aggregating *making;
	struct snapshot_stores stores;
	int32_t first; /* month */
	unsigned place;
	enum snap_measure kind;
	uint32_t i; /* of the row */
	struct buf code;
};

/* A store's own figure, where months are no key: see snapshot_store(). */
static void
add_store_figure(struct cells *cells, unsigned store, struct span months)
{
	add_value(place_of(cells->making, cells->i, store, cells->place),
	    filter_months_total(months, cells->kind == SNAP_STOCK,
		cells->first + SCHEMA_MONTHS - 1));
}

/* "202501":1,"202502":2 of a store. */
static void
add_store_months(struct cells *cells, unsigned store, struct span months)
{
	struct span member, rest = months;

	while (rest.len > 0 && span_cut(&member, &rest, ',')) {
		size_t colon = span_find(member, ':');
		int64_t value;
		int32_t month;

		if (colon < 2 ||
		    !date_month(&month, span_sub(member, 1, colon - 2)) ||
		    !num_decimal(&value, span_from(member, colon + 1)) ||
		    (unsigned)(month - cells->first) >= SCHEMA_MONTHS)
			continue;
		add_value(place_of(cells->making, cells->i,
			      store * SCHEMA_MONTHS +
				  (unsigned)(month - cells->first),
			      cells->place),
		    value);
	}
}

/* Where a quoted key ends: behind its second quote, not an escaped one. */
static size_t
key_end(struct span text)
{
	size_t at = 1;

	while (at < text.len && text.ptr[at] != '"')
		at += text.ptr[at] == '\\' ? 2 : 1;
	return at + 1 <= text.len ? at + 1 : text.len;
}

/* {"001":{"202501":1},"002":{}} */
static void
add_map(struct cells *cells, struct span map)
{
	bool months = cells->making->out->months > 1;
	struct span rest = span_from(map, 1);

	while (rest.len > 0 && rest.ptr[0] == '"') {
		size_t end = key_end(rest);
		struct span key = span_sub(rest, 0, end), inner;
		size_t close;
		int store;

		buf_clear(&cells->code);
		jsonw_unquote(&cells->code, key);
		store =
		    snapshot_store_find(&cells->stores, buf_span(&cells->code));
		rest = span_from(rest, end + 2); /* :{ */
		close = span_find(rest, '}');
		inner = span_sub(rest, 0, close);
		if (store >= 0 && months)
			add_store_months(cells, (unsigned)store, inner);
		else if (store >= 0)
			add_store_figure(cells, (unsigned)store, inner);
		rest = span_from(rest, close + 1);
		if (rest.len > 0 && rest.ptr[0] == ',')
			rest = span_from(rest, 1);
	}
}

static enum err
add_maps(struct aggregating *making, unsigned place, enum snap_measure kind)
{
	static const unsigned maps[] = {
	    COL_sales12mByStore, COL_stock12mByStore, COL_receptions12mByStore};
	struct cells cells = {.making = making,
	    .first =
		snapshot_head(making->snap)->last_month - (SCHEMA_MONTHS - 1),
	    .place = place,
	    .kind = kind};
	enum err err = ERR_OK;

	if (!snapshot_stores(making->snap, &cells.stores))
		return ERR_DAMAGED;
	buf_init(&cells.code, 1024);
	for (; cells.i < making->count && err == ERR_OK; cells.i++) {
		struct span map = snapshot_value(
		    making->snap, making->rows[cells.i], maps[kind]);

		if (map.len == 0)
			err = ERR_DAMAGED;
		else
			add_map(&cells, map);
	}
	buf_fini(&cells.code);
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
	return add_maps(making, place, filter_measure(column));
}
