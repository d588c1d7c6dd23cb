#include "lmdb-schema/pack.h"

#include <stdlib.h>

#include "common/num.h"
#include "tests/support/random.h"
#include "tests/support/run.h"

static const struct {
	uint64_t value;
	const char *bytes;
	size_t len;
} unsigneds[] = {
    {0, "\x00", 1},
    {127, "\x7f", 1},
    {128, "\x80\x01", 2},
    {300, "\xac\x02", 2},
    {UINT32_MAX, "\xff\xff\xff\xff\x0f", 5},
    {UINT64_MAX, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10},
};

START_TEST(unsigned_numbers_have_these_bytes)
{
	uint8_t bytes[PACK_NUMBER_MAX];
	struct unpack from;
	size_t len =
	    (size_t)(pack_unsigned(bytes, unsigneds[_i].value) - bytes);

	ck_assert_uint_eq(len, unsigneds[_i].len);
	ck_assert_mem_eq(bytes, unsigneds[_i].bytes, len);
	unpack_init(&from, span_make(bytes, len));
	ck_assert_uint_eq(unpack_unsigned(&from), unsigneds[_i].value);
	ck_assert(unpack_done(&from));
}
END_TEST

static const struct {
	int64_t value;
	const char *bytes;
	size_t len;
} decimals[] = {
    {NUM_NULL, "\x00", 1}, {0, "\x01", 1},
    {1000000, "\x0f", 1}, /* 1: zigzag 2, 2 * 7 + 0 + 1 */
    {-1000000, "\x08", 1},
    {12500000, "\xd8\x0d", 2}, /* the example of pack.h */
    {1, "\x15", 1}, /* 0.000001: zigzag 2, 2 * 7 + 6 + 1 */
    {10000, "\x11", 1}, /* 0.01 */
};

START_TEST(decimals_have_these_bytes)
{
	uint8_t bytes[PACK_NUMBER_MAX];
	struct unpack from;
	size_t len = (size_t)(pack_decimal(bytes, decimals[_i].value) - bytes);

	ck_assert_uint_eq(len, decimals[_i].len);
	ck_assert_mem_eq(bytes, decimals[_i].bytes, len);
	unpack_init(&from, span_make(bytes, len));
	ck_assert_int_eq(unpack_decimal(&from), decimals[_i].value);
	ck_assert(unpack_done(&from));
}
END_TEST

/* All magnitudes, whole numbers and cents included. */
static int64_t
any_decimal(void)
{
	static const int64_t units[] = {1, 10, 100, 1000, 10000, 1000000};
	int64_t most = INT64_MAX / 16;
	int64_t value = (int64_t)(random_bits() >> 1 >> random_bits() % 63);

	value %= most;
	value -= value % units[random_bits() % 6];
	return random_bits() % 2 == 0 ? value : -value;
}

START_TEST(every_decimal_that_fits_reads_back)
{
	const int64_t most = INT64_MAX / 16;
	const int64_t edges[] = {most, -most, most - 1, 1, -1, 999999};

	for (unsigned i = 0; i < 200000; i++) {
		int64_t value = i < 6 ? edges[i] : any_decimal();
		uint8_t bytes[PACK_NUMBER_MAX];
		struct unpack from;

		run_must(pack_fits(value));
		unpack_init(&from,
		    span_make(
			bytes, (size_t)(pack_decimal(bytes, value) - bytes)));
		run_must(unpack_decimal(&from) == value);
		run_must(unpack_done(&from));
	}
}
END_TEST

START_TEST(what_is_too_large_is_told)
{
	ck_assert(pack_fits(NUM_NULL));
	ck_assert(!pack_fits(INT64_MAX));
	ck_assert(!pack_fits(-INT64_MAX));
	ck_assert(!pack_fits(INT64_MAX / 16 + 1));
}
END_TEST

