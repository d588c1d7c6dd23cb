#include "lmdb-schema/state/attempts.h"

#include <stdio.h>
#include <unistd.h>

#include "tests/lmdb-schema/states.h"
#include "tests/support/process.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define START_MS INT64_C(1700000000000)

static struct attempts *attempts;

static void
make(void)
{
	states_make();
	ck_assert_int_eq(attempts_open(&attempts, states), ERR_OK);
}

static void
drop(void)
{
	attempts_close(attempts);
	attempts_close(NULL);
	states_remove();
}

static bool
take(const char *user, const char *address, int64_t now_ms)
{
	int64_t wait_ms;
	bool taken = attempts_take(
	    attempts, span_of(user), span_of(address), now_ms, &wait_ms);

	ck_assert_int_eq(taken, wait_ms == 0);
	return taken;
}

/* How many of `count` attempts pass, each by another user when `many`. */
static unsigned
passed(unsigned count, const char *user, const char *address, bool many)
{
	char name[16];
	unsigned passes = 0;

	for (unsigned i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%.4s%u", user, many ? i : 0);
		passes += take(name, address, START_MS);
	}
	return passes;
}

START_TEST(a_user_from_one_address_has_few)
{
	ck_assert_uint_eq(passed(20, "u", "192.0.2.1", false), ATTEMPTS_PAIR);
	/* Other users are not limited by it. */
	ck_assert(take("v", "192.0.2.1", START_MS));
	ck_assert(take("u0", "192.0.2.2", START_MS));
}
END_TEST

/* Two users may share a slot, and then one attempt fewer passes. */
START_TEST(an_address_has_not_many)
{
	ck_assert_uint_ge(
	    passed(200, "u", "192.0.2.1", true), ATTEMPTS_ADDRESS - 2);
	ck_assert(!take("fresh", "192.0.2.1", START_MS));
	ck_assert(take("fresh", "192.0.2.2", START_MS));
}
END_TEST

START_TEST(a_user_is_guarded_against_many_addresses)
{
	unsigned passes = 0;
	char address[24];

	for (unsigned i = 0; i < 400; i++) {
		snprintf(address, sizeof(address), "192.0.2.%u", i);
		passes += take("marie", address, START_MS);
	}
	ck_assert_uint_le(passes, ATTEMPTS_USER);
	ck_assert_uint_ge(passes, ATTEMPTS_USER - 10);
}
END_TEST

/* Each by another user from another address. */
START_TEST(all_together_have_a_ceiling)
{
	unsigned passes = 0;
	char user[16], address[24];

	for (unsigned i = 0; i < 2 * ATTEMPTS_ALL; i++) {
		snprintf(user, sizeof(user), "u%u", i);
		snprintf(
		    address, sizeof(address), "10.%u.%u.1", i / 200, i % 200);
		passes += take(user, address, START_MS);
	}
	ck_assert_uint_eq(passes, ATTEMPTS_ALL);
	ck_assert(take("fresh", "192.0.2.1",
	    START_MS + ATTEMPTS_WINDOW_MS / ATTEMPTS_ALL));
}
END_TEST

START_TEST(time_gives_them_back_one_by_one)
{
	int64_t step = ATTEMPTS_WINDOW_MS / ATTEMPTS_PAIR, wait_ms;

	passed(ATTEMPTS_PAIR, "u", "192.0.2.1", false);
	ck_assert(!attempts_take(attempts, SPAN("u0"), SPAN("192.0.2.1"),
	    START_MS + 1000, &wait_ms));
	ck_assert_int_eq(wait_ms, step - 1000);
	ck_assert(!take("u0", "192.0.2.1", START_MS + step - 1));
	ck_assert(take("u0", "192.0.2.1", START_MS + step));
	ck_assert(!take("u0", "192.0.2.1", START_MS + step));
	/* A clock that is set back locks nobody out for longer. */
	ck_assert(!take("u0", "192.0.2.1", 1000));
	ck_assert(take("u0", "192.0.2.1", START_MS + 2 * ATTEMPTS_WINDOW_MS));
}
END_TEST

START_TEST(who_gets_in_is_forgiven)
{
	for (unsigned i = 0; i < 500; i++) {
		ck_assert(take("marie", "192.0.2.1", START_MS));
		attempts_forgive(attempts, SPAN("marie"), SPAN("192.0.2.1"));
	}
}
END_TEST

static const struct {
	const char *one, *other;
	bool same;
} addresses[] = {
    {"2001:db8:1:2::1", "2001:db8:1:2:ffff::2", true},
    {"2001:db8:1:2::1", "2001:db8:1:3::1", false},
    {"::ffff:192.0.2.1", "::ffff:192.0.2.2", false},
    {"192.0.2.1", "192.0.2.1", true},
    {"", "", true},
    {"no address", "no address", true},
};

START_TEST(a_network_counts_as_one_address)
{
	passed(ATTEMPTS_PAIR, "u", addresses[_i].one, false);
	ck_assert_int_eq(
	    take("u0", addresses[_i].other, START_MS), !addresses[_i].same);
}
END_TEST

static int
take_all(void)
{
	int64_t wait_ms;

	/* Opened while another one has it open, as workers do. */
	if (attempts_open(&attempts, states) != ERR_OK)
		return 2;
	for (unsigned i = 0; i < ATTEMPTS_PAIR; i++)
		if (!attempts_take(attempts, SPAN("u"), SPAN("192.0.2.1"),
			START_MS, &wait_ms))
			return 1;
	return 0;
}

START_TEST(the_count_is_that_of_all_processes_and_survives_them)
{
	ck_assert_int_eq(process_run(take_all), 0);
	ck_assert(!take("u", "192.0.2.1", START_MS));
	attempts_close(attempts);
	ck_assert_int_eq(attempts_open(&attempts, states), ERR_OK);
	ck_assert(!take("u", "192.0.2.1", START_MS));
}
END_TEST

START_TEST(a_file_that_was_cut_is_made_anew)
{
	attempts_close(attempts);
	ck_assert_int_eq(truncate(scratch_path("data/locks/attempts"), 100), 0);
	ck_assert_int_eq(attempts_open(&attempts, states), ERR_OK);
	ck_assert(take("u", "192.0.2.1", START_MS));
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("attempts");
	TCase *tc = tcase_create("attempts");

	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_checked_fixture(tc, quiet_begin, quiet_end);
	tcase_add_test(tc, a_user_from_one_address_has_few);
	tcase_add_test(tc, an_address_has_not_many);
	tcase_add_test(tc, a_user_is_guarded_against_many_addresses);
	tcase_add_test(tc, all_together_have_a_ceiling);
	tcase_add_test(tc, time_gives_them_back_one_by_one);
	tcase_add_test(tc, who_gets_in_is_forgiven);
	tcase_add_loop_test(tc, a_network_counts_as_one_address, 0,
	    sizeof(addresses) / sizeof(addresses[0]));
	tcase_add_test(
	    tc, the_count_is_that_of_all_processes_and_survives_them);
	tcase_add_test(tc, a_file_that_was_cut_is_made_anew);
	suite_add_tcase(suite, tc);
	return suite;
}
