#include "tools/gridhook/net/loop.h"

#include <stddef.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/date.h"
#include "tests/support/run.h"

static struct loop *loop;
static int calls;

static void
set_up(void)
{
	ck_assert_int_eq(loop_open(&loop), ERR_OK);
	calls = 0;
}

static void
tear_down(void)
{
	loop_close(loop);
}

static struct loop_io first, second;

/* Whichever comes first removes the other, which is ready too. */
static void
remove_other(struct loop_io *io, uint32_t events)
{
	ck_assert_uint_ne(events & EPOLLIN, 0);
	calls++;
	loop_remove(loop, io == &first ? &second : &first);
	loop_remove(loop, io);
}

START_TEST(removed_descriptor_is_not_called_any_more)
{
	int a[2], b[2];

	ck_assert_int_eq(pipe(a), 0);
	ck_assert_int_eq(pipe(b), 0);
	ck_assert_int_eq(write(a[1], "x", 1), 1);
	ck_assert_int_eq(write(b[1], "x", 1), 1);
	first = (struct loop_io){.fd = a[0], .ready = remove_other};
	second = (struct loop_io){.fd = b[0], .ready = remove_other};
	ck_assert_int_eq(loop_add(loop, &first, EPOLLIN), ERR_OK);
	ck_assert_int_eq(loop_add(loop, &second, EPOLLIN), ERR_OK);
	ck_assert_int_eq(loop_once(loop, 1000), ERR_OK);
	ck_assert_int_eq(loop_once(loop, 0), ERR_OK);
	ck_assert_int_eq(calls, 1);
	close(a[0]);
	close(a[1]);
	close(b[0]);
	close(b[1]);
}
END_TEST

static struct loop_timer timers[3];
static int order[3];

static void
note(struct loop_timer *timer)
{
	order[calls++] = (int)(timer - timers);
	if (timer == &timers[0])
		loop_timer_stop(&timers[1]);
}

START_TEST(timers_fire_in_order_and_can_be_stopped)
{
	int64_t start = date_monotonic_ns();

	for (int i = 0; i < 3; i++)
		timers[i].fire = note;
	loop_timer_set(loop, &timers[2], 30);
	loop_timer_set(loop, &timers[1], 20);
	loop_timer_set(loop, &timers[0], 999);
	loop_timer_set(loop, &timers[0], 10);
	while (calls < 2)
		ck_assert_int_eq(loop_once(loop, 1000), ERR_OK);
	ck_assert_int_eq(order[0], 0);
	ck_assert_int_eq(order[1], 2);
	ck_assert_int_ge(date_monotonic_ns() - start, 30 * 1000000);
	loop_timer_stop(&timers[2]);
}
END_TEST

static void
stop_third(void *arg)
{
	ck_assert_ptr_eq(arg, &calls);
	if (++calls == 3)
		loop_stop(loop);
}

static void
again(struct loop_timer *timer)
{
	loop_timer_set(loop, timer, 1);
}

START_TEST(each_round_ends_with_its_call)
{
	timers[0].fire = again;
	loop_timer_set(loop, &timers[0], 1);
	loop_on_round(loop, stop_third, &calls);
	ck_assert_int_eq(loop_run(loop), ERR_OK);
	ck_assert_int_eq(calls, 3);
	loop_timer_stop(&timers[0]);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("gridhook loop");
	TCase *tc = tcase_create("loop");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, removed_descriptor_is_not_called_any_more);
	tcase_add_test(tc, timers_fire_in_order_and_can_be_stopped);
	tcase_add_test(tc, each_round_ends_with_its_call);
	suite_add_tcase(suite, tc);
	return suite;
}
