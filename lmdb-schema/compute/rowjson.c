#include "lmdb-schema/compute/rowjson.h"

#include <assert.h>
#include <stdlib.h>

#include "common/date.h"
#include "common/jsonw.h"
#include "common/num.h"
#include "lmdb-schema/facts/trend.h"

#define KEYS_MAX (1u << 20)

enum err
rowjson_init(struct rowjson *json, const struct source *source,
    const struct period *period)
{
	size_t *ends;

	rowcalc_places(&json->places);
	json->period = *period;
	json->stores = (unsigned)source_header(source)->stores;
	buf_init(&json->store_text, KEYS_MAX);
	json->store_keys = calloc(json->stores + 1, sizeof(*json->store_keys));
	ends = calloc(json->stores + 1, sizeof(*ends));
	if (json->store_keys == NULL || ends == NULL) {
		free(ends);
		return ERR_NO_MEMORY;
	}
	for (unsigned i = 0; i < json->stores; i++) {
		jsonw_quote(
		    &json->store_text, source_store_code(source, (uint16_t)i));
		buf_add_text(&json->store_text, ":{");
		ends[i] = json->store_text.len;
	}
	for (unsigned i = 0; i < json->stores; i++) {
		size_t start = i == 0 ? 0 : ends[i - 1];

		json->store_keys[i] = span_sub(
		    buf_span(&json->store_text), start, ends[i] - start);
	}
	free(ends);
	for (int i = 0; i < 2 * SCHEMA_MONTHS; i++) {
		char text[DATE_TEXT_MAX];
		char *key = json->month_keys[i];

		date_month_text(text, period_first_before(period) + i);
		key[0] = '"';
		memcpy(key + 1, text, 6);
		key[7] = '"';
		key[8] = ':';
	}
	return buf_end(&json->store_text);
}

void
rowjson_fini(struct rowjson *json)
{
	free(json->store_keys);
	buf_fini(&json->store_text);
}

static void
add_text(struct buf *out, struct span text)
{
	if (text.len == 0)
		buf_add_text(out, "null");
	else
		jsonw_quote(out, text);
}

static void
add_number(struct buf *out, enum row_type type, int64_t number)
{
	char text[DATE_TEXT_MAX];

	if (number == NUM_NULL)
		buf_add_text(out, "null");
	else if (type == ROW_DECIMAL)
		num_add_decimal(out, number);
	else if (type == ROW_INTEGER)
		num_add_int(out, number);
	else {
		buf_add_char(out, '"');
		buf_add(out, text, date_day_text(text, (int32_t)number));
		buf_add_char(out, '"');
	}
}

void
rowjson_flat(const struct rowjson *json, struct buf *out, struct snap_flat *at,
    const struct rowjson_input *input)
{
	size_t start = out->len;
	char code[ROWTEXT_CODE_MAX];

	at->at = (uint32_t)start;
	buf_add_char(out, '{');
	for (unsigned i = 0; i < ROW_FLATS; i++) {
		int place = json->places.of[i];

		at->off[i] = (uint16_t)(out->len - start);
		buf_add_char(out, '"');
		buf_add_span(out, row_info[i].name);
		buf_add_text(out, "\":");
		if (place >= 0)
			add_number(out, row_info[i].type,
			    input->numbers->number[place]);
		else
			add_text(out, rowtext_of(&input->text, i, code));
		buf_add_char(out, ',');
	}
	at->off[ROW_FLATS] = (uint16_t)(out->len - start);
	if (out->len - start > UINT16_MAX)
		buf_fail(out, ERR_TOO_LARGE);
}

/* A fact of the period that has a value. */
struct cell {
	uint16_t store, month; /* month 0 .. 11 */
	int64_t value;
};

/*
 * The facts of one kind, and the sums over all stores of the year before and
 * the period; a month without facts stays absent.
 */
struct facts {
	const struct cell *cells; /* of the period */
	size_t count;
	int64_t sum[2 * SCHEMA_MONTHS];
	bool there[2 * SCHEMA_MONTHS];
};

/* `month`: from 0, the first of the year before. */
static void
add_month(
    struct buf *out, const struct rowjson *json, unsigned month, int64_t value)
{
	buf_add(out, json->month_keys[month], 9);
	num_add_decimal(out, value);
	buf_add_char(out, ',');
}

/* The comma behind the last member becomes the closing brace. */
static void
close_object(struct buf *out)
{
	if (buf_end(out) == ERR_OK && out->data[out->len - 1] == ',')
		out->data[out->len - 1] = '}';
	else
		buf_add_char(out, '}');
}

static void
by_store(const struct rowjson *json, struct buf *out, const struct facts *facts)
{
	int store = -1;

	buf_add_char(out, '{');
	for (size_t i = 0; i < facts->count; i++) {
		const struct cell *cell = &facts->cells[i];

		if (cell->store != store) {
			if (store >= 0) {
				close_object(out);
				buf_add_char(out, ',');
			}
			store = cell->store;
			buf_add_span(out, json->store_keys[store]);
		}
		add_month(out, json, SCHEMA_MONTHS + cell->month, cell->value);
	}
	if (store >= 0) {
		close_object(out);
		buf_add_char(out, '}');
	} else
		close_object(out);
}

/* Of the year that begins with month `first`. */
static void
over_stores(const struct rowjson *json, struct buf *out,
    const struct facts *facts, unsigned first)
{
	buf_add_char(out, '{');
	for (unsigned i = first; i < first + SCHEMA_MONTHS; i++)
		if (facts->there[i])
			add_month(out, json, i, facts->sum[i]);
	close_object(out);
}

