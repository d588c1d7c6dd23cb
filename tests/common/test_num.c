#include "common/num.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/count.h"
#include "tests/support/random.h"
#include "tests/support/run.h"

#define ROUNDS 200000

/* Every magnitude is as likely as any other. */
static int64_t
random_int(void)
{
	return (int64_t)random_bits() >> (random_bits() % 64);
}

static __int128
random_wide(void)
{
	unsigned __int128 bits = random_bits();

	bits = bits << 64 | random_bits();
	return (__int128)bits >> (random_bits() % 128);
}

static const struct {
	const char *text;
	int64_t min;
	int64_t max;
	bool good;
	int64_t value;
} ints[] = {
    {"0", 0, 9, true, 0},
    {"7", 0, 9, true, 7},
    {"9", 0, 9, true, 9},
    {"10", 0, 9, false, 0},
    {"2", 3, 9, false, 0},
    {"-1", 0, 9, false, 0},
    {"-0", 0, 9, false, 0},
    {"-1", -1, 9, true, -1},
    {"-2", -1, 9, false, 0},
    {"-0", -1, 9, true, 0},
    {"-5", -9, -2, true, -5},
    {"5", -9, -2, false, 0},
    {"", INT64_MIN, INT64_MAX, false, 0},
    {NULL, INT64_MIN, INT64_MAX, false, 0},
    {"-", INT64_MIN, INT64_MAX, false, 0},
    {"--1", INT64_MIN, INT64_MAX, false, 0},
    {"+1", INT64_MIN, INT64_MAX, false, 0},
    {" 1", INT64_MIN, INT64_MAX, false, 0},
    {"1 ", INT64_MIN, INT64_MAX, false, 0},
    {"01", INT64_MIN, INT64_MAX, false, 0},
    {"00", INT64_MIN, INT64_MAX, false, 0},
    {"-01", INT64_MIN, INT64_MAX, false, 0},
    {"1.0", INT64_MIN, INT64_MAX, false, 0},
    {"1e3", INT64_MIN, INT64_MAX, false, 0},
    {"0x1", INT64_MIN, INT64_MAX, false, 0},
    {"1/", INT64_MIN, INT64_MAX, false, 0},
    {"1:", INT64_MIN, INT64_MAX, false, 0},
    {"\xd9\xa1", INT64_MIN, INT64_MAX, false, 0},
    {"9223372036854775807", INT64_MIN, INT64_MAX, true, INT64_MAX},
    {"9223372036854775808", INT64_MIN, INT64_MAX, false, 0},
    {"-9223372036854775808", INT64_MIN, INT64_MAX, true, INT64_MIN},
    {"-9223372036854775809", INT64_MIN, INT64_MAX, false, 0},
    {"9999999999999999999", INT64_MIN, INT64_MAX, false, 0},
    {"18446744073709551617", INT64_MIN, INT64_MAX, false, 0},
    {"100000000000000000000000", INT64_MIN, INT64_MAX, false, 0},
};

START_TEST(an_int_is_read_strictly)
{
	int64_t value = 77;
	bool good =
	    num_int(&value, span_of(ints[_i].text), ints[_i].min, ints[_i].max);

	ck_assert_int_eq(good, ints[_i].good);
	ck_assert_int_eq(value, good ? ints[_i].value : 77);
}
END_TEST

START_TEST(a_nul_is_no_digit)
{
	int64_t value;

	ck_assert(!num_int(&value, SPAN("1\0"), 0, 9));
	ck_assert(!num_decimal(&value, SPAN("1\0")));
	ck_assert(!num_decimal(&value, SPAN("1.\0")));
}
END_TEST

START_TEST(a_number_ends_where_its_span_does)
{
	int64_t value;

	ck_assert(num_int(&value, span_make("1234", 2), 0, 99));
	ck_assert_int_eq(value, 12);
	ck_assert(num_decimal(&value, span_make("1.2345", 4)));
	ck_assert_int_eq(value, 1230000);
	ck_assert(!num_decimal(&value, span_make("1.2345", 2)));
}
END_TEST

