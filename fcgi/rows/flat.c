#include "fcgi/rows/flat.h"

#include <assert.h>
#include <stdlib.h>

#include "common/arena.h"
#include "common/date.h"
#include "common/jsonw.h"
#include "fcgi/call.h"
#include "fcgi/rows/splice.h"
#include "fcgi/table/walk.h"
#include "lmdb-schema/schema.h"
#include "lmdb-schema/snapshot/snapshot_columns.h"

#define STORE_MAX 64 /* bytes of a store's code */
#define NAME_MAX_BYTES (64 + 1 + STORE_MAX + 1 + DATE_TEXT_MAX)

/* A map's value of a month, or of a store's month. */
struct flat_entry {
	struct span store; /* empty: all stores */
	int32_t month;
	unsigned column;
	struct span value;
};

_Static_assert(COL_sales12mByStore + 2 == COL_receptions12mByStore &&
	COL_receptions12mByStore + 1 == ROW_COLUMNS &&
	COL_qteReseauByMonth + 5 == COL_sales12mByStore,
    "the maps by month stand at the end: over all stores, then by store");

/* --- which columns -------------------------------------------------------- */

static bool
is_by_store(unsigned column)
{
	return column >= COL_sales12mByStore;
}

/* The network's months are those of a year of its own for each article. */
static bool
is_of_period(unsigned column)
{
	return column >= COL_sales12m;
}

static bool
has_months(unsigned column)
{
	return column >= COL_qteReseauByMonth;
}

/* The first of a map's twelve months. */
static int32_t
first_month_of(const struct flat *flat, unsigned column)
{
	return column == COL_sales12mN1 ? flat->first_month - SCHEMA_MONTHS
					: flat->first_month;
}

static unsigned
stores_of(const struct flat *flat)
{
	struct snapshot_stores stores;

	return snapshot_stores(flat->snap, &stores) ? stores.count : 0;
}

/* How many cells a column has in a line of its article. */
static unsigned
cells_of(const struct flat *flat, unsigned column)
{
	if (flat->months == MONTHS_LINES && has_months(column))
		return 0;
	if (flat->months != MONTHS_COLUMNS || !is_of_period(column))
		return 1;
	return is_by_store(column) ? stores_of(flat) * SCHEMA_MONTHS
				   : SCHEMA_MONTHS;
}

/* "sales12m.202501", or "sales12mByStore.101.202501". */
static struct span
month_name(
    struct arena *arena, unsigned column, struct span store, int32_t month)
{
	char text[NAME_MAX_BYTES];
	struct span name = row_info[column].name;
	char *to = mempcpy(text, name.ptr, name.len);

	*to++ = '.';
	if (store.len > 0) {
		assert(store.len <= STORE_MAX);
		to = mempcpy(to, store.ptr, store.len);
		*to++ = '.';
	}
	to += date_month_text(to, month);
	return arena_copy(arena, span_make(text, (size_t)(to - text)));
}

static bool
add_wide(struct flat *flat, struct table_column *columns, unsigned *count,
    struct arena *arena, unsigned column)
{
	unsigned cells = cells_of(flat, column);
	struct snapshot_stores stores;

	if (is_by_store(column) && !snapshot_stores(flat->snap, &stores))
		return false;
	for (unsigned i = 0; i < cells; i++) {
		struct span store = is_by_store(column)
		    ? snapshot_store_code(&stores, i / SCHEMA_MONTHS)
		    : SPAN("");
		int32_t month =
		    first_month_of(flat, column) + (int32_t)(i % SCHEMA_MONTHS);
		struct span name = month_name(arena, column, store, month);

		if (name.ptr == NULL)
			return false;
		columns[(*count)++] = (struct table_column){name, ROW_DECIMAL};
	}
	return true;
}

