#include "lmdb-schema/facts/series.h"

#include <stdlib.h>

#include "common/date.h"
#include "common/num.h"
#include "lmdb-schema/schema.h"
#include "tests/support/random.h"
#include "tests/support/run.h"

#define STORES 5
#define MONTHS 20
#define FIRST_MONTH (2024 * 12)

static struct buf out;

static void
make(void)
{
	buf_init(&out, 1 << 24);
}

static void
drop(void)
{
	buf_fini(&out);
}

/* Writes records; false when one did not fit behind the one before it. */
static bool
write_all(enum series_kind kind, const struct series_record *records,
    unsigned count, struct buf *to)
{
	struct series_writer writer = {0};
	bool fits = true;

	series_begin(&writer, kind, to);
	for (unsigned i = 0; i < count && fits; i++)
		fits = series_put(&writer, &records[i]);
	series_end(&writer);
	series_fini(&writer);
	return fits;
}

static unsigned
values_of(enum series_kind kind)
{
	static const unsigned values[SERIES_KINDS] = {4, 3, 1, 1};

	return values[kind];
}

static bool
same(enum series_kind kind, const struct series_record *a,
    const struct series_record *b)
{
	bool equal = a->store == b->store && a->month == b->month;

	for (unsigned i = 0; i < values_of(kind); i++)
		equal = equal && a->value[i] == b->value[i];
	return equal;
}

static void
must_hold(enum series_kind kind, struct span bytes,
    const struct series_record *records, unsigned count)
{
	struct series_reader reader;
	struct series_record record;
	unsigned i = 0;

	series_open(&reader, kind, bytes);
	while (series_next(&reader, &record)) {
		run_must(i < count);
		run_must(same(kind, &record, &records[i]));
		i++;
	}
	run_must(!series_bad(&reader));
	ck_assert_uint_eq(i, count);
}

static int64_t
any_value(void)
{
	switch (random_bits() % 5) {
	case 0:
		return NUM_NULL;
	case 1:
		return 0;
	default:
		return ((int64_t)(random_bits() % 2000000) - 1000000) * 10000;
	}
}

static struct series_record
any_record(enum series_kind kind, unsigned store, int month)
{
	struct series_record record = {(uint16_t)store, month, {0}};

	for (unsigned i = 0; i < values_of(kind); i++)
		record.value[i] = any_value();
	for (unsigned i = 1; i < 4 && kind == SERIES_POSITIONS; i++)
		record.value[i] = random_bits() % 3 == 0
		    ? DATE_NULL
		    : (int64_t)(random_bits() % 30000);
	return record;
}

/* A random choice of places, in order. */
static unsigned
draw(enum series_kind kind, struct series_record *records, unsigned one_in)
{
	unsigned count = 0;
	int months = kind == SERIES_POSITIONS ? 1 : MONTHS;

	for (unsigned store = 0; store < STORES; store++)
		for (int month = 0; month < months; month++)
			if (random_bits() % one_in == 0)
				records[count++] = any_record(kind, store * 7,
				    kind == SERIES_POSITIONS
					? 0
					: FIRST_MONTH + month);
	return count;
}

START_TEST(what_is_written_is_read)
{
	struct series_record records[STORES * MONTHS];

	for (unsigned i = 0; i < 300; i++) {
		unsigned count = draw((enum series_kind)_i, records, 1 + i % 4);

		buf_clear(&out);
		ck_assert(
		    write_all((enum series_kind)_i, records, count, &out));
		must_hold((enum series_kind)_i, buf_span(&out), records, count);
	}
}
END_TEST

START_TEST(the_example_of_the_schema_holds)
{
	/* Store 2 sold 3 for 10.50 with margin 2 in 202501. */
	struct series_record record = {
	    2, 2025 * 12, {3000000, 10500000, 2000000}};
	static const char bytes[] = "\x02\x01\xec\xbd\x01\x2b\xc0\x0b\x1d";

	ck_assert(write_all(SERIES_SALES, &record, 1, &out));
	ck_assert_uint_eq(out.len, sizeof(bytes) - 1);
	ck_assert_mem_eq(out.data, bytes, out.len);
}
END_TEST

