#include "lmdb-schema/facts/series.h"

#include <assert.h>
#include <stdlib.h>

#include "common/date.h"
#include "lmdb-schema/schema.h"

#define GROUP_MAX (1u << 20)

static const unsigned values_of[SERIES_KINDS] = {4, 3, 1, 1};

void
series_begin(
    struct series_writer *writer, enum series_kind kind, struct buf *out)
{
	assert(kind < SERIES_KINDS && out != NULL);
	assert(writer->group_count == 0);
	if (writer->group.max == 0)
		buf_init(&writer->group, GROUP_MAX);
	buf_clear(&writer->group);
	writer->kind = kind;
	writer->out = out;
	writer->group_count = 0;
	writer->store = -1;
	writer->month = 0;
}

static void
flush_group(struct series_writer *writer)
{
	if (writer->group_count == 0)
		return;
	buf_fail(writer->out, buf_end(&writer->group));
	pack_add_unsigned(writer->out, (uint64_t)writer->store);
	pack_add_unsigned(writer->out, writer->group_count);
	buf_add_span(writer->out, buf_span(&writer->group));
	buf_clear(&writer->group);
	writer->group_count = 0;
	writer->month = 0;
}

static uint8_t *
pack_day(uint8_t *to, int64_t day)
{
	if (day == DATE_NULL)
		return pack_unsigned(to, 0);
	return pack_unsigned(to, (uint64_t)(day + SCHEMA_DAY_BASE + 1));
}

bool
series_put(struct series_writer *writer, const struct series_record *record)
{
	uint8_t *start, *to;

	assert(writer->kind < SERIES_KINDS);
	assert(record->month >= 0 && record->month <= SCHEMA_MONTH_MAX);
	if (record->store != writer->store) {
		if (record->store < writer->store)
			return false;
		flush_group(writer);
		writer->store = record->store;
	} else if (record->month <= writer->month)
		return false;
	start = to = (uint8_t *)buf_room(
	    &writer->group, PACK_NUMBER_MAX * (SERIES_VALUES_MAX + 1));
	if (to == NULL)
		return true; /* the buffer keeps the failure */
	if (writer->kind == SERIES_POSITIONS) {
		to = pack_decimal(to, record->value[POSITION_STOCK]);
		for (unsigned i = 1; i < SERIES_VALUES_MAX; i++)
			to = pack_day(to, record->value[i]);
	} else {
		to = pack_unsigned(
		    to, (uint64_t)(record->month - writer->month));
		for (unsigned i = 0; i < values_of[writer->kind]; i++)
			to = pack_decimal(to, record->value[i]);
	}
	buf_grown(&writer->group, (size_t)(to - start));
	writer->month = record->month;
	writer->group_count++;
	return true;
}

void
series_end(struct series_writer *writer)
{
	flush_group(writer);
	writer->store = -1;
}

void
series_fini(struct series_writer *writer)
{
	if (writer->group.max != 0)
		buf_fini(&writer->group);
}

void
series_open(
    struct series_reader *reader, enum series_kind kind, struct span bytes)
{
	assert(kind < SERIES_KINDS);
	unpack_init(&reader->from, bytes);
	reader->kind = kind;
	reader->left = 0;
	reader->store = 0;
	reader->month = 0;
}

static bool
next_group(struct series_reader *reader)
{
	uint64_t store;

	if (reader->from.at == reader->from.end)
		return false;
	store = unpack_unsigned(&reader->from);
	reader->left = unpack_unsigned(&reader->from);
	if (store >= SCHEMA_STORES_MAX || reader->left == 0)
		reader->from.bad = true;
	reader->store = (uint16_t)store;
	reader->month = 0;
	return !reader->from.bad;
}

static int64_t
unpack_day(struct unpack *from)
{
	uint64_t day = unpack_unsigned(from);

	if (day > 4000000)
		from->bad = true;
	return day == 0 ? DATE_NULL : (int64_t)day - 1 - SCHEMA_DAY_BASE;
}

/* Months of a store ascend: a step of 0 or backwards is damage. */
static void
next_month(struct series_reader *reader)
{
	uint64_t step = unpack_unsigned(&reader->from);

	if (step == 0 || step > SCHEMA_MONTH_MAX - (uint64_t)reader->month) {
		reader->from.bad = true;
		return;
	}
	reader->month += (int32_t)step;
}