static void
add_columns_of_lines(
    const struct flat *flat, struct table_column *columns, unsigned *count)
{
	const struct columns *chosen = &flat->splice->columns;

	columns[(*count)++] = (struct table_column){SPAN("magasin"), ROW_TEXT};
	columns[(*count)++] = (struct table_column){SPAN("mois"), ROW_TEXT};
	for (unsigned i = columns_next(chosen, COL_qteReseauByMonth);
	     i < ROW_COLUMNS; i = columns_next(chosen, i + 1))
		columns[(*count)++] =
		    (struct table_column){row_info[i].name, ROW_DECIMAL};
}

static bool
add_columns(struct flat *flat, struct table_column *columns, unsigned *count,
    struct arena *arena)
{
	const struct columns *chosen = &flat->splice->columns;

	for (unsigned i = columns_next(chosen, 0); i < ROW_COLUMNS;
	     i = columns_next(chosen, i + 1)) {
		if (flat->months == MONTHS_COLUMNS && is_of_period(i)) {
			if (!add_wide(flat, columns, count, arena, i))
				return false;
		} else if (cells_of(flat, i) == 1)
			columns[(*count)++] = (struct table_column){
			    row_info[i].name, row_info[i].type};
	}
	if (flat->months == MONTHS_LINES)
		add_columns_of_lines(flat, columns, count);
	return true;
}

static uint64_t
count_columns(const struct flat *flat)
{
	const struct columns *chosen = &flat->splice->columns;
	uint64_t count = 2; /* store and month */

	for (unsigned i = columns_next(chosen, 0); i < ROW_COLUMNS;
	     i = columns_next(chosen, i + 1))
		count += flat->months == MONTHS_LINES ? 1 : cells_of(flat, i);
	return count;
}

static enum err
refuse(struct call *call, uint64_t count)
{
	return reply_fail(call->reply, 400, CODE_BAD_REQUEST,
	    "mois=%s makes %llu columns, %d are the most: ask for fewer "
	    "fields, or for mois=%s",
	    FORMAT_COLUMNS_NAME, (unsigned long long)count,
	    TABLE_COLUMNS_MAX - 2, FORMAT_LINES_NAME);
}

enum err
flat_begin(struct flat *flat, struct call *call, enum format format,
    struct snapshot *snap)
{
	struct arena *arena = call->serving->arena;
	struct table_column *columns;
	unsigned count = 0;
	uint64_t most;

	memset(flat, 0, sizeof(*flat));
	flat->splice = call->serving->splice;
	flat->months = call->params.months;
	flat->snap = snap;
	assert(snap != NULL || flat->months != MONTHS_COLUMNS);
	if (snap != NULL)
		flat->first_month =
		    snapshot_head(snap)->last_month - (SCHEMA_MONTHS - 1);
	most = count_columns(flat);
	if (most > TABLE_COLUMNS_MAX)
		return refuse(call, most - 2);
	columns = arena_array(arena, most, sizeof(*columns));
	if (flat->months == MONTHS_COLUMNS)
		flat->wide = arena_array(arena, most, sizeof(*flat->wide));
	if (columns == NULL ||
	    (flat->wide == NULL && flat->months == MONTHS_COLUMNS) ||
	    !add_columns(flat, columns, &count, arena))
		return ERR_NO_MEMORY;
	return table_begin(&flat->table, format, call->reply, columns, count);
}

/* --- a map's values ------------------------------------------------------- */

static enum err
keep_entry(struct flat *flat, const struct flat_entry *entry)
{
	if (flat->count == flat->room) {
		size_t room = flat->room == 0 ? 64 : flat->room * 2;
		struct flat_entry *grown =
		    realloc(flat->entries, room * sizeof(*grown));

		if (grown == NULL)
			return ERR_NO_MEMORY;
		flat->entries = grown;
		flat->room = room;
	}
	flat->entries[flat->count++] = *entry;
	return ERR_OK;
}

/* The network's months are written "2025-01", those of the maps "202501". */
static bool
read_month(int32_t *month, struct span text)
{
	return date_month(month, text) || date_month_dashed(month, text);
}

