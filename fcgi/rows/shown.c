#include "fcgi/rows/shown.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/num.h"
#include "lmdb-schema/facts/trend.h"
#include "lmdb-schema/order.h"

static bool
is_network(unsigned column)
{
	return (row_info[column].flags & ROW_LIVE) != 0 &&
	    (row_is_number(column) || column == COL_trend);
}

/* The ranges of the column; NULL: as computed. */
static const uint8_t *
gammes_of(const struct ranges *ranges, const struct rowset_query *query,
    unsigned column)
{
	if (ranges == NULL)
		return NULL;
	switch (column) {
	case COL_codeGamme:
		return query->raw ? ranges->raw : ranges->shown;
	case COL_gammeAValider:
		return ranges->pending_count > 0 ? ranges->pending : NULL;
	default:
		return query->raw ? NULL : ranges->server;
	}
}

bool
shown_differs_in(struct snapshot *snap, const struct ranges *ranges,
    const struct rowset_query *query, unsigned column)
{
	assert(column < ROW_COLUMNS);
	if (row_is_gamme(column))
		return gammes_of(ranges, query, column) != NULL;
	return is_network(column) && !query->raw && query->live != NULL &&
	    !live_network_is_unchanged(query->live, snapshot_supplier(snap),
		snapshot_head(snap)->facts, snapshot_head(snap)->network);
}

bool
shown_differs(struct snapshot *snap, const struct ranges *ranges,
    const struct rowset_query *query)
{
	return shown_differs_in(snap, ranges, query, rowset_column(query));
}

/* --- values --------------------------------------------------------------- */

enum err
shown_network(struct network *out, bool *known, uint32_t row,
    struct snapshot *snap, struct live_view *live)
{
	struct span code = snapshot_value(snap, row, COL_codeCentrale);
	enum err err = ERR_NOT_FOUND;

	*known = false;
	/*
	 * The central code is digits, so its JSON is the text between the
	 * quotes.
	 */
	if (code.len == 0)
		return ERR_DAMAGED;
	if (code.len > 2 && code.ptr[0] == '"')
		err = live_network(live, span_sub(code, 1, code.len - 2), out);
	*known = err == ERR_OK;
	if (err == ERR_DAMAGED) { /* not the snapshot: that one is sound */
		log_error("a network record is damaged, gridctl network "
			  "imports it anew: codeCentrale=%.*s",
		    SPAN_ARG(code));
		return ERR_DAMAGED_BESIDE;
	}
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

static enum err
gamme_value(int64_t *out, uint32_t row, struct snapshot *snap,
    const struct ranges *ranges, const struct rowset_query *query,
    unsigned column)
{
	const uint8_t *gammes = gammes_of(ranges, query, column);

	*out = NUM_NULL;
	if (gammes == NULL && column == COL_gammeAValider)
		return ERR_OK; /* nothing is pending */
	if (gammes == NULL)
		gammes = snapshot_gammes(snap);
	if (gammes == NULL)
		return ERR_DAMAGED;
	if (gammes[row] != ROW_GAMME_NONE)
		*out = gammes[row];
	return ERR_OK;
}

enum err
shown_value_in(int64_t *out, uint32_t row, struct snapshot *snap,
    const struct ranges *ranges, const struct rowset_query *query,
    unsigned column)
{
	const int64_t *margins;
	struct network network;
	bool known;
	enum err err;

	assert(column < ROW_FLATS);
	if (row_is_gamme(column))
		return gamme_value(out, row, snap, ranges, query, column);
	margins = snapshot_numbers(snap, COL_tauxMarge);
	if (margins == NULL)
		return ERR_DAMAGED;
	err = shown_network(&network, &known, row, snap, query->live);
	if (err == ERR_OK)
		*out = network_number(
		    known ? &network : NULL, column, margins[row]);
	return err;
}

enum err
shown_value(int64_t *out, uint32_t row, struct snapshot *snap,
    const struct ranges *ranges, const struct rowset_query *query)
{
	return shown_value_in(
	    out, row, snap, ranges, query, rowset_column(query));
}

enum err
shown_trend(
    uint8_t *out, uint32_t row, struct snapshot *snap, struct live_view *live)
{
	struct network network;
	bool known;
	enum err err = shown_network(&network, &known, row, snap, live);

	*out = err == ERR_OK && known ? trend_code(&network) : 0;
	return err;
}

/* --- order ---------------------------------------------------------------- */

/* The memory of a sort. */
struct sorting {
	uint8_t *mask;
	uint32_t *by_code, *asc, *desc;
	int64_t *values;
};

static enum err
allocate(struct sorting *sorting, uint32_t all, uint32_t count)
{
	sorting->mask = calloc(all + 1u, 1);
	sorting->by_code = calloc(count + 1u, sizeof(*sorting->by_code));
	sorting->asc = calloc(count + 1u, sizeof(*sorting->asc));
	sorting->desc = calloc(count + 1u, sizeof(*sorting->desc));
	sorting->values = calloc(count + 1u, sizeof(*sorting->values));
	return sorting->mask == NULL || sorting->by_code == NULL ||
		sorting->asc == NULL || sorting->desc == NULL ||
		sorting->values == NULL
	    ? ERR_NO_MEMORY
	    : ERR_OK;
}

static void
release(struct sorting *sorting)
{
	free(sorting->mask);
	free(sorting->by_code);
	free(sorting->asc);
	free(sorting->desc);
	free(sorting->values);
}

/* The rows in the order of their codes, which ties keep. */
static enum err
order_by_code(struct sorting *sorting, const uint32_t *rows, uint32_t count,
    struct snapshot *snap)
{
	const uint32_t *order = snapshot_by_codein(snap);
	uint32_t all = snapshot_rows(snap), done = 0;

