/*
 * Sorts are stable, so that the last key is sorted by first. Texts are sorted by
 * the ranks of their folded forms, in whose order a column's texts stand.
 */
#include "fcgi/rows/sort_keys.h"

#include <assert.h>
#include <stdlib.h>

#include "common/num.h"
#include "fcgi/rows/filter_priv.h"
#include "fcgi/rows/shown.h"
#include "fcgi/rows/sort_bytes.h"
#include "lmdb-schema/order.h"
#include "lmdb-schema/snapshot/snapshot_columns.h"

/* A column's values of all rows to be sorted. */
struct sorting {
	struct snapshot *snap;
	const struct ranges *ranges;
	const struct rowset_query *query;
	uint32_t count;
	uint32_t *rows, *asc, *desc; /* rows: in the order so far */
	int64_t *values;
};

static bool
is_text(unsigned column)
{
	return !row_is_number(column) && !row_is_gamme(column);
}

/* Equal folded forms have one rank, as they sort alike. */
static enum err
rank_texts(struct sorting *sorting, unsigned column)
{
	struct snapshot_terms terms;
	uint32_t *ranks;

	if (!snapshot_terms(sorting->snap, column, &terms))
		return ERR_DAMAGED;
	ranks = calloc(terms.count + 1u, sizeof(*ranks));
	if (ranks == NULL)
		return ERR_NO_MEMORY;
	for (uint32_t i = 1; i < terms.count; i++)
		ranks[i] = ranks[i - 1] +
		    !span_eq(snapshot_term_folded(&terms, i - 1),
			snapshot_term_folded(&terms, i));
	for (uint32_t i = 0; i < sorting->count; i++) {
		uint32_t term = snapshot_term_of(&terms, sorting->rows[i]);

		sorting->values[i] =
		    term == SNAP_NO_TERM ? NUM_NULL : (int64_t)ranks[term];
	}
	free(ranks);
	return ERR_OK;
}

/* A month that its map does not have has no value in any row. */
static enum err
take_month(struct sorting *sorting, const struct sort_key *key)
{
	unsigned month = filter_month(sorting->snap, key->column, key->month);
	struct snapshot_narrow values;
	bool known = month < SCHEMA_MONTHS;

	if (known &&
	    !snapshot_month(
		sorting->snap, filter_measure(key->column), month, &values))
		return ERR_DAMAGED;
	for (uint32_t i = 0; i < sorting->count; i++)
		sorting->values[i] = known
		    ? snapshot_narrow_value(&values, sorting->rows[i])
		    : NUM_NULL;
	return ERR_OK;
}

static enum err
take_values(struct sorting *sorting, const struct sort_key *key)
{
	unsigned column = key->column;
	const int64_t *numbers;
	enum err err = ERR_OK;

	if (key->month != 0)
		return take_month(sorting, key);
	if (is_text(column))
		return rank_texts(sorting, column);
	if (row_is_number(column) &&
	    !shown_differs_in(
		sorting->snap, sorting->ranges, sorting->query, column)) {
		numbers = snapshot_numbers(sorting->snap, column);
		if (numbers == NULL)
			return ERR_DAMAGED;
		for (uint32_t i = 0; i < sorting->count; i++)
			sorting->values[i] = numbers[sorting->rows[i]];
		return ERR_OK;
	}
	for (uint32_t i = 0; i < sorting->count && err == ERR_OK; i++)
		err = shown_value_in(&sorting->values[i], sorting->rows[i],
		    sorting->snap, sorting->ranges, sorting->query, column);
	return err;
}

/* Sorts by a key: rows that are equal in it keep their order. */
static enum err
sort_by(struct sorting *sorting, const struct sort_key *key)
{
	uint32_t *order = key->descending ? sorting->desc : sorting->asc;
	enum err err = take_values(sorting, key);

	if (err == ERR_OK)
		err = order_numbers(sorting->asc, sorting->desc,
		    sorting->values, sorting->count);
	for (uint32_t i = 0; i < sorting->count && err == ERR_OK; i++)
		order[i] = sorting->rows[order[i]];
	if (err == ERR_OK)
		memcpy(sorting->rows, order, sorting->count * sizeof(*order));
	return err;
}