static const struct {
	const char *text;
	bool good;
	int64_t micro;
} decimals[] = {
    {"0", true, 0},
    {"3", true, 3000000},
    {"12.5", true, 12500000},
    {"-12.5", true, -12500000},
    {"0.000001", true, 1},
    {"-0.000001", true, -1},
    {"0.1", true, 100000},
    {"0.12", true, 120000},
    {"0.123", true, 123000},
    {"0.1234", true, 123400},
    {"0.12345", true, 123450},
    {"0.123456", true, 123456},
    {"0.1234560", true, 123456},
    {"0.123456000000000000000000000", true, 123456},
    {"0.1234561", false, 0},
    {"0.12345600001", false, 0},
    {"0.0000001", false, 0},
    {"0.0000000", true, 0},
    {"-0", true, 0},
    {"-0.0", true, 0},
    {"007.50", true, 7500000},
    {"000000000000000000000000000001", true, 1000000},
    {"00000000000000000000000000000", true, 0},
    {"-00.5", true, -500000},
    {"9223372036854.775807", true, INT64_MAX},
    {"-9223372036854.775807", true, -INT64_MAX},
    {"9223372036854.775808", false, 0},
    {"-9223372036854.775808", false, 0},
    {"9223372036855", false, 0},
    {"9999999999999.999999", false, 0},
    {"10000000000000", false, 0},
    {"99999999999999999999999999", false, 0},
    {"", false, 0},
    {NULL, false, 0},
    {"-", false, 0},
    {".", false, 0},
    {"-.", false, 0},
    {".5", false, 0},
    {"-.5", false, 0},
    {"5.", false, 0},
    {"0.", false, 0},
    {"+5", false, 0},
    {"--5", false, 0},
    {"5-", false, 0},
    {"1.2.3", false, 0},
    {"1..2", false, 0},
    {"1.-2", false, 0},
    {"12,5", false, 0},
    {"1e5", false, 0},
    {"1.5e5", false, 0},
    {"1.0000000e", false, 0},
    {" 1", false, 0},
    {"1 ", false, 0},
    {"1.5 ", false, 0},
    {"1 000", false, 0},
    {"NaN", false, 0},
    {"inf", false, 0},
    {"a", false, 0},
    {"0/", false, 0},
    {"0.:", false, 0},
};

START_TEST(a_decimal_is_read_strictly)
{
	int64_t micro = 77;
	bool good = num_decimal(&micro, span_of(decimals[_i].text));

	ck_assert_int_eq(good, decimals[_i].good);
	ck_assert_int_eq(micro, good ? decimals[_i].micro : 77);
}
END_TEST

static const struct {
	int64_t micro;
	const char *text;
} texts[] = {
    {0, "0"},
    {1, "0.000001"},
    {-1, "-0.000001"},
    {10, "0.00001"},
    {100000, "0.1"},
    {999999, "0.999999"},
    {1000000, "1"},
    {-1000000, "-1"},
    {1000001, "1.000001"},
    {12500000, "12.5"},
    {10010000, "10.01"},
    {99000000, "99"},
    {100000000, "100"},
    {-123456789000, "-123456.789"},
    {INT64_C(100000000000), "100000"},
    {INT64_MAX, "9223372036854.775807"},
    {-INT64_MAX, "-9223372036854.775807"},
    {INT64_MIN, "-9223372036854.775808"},
};

START_TEST(a_decimal_has_the_shortest_exact_text)
{
	char text[NUM_TEXT_MAX];
	size_t len = num_decimal_text(text, texts[_i].micro);

	ck_assert_str_eq(text, texts[_i].text);
	ck_assert_uint_eq(len, strlen(text));
}
END_TEST

/* Around each power of ten, where the number of digits changes. */
START_TEST(an_int_has_the_text_that_printf_gives)
{
	char text[NUM_TEXT_MAX];
	char expected[NUM_TEXT_MAX];
	int64_t power = 1;
	int64_t value;

	for (int i = 0; i < 19; i++, power *= i < 19 ? 10 : 1) {
		for (int near = -2; near <= 2; near++) {
			value = (i % 2 ? -power : power) + near;
			snprintf(expected, sizeof(expected), "%" PRId64, value);
			ck_assert_uint_eq(
			    num_int_text(text, value), strlen(expected));
			ck_assert_str_eq(text, expected);
		}
	}
	num_int_text(text, INT64_MIN);
	ck_assert_str_eq(text, "-9223372036854775808");
	num_int_text(text, INT64_MAX);
	ck_assert_str_eq(text, "9223372036854775807");
}
END_TEST