	if (order == NULL)
		return ERR_DAMAGED;
	for (uint32_t i = 0; i < count; i++)
		sorting->mask[rows[i]] = 1;
	for (uint32_t i = 0; i < all && done < count; i++) {
		uint32_t row = order[i];

		sorting->by_code[done] = row;
		done += row < all && sorting->mask[row] != 0;
	}
	return done == count ? ERR_OK : ERR_DAMAGED;
}

static enum err
take_values(struct sorting *sorting, uint32_t count, struct snapshot *snap,
    const struct ranges *ranges, const struct rowset_query *query)
{
	enum err err = ERR_OK;

	for (uint32_t i = 0; i < count && err == ERR_OK; i++)
		err = shown_value(&sorting->values[i], sorting->by_code[i],
		    snap, ranges, query);
	return err;
}

enum err
shown_by_code(uint32_t *rows, uint32_t count, struct snapshot *snap)
{
	struct sorting sorting = {0};
	enum err err = ERR_NO_MEMORY;

	assert(count <= snapshot_rows(snap));
	sorting.mask = calloc(snapshot_rows(snap) + 1u, 1);
	sorting.by_code = calloc(count + 1u, sizeof(*sorting.by_code));
	if (sorting.mask != NULL && sorting.by_code != NULL)
		err = order_by_code(&sorting, rows, count, snap);
	if (err == ERR_OK)
		memcpy(rows, sorting.by_code, count * sizeof(*rows));
	release(&sorting);
	return err;
}

enum err
shown_sort(uint32_t *rows, uint32_t count, struct snapshot *snap,
    const struct ranges *ranges, const struct rowset_query *query)
{
	struct sorting sorting = {0};
	enum err err = allocate(&sorting, snapshot_rows(snap), count);
	const uint32_t *order = query->descending ? sorting.desc : sorting.asc;

	assert(count <= snapshot_rows(snap));
	if (err == ERR_OK)
		err = order_by_code(&sorting, rows, count, snap);
	if (err == ERR_OK)
		err = take_values(&sorting, count, snap, ranges, query);
	if (err == ERR_OK)
		err = order_numbers(
		    sorting.asc, sorting.desc, sorting.values, count);
	for (uint32_t i = 0; i < count && err == ERR_OK; i++)
		rows[i] = sorting.by_code[order[i]];
	release(&sorting);
	return err;
}