static const struct {
	uint16_t store;
	int32_t month;
	bool fits;
} after_store_3_month_100[] = {
    {3, 101, true},
    {3, 100, false},
    {3, 99, false},
    {4, 1, true},
    {2, 101, false},
};

START_TEST(what_is_out_of_order_does_not_fit)
{
	struct series_record records[2] = {{3, 100, {1}},
	    {after_store_3_month_100[_i].store,
		after_store_3_month_100[_i].month, {2}}};

	ck_assert_int_eq(write_all(SERIES_STOCK, records, 2, &out),
	    after_store_3_month_100[_i].fits);
	must_hold(SERIES_STOCK, buf_span(&out), records,
	    1 + after_store_3_month_100[_i].fits);
}
END_TEST

START_TEST(a_store_has_one_position)
{
	struct series_record twice[2] = {{1, 0, {0}}, {1, 0, {0}}};

	ck_assert(!write_all(SERIES_POSITIONS, twice, 2, &out));
}
END_TEST

/* --- merging, against the plainest way there is -------------------------- */

struct cell {
	bool there;
	struct series_record record;
};

static unsigned
flatten(struct cell cells[STORES][MONTHS], struct series_record *records)
{
	unsigned count = 0;

	for (unsigned store = 0; store < STORES; store++)
		for (unsigned month = 0; month < MONTHS; month++)
			if (cells[store][month].there)
				records[count++] = cells[store][month].record;
	return count;
}

static void
lay_over(struct cell cells[STORES][MONTHS], const struct series_record *records,
    unsigned count, bool *clash)
{
	for (unsigned i = 0; i < count; i++) {
		int month = records[i].month;
		struct cell *cell = &cells[records[i].store /
		    7][month == 0 ? 0 : month - FIRST_MONTH];

		*clash |= cell->there;
		cell->there = true;
		cell->record = records[i];
	}
}

START_TEST(a_merge_is_what_laying_one_over_the_other_gives)
{
	enum series_kind kind = (enum series_kind)(_i / 2);
	bool last_wins = _i % 2 == 1;

	for (unsigned round = 0; round < 200; round++) {
		struct cell cells[STORES][MONTHS] = {{{0}}};
		struct series_record records[STORES * MONTHS], twice;
		struct buf parts_bytes[4];
		struct span parts[4];
		bool clash = false;
		enum err err;

		for (unsigned i = 0; i < 4; i++) {
			unsigned count = draw(kind, records, 3 + round % 30);

			buf_init(&parts_bytes[i], 1 << 20);
			ck_assert(
			    write_all(kind, records, count, &parts_bytes[i]));
			lay_over(cells, records, count, &clash);
			parts[i] = buf_span(&parts_bytes[i]);
		}
		buf_clear(&out);
		err = series_merge(&out, kind, parts, 4, last_wins, &twice);
		ck_assert_int_eq(
		    err, clash && !last_wins ? ERR_EXISTS : ERR_OK);
		if (err == ERR_OK)
			must_hold(kind, buf_span(&out), records,
			    flatten(cells, records));
		else
			ck_assert(cells[twice.store /
			    7][twice.month == 0 ? 0 : twice.month - FIRST_MONTH]
				      .there);
		for (unsigned i = 0; i < 4; i++)
			buf_fini(&parts_bytes[i]);
	}
}
END_TEST

