/* tests/fcgi/test_key_rates.c: fcgi/key_rates.h */
#include "fcgi/key_rates.h"

#include <stdio.h>

#include "tests/support/run.h"

#define SECOND INT64_C(1000000000)

static struct key_rates rates;

static int64_t
take(const char *id, int64_t per_minute, int64_t at_s)
{
	return key_rates_take(
	    &rates, span_of(id), per_minute, 1000 * SECOND + at_s * SECOND);
}

START_TEST(so_many_at_once_then_one_at_a_time)
{
	for (unsigned i = 0; i < 30; i++)
		ck_assert_int_eq(take("a", 30, 0), 0);
	ck_assert_int_eq(take("a", 30, 0), 2);
	ck_assert_int_eq(take("a", 30, 1), 1);
	ck_assert_int_eq(take("a", 30, 2), 0);
	ck_assert_int_eq(take("a", 30, 2), 2);
	/* After a minute's rest all of them again, and no more. */
	for (unsigned i = 0; i < 30; i++)
		ck_assert_int_eq(take("a", 30, 1000), 0);
	ck_assert_int_eq(take("a", 30, 1000), 2);
}
END_TEST

START_TEST(keys_are_apart)
{
	ck_assert_int_eq(take("one", 1, 0), 0);
	ck_assert_int_eq(take("one", 1, 0), 60);
	ck_assert_int_eq(take("two", 1, 0), 0);
	ck_assert_int_eq(take("one", 1, 60), 0);
}
END_TEST

START_TEST(more_keys_than_places_are_served)
{
	char id[32];

	for (unsigned i = 0; i < 4 * KEY_RATES; i++) {
		snprintf(id, sizeof(id), "key%u", i);
		ck_assert_int_eq(take(id, 60, i), 0);
	}
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("key_rates");
	TCase *tc = tcase_create("key_rates");

	tcase_add_test(tc, so_many_at_once_then_one_at_a_time);
	tcase_add_test(tc, keys_are_apart);
	tcase_add_test(tc, more_keys_than_places_are_served);
	suite_add_tcase(suite, tc);
	return suite;
}