START_TEST(every_small_number_comes_back)
{
	char text[NUM_TEXT_MAX];
	int64_t back;

	for (int64_t value = -1100000; value <= 1100000; value++) {
		size_t len = num_decimal_text(text, value);

		back = 77;
		run_must(num_decimal(&back, span_make(text, len)));
		run_must(back == value);
	}
}
END_TEST

START_TEST(any_number_comes_back)
{
	char text[NUM_TEXT_MAX];
	char expected[NUM_TEXT_MAX];
	int64_t back;

	for (int i = 0; i < ROUNDS; i++) {
		int64_t value = random_int();
		size_t len = num_int_text(text, value);

		snprintf(expected, sizeof(expected), "%" PRId64, value);
		run_must(strcmp(text, expected) == 0);
		back = 77;
		run_must(
		    num_int(&back, span_make(text, len), INT64_MIN, INT64_MAX));
		run_must(back == value);

		len = num_decimal_text(text, value);
		run_must(len < NUM_TEXT_MAX);
		if (strchr(text, '.') != NULL)
			run_must(text[len - 1] != '0');
		run_must(num_decimal(&back, span_make(text, len)) ==
		    (value != NUM_NULL));
		if (value != NUM_NULL)
			run_must(back == value);
	}
}
END_TEST

/* Written in place and through the slow way; at the ceiling to the byte. */
START_TEST(numbers_fit_a_buffer_exactly)
{
	struct buf buf;

	for (size_t max = 1; max < 100; max++) {
		const char *all = "-12.5|-9223372036854775808|0|7";

		buf_init(&buf, max);
		num_add_decimal(&buf, -12500000);
		buf_add_char(&buf, '|');
		num_add_int(&buf, INT64_MIN);
		buf_add_char(&buf, '|');
		num_add_decimal(&buf, 0);
		buf_add_char(&buf, '|');
		num_add_int(&buf, 7);
		ck_assert_int_eq(
		    buf_end(&buf), max < strlen(all) ? ERR_TOO_LARGE : ERR_OK);
		ck_assert_uint_le(buf.len, max);
		for (size_t i = 0; i < buf.len; i++)
			ck_assert_int_eq(buf.data[i], all[i]);
		buf_fini(&buf);
	}
}
END_TEST

START_TEST(a_failed_buffer_takes_no_number)
{
	struct buf buf;

	buf_init(&buf, 1000);
	num_add_int(&buf, 1);
	buf_fail(&buf, ERR_CLOSED);
	num_add_int(&buf, 2);
	num_add_decimal(&buf, 3);
	ck_assert(span_eq(buf_span(&buf), SPAN("1")));
	buf_fini(&buf);
}
END_TEST

#define WIDE_MAX ((__int128)(((unsigned __int128)1 << 127) - 1))
#define WIDE_MIN (-WIDE_MAX - 1)

static const struct {
	__int128 top;
	__int128 bottom;
	int64_t micro;
} ratios[] = {
    {0, 1, 0},
    {0, -5, 0},
    {1, 1, 1000000},
    {1, 3, 333333},
    {2, 3, 666667},
    {-2, 3, -666667},
    {2, -3, -666667},
    {-2, -3, 666667},
    {1, 2000000, 1},
    {-1, 2000000, -1},
    {1, 2000001, 0},
    {-1, 2000001, 0},
    {3, 2000000, 2},
    {5, 2000000, 3},
    {1, 0, NUM_NULL},
    {0, 0, NUM_NULL},
    {INT64_MAX, 1000000, INT64_MAX},
    {-(__int128)INT64_MAX, 1000000, -INT64_MAX},
    {INT64_MIN, 1000000, NUM_NULL},
    {(__int128)INT64_MAX + 1, 1000000, NUM_NULL},
    {(__int128)INT64_MAX * 10 + 4, 10000000, INT64_MAX},
    {(__int128)INT64_MAX * 10 + 5, 10000000, NUM_NULL},
    {INT64_MAX, 1, NUM_NULL},
    {WIDE_MAX, 1, NUM_NULL},
    {WIDE_MIN, 1, NUM_NULL},
    {WIDE_MIN, -1, NUM_NULL},
    {WIDE_MAX, WIDE_MAX, 1000000},
    {WIDE_MIN, WIDE_MIN, 1000000},
    {WIDE_MIN, WIDE_MAX, -1000000},
    {WIDE_MAX / 2, WIDE_MAX, 500000},
    {WIDE_MAX / 3, WIDE_MAX, 333333},
    {1, WIDE_MIN, 0},
    {WIDE_MAX / 1000000, WIDE_MAX, 1},
};