START_TEST(the_first_values_alone_are_the_same_ones)
{
	struct series_record records[STORES * MONTHS], whole, first;
	struct series_reader a, b;

	for (unsigned i = 0; i < 100; i++) {
		unsigned count = draw((enum series_kind)_i, records, 2);

		buf_clear(&out);
		write_all((enum series_kind)_i, records, count, &out);
		ck_assert_uint_eq(
		    series_count((enum series_kind)_i, buf_span(&out)), count);
		series_open(&a, (enum series_kind)_i, buf_span(&out));
		series_open(&b, (enum series_kind)_i, buf_span(&out));
		while (series_next(&a, &whole)) {
			run_must(series_next_first(&b, &first));
			run_must(first.store == whole.store &&
			    first.month == whole.month &&
			    first.value[0] == whole.value[0]);
		}
		ck_assert(!series_next_first(&b, &first));
		ck_assert(!series_bad(&b));
	}
}
END_TEST

START_TEST(nothing_merged_is_nothing)
{
	struct series_record twice;
	struct span parts[2] = {SPAN(""), SPAN("")};

	ck_assert_int_eq(
	    series_merge(&out, SERIES_SALES, parts, 2, false, &twice), ERR_OK);
	ck_assert_uint_eq(out.len, 0);
}
END_TEST

/* --- damage -------------------------------------------------------------- */

static const struct {
	const char *bytes;
	size_t len;
} damaged[] = {
    {"\x02", 1}, /* a store without a count */
    {"\x02\x00", 2}, /* a store without records */
    {"\x02\x01", 2}, /* one record, but none there */
    {"\x02\x02\xec\xbd\x01\x01", 6}, /* two, but one there */
    {"\x80\x20\x01\x01\x01", 5}, /* store 4096 */
    {"\x01\x01\xff\xff\x7f\x01", 6}, /* a month beyond 2100 */
    {"\x01\x02\xec\xbd\x01\x01\xff\xff\xff\xff\x0f\x01", 12}, /* steps back */
};

START_TEST(damaged_bytes_are_told)
{
	struct series_reader reader;
	struct series_record record;

	series_open(&reader, SERIES_STOCK,
	    span_make(damaged[_i].bytes, damaged[_i].len));
	while (series_next(&reader, &record))
		;
	ck_assert(series_bad(&reader));
}
END_TEST

START_TEST(a_damaged_part_is_no_merge)
{
	struct series_record twice;
	struct span part = SPAN("\x02\x01");

	ck_assert_int_eq(
	    series_merge(&out, SERIES_STOCK, &part, 1, true, &twice),
	    ERR_DAMAGED);
}
END_TEST

START_TEST(random_bytes_end_and_stay_in_range)
{
	for (unsigned i = 0; i < 20000; i++) {
		struct series_reader reader;
		struct series_record record;
		char *bytes = malloc(40);

		for (unsigned k = 0; k < 40; k += 8) {
			uint64_t noise = random_bits() & random_bits();

			memcpy(bytes + k, &noise, 8);
		}
		series_open(&reader, (enum series_kind)(i % SERIES_KINDS),
		    span_make(bytes, 40));
		while (series_next(&reader, &record)) {
			run_must(record.store < SCHEMA_STORES_MAX);
			run_must(record.month >= 0);
			run_must(record.month <= SCHEMA_MONTH_MAX);
		}
		free(bytes);
	}
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("series");
	TCase *tc = tcase_create("series");

	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_loop_test(tc, what_is_written_is_read, 0, SERIES_KINDS);
	tcase_add_test(tc, the_example_of_the_schema_holds);
	tcase_add_loop_test(tc, what_is_out_of_order_does_not_fit, 0, 5);
	tcase_add_test(tc, a_store_has_one_position);
	tcase_add_loop_test(tc, a_merge_is_what_laying_one_over_the_other_gives,
	    0, 2 * SERIES_KINDS);
	tcase_add_loop_test(tc, the_first_values_alone_are_the_same_ones,
	    SERIES_SALES, SERIES_KINDS);
	tcase_add_test(tc, nothing_merged_is_nothing);
	tcase_add_loop_test(tc, damaged_bytes_are_told, 0,
	    sizeof(damaged) / sizeof(damaged[0]));
	tcase_add_test(tc, a_damaged_part_is_no_merge);
	tcase_add_test(tc, random_bytes_end_and_stay_in_range);
	suite_add_tcase(suite, tc);
	return suite;
}