/* "{month: value, ...}", of a store or of all. */
static enum err
take_months(
    struct flat *flat, struct span json, unsigned column, struct span store)
{
	struct flat_entry entry = {.store = store, .column = column};
	struct span name, rest = jsonw_inside(json);
	enum err err = ERR_OK;

	while (err == ERR_OK && walk_member(&rest, &name, &entry.value))
		err = read_month(&entry.month, name) ? keep_entry(flat, &entry)
						     : ERR_DAMAGED;
	return err == ERR_OK && rest.len > 0 ? ERR_DAMAGED : err;
}

static enum err
take_map(struct flat *flat, struct span json, unsigned column)
{
	struct span store, months, rest = jsonw_inside(json);
	enum err err = ERR_OK;

	if (json.ptr[0] != '{')
		return ERR_OK; /* null: the network does not know it */
	if (!is_by_store(column))
		return take_months(flat, json, column, SPAN(""));
	while (err == ERR_OK && walk_member(&rest, &store, &months))
		err = take_months(flat, months, column, store);
	return err == ERR_OK && rest.len > 0 ? ERR_DAMAGED : err;
}

/* --- a column for each month ---------------------------------------------- */

/* The number of a store, by its code as a map has it; -1. */
static int
find_store(const struct snapshot_stores *stores, struct span name)
{
	char code[STORE_MAX];
	size_t len = 0;

	for (size_t at = 0; at < name.len && len < sizeof(code);)
		code[len++] = jsonw_plain_byte(name, &at);
	return snapshot_store_find(stores, span_make(code, len));
}

/* Where an entry's cell stands among those of its map; -1: nowhere. */
static int
place_of(const struct flat *flat, const struct snapshot_stores *stores,
    const struct flat_entry *entry)
{
	int store =
	    is_by_store(entry->column) ? find_store(stores, entry->store) : 0;
	int32_t month = entry->month - first_month_of(flat, entry->column);

	if (store < 0 || month < 0 || month >= SCHEMA_MONTHS)
		return -1;
	return store * SCHEMA_MONTHS + month;
}

static enum err
wide_cells(struct flat *flat, struct span json, unsigned column)
{
	struct snapshot_stores stores = {0};
	unsigned cells = cells_of(flat, column);
	enum err err;

	flat->count = 0;
	err = take_map(flat, json, column);
	if (err != ERR_OK)
		return err;
	if (is_by_store(column) && !snapshot_stores(flat->snap, &stores))
		return ERR_DAMAGED;
	for (unsigned i = 0; i < cells; i++)
		flat->wide[i] = SPAN("null");
	for (size_t i = 0; i < flat->count; i++) {
		int place = place_of(flat, &stores, &flat->entries[i]);

		if (place < 0 || (unsigned)place >= cells)
			return ERR_DAMAGED;
		flat->wide[place] = flat->entries[i].value;
	}
	for (unsigned i = 0; i < cells; i++)
		table_cell(&flat->table, flat->wide[i]);
	return ERR_OK;
}

static enum err
read_values(struct span *values, struct flat *flat, uint32_t row)
{
	struct splice *splice = flat->splice;

	if (flat->given == NULL)
		return splice_values(splice, row, values);
	memcpy(values, flat->given, splice->chosen_count * sizeof(*values));
	return ERR_OK;
}

static enum err
row_as_line(struct flat *flat, uint32_t row)
{
	struct splice *splice = flat->splice;
	struct span *cells = table_cells(&flat->table, splice->chosen_count);
	enum err err = read_values(cells, flat, row);

	return err == ERR_OK ? table_row_end(&flat->table) : err;
}

static enum err
row_as_wide_line(struct flat *flat, uint32_t row)
{
	struct splice *splice = flat->splice;
	enum err err = read_values(flat->values, flat, row);

	for (unsigned i = 0; i < splice->chosen_count && err == ERR_OK; i++) {
		unsigned column = splice->chosen[i];

		if (is_of_period(column))
			err = wide_cells(flat, flat->values[i], column);
		else
			table_cell(&flat->table, flat->values[i]);
	}
	return err == ERR_OK ? table_row_end(&flat->table) : err;
}

