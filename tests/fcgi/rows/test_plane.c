/* tests/fcgi/rows/test_plane.c: fcgi/rows/plane.h */
#include "fcgi/rows/plane.h"

#include <stdlib.h>

#include "common/num.h"
#include "tests/support/run.h"

#define MOST 70001 /* more than lanes count before they are summed up */

static int16_t short_values[MOST];
static int32_t long_values[MOST];
static int64_t wide_values[MOST];
static uint32_t rows[MOST];

static uint32_t
chance(void)
{
	static uint64_t state = 1;

	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(state >> 32);
}

/* A third is none; extremes are among the others. */
static int64_t
value_of(int64_t least)
{
	uint32_t kind = chance() % 12;

	if (kind < 4)
		return NUM_NULL;
	if (kind == 4)
		return least + 1;
	if (kind == 5)
		return -(least + 1);
	return (int64_t)chance() % 200 - 100;
}

static void
fill(unsigned width, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		int64_t value = value_of(width == 2 ? INT16_MIN : INT32_MIN);
		bool none = value == NUM_NULL;

		wide_values[i] = value;
		short_values[i] = none ? INT16_MIN : (int16_t)value;
		long_values[i] = none ? INT32_MIN : (int32_t)value;
	}
}

static struct plane
plane_of(unsigned width)
{
	const void *values = width == 2 ? (const void *)short_values
	    : width == 4                ? (const void *)long_values
					: (const void *)wide_values;

	return (struct plane){values, width, width == 8 ? 1 : 1000};
}

static void
check(unsigned width, const uint32_t *which, uint32_t count)
{
	struct plane plane = plane_of(width);
	struct plane_sum wanted = {0, INT64_MAX, INT64_MIN, 0};
	struct plane_sum got = plane_sum(&plane, which, count);

	for (uint32_t i = 0; i < count; i++) {
		int64_t value = wide_values[which == NULL ? i : which[i]];

		if (value == NUM_NULL)
			continue;
		value *= plane.unit;
		wanted.sum += value;
		wanted.count++;
		wanted.min = value < wanted.min ? value : wanted.min;
		wanted.max = value > wanted.max ? value : wanted.max;
	}
	ck_assert_uint_eq(got.count, wanted.count);
	if (wanted.count == 0)
		return;
	ck_assert(got.sum == wanted.sum);
	ck_assert_int_eq(got.min, wanted.min);
	ck_assert_int_eq(got.max, wanted.max);
}

static const unsigned widths[] = {2, 4, 8};
static const uint32_t counts[] = {0, 1, 3, 4, 7, 8, 9, 100, 4099, MOST};

START_TEST(sums_are_those_of_a_plain_loop)
{
	unsigned width = widths[_i % 3];
	uint32_t count = counts[_i / 3];

	fill(width, count);
	check(width, NULL, count);
	for (uint32_t i = 0; i < count; i++)
		rows[i] = chance() % count;
	check(width, rows, count);
}
END_TEST

START_TEST(extremes_do_not_overflow)
{
	for (uint32_t i = 0; i < MOST; i++) {
		short_values[i] = _i == 0 ? INT16_MAX : INT16_MIN + 1;
		long_values[i] = _i == 0 ? INT32_MAX : INT32_MIN + 1;
		wide_values[i] = short_values[i];
	}
	check(2, NULL, MOST);
	for (uint32_t i = 0; i < MOST; i++)
		wide_values[i] = long_values[i];
	check(4, NULL, MOST);
	for (uint32_t i = 0; i < MOST; i++)
		wide_values[i] = _i == 0 ? INT64_MAX : -INT64_MAX;
	check(8, NULL, MOST);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("plane");
	TCase *tc = tcase_create("sums");

	tcase_add_loop_test(tc, sums_are_those_of_a_plain_loop, 0,
	    3 * sizeof(counts) / sizeof(counts[0]));
	tcase_add_loop_test(tc, extremes_do_not_overflow, 0, 2);
	suite_add_tcase(suite, tc);
	return suite;
}
