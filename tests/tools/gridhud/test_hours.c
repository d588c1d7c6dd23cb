#include "tools/gridhud/hours.h"

#include "common/count.h"
#include "tests/support/run.h"
#include "tools/gridhud/app/clock.h"

#include <stdlib.h>
#include <time.h>

#define AT(hour, minute) ((hour)*60 + (minute))

enum { SUN, MON, TUE, WED, THU, FRI, SAT };

static const struct {
	const char *text;
	int weekday, minute;
	bool inside;
} table[] = {
    {"", MON, AT(3, 0), false},
    {"12:00-13:30", MON, AT(11, 59), false},
    {"12:00-13:30", MON, AT(12, 0), true},
    {"12:00-13:30", MON, AT(13, 29), true},
    {"12:00-13:30", MON, AT(13, 30), false},
    /* across midnight */
    {"22:00-07:00", MON, AT(21, 59), false},
    {"22:00-07:00", MON, AT(22, 0), true},
    {"22:00-07:00", MON, AT(23, 59), true},
    {"22:00-07:00", TUE, AT(0, 0), true},
    {"22:00-07:00", TUE, AT(6, 59), true},
    {"22:00-07:00", TUE, AT(7, 0), false},
    {"08:00-08:00", TUE, AT(8, 0), false},
    {"00:00-24:00", TUE, AT(23, 59), true},
    {"00:00-24:00", TUE, AT(0, 0), true},
    {"22:00-00:00", TUE, AT(23, 59), true},
    {"22:00-00:00", WED, AT(0, 0), false},
    /* days are those on which it starts */
    {"fri 22:00-07:00", FRI, AT(23, 0), true},
    {"fri 22:00-07:00", SAT, AT(6, 59), true},
    {"fri 22:00-07:00", SAT, AT(22, 0), false},
    {"fri 22:00-07:00", FRI, AT(6, 0), false},
    {"sat 22:00-07:00", SUN, AT(1, 0), true},
    {"sun 22:00-07:00", SUN, AT(1, 0), false},
    {"mon-fri 09:00-17:00", SAT, AT(10, 0), false},
    {"mon-fri 09:00-17:00", FRI, AT(10, 0), true},
    {"fri-mon 09:00-17:00", SUN, AT(10, 0), true},
    {"fri-mon 09:00-17:00", WED, AT(10, 0), false},
    {"Mon+Wed 09:00-17:00", WED, AT(10, 0), true},
    {"mon+wed 09:00-17:00", TUE, AT(10, 0), false},
    {"mon-fri 22:00-07:00, sat+sun 23:00-09:00", SUN, AT(8, 59), true},
    {"mon-fri 22:00-07:00, sat+sun 23:00-09:00", FRI, AT(8, 59), false},
};

START_TEST(hours_contain_what_lies_in_them)
{
	struct hours hours;

	ck_assert_int_eq(
	    hours_parse(&hours, table[_i].text, "x", NULL), ERR_OK);
	ck_assert_int_eq(
	    hours_contain(
		&hours, (struct wall){table[_i].minute, table[_i].weekday}),
	    table[_i].inside);
}
END_TEST

static const char *const wrong[] = {"22:00", "22:00-", "22-07", "24:00-07:00",
    "25:00-07:00", "22:60-07:00", "9:00-10:00", "22:00-24:01", "22:00_07:00",
    "foo 22:00-07:00", "mon- 22:00-07:00", "22:00-07:00,", "+1:00-02:00",
    "a, b", "mon 22:00-07:00 x", "22:00-7:000"};

START_TEST(wrong_hours_are_told_and_none_are_kept)
{
	struct fault fault = {.place = ""};
	struct hours hours;

	ck_assert_int_eq(
	    hours_parse(&hours, wrong[_i], "[quiet] hours", &fault),
	    ERR_BAD_INPUT);
	ck_assert_str_eq(fault.place, "[quiet] hours");
	ck_assert_uint_eq(hours.count, 0);
}
END_TEST

/* Clocks go back at 01:00 UTC: local 02:00 to 03:00 comes twice. */
START_TEST(wall_clock_counts_when_clocks_change)
{
	int64_t first = INT64_C(1792888200000); /* 2026-10-25T00:30Z */
	struct hours hours;
	struct wall wall;

	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	ck_assert_int_eq(hours_parse(&hours, "02:00-03:00", "x", NULL), ERR_OK);
	wall = clock_wall(first);
	ck_assert_int_eq(wall.minute, AT(2, 30));
	ck_assert(hours_contain(&hours, wall));
	wall = clock_wall(first + 3600000);
	ck_assert_int_eq(wall.minute, AT(2, 30));
	ck_assert(hours_contain(&hours, wall));
	ck_assert(!hours_contain(&hours, clock_wall(first + 2 * 3600000)));
}
END_TEST

START_TEST(pretended_time_is_taken)
{
	struct clock clock = {0};
	struct wall wall;

	setenv("TZ", "UTC", 1);
	tzset();
	ck_assert(clock_pretend(&clock, "2026-01-31T23:30"));
	wall = clock_wall(clock_now_ms(&clock));
	ck_assert_int_eq(wall.minute, AT(23, 30));
	ck_assert_int_eq(wall.weekday, SAT);
	ck_assert(clock_pretend(&clock, "06:59:58"));
	wall = clock_wall(clock_now_ms(&clock));
	ck_assert(wall.minute == AT(6, 59));
	ck_assert(!clock_pretend(&clock, "soon"));
	ck_assert(!clock_pretend(&clock, "2026-01-31"));
	ck_assert(!clock_pretend(&clock, "23:30x"));
	ck_assert(!clock_pretend(&clock, ""));
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("gridhud hours");
	TCase *tc = tcase_create("hours");

	tcase_add_loop_test(
	    tc, hours_contain_what_lies_in_them, 0, COUNT(table));
	tcase_add_loop_test(
	    tc, wrong_hours_are_told_and_none_are_kept, 0, COUNT(wrong));
	tcase_add_test(tc, wall_clock_counts_when_clocks_change);
	tcase_add_test(tc, pretended_time_is_taken);
	suite_add_tcase(suite, tc);
	return suite;
}