/* The two maps of each kind: the one over all stores comes first in a row. */
static const struct kind_columns {
	enum series_kind kind;
	unsigned total, stores;
} kinds[] = {
    {SERIES_SALES, COL_sales12m, COL_sales12mByStore},
    {SERIES_STOCK, COL_stock12m, COL_stock12mByStore},
    {SERIES_RECEPTIONS, COL_receptions12m, COL_receptions12mByStore},
};

#define KINDS SNAP_MEASURES

_Static_assert(sizeof(kinds) / sizeof(kinds[0]) == KINDS,
    "the kinds are the measures, in the order of SNAP_SALES and so on");

/* Reads a series once, and appends its cells to the buffer. */
static void
gather(const struct rowjson *json, struct buf *cells, struct span bytes,
    enum series_kind kind, struct facts *facts)
{
	int32_t first = period_first_before(&json->period);
	struct series_reader reader;
	struct series_record record;

	memset(facts, 0, sizeof(*facts));
	series_open(&reader, kind, bytes);
	while (series_next_first(&reader, &record)) {
		unsigned month = (unsigned)(record.month - first);
		struct cell cell = {record.store,
		    (uint16_t)(month - SCHEMA_MONTHS), record.value[0]};

		if (month >= 2 * SCHEMA_MONTHS || cell.value == NUM_NULL ||
		    cell.store >= json->stores)
			continue;
		if (!num_add(&facts->sum[month], facts->sum[month], cell.value))
			buf_fail(cells, ERR_TOO_LARGE);
		facts->there[month] = true;
		if (month < SCHEMA_MONTHS)
			continue;
		buf_add(cells, &cell, sizeof(cell));
		facts->count++;
	}
}

static void
gather_all(const struct rowjson *json, struct buf *cells,
    const struct source_article *article, struct facts facts[KINDS])
{
	const struct cell *at;

	buf_clear(cells);
	for (unsigned i = 0; i < KINDS; i++)
		gather(json, cells, article->series[kinds[i].kind],
		    kinds[i].kind, &facts[i]);
	at = (const struct cell *)(const void *)cells->data;
	for (unsigned i = 0; i < KINDS; i++) {
		facts[i].cells = at;
		if (facts[i].count > 0)
			at += facts[i].count;
	}
}

static void
add_map(const struct rowjson *json, struct buf *out, unsigned column,
    const struct rowjson_input *in, const struct facts facts[KINDS])
{
	for (unsigned i = 0; i < KINDS; i++) {
		if (column == kinds[i].total) {
			over_stores(json, out, &facts[i], SCHEMA_MONTHS);
			return;
		}
		if (column == kinds[i].stores) {
			by_store(json, out, &facts[i]);
			return;
		}
	}
	if (column == COL_sales12mN1)
		over_stores(json, out, &facts[SNAP_SALES], 0);
	else if (column == COL_trend)
		trend_network_json(out, in->network);
	else if (in->network == NULL)
		buf_add_text(out, "null");
	else if (column == COL_network)
		network_json(out, in->network);
	else {
		assert(column == COL_qteReseauByMonth);
		network_months_json(out, in->network);
	}
}

/* A store's own figure: see rowjson_sums. Beyond a decimal: the greatest. */
static void
sum_store(int64_t *store, enum snap_measure measure, const struct cell *cell)
{
	int64_t *sum = &store[cell->store];

	if (measure == SNAP_STOCK && cell->month != SCHEMA_MONTHS - 1)
		return;
	if (*sum == NUM_NULL)
		*sum = 0;
	if (!num_add(sum, *sum, cell->value))
		*sum = cell->value < 0 ? -INT64_MAX : INT64_MAX;
}

static void
take_months(
    int64_t months[SCHEMA_MONTHS], const struct facts *facts, unsigned first)
{
	for (unsigned i = 0; i < SCHEMA_MONTHS; i++)
		months[i] =
		    facts->there[first + i] ? facts->sum[first + i] : NUM_NULL;
}

static void
take_sums(const struct rowjson *json, struct rowjson_sums *sums,
    const struct facts facts[KINDS])
{
	take_months(sums->month[SNAP_SALES_N1], &facts[SNAP_SALES], 0);
	for (unsigned i = 0; i < KINDS; i++) {
		int64_t *store = sums->store[i];

		take_months(sums->month[i], &facts[i], SCHEMA_MONTHS);
		if (store == NULL)
			continue;
		for (unsigned s = 0; s < json->stores; s++)
			store[s] = NUM_NULL;
		for (size_t k = 0; k < facts[i].count; k++)
			sum_store(store, i, &facts[i].cells[k]);
	}
}

void
rowjson_maps(const struct rowjson *json, struct buf *out, struct buf *cells,
    struct snap_maps *at, const struct rowjson_input *input,
    struct rowjson_sums *sums)
{
	struct facts facts[KINDS];
	size_t start = out->len;

	gather_all(json, cells, input->text.article, facts);
	if (buf_end(cells) != ERR_OK) {
		buf_fail(out, buf_end(cells));
		return;
	}
	if (sums != NULL)
		take_sums(json, sums, facts);

	at->at = (uint32_t)start;
	for (unsigned i = 0; i < ROW_MAPCOUNT; i++) {
		unsigned column = ROW_FLATS + i;

		at->off[i] = (uint32_t)(out->len - start);
		buf_add_char(out, '"');
		buf_add_span(out, row_info[column].name);
		buf_add_text(out, "\":");
		add_map(json, out, column, input, facts);
		buf_add_char(out, i + 1 == ROW_MAPCOUNT ? '}' : ',');
	}
	at->off[ROW_MAPCOUNT] = (uint32_t)(out->len - start);
	buf_add_char(out, ',');
}
