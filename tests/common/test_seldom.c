#include "common/seldom.h"

#include "tests/support/run.h"

#define SECOND INT64_C(1000000000)
#define START (5 * SECOND) /* since the machine was started */

static struct seldom seldom;
static uint64_t untold;

static void
set_up(void)
{
	seldom = (struct seldom)SELDOM_INIT;
	untold = 99;
}

static bool
fails_at(int64_t second)
{
	return seldom_fails(&seldom, &untold, START + second * SECOND);
}

static bool
works_at(int64_t second)
{
	return seldom_works(&seldom, &untold, START + second * SECOND);
}

START_TEST(the_first_failure_is_told_and_those_of_a_minute_are_counted)
{
	ck_assert(fails_at(0));
	ck_assert_uint_eq(untold, 0);
	for (int second = 1; second < 60; second++)
		ck_assert(!fails_at(second));
	ck_assert(fails_at(60));
	ck_assert_uint_eq(untold, 59);
	ck_assert(!fails_at(61));
	ck_assert(fails_at(300));
	ck_assert_uint_eq(untold, 1);
}
END_TEST

START_TEST(success_without_a_failure_is_not_told)
{
	ck_assert(!works_at(0));
	ck_assert(!works_at(60));
}
END_TEST

START_TEST(the_end_is_told_once_with_what_was_not)
{
	fails_at(0);
	fails_at(1);
	fails_at(2);
	ck_assert(!works_at(2));
	ck_assert(!works_at(61));
	ck_assert(works_at(62));
	ck_assert_uint_eq(untold, 2);
	ck_assert(!works_at(63));
	ck_assert(!works_at(300));
}
END_TEST

START_TEST(a_failure_after_the_end_is_told_at_once)
{
	fails_at(0);
	ck_assert(works_at(60));
	ck_assert_uint_eq(untold, 0);
	ck_assert(fails_at(61));
	ck_assert_uint_eq(untold, 0);
	ck_assert(!fails_at(62));
}
END_TEST

/* As where small writes find room on a full disk, and larger ones do not. */
START_TEST(failures_between_successes_are_a_line_a_minute_and_all_counted)
{
	uint64_t lines = 0, counted = 0;

	for (int second = 0; second < 590; second++) {
		if (fails_at(second)) {
			lines++;
			counted += 1 + untold;
		}
		ck_assert(!works_at(second));
	}
	ck_assert_uint_eq(lines, 10);
	ck_assert(!works_at(648));
	ck_assert(works_at(649));
	ck_assert_uint_eq(counted + untold, 590);
}
END_TEST

/* 64 causes are kept at least. */
START_TEST(each_cause_is_told_once_a_minute)
{
	char cause[] = "file 00: missing";

	for (int second = 0; second < 120; second++)
		for (int i = 0; i < 64; i++) {
			cause[5] = (char)('0' + i / 10);
			cause[6] = (char)('0' + i % 10);
			ck_assert_int_eq(seldom_fails_of(cause, &untold,
					     START + second * SECOND),
			    second % 60 == 0);
			ck_assert(second != 0 || untold == 0);
			ck_assert(second != 60 || untold == 59);
		}
}
END_TEST

START_TEST(a_new_cause_is_told_where_many_are_kept)
{
	char cause[] = "file 000";

	for (int i = 0; i < 500; i++) {
		cause[5] = (char)('0' + i / 100);
		cause[6] = (char)('0' + i / 10 % 10);
		cause[7] = (char)('0' + i % 10);
		ck_assert(seldom_fails_of(cause, &untold, START + i));
		ck_assert_uint_eq(untold, 0);
		ck_assert(!seldom_fails_of(cause, &untold, START + i));
	}
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("seldom");
	TCase *tc = tcase_create("all");

	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_test(
	    tc, the_first_failure_is_told_and_those_of_a_minute_are_counted);
	tcase_add_test(tc, success_without_a_failure_is_not_told);
	tcase_add_test(tc, the_end_is_told_once_with_what_was_not);
	tcase_add_test(tc, a_failure_after_the_end_is_told_at_once);
	tcase_add_test(
	    tc, failures_between_successes_are_a_line_a_minute_and_all_counted);
	tcase_add_test(tc, each_cause_is_told_once_a_minute);
	tcase_add_test(tc, a_new_cause_is_told_where_many_are_kept);
	suite_add_tcase(suite, tc);
	return suite;
}
