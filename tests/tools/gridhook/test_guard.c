#include "tools/gridhook/guard.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>

#include "common/log.h"
#include "tests/support/run.h"

#define BURST 10

static struct hook_settings settings;
static struct loop *loop;
static struct guard *guard;
static char lines[4096];

static void catch (enum log_level level, const char *line)
{
	size_t len = strlen(lines);

	(void)level;
	snprintf(lines + len, sizeof(lines) - len, "%s\n", line);
}

static void
set_up(void)
{
	lines[0] = '\0';
	log_open("test", LOG_INFO_);
	log_catch(catch);
	settings =
	    (struct hook_settings){.guess_rate = 1, .guess_burst = BURST};
	ck_assert_int_eq(loop_open(&loop), ERR_OK);
	ck_assert_int_eq(guard_open(&guard, loop, &settings), ERR_OK);
}

static void
tear_down(void)
{
	guard_close(guard);
	loop_close(loop);
	log_catch(NULL);
}

/* A sender at this address; of a local user when `user` is not -1. */
static const struct guard_who *
who(const char *address, int user)
{
	static struct sockaddr_storage at;
	static struct guard_who who;
	struct sockaddr_in *four = (void *)&at;
	struct sockaddr_in6 *six = (void *)&at;

	at = (struct sockaddr_storage){.ss_family = AF_INET};
	if (inet_pton(AF_INET, address, &four->sin_addr) != 1) {
		at.ss_family = AF_INET6;
		ck_assert_int_eq(
		    inet_pton(AF_INET6, address, &six->sin6_addr), 1);
	}
	who = (struct guard_who){.address = &at,
	    .peer = address,
	    .known = user >= 0,
	    .uid = (uid_t)user};
	return &who;
}

static void
guess(const char *address, int user, unsigned count)
{
	while (count-- > 0)
		guard_wrong(guard, who(address, user));
}

START_TEST(a_burst_is_free_and_then_each_waits)
{
	int64_t first, second;

	guess("192.0.2.1", -1, BURST);
	ck_assert_int_eq(guard_wait(guard, who("192.0.2.1", -1)), 0);
	guess("192.0.2.1", -1, 2);
	ck_assert(guard_is_alert(guard));
	first = guard_wait(guard, who("192.0.2.1", -1));
	second = guard_wait(guard, who("192.0.2.1", -1));
	ck_assert_int_gt(first, 0);
	ck_assert_int_le(first, 2001);
	/* In a row, not all at once. */
	ck_assert_int_gt(second, first);
	/* A right secret gets back what its wait was paid with. */
	guard_right(guard, who("192.0.2.1", -1));
	ck_assert_int_le(guard_wait(guard, who("192.0.2.1", -1)), second);
}
END_TEST

START_TEST(too_many_do_not_wait)
{
	unsigned waiting = 0;

	guess("192.0.2.1", -1, BURST + 1);
	while (guard_wait(guard, who("192.0.2.1", -1)) > 0)
		waiting++;
	ck_assert_uint_ge(waiting, 7);
	ck_assert_uint_le(waiting, 10);
	ck_assert_int_eq(guard_wait(guard, who("192.0.2.1", -1)), -1);
	ck_assert_int_eq(guard_retry_s(guard, who("192.0.2.1", -1)), 1);
	guess("192.0.2.1", -1, 30);
	ck_assert_int_ge(guard_retry_s(guard, who("192.0.2.1", -1)), 30);
	ck_assert_int_le(guard_retry_s(guard, who("192.0.2.1", -1)), 31);
}
END_TEST

static const struct {
	const char *a, *b;
	int user_a, user_b;
	bool same;
} pairs[] = {
    {"192.0.2.1", "192.0.2.1", -1, -1, true},
    {"192.0.2.1", "192.0.2.2", -1, -1, false},
    {"2001:db8::1", "2001:db8::2", -1, -1, true}, /* one /64 */
    {"2001:db8::1", "2001:db8:0:1::1", -1, -1, false},
    {"127.0.0.1", "127.0.0.2", -1, -1, true},
    {"127.0.0.1", "::1", -1, -1, true},
    {"127.0.0.1", "::1", 1000, 1000, true},
    {"127.0.0.1", "127.0.0.1", 1000, 1001, false},
    {"127.0.0.1", "127.0.0.1", 1000, -1, false},
    {"192.0.2.1", "127.0.0.1", 1000, 1000, true}, /* by our own address */
    {"192.0.2.1", "192.0.2.1", 0, -1, false},
};

START_TEST(senders_are_told_apart)
{
	guess(pairs[_i].a, pairs[_i].user_a, BURST + 5);
	ck_assert_int_eq(
	    guard_wait(guard, who(pairs[_i].b, pairs[_i].user_b)) != 0,
	    pairs[_i].same);
}
END_TEST

START_TEST(the_table_is_bounded_and_keeps_who_goes_on)
{
	char address[32];

	guess("192.0.2.1", -1, BURST + 5);
	for (int i = 0; i < 5000; i++) {
		snprintf(
		    address, sizeof(address), "10.0.%d.%d", i / 250, i % 250);
		guess(address, -1, 1);
		if (i % 100 == 0)
			guess("192.0.2.1", -1, 1);
	}
	ck_assert_int_ne(guard_wait(guard, who("192.0.2.1", -1)), 0);
	ck_assert_int_eq(guard_wait(guard, who("10.0.0.0", -1)), 0);
}
END_TEST

START_TEST(lines_are_summed_up)
{
	unsigned shown = 0;

	for (unsigned i = 0; i < 1000; i++)
		shown += guard_may_log(guard, who("192.0.2.1", -1));
	ck_assert_uint_eq(shown, 10);
	ck_assert(guard_may_log(guard, who("192.0.2.2", -1)));
	guard_close(guard);
	ck_assert_str_eq(lines,
	    "refusals that were not shown: remote=192.0.2.1 count=990\n");
	ck_assert_int_eq(guard_open(&guard, loop, &settings), ERR_OK);
}
END_TEST

/* Thousands of addresses get no line each. */
START_TEST(lines_of_all_are_bounded_and_none_is_lost)
{
	unsigned shown = 0;
	char address[32];
	unsigned count, told = 0;

	for (unsigned i = 0; i < 5000; i++) {
		snprintf(
		    address, sizeof(address), "10.0.%u.%u", i / 250, i % 250);
		shown += guard_may_log(guard, who(address, -1));
	}
	ck_assert_uint_eq(shown, 100);
	guard_close(guard);
	for (const char *at = lines; (at = strstr(at, "count=")) != NULL;
	     at++) {
		ck_assert_int_eq(sscanf(at, "count=%u", &count), 1);
		told += count;
	}
	ck_assert_uint_eq(told, 4900);
	ck_assert_int_eq(guard_open(&guard, loop, &settings), ERR_OK);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("gridhook guard");
	TCase *tc = tcase_create("guard");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, a_burst_is_free_and_then_each_waits);
	tcase_add_test(tc, too_many_do_not_wait);
	tcase_add_loop_test(
	    tc, senders_are_told_apart, 0, sizeof(pairs) / sizeof(pairs[0]));
	tcase_add_test(tc, the_table_is_bounded_and_keeps_who_goes_on);
	tcase_add_test(tc, lines_are_summed_up);
	tcase_add_test(tc, lines_of_all_are_bounded_and_none_is_lost);
	suite_add_tcase(suite, tc);
	return suite;
}
