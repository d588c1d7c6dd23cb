/*
 * Sums from the maps by store, {"001":{"202501":1.5,"202502":2},...}: millions
 * of figures for a large supplier, so each byte is looked at once. Stores and
 * months stand in the same order in each row: the next one of both is compared
 * first.
 */
#include <string.h>

#include "common/date.h"
#include "common/jsonw.h"
#include "fcgi/rows/aggregate_priv.h"
#include "fcgi/rows/filter_priv.h"
#include "lmdb-schema/snapshot/snapshot_columns.h"

#define MONTH_LEN 6
#define UNITS_MAX 12 /* digits before the point that are read here */
#define DECIMALS 6

/* A row's map on its way. */
struct cells {
	struct aggregating *making;
	struct snapshot_stores stores;
	char months[SCHEMA_MONTHS][DATE_TEXT_MAX];
	int32_t last; /* month */
	unsigned place;
	enum snap_measure kind;
	uint32_t i; /* of the row */
	const char *at, *end;
	unsigned store, month; /* that are expected next */
	struct buf code;
};

static inline bool
take(struct cells *cells, char byte)
{
	if (cells->at == cells->end || *cells->at != byte)
		return false;
	cells->at++;
	return true;
}

static inline bool
is_digit(const struct cells *cells)
{
	return cells->at < cells->end && (unsigned char)(*cells->at - '0') < 10;
}

/* Adds digits to the value, at most `most`; how many there were. */
static inline unsigned
take_digits(struct cells *cells, int64_t *value, unsigned most)
{
	const char *start = cells->at;

	for (; is_digit(cells) && cells->at < start + most; cells->at++)
		*value = *value * 10 + (*cells->at - '0');
	return (unsigned)(cells->at - start);
}

/* A number that is longer than what take_number() reads by itself. */
static bool
take_long_number(struct cells *cells, const char *start, int64_t *out)
{
	cells->at = start;
	while (cells->at < cells->end && *cells->at != ',' && *cells->at != '}')
		cells->at++;
	return num_decimal(out, span_make(start, (size_t)(cells->at - start)));
}

static inline bool
take_number(struct cells *cells, int64_t *out)
{
	static const int64_t scales[DECIMALS + 1] = {
	    1000000, 100000, 10000, 1000, 100, 10, 1};
	const char *start = cells->at;
	bool minus = take(cells, '-');
	int64_t value = 0;
	unsigned decimals = 0;

	if (take_digits(cells, &value, UNITS_MAX) == 0)
		return false;
	if (take(cells, '.')) {
		decimals = take_digits(cells, &value, DECIMALS);
		if (decimals == 0)
			return false;
	}
	if (is_digit(cells))
		return take_long_number(cells, start, out);
	value *= scales[decimals];
	*out = minus ? -value : value;
	return true;
}

/* "202501": the month's number; SCHEMA_MONTHS: none of the period. */
static inline unsigned
take_month(struct cells *cells)
{
	unsigned month = cells->month;

	if (cells->end - cells->at < MONTH_LEN + 2)
		return SCHEMA_MONTHS;
	if (month == SCHEMA_MONTHS ||
	    memcmp(cells->at, cells->months[month], MONTH_LEN) != 0)
		for (month = 0; month < SCHEMA_MONTHS; month++)
			if (memcmp(cells->at, cells->months[month],
				MONTH_LEN) == 0)
				break;
	cells->at += MONTH_LEN;
	cells->month = month == SCHEMA_MONTHS ? 0 : month + 1;
	return month;
}

/* The figures of a store's months, up to the brace. */
static bool
add_months(struct cells *cells, unsigned store)
{
	cells->month = 0;
	while (take(cells, '"')) {
		unsigned month = take_month(cells);
		int64_t value;

		if (month == SCHEMA_MONTHS || !take(cells, '"') ||
		    !take(cells, ':') || !take_number(cells, &value))
			return false;
		aggregate_value_add(
		    aggregate_place(cells->making, cells->i,
			store * SCHEMA_MONTHS + month, cells->place),
		    value);
		take(cells, ',');
	}
	return true;
}

/* A store's own figure, where months are no key: see snapshot_store(). */
static bool
add_figure(struct cells *cells, unsigned store)
{
	const char *start = cells->at;
	const char *close =
	    memchr(start, '}', (size_t)(cells->end - cells->at));

	if (close == NULL)
		return false;
	cells->at = close;
	aggregate_value_add(
	    aggregate_place(cells->making, cells->i, store, cells->place),
	    filter_months_total(span_make(start, (size_t)(close - start)),
		cells->kind == SNAP_STOCK, cells->last));
	return true;
}

/* A code that is not the expected one, up to its quote. */
static int
find_store(struct cells *cells)
{
	const char *start = cells->at;

	while (cells->at < cells->end && *cells->at != '"')
		cells->at += *cells->at == '\\' ? 2 : 1;
	if (cells->at >= cells->end)
		return -1;
	buf_clear(&cells->code);
	jsonw_unquote(&cells->code,
	    span_make(start - 1, (size_t)(cells->at - start) + 2));
	return snapshot_store_find(&cells->stores, buf_span(&cells->code));
}

static int
take_store(struct cells *cells)
{
	size_t left = (size_t)(cells->end - cells->at);
	int store;

	if (cells->store < cells->stores.count) {
		struct span code =
		    snapshot_store_code(&cells->stores, cells->store);

		if (code.len < left && cells->at[code.len] == '"' &&
		    memcmp(cells->at, code.ptr, code.len) == 0) {
			cells->at += code.len;
			return (int)cells->store++;
		}
	}
	store = find_store(cells);
	cells->store = store < 0 ? 0 : (unsigned)store + 1;
	return store;
}

static enum err
add_map(struct cells *cells, struct span map)
{
	bool months = cells->making->out->months > 1;

	cells->at = map.ptr;
	cells->end = map.ptr + map.len;
	cells->store = 0;
	if (!take(cells, '{'))
		return ERR_DAMAGED;
	while (take(cells, '"')) {
		int store = take_store(cells);

		if (store < 0 || !take(cells, '"') || !take(cells, ':') ||
		    !take(cells, '{') ||
		    !(months ? add_months(cells, (unsigned)store)
			     : add_figure(cells, (unsigned)store)) ||
		    !take(cells, '}'))
			return ERR_DAMAGED;
		take(cells, ',');
	}
	return take(cells, '}') && cells->at == cells->end ? ERR_OK
							   : ERR_DAMAGED;
}

enum err
aggregate_add_maps(
    struct aggregating *making, unsigned place, enum snap_measure kind)
{
	static const unsigned maps[] = {
	    COL_sales12mByStore, COL_stock12mByStore, COL_receptions12mByStore};
	struct cells cells = {.making = making,
	    .last = snapshot_head(making->snap)->last_month,
	    .place = place,
	    .kind = kind};
	enum err err = ERR_OK;

	if (!snapshot_stores(making->snap, &cells.stores))
		return ERR_DAMAGED;
	for (int32_t i = 0; i < SCHEMA_MONTHS; i++)
		date_month_text(
		    cells.months[i], cells.last - (SCHEMA_MONTHS - 1) + i);
	buf_init(&cells.code, 1024);
	for (; cells.i < making->count && err == ERR_OK; cells.i++) {
		struct span map = snapshot_value(
		    making->snap, making->rows[cells.i], maps[kind]);

		err = map.len == 0 ? ERR_DAMAGED : add_map(&cells, map);
	}
	buf_fini(&cells.code);
	return err;
}