bool
series_next(struct series_reader *reader, struct series_record *record)
{
	if (reader->left == 0 && !next_group(reader))
		return false;
	reader->left--;
	record->store = reader->store;
	if (reader->kind == SERIES_POSITIONS) {
		record->month = 0;
		record->value[POSITION_STOCK] = unpack_decimal(&reader->from);
		for (unsigned i = 1; i < SERIES_VALUES_MAX; i++)
			record->value[i] = unpack_day(&reader->from);
		return !reader->from.bad;
	}
	next_month(reader);
	record->month = reader->month;
	for (unsigned i = 0; i < values_of[reader->kind]; i++)
		record->value[i] = unpack_decimal(&reader->from);
	return !reader->from.bad;
}

bool
series_next_first(struct series_reader *reader, struct series_record *record)
{
	assert(reader->kind != SERIES_POSITIONS);
	if (reader->left == 0 && !next_group(reader))
		return false;
	reader->left--;
	next_month(reader);
	record->store = reader->store;
	record->month = reader->month;
	record->value[0] = unpack_decimal(&reader->from);
	for (unsigned i = 1; i < values_of[reader->kind]; i++)
		unpack_skip(&reader->from);
	return !reader->from.bad;
}

bool
series_bad(const struct series_reader *reader)
{
	return reader->from.bad;
}

uint64_t
series_count(enum series_kind kind, struct span bytes)
{
	struct series_reader reader;
	struct series_record record;
	uint64_t count = 0;

	assert(kind < SERIES_KINDS);
	series_open(&reader, kind, bytes);
	while (series_next(&reader, &record))
		count++;
	return count;
}

struct item {
	struct series_record record;
	unsigned part;
};

static int
compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->record.store != y->record.store)
		return x->record.store < y->record.store ? -1 : 1;
	if (x->record.month != y->record.month)
		return x->record.month < y->record.month ? -1 : 1;
	return x->part < y->part ? -1 : x->part > y->part;
}

/*
 * Reads all records of all parts into a buffer that holds an array of struct
 * item.
 */
static enum err
gather(struct buf *items, enum series_kind kind, const struct span *parts,
    unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct series_reader reader;
		struct item item = {.part = i};

		series_open(&reader, kind, parts[i]);
		while (series_next(&reader, &item.record))
			buf_add(items, &item, sizeof(item));
		if (series_bad(&reader))
			return ERR_DAMAGED;
	}
	return buf_end(items);
}

static bool
same_place(const struct item *a, const struct item *b)
{
	return a->record.store == b->record.store &&
	    a->record.month == b->record.month;
}

static enum err
write_items(struct buf *out, enum series_kind kind, const struct item *items,
    size_t count, bool last_wins, struct series_record *twice)
{
	struct series_writer writer = {0};
	enum err err = ERR_OK;

	series_begin(&writer, kind, out);
	for (size_t i = 0; i < count && err == ERR_OK; i++) {
		if (i + 1 < count && same_place(&items[i], &items[i + 1])) {
			if (last_wins && items[i].part != items[i + 1].part)
				continue;
			*twice = items[i].record;
			err = ERR_EXISTS;
		} else
			series_put(&writer, &items[i].record);
	}
	series_end(&writer);
	series_fini(&writer);
	return err == ERR_OK ? buf_end(out) : err;
}

enum err
series_merge(struct buf *out, enum series_kind kind, const struct span *parts,
    unsigned count, bool last_wins, struct series_record *twice)
{
	struct buf items;
	enum err err;

	assert(kind < SERIES_KINDS && twice != NULL);
	assert(parts != NULL || count == 0);
	buf_init(&items, (size_t)256 << 20);
	err = gather(&items, kind, parts, count);
	if (err == ERR_OK && items.len > 0) {
		size_t n = items.len / sizeof(struct item);

		qsort(items.data, n, sizeof(struct item), compare_items);
		err = write_items(out, kind, (struct item *)(void *)items.data,
		    n, last_wins, twice);
	}
	buf_fini(&items);
	return err;
}