START_TEST(a_ratio_is_rounded_half_away_from_zero)
{
	ck_assert_int_eq(
	    num_ratio(ratios[_i].top, ratios[_i].bottom), ratios[_i].micro);
}
END_TEST

/* Says nothing about a top so large that 128 bits cannot scale it. */
static void
check_ratio(__int128 top, __int128 bottom)
{
	__int128 limit = WIDE_MAX / NUM_MICRO;
	__int128 expected = NUM_NULL;
	unsigned __int128 rest;
	unsigned __int128 size;

	if (top > limit || top < -limit)
		return;
	if (bottom != 0) {
		expected = top * NUM_MICRO / bottom;
		rest = (unsigned __int128)(top * NUM_MICRO % bottom);
		size = (unsigned __int128)bottom;
		rest = top < 0 ? -rest : rest;
		size = bottom < 0 ? -size : size;
		if (rest * 2 >= size)
			expected += (top < 0) == (bottom < 0) ? 1 : -1;
	}
	if (expected > INT64_MAX || expected < -INT64_MAX)
		expected = NUM_NULL;
	run_must(num_ratio(top, bottom) == (int64_t)expected);
}

START_TEST(ratios_are_what_wide_arithmetic_gives)
{
	for (int64_t top = -60; top <= 60; top++)
		for (int64_t bottom = -60; bottom <= 60; bottom++)
			check_ratio(top, bottom * 1000);
	for (int i = 0; i < ROUNDS; i++) {
		check_ratio(random_int(), random_int());
		check_ratio(random_wide(), random_int());
		check_ratio(random_wide(), random_wide());
	}
}
END_TEST

/* The wide way and the narrow way agree: both sides times the same. */
START_TEST(a_ratio_does_not_change_with_its_unit)
{
	for (int i = 0; i < ROUNDS / 10; i++) {
		__int128 top = random_int();
		__int128 bottom = random_int();
		__int128 unit = INT64_C(1) << 62;
		int64_t narrow = num_ratio(top, bottom);

		run_must(num_ratio(top * unit, bottom * unit) == narrow);
		run_must(num_ratio(-top * unit, -bottom * unit) == narrow);
	}
}
END_TEST

static const struct {
	int64_t a;
	int64_t b;
	int64_t product;
} products[] = {
    {1000000, 1000000, 1000000},
    {1500000, 1500000, 2250000},
    {1, 1, 0},
    {1, 500000, 1},
    {1, 499999, 0},
    {-1, 500000, -1},
    {-1, 499999, 0},
    {-1, -500000, 1},
    {INT64_MAX, 1000000, INT64_MAX},
    {INT64_MAX, -1000000, -INT64_MAX},
    {INT64_MAX, 1000001, NUM_NULL},
    {INT64_MAX, INT64_MAX, NUM_NULL},
    {-INT64_MAX, INT64_MAX, NUM_NULL},
    {NUM_NULL, 1000000, NUM_NULL},
    {0, NUM_NULL, NUM_NULL},
};

START_TEST(a_product_is_rounded_half_away_from_zero)
{
	ck_assert_int_eq(
	    num_times(products[_i].a, products[_i].b), products[_i].product);
	ck_assert_int_eq(
	    num_times(products[_i].b, products[_i].a), products[_i].product);
}
END_TEST