/* A stream of all forms, drawn twice from the same seed. */
START_TEST(a_mixed_stream_reads_back)
{
	enum { COUNT = 20000 };
	static int64_t values[COUNT];
	static uint8_t kinds[COUNT];
	struct unpack from;
	struct buf buf;

	buf_init(&buf, 1 << 22);
	for (unsigned i = 0; i < COUNT; i++) {
		kinds[i] = (uint8_t)(random_bits() % 4);
		values[i] = kinds[i] == 2
		    ? any_decimal()
		    : (int64_t)(random_bits() >> random_bits() % 64);
		if (kinds[i] == 0)
			pack_add_unsigned(&buf, (uint64_t)values[i]);
		else if (kinds[i] == 1)
			pack_add_signed(&buf, values[i]);
		else if (kinds[i] == 2)
			pack_add_decimal(&buf, values[i]);
		else
			pack_add_text(
			    &buf, span_make("abcdefgh", (size_t)values[i] % 9));
	}
	ck_assert_int_eq(buf_end(&buf), ERR_OK);
	unpack_init(&from, buf_span(&buf));
	for (unsigned i = 0; i < COUNT; i++) {
		if (kinds[i] == 0)
			run_must(unpack_unsigned(&from) == (uint64_t)values[i]);
		else if (kinds[i] == 1)
			run_must(unpack_signed(&from) == values[i]);
		else if (kinds[i] == 2)
			run_must(unpack_decimal(&from) == values[i]);
		else
			run_must(span_eq(unpack_text(&from),
			    span_make("abcdefgh", (size_t)values[i] % 9)));
	}
	ck_assert(unpack_done(&from));
	buf_fini(&buf);
}
END_TEST

static const struct {
	const char *bytes;
	size_t len;
} bad[] = {
    {"", 0},
    {"\x80", 1}, /* goes on, but ends */
    {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10}, /* 65 bits */
    {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11},
};

START_TEST(bad_numbers_are_told_and_all_after_them_is_0)
{
	struct unpack from;

	unpack_init(&from, span_make(bad[_i].bytes, bad[_i].len));
	ck_assert_uint_eq(unpack_unsigned(&from), 0);
	ck_assert(from.bad);
	ck_assert_uint_eq(unpack_unsigned(&from), 0);
	ck_assert_uint_eq(unpack_text(&from).len, 0);
	ck_assert(!unpack_done(&from));
}
END_TEST

START_TEST(a_decimal_beyond_64_bits_is_bad)
{
	uint8_t bytes[PACK_NUMBER_MAX];
	struct unpack from;

	/* digits near 2^62 and no places: times a million overflows. */
	unpack_init(&from,
	    span_make(bytes,
		(size_t)(pack_unsigned(bytes, 1 + ((UINT64_C(1) << 60) * 7)) -
		    bytes)));
	ck_assert_int_eq(unpack_decimal(&from), 0);
	ck_assert(from.bad);
}
END_TEST

START_TEST(a_text_longer_than_the_bytes_is_bad)
{
	struct unpack from;

	unpack_init(&from,
	    SPAN("\x05"
		 "abcd"));
	ck_assert_uint_eq(unpack_text(&from).len, 0);
	ck_assert(from.bad);
}
END_TEST

START_TEST(bytes_that_are_left_over_are_not_done)
{
	struct unpack from;

	unpack_init(&from, SPAN("\x01\x02"));
	unpack_unsigned(&from);
	ck_assert(!from.bad);
	ck_assert(!unpack_done(&from));
}
END_TEST

START_TEST(random_bytes_never_lead_outside)
{
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t noise[4];
		struct unpack from;
		char *bytes = malloc(20);

		for (unsigned k = 0; k < 4; k++)
			noise[k] = random_bits();
		memcpy(bytes, noise, 20);
		unpack_init(&from, span_make(bytes, 20));
		for (unsigned k = 0; k < 30; k++)
			switch ((noise[3] >> k) % 3) {
			case 0:
				unpack_unsigned(&from);
				break;
			case 1:
				unpack_decimal(&from);
				break;
			default:
				unpack_text(&from);
			}
		run_must(from.at == from.end);
		free(bytes);
	}
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("pack");
	TCase *tc = tcase_create("pack");

	tcase_add_loop_test(tc, unsigned_numbers_have_these_bytes, 0,
	    sizeof(unsigneds) / sizeof(unsigneds[0]));
	tcase_add_loop_test(tc, decimals_have_these_bytes, 0,
	    sizeof(decimals) / sizeof(decimals[0]));
	tcase_add_test(tc, every_decimal_that_fits_reads_back);
	tcase_add_test(tc, what_is_too_large_is_told);
	tcase_add_test(tc, a_mixed_stream_reads_back);
	tcase_add_loop_test(tc, bad_numbers_are_told_and_all_after_them_is_0, 0,
	    sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(tc, a_decimal_beyond_64_bits_is_bad);
	tcase_add_test(tc, a_text_longer_than_the_bytes_is_bad);
	tcase_add_test(tc, bytes_that_are_left_over_are_not_done);
	tcase_add_test(tc, random_bytes_never_lead_outside);
	suite_add_tcase(suite, tc);
	return suite;
}
