#include "common/date.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/count.h"
#include "tests/support/run.h"

#define MS_PER_DAY INT64_C(86400000)
#define DAY_MIN (-719162)
#define DAY_MAX 2932896

/* A naive calendar that counts day by day, with no formula in common. */
static int
month_length(int year, int month)
{
	if (month == 2)
		return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0
		    ? 29
		    : 28;
	return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

/*
 * Checks a day of the walk: every conversion between its text and its number.
 */
static void
check_day(int32_t day, int year, int month, int mday)
{
	char text[DATE_TEXT_MAX];
	char expected[DATE_TEXT_MAX];
	int32_t back = 0;

	snprintf(expected, sizeof(expected), "%04u-%02u-%02u",
	    (unsigned)year % 10000, (unsigned)month % 100,
	    (unsigned)mday % 100);
	run_must(date_day_text(text, day) == 10);
	run_must(strcmp(text, expected) == 0);
	run_must(date_day(&back, span_make(text, 10)));
	run_must(back == day);
	run_must(date_day_of(year, month, mday) == day);
	run_must(date_month_of_day(day) == year * 12 + month - 1);
}

START_TEST(every_day_comes_back)
{
	int32_t day = DAY_MIN;

	for (int year = 1; year <= 9999; year++)
		for (int month = 1; month <= 12; month++)
			for (int mday = 1; mday <= month_length(year, month);
			     mday++)
				check_day(day++, year, month, mday);
	ck_assert_int_eq(day, DAY_MAX + 1);
}
END_TEST

START_TEST(every_month_comes_back)
{
	char text[DATE_TEXT_MAX];
	char expected[DATE_TEXT_MAX];
	int32_t last = DAY_MIN - 1;
	int32_t back;

	for (int32_t month = 12; month < 120000; month++) {
		unsigned year = (unsigned)month / 12 % 10000;
		unsigned number = (unsigned)month % 12 + 1;

		last += month_length((int)year, (int)number);
		run_must(date_month_last_day(month) == last);
		snprintf(expected, sizeof(expected), "%04u%02u", year, number);
		run_must(date_month_text(text, month) == 6);
		run_must(strcmp(text, expected) == 0);
		run_must(date_month(&back, span_make(text, 6)));
		run_must(back == month);
		snprintf(expected, sizeof(expected), "%04u-%02u", year, number);
		run_must(date_month_dashed_text(text, month) == 7);
		run_must(strcmp(text, expected) == 0);
		run_must(date_month_dashed(&back, span_make(text, 7)));
		run_must(back == month);
	}
	run_must(last == DAY_MAX);
}
END_TEST

static const struct {
	const char *text;
	int32_t day;
} days[] = {
    {"1970-01-01", 0},
    {"1969-12-31", -1},
    {"2000-02-29", 11016},
    {"2025-03-09", 20156},
    {"0001-01-01", DAY_MIN},
    {"9999-12-31", DAY_MAX},
};

START_TEST(known_days_have_their_numbers)
{
	int32_t day;

	ck_assert(date_day(&day, span_of(days[_i].text)));
	ck_assert_int_eq(day, days[_i].day);
}
END_TEST

static const char *const bad_days[] = {
    "",
    NULL,
    "2025-3-09",
    "2025-03-9",
    "25-03-09",
    "2025-03-091",
    "2025-03-09 ",
    " 2025-03-09",
    "2025/03/09",
    "2025-03.09",
    "20250309",
    "2025-00-01",
    "2025-13-01",
    "2025-01-00",
    "2025-01-32",
    "2025-04-31",
    "2025-02-29",
    "2024-02-30",
    "1900-02-29",
    "0000-01-01",
    "-001-01-01",
    "+025-01-01",
    "202a-01-01",
    "2025-0a-01",
    "2025-01-0:",
    "2025-01-/1",
    "2025-99-99",
};

START_TEST(what_is_no_day_is_refused)
{
	int32_t day = 77;

	ck_assert(!date_day(&day, span_of(bad_days[_i])));
	ck_assert_int_eq(day, 77);
}
END_TEST

static const char *const bad_months[] = {
    "",
    NULL,
    "202500",
    "202513",
    "202599",
    "000001",
    "2025-1",
    "20251",
    "2025011",
    "2025 01",
    "2025-00",
    "2025-13",
    "0000-01",
    "2025/01",
    "2025-011",
    "x02501",
    "2025-x1",
};

START_TEST(what_is_no_month_is_refused)
{
	int32_t month = 77;

	ck_assert(!date_month(&month, span_of(bad_months[_i])));
	ck_assert(!date_month_dashed(&month, span_of(bad_months[_i])));
	ck_assert_int_eq(month, 77);
}
END_TEST

START_TEST(the_two_forms_of_a_month_are_kept_apart)
{
	int32_t month;

	ck_assert(!date_month(&month, SPAN("2025-03")));
	ck_assert(!date_month_dashed(&month, SPAN("202503")));
}
END_TEST

#define NOON (20156 * MS_PER_DAY + 12 * INT64_C(3600000))

static const struct {
	const char *text;
	int64_t ms;
} instants[] = {
    {"1970-01-01T00:00:00Z", 0},
    {"1969-12-31T23:59:59.999Z", -1},
    {"2025-03-09T12:00:00Z", NOON},
    {"2025-03-09t12:00:00z", NOON},
    {"2025-03-09T12:00:00.250Z", NOON + 250},
    {"2025-03-09T12:00:00.2Z", NOON + 200},
    {"2025-03-09T12:00:00.25Z", NOON + 250},
    {"2025-03-09T12:00:00.2509999999999999999Z", NOON + 250},
    {"2025-03-09T12:00:00.0009Z", NOON},
    {"2025-03-09T12:00:00+00:00", NOON},
    {"2025-03-09T12:00:00-00:00", NOON},
    {"2025-03-09T13:00:00+01:00", NOON},
    {"2025-03-09T06:30:00.5-05:30", NOON + 500},
    {"2025-03-10T11:59:00+23:59", NOON},
    {"2025-03-08T12:01:00-23:59", NOON},
    {"2016-12-31T23:59:60Z", 17167 * MS_PER_DAY},
    {"2017-01-01T00:59:60+01:00", 17167 * MS_PER_DAY},
    {"2016-12-31T23:59:60.5Z", 17167 * MS_PER_DAY + 500},
    {"1968-12-31T23:59:60Z", -365 * MS_PER_DAY},
    {"0001-01-01T00:00:00Z", DAY_MIN *MS_PER_DAY},
    {"9999-12-31T23:59:59.999Z", (DAY_MAX + 1) * MS_PER_DAY - 1},
};

START_TEST(instants_are_read)
{
	int64_t ms = 77;

	ck_assert(date_instant(&ms, span_of(instants[_i].text)));
	ck_assert_int_eq(ms, instants[_i].ms);
}
END_TEST

static const char *const bad_instants[] = {
    "",
    NULL,
    "2025-03-09",
    "2025-03-09T12:00:00",
    "2025-03-09 12:00:00Z",
    "2025-03-09T12:00Z",
    "2025-03-09T24:00:00Z",
    "2025-03-09T12:60:00Z",
    "2025-03-09T12:00:61Z",
    "2025-03-09T12:00:60Z",
    "2025-03-09T23:59:60+01:00",
    "2025-03-09T12-00-00Z",
    "2025-03-09T12:00:0aZ",
    "2025-03-09T12:00:00.Z",
    "2025-03-09T12:00:00.",
    "2025-03-09T12:00:00.25",
    "2025-03-09T12:00:00,250Z",
    "2025-03-09T12:00:00.2 Z",
    "2025-03-09T12:00:00ZZ",
    "2025-03-09T12:00:00Z ",
    "2025-03-09T12:00:00X",
    "2025-03-09T12:00:00+1:00",
    "2025-03-09T12:00:00+0100",
    "2025-03-09T12:00:00+01",
    "2025-03-09T12:00:00+24:00",
    "2025-03-09T12:00:00+01:60",
    "2025-03-09T12:00:00+01:00Z",
    "2025-03-09T12:00:00*01:00",
    "2025-02-30T12:00:00Z",
    "0000-12-31T12:00:00Z",
    "0001-01-01T00:00:00+00:01",
    "9999-12-31T23:59:59-00:01",
    "9999-12-31T23:59:60Z",
};

START_TEST(what_is_no_instant_is_refused)
{
	int64_t ms = 77;

	ck_assert(!date_instant(&ms, span_of(bad_instants[_i])));
	ck_assert_int_eq(ms, 77);
}
END_TEST

START_TEST(instants_come_back)
{
	char text[DATE_TEXT_MAX];
	int64_t first = DAY_MIN * MS_PER_DAY;
	int64_t end = (DAY_MAX + INT64_C(1)) * MS_PER_DAY;
	int64_t back;
	/* A prime step, so that every field takes every value. */
	for (int64_t ms = first; ms < end; ms += INT64_C(1234567891)) {
		size_t len = date_instant_text(text, ms);

		run_must(len == 24);
		run_must(strlen(text) == len);
		run_must(date_instant(&back, span_make(text, len)));
		run_must(back == ms);
		run_must(date_day_from_ms(ms) ==
		    (ms - first) / MS_PER_DAY + DAY_MIN);
	}
}
END_TEST

START_TEST(an_instant_has_three_digits_behind_the_second)
{
	char text[DATE_TEXT_MAX];

	date_instant_text(text, NOON + 250);
	ck_assert_str_eq(text, "2025-03-09T12:00:00.250Z");
	date_instant_text(text, NOON + 7);
	ck_assert_str_eq(text, "2025-03-09T12:00:00.007Z");
	date_instant_text(text, NOON);
	ck_assert_str_eq(text, "2025-03-09T12:00:00.000Z");
	date_instant_text(text, -1);
	ck_assert_str_eq(text, "1969-12-31T23:59:59.999Z");
}
END_TEST

static const int32_t no_days[] = {
    DATE_NULL,
    DAY_MIN - 1,
    DAY_MAX + 1,
    INT32_MAX,
};

START_TEST(a_number_outside_the_calendar_has_no_text)
{
	char text[DATE_TEXT_MAX] = "?";

	ck_assert_uint_eq(date_day_text(text, no_days[_i]), 0);
	ck_assert_str_eq(text, "");
	ck_assert_int_eq(date_month_of_day(no_days[_i]), DATE_NULL);
	ck_assert_uint_eq(date_instant_text(text, no_days[_i] * MS_PER_DAY), 0);
	ck_assert_str_eq(text, "");
	ck_assert_int_eq(date_day_from_ms(no_days[_i] * MS_PER_DAY), DATE_NULL);
}
END_TEST

static const int32_t no_months[] = {DATE_NULL, -1, 0, 11, 120000, INT32_MAX};

START_TEST(a_month_outside_the_calendar_has_no_text)
{
	char text[DATE_TEXT_MAX] = "?";

	ck_assert_uint_eq(date_month_text(text, no_months[_i]), 0);
	ck_assert_str_eq(text, "");
	ck_assert_uint_eq(date_month_dashed_text(text, no_months[_i]), 0);
	ck_assert_str_eq(text, "");
	ck_assert_int_eq(date_month_last_day(no_months[_i]), DATE_NULL);
}
END_TEST

START_TEST(the_ends_of_time_do_no_harm)
{
	char text[DATE_TEXT_MAX] = "?";

	ck_assert_int_eq(date_day_from_ms(INT64_MIN), DATE_NULL);
	ck_assert_int_eq(date_day_from_ms(INT64_MAX), DATE_NULL);
	ck_assert_uint_eq(date_instant_text(text, INT64_MIN), 0);
	ck_assert_uint_eq(date_instant_text(text, INT64_MAX), 0);
}
END_TEST

START_TEST(the_clocks_run)
{
	int64_t before = date_monotonic_ns();

	ck_assert_int_gt(date_now_ms(), date_day_of(2024, 1, 1) * MS_PER_DAY);
	ck_assert_int_lt(date_now_ms(), date_day_of(9999, 1, 1) * MS_PER_DAY);
	ck_assert_int_ge(date_monotonic_ns(), before);
	ck_assert_int_gt(before, 0);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("date");
	TCase *days_case = tcase_create("days and months");
	TCase *instants_case = tcase_create("instants");

	tcase_set_timeout(days_case, 300);
	tcase_add_test(days_case, every_day_comes_back);
	tcase_add_test(days_case, every_month_comes_back);
	tcase_add_loop_test(
	    days_case, known_days_have_their_numbers, 0, COUNT(days));
	tcase_add_loop_test(
	    days_case, what_is_no_day_is_refused, 0, COUNT(bad_days));
	tcase_add_loop_test(
	    days_case, what_is_no_month_is_refused, 0, COUNT(bad_months));
	tcase_add_test(days_case, the_two_forms_of_a_month_are_kept_apart);
	tcase_add_loop_test(days_case,
	    a_number_outside_the_calendar_has_no_text, 0, COUNT(no_days));
	tcase_add_loop_test(days_case, a_month_outside_the_calendar_has_no_text,
	    0, COUNT(no_months));
	suite_add_tcase(suite, days_case);

	tcase_set_timeout(instants_case, 300);
	tcase_add_loop_test(
	    instants_case, instants_are_read, 0, COUNT(instants));
	tcase_add_loop_test(instants_case, what_is_no_instant_is_refused, 0,
	    COUNT(bad_instants));
	tcase_add_test(instants_case, instants_come_back);
	tcase_add_test(
	    instants_case, an_instant_has_three_digits_behind_the_second);
	tcase_add_test(instants_case, the_ends_of_time_do_no_harm);
	tcase_add_test(instants_case, the_clocks_run);
	suite_add_tcase(suite, instants_case);
	return suite;
}