/* --- a line for each month ------------------------------------------------ */

/* The lines of all stores together come first, then each store's. */
static int
compare_entries(const void *a, const void *b)
{
	const struct flat_entry *x = a, *y = b;
	int by_store = span_cmp(x->store, y->store);

	if (by_store != 0)
		return by_store;
	if (x->month != y->month)
		return x->month < y->month ? -1 : 1;
	return (x->column > y->column) - (x->column < y->column);
}

/* The bytes of the month stay until the line ends. */
static void
month_cell(struct flat *flat, int32_t month)
{
	char *text = flat->month;
	size_t len = 1;

	text[0] = '"';
	len += date_month_text(text + 1, month);
	text[len++] = '"';
	table_cell(&flat->table, span_make(text, len));
}

static void
store_cell(struct flat *flat, struct span store)
{
	/* The quotes stand round it in the map. */
	table_cell(&flat->table,
	    store.len == 0 ? SPAN("null")
			   : span_make(store.ptr - 1, store.len + 2));
}

static bool
same_line(const struct flat_entry *a, const struct flat_entry *b)
{
	return span_eq(a->store, b->store) && a->month == b->month;
}

/* Adds one line: the article's cells, then the values of `count` entries. */
static enum err
month_line(struct flat *flat, const struct flat_entry *entries, size_t count)
{
	const struct splice *splice = flat->splice;
	unsigned i = 0;
	size_t at = 0;

	for (; i < splice->chosen_count && !has_months(splice->chosen[i]); i++)
		table_cell(&flat->table, flat->values[i]);
	store_cell(flat, count == 0 ? SPAN("") : entries[0].store);
	if (count == 0)
		table_cell(&flat->table, SPAN("null"));
	else
		month_cell(flat, entries[0].month);
	for (; i < splice->chosen_count; i++)
		table_cell(&flat->table,
		    at < count && entries[at].column == splice->chosen[i]
			? entries[at++].value
			: SPAN("null"));
	return table_row_end(&flat->table);
}

/* An article without any month has one line, so that none is lost. */
static enum err
row_as_lines(struct flat *flat, uint32_t row)
{
	struct splice *splice = flat->splice;
	enum err err = read_values(flat->values, flat, row);

	flat->count = 0;
	for (unsigned i = 0; i < splice->chosen_count && err == ERR_OK; i++)
		if (has_months(splice->chosen[i]))
			err =
			    take_map(flat, flat->values[i], splice->chosen[i]);
	if (err == ERR_OK && flat->count == 0)
		return month_line(flat, NULL, 0);
	if (err == ERR_OK)
		qsort(flat->entries, flat->count, sizeof(*flat->entries),
		    compare_entries);
	for (size_t from = 0, to; err == ERR_OK && from < flat->count;
	     from = to) {
		to = from + 1;
		while (to < flat->count &&
		    same_line(&flat->entries[from], &flat->entries[to]))
			to++;
		err = month_line(flat, flat->entries + from, to - from);
	}
	return err;
}

enum err
flat_row(struct flat *flat, uint32_t row)
{
	switch (flat->months) {
	case MONTHS_LINES:
		return row_as_lines(flat, row);
	case MONTHS_COLUMNS:
		return row_as_wide_line(flat, row);
	default:
		return row_as_line(flat, row);
	}
}

enum err
flat_row_given(struct flat *flat, const struct span *values)
{
	enum err err;

	flat->given = values;
	err = flat_row(flat, 0);
	flat->given = NULL;
	return err;
}

enum err
flat_end(struct flat *flat)
{
	return table_end(&flat->table);
}

void
flat_fini(struct flat *flat)
{
	table_fini(&flat->table);
	free(flat->entries);
}