START_TEST(products_are_what_wide_arithmetic_gives)
{
	for (int i = 0; i < ROUNDS; i++) {
		int64_t a = random_int();
		int64_t b = random_int();
		__int128 product = (__int128)a * b;
		__int128 rest = product % NUM_MICRO;

		product /= NUM_MICRO;
		product += (rest >= NUM_MICRO / 2) - (rest <= -NUM_MICRO / 2);
		if (a == NUM_NULL || b == NUM_NULL || product > INT64_MAX ||
		    product < -INT64_MAX)
			product = NUM_NULL;
		run_must(num_times(a, b) == (int64_t)product);
	}
}
END_TEST

static const struct {
	int64_t a;
	int64_t b;
	bool good;
	int64_t sum;
} sums[] = {
    {1, 2, true, 3},
    {INT64_MAX, 0, true, INT64_MAX},
    {INT64_MAX, -INT64_MAX, true, 0},
    {INT64_MAX, 1, false, 0},
    {-INT64_MAX, -1, false, 0},
    {INT64_MIN, -1, false, 0},
    {INT64_MIN, 0, false, 0},
    {INT64_MIN, 1, true, -INT64_MAX},
};

START_TEST(a_sum_fits_or_is_refused)
{
	int64_t sum = 77;

	ck_assert_int_eq(num_add(&sum, sums[_i].a, sums[_i].b), sums[_i].good);
	ck_assert_int_eq(sum, sums[_i].good ? sums[_i].sum : 77);
}
END_TEST

static const struct {
	int64_t micro;
	int64_t units;
} units[] = {
    {0, 0},
    {499999, 0},
    {500000, 1},
    {-499999, 0},
    {-500000, -1},
    {1499999, 1},
    {1500000, 2},
    {-1500000, -2},
    {2500000, 3},
    {INT64_MAX, INT64_C(9223372036855)},
    {-INT64_MAX, INT64_C(-9223372036855)},
    {NUM_NULL, NUM_NULL},
};

START_TEST(units_are_rounded_half_away_from_zero)
{
	ck_assert_int_eq(num_round_units(units[_i].micro), units[_i].units);
}
END_TEST

START_TEST(every_pair_of_digits_is_itself)
{
	char text[3] = "";

	for (unsigned i = 0; i < 100; i++) {
		num_put_pair(text, i);
		ck_assert_int_eq(atol(text), i);
		ck_assert_uint_eq(strlen(text), 2);
	}
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("num");
	TCase *in = tcase_create("in");
	TCase *out = tcase_create("out");
	TCase *sum = tcase_create("arithmetic");

	tcase_add_loop_test(in, an_int_is_read_strictly, 0, COUNT(ints));
	tcase_add_loop_test(in, a_decimal_is_read_strictly, 0, COUNT(decimals));
	tcase_add_test(in, a_nul_is_no_digit);
	tcase_add_test(in, a_number_ends_where_its_span_does);
	suite_add_tcase(suite, in);

	tcase_set_timeout(out, 300);
	tcase_add_loop_test(
	    out, a_decimal_has_the_shortest_exact_text, 0, COUNT(texts));
	tcase_add_test(out, an_int_has_the_text_that_printf_gives);
	tcase_add_test(out, every_small_number_comes_back);
	tcase_add_test(out, any_number_comes_back);
	tcase_add_test(out, numbers_fit_a_buffer_exactly);
	tcase_add_test(out, a_failed_buffer_takes_no_number);
	tcase_add_test(out, every_pair_of_digits_is_itself);
	suite_add_tcase(suite, out);

	tcase_set_timeout(sum, 300);
	tcase_add_loop_test(
	    sum, a_ratio_is_rounded_half_away_from_zero, 0, COUNT(ratios));
	tcase_add_test(sum, ratios_are_what_wide_arithmetic_gives);
	tcase_add_test(sum, a_ratio_does_not_change_with_its_unit);
	tcase_add_loop_test(
	    sum, a_product_is_rounded_half_away_from_zero, 0, COUNT(products));
	tcase_add_test(sum, products_are_what_wide_arithmetic_gives);
	tcase_add_loop_test(sum, a_sum_fits_or_is_refused, 0, COUNT(sums));
	tcase_add_loop_test(
	    sum, units_are_rounded_half_away_from_zero, 0, COUNT(units));
	suite_add_tcase(suite, sum);
	return suite;
}