static enum err
sort_all(struct sorting *sorting)
{
	const struct rowset_query *query = sorting->query;
	struct sort_key first = {
	    rowset_column(query), query->descending, query->month};
	enum err err = ERR_OK;

	for (unsigned i = query->more_count; i > 0 && err == ERR_OK; i--)
		err = sort_by(sorting, &query->more[i - 1]);
	return err == ERR_OK ? sort_by(sorting, &first) : err;
}

enum err
sort_keys_order(uint32_t *rows, uint32_t count, struct snapshot *snap,
    const struct ranges *ranges, const struct rowset_query *query)
{
	struct sorting sorting = {.snap = snap,
	    .ranges = ranges,
	    .query = query,
	    .count = count,
	    .rows = rows};
	enum err err = ERR_NO_MEMORY;

	assert(rowset_has_keys(query) && count <= snapshot_rows(snap));
	sorting.asc = malloc((count + 1u) * sizeof(*sorting.asc));
	sorting.desc = malloc((count + 1u) * sizeof(*sorting.desc));
	sorting.values = malloc((count + 1u) * sizeof(*sorting.values));
	if (sorting.asc != NULL && sorting.desc != NULL &&
	    sorting.values != NULL)
		err = shown_by_code(rows, count, snap);
	if (err == ERR_OK)
		err = sort_all(&sorting);
	free(sorting.asc);
	free(sorting.desc);
	free(sorting.values);
	return err;
}

bool
sort_keys_differ(struct snapshot *snap, const struct ranges *ranges,
    const struct rowset_query *query)
{
	for (unsigned i = 0; i < query->more_count; i++)
		if (!row_is_gamme(query->more[i].column) &&
		    shown_differs_in(
			snap, ranges, query, query->more[i].column))
			return true;
	return false;
}

/* --- two rows of two snapshots -------------------------------------------- */

/* A value to compare by: a number, or a folded text. */
struct value {
	bool null;
	int64_t number;
	struct span text;
};

static enum err
value_of(struct value *out, const struct sort_place *at,
    const struct rowset_query *query, unsigned column)
{
	struct snapshot_terms terms;
	const int64_t *numbers;
	enum err err = ERR_OK;
	uint32_t term;

	out->number = 0;
	out->text = SPAN("");
	if (is_text(column)) {
		if (!snapshot_terms(at->snap, column, &terms))
			return ERR_DAMAGED;
		term = snapshot_term_of(&terms, at->row);
		out->null = term == SNAP_NO_TERM;
		if (!out->null)
			out->text = snapshot_term_folded(&terms, term);
		return ERR_OK;
	}
	if (row_is_gamme(column) ||
	    shown_differs_in(at->snap, at->ranges, query, column))
		err = shown_value_in(
		    &out->number, at->row, at->snap, at->ranges, query, column);
	else if ((numbers = snapshot_numbers(at->snap, column)) == NULL)
		err = ERR_DAMAGED;
	else
		out->number = numbers[at->row];
	out->null = err == ERR_OK && out->number == NUM_NULL;
	return err;
}

static int
compare_values(const struct value *a, const struct value *b, bool descending)
{
	int way;

	if (a->null || b->null)
		return a->null - b->null;
	way = (a->number > b->number) - (a->number < b->number);
	if (way == 0)
		way = span_cmp(a->text, b->text);
	return descending ? -way : way;
}

enum err
sort_keys_compare(int *way, const struct sort_place *a,
    const struct sort_place *b, const struct rowset_query *query)
{
	*way = 0;
	for (unsigned i = 0; i < query->more_count && *way == 0; i++) {
		const struct sort_key *key = &query->more[i];
		struct value of_a, of_b;
		enum err err = value_of(&of_a, a, query, key->column);

		if (err == ERR_OK)
			err = value_of(&of_b, b, query, key->column);
		if (err != ERR_OK)
			return err;
		*way = compare_values(&of_a, &of_b, key->descending);
	}
	return ERR_OK;
}

enum err
sort_keys_bytes(struct buf *out, const struct sort_place *at,
    const struct rowset_query *query)
{
	for (unsigned i = 0; i < query->more_count; i++) {
		const struct sort_key *key = &query->more[i];
		struct value value;
		enum err err = value_of(&value, at, query, key->column);

		if (err != ERR_OK)
			return err;
		if (value.null)
			sort_bytes_null(out);
		else if (is_text(key->column))
			sort_bytes_text(out, value.text, key->descending);
		else
			sort_bytes_number(out, value.number, key->descending);
	}
	return ERR_OK;
}
