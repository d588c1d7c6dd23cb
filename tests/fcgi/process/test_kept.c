/* tests/fcgi/process/test_kept.c: fcgi/process/kept.h */
#include "fcgi/process/kept.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/date.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define MOST 4

static struct sockaddr_un address;
static int listener, stop;
static struct kept_connections *kept;

static void
make(void)
{
	memset(&address, 0, sizeof(address));
	address.sun_family = AF_UNIX;
	ck_assert(span_copy(address.sun_path, sizeof(address.sun_path),
	    span_of(scratch_path("sock"))));
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	ck_assert_int_eq(
	    bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(listener, 64), 0);
	stop = eventfd(0, 0);
	ck_assert_int_ge(stop, 0);
	ck_assert_int_eq(kept_open(&kept, listener, stop, MOST), ERR_OK);
}

static void
drop(void)
{
	kept_close(kept);
	close(listener);
	close(stop);
}

/* The other end of a connection that has this place. */
static int
add(uint32_t *place)
{
	int pair[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	*place = kept_add(kept, pair[1]);
	ck_assert_uint_ne(*place, KEPT_NO_PLACE);
	return pair[0];
}

static void
say(int fd)
{
	ck_assert_int_eq(send(fd, "x", 1, MSG_NOSIGNAL), 1);
}

static bool
was_closed(int fd)
{
	struct pollfd look = {.fd = fd, .events = POLLRDHUP};

	return poll(&look, 1, 0) == 1;
}

/* Nothing else is ready than the listener or the stop. */
static void
must_be_quiet(void)
{
	uint64_t one = 1;
	struct kept_found found;

	ck_assert_int_eq(write(stop, &one, sizeof(one)), sizeof(one));
	/* Also an event that is for nobody wakes. */
	while (!kept_wait(&found, kept))
		;
	ck_assert_int_eq(found.what, KEPT_STOP);
	ck_assert_int_eq(read(stop, &one, sizeof(one)), sizeof(one));
}

START_TEST(a_request_is_found_once)
{
	struct kept_found found;
	uint32_t place;
	int fd = add(&place);

	for (int i = 0; i < 3; i++) {
		char byte;

		kept_arm(kept, place);
		must_be_quiet();
		say(fd);
		ck_assert(kept_wait(&found, kept));
		ck_assert_int_eq(found.what, KEPT_CONNECTION);
		ck_assert_uint_eq(found.place, place);
		say(fd);
		must_be_quiet(); /* whose it is hears of no more */
		ck_assert_int_eq(recv(found.fd, &byte, 1, 0), 1);
		ck_assert_int_eq(recv(found.fd, &byte, 1, 0), 1);
	}
	kept_drop(kept, place);
	ck_assert(was_closed(fd));
	close(fd);
}
END_TEST

START_TEST(what_came_before_it_was_armed_is_found)
{
	struct kept_found found;
	uint32_t place;
	int fd = add(&place);

	say(fd);
	kept_arm(kept, place);
	ck_assert(kept_wait(&found, kept));
	ck_assert_uint_eq(found.place, place);
	kept_drop(kept, place);
	close(fd);
}
END_TEST

START_TEST(the_end_of_a_connection_is_found)
{
	struct kept_found found;
	uint32_t place;
	int fd = add(&place);

	kept_arm(kept, place);
	close(fd);
	ck_assert(kept_wait(&found, kept));
	ck_assert_uint_eq(found.place, place);
	kept_drop(kept, place);
}
END_TEST

START_TEST(a_full_table_has_no_place_until_one_is_dropped)
{
	uint32_t places[MOST], more;
	int fds[MOST], pair[2];

	for (unsigned i = 0; i < MOST; i++) {
		fds[i] = add(&places[i]);
		kept_notes(kept, places[i])->served = true;
	}
	ck_assert_uint_eq(kept_count(kept), MOST);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	ck_assert_uint_eq(kept_add(kept, pair[1]), KEPT_NO_PLACE);
	ck_assert(!was_closed(pair[0]));
	kept_drop(kept, places[2]);
	ck_assert(was_closed(fds[2]));
	more = kept_add(kept, pair[1]);
	ck_assert_uint_eq(more, places[2]);
	ck_assert_uint_eq(kept_count(kept), MOST);
	ck_assert(!kept_notes(kept, more)->served);
	for (unsigned i = 0; i < MOST; i++)
		close(fds[i]);
	close(pair[0]);
}
END_TEST

START_TEST(only_those_that_wait_expire_and_only_the_old_ones)
{
	uint32_t served, young, old;
	int fds[3] = {add(&served), add(&young), add(&old)};
	int64_t between;

	kept_arm(kept, old);
	between = date_monotonic_ns();
	while (date_monotonic_ns() == between)
		;
	kept_arm(kept, young);
	kept_expire(kept, between);
	ck_assert(!was_closed(fds[0]));
	ck_assert(!was_closed(fds[1]));
	ck_assert(was_closed(fds[2]));
	must_be_quiet();
	kept_expire(kept, INT64_MAX);
	ck_assert(!was_closed(fds[0]));
	ck_assert(was_closed(fds[1]));
	ck_assert_uint_eq(kept_count(kept), 1);
	for (int i = 0; i < 3; i++)
		close(fds[i]);
}
END_TEST

START_TEST(only_those_that_have_carried_a_request_are_shed)
{
	uint32_t served, fresh, old;
	int fds[3] = {add(&served), add(&fresh), add(&old)};

	kept_notes(kept, served)->served = true;
	kept_notes(kept, old)->served = true;
	kept_arm(kept, fresh);
	kept_arm(kept, old);
	kept_shed(kept);
	ck_assert(!was_closed(fds[0]));
	ck_assert(!was_closed(fds[1]));
	ck_assert(was_closed(fds[2]));
	kept_drop(kept, served);
	for (int i = 0; i < 3; i++)
		close(fds[i]);
}
END_TEST

START_TEST(who_is_to_stop_takes_all_that_wait)
{
	struct kept_found found;
	uint32_t place, other;
	int fds[2] = {add(&place), add(&other)};

	kept_arm(kept, other);
	ck_assert(kept_take_any(&found, kept));
	ck_assert_uint_eq(found.place, other);
	ck_assert(!kept_take_any(&found, kept));
	say(fds[1]);
	must_be_quiet();
	kept_drop(kept, other);
	close(fds[0]);
	close(fds[1]);
}
END_TEST

/* A place has been used anew since: what was found of it counts no more. */
START_TEST(an_event_of_an_earlier_connection_is_nobodys)
{
	struct kept_found found;
	uint32_t place, again;
	int fd = add(&place), other;

	kept_arm(kept, place);
	say(fd);
	ck_assert(kept_take_any(&found, kept)); /* the event stays in epoll */
	kept_arm(kept, place); /* and is told of the new time */
	ck_assert(kept_wait(&found, kept));
	kept_drop(kept, place);
	other = add(&again);
	ck_assert_uint_eq(again, place);
	kept_arm(kept, again);
	must_be_quiet();
	close(fd);
	close(other);
}
END_TEST

static int
call(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	ck_assert_int_eq(
	    connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

struct process {
	pthread_t id;
	struct kept_connections *kept;
	atomic_uint accepted;
};

/* Keeps the connections that it accepts, until it is to stop. */
static void *
accept_all(void *arg)
{
	struct process *process = arg;
	struct kept_found found;

	for (;;) {
		int fd;

		if (!kept_wait(&found, process->kept))
			continue;
		if (found.what == KEPT_STOP)
			return NULL;
		ck_assert_int_eq(found.what, KEPT_LISTENER);
		fd = accept(listener, NULL, NULL);
		if (fd < 0)
			continue;
		kept_arm(process->kept, kept_add(process->kept, fd));
		process->accepted++;
	}
}

/* Each has one thread, which waits whenever somebody connects. */
START_TEST(connections_spread_over_processes)
{
	struct process processes[3] = {0};
	unsigned total = 0;
	uint64_t one = 1;
	int fds[30];

	kept_no_more(kept);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(
		    kept_open(&processes[i].kept, listener, stop, 30), ERR_OK);
		pthread_create(
		    &processes[i].id, NULL, accept_all, &processes[i]);
	}
	for (unsigned i = 0; i < 30; i++) {
		usleep(2000);
		fds[i] = call();
		while (total <= i) {
			total = 0;
			for (int k = 0; k < 3; k++)
				total += processes[k].accepted;
		}
	}
	usleep(2000);
	ck_assert_int_eq(write(stop, &one, sizeof(one)), sizeof(one));
	for (int i = 0; i < 3; i++) {
		pthread_join(processes[i].id, NULL);
		ck_assert_uint_ge(processes[i].accepted, 5);
		kept_close(processes[i].kept);
	}
	for (unsigned i = 0; i < 30; i++) {
		ck_assert(was_closed(fds[i]));
		close(fds[i]);
	}
}
END_TEST

/* --- all at once ---------------------------------------------------------- */

#define CLIENTS 4
#define THREADS 3
#define ROUNDS 3000

static atomic_uint answered;
static atomic_bool over;

/* Answers each byte; closes some connections after it. */
static void *
echo(void *arg)
{
	struct kept_found found;
	unsigned turn = 0;

	(void)arg;
	for (;;) {
		char byte;
		ssize_t got;

		if (!kept_wait(&found, kept))
			continue;
		if (found.what == KEPT_STOP)
			return NULL;
		if (found.what == KEPT_LISTENER) {
			int fd = accept(listener, NULL, NULL);
			uint32_t place =
			    fd < 0 ? KEPT_NO_PLACE : kept_add(kept, fd);

			if (place != KEPT_NO_PLACE)
				kept_arm(kept, place);
			else if (fd >= 0)
				close(fd);
			continue;
		}
		got = recv(found.fd, &byte, 1, MSG_DONTWAIT);
		if (got == 1) {
			answered++;
			send(found.fd, &byte, 1, MSG_NOSIGNAL);
		}
		if (got == 1 && turn++ % 7 != 0)
			kept_arm(kept, found.place);
		else
			kept_drop(kept, found.place);
	}
}

/* Closes what waits, again and again, as a process that is short of threads. */
static void *
shed(void *arg)
{
	(void)arg;
	while (!over) {
		kept_expire(kept, INT64_MAX);
		usleep(200);
	}
	return NULL;
}

/* Counts its answers: a connection that was closed is made anew. */
static void *
ask(void *arg)
{
	unsigned *good = arg;
	int fd = call();

	while (*good < ROUNDS) {
		char byte = (char)*good, back;

		if (send(fd, &byte, 1, MSG_NOSIGNAL) == 1 &&
		    recv(fd, &back, 1, 0) == 1) {
			ck_assert_int_eq(back, byte);
			++*good;
			continue;
		}
		close(fd);
		fd = call();
	}
	close(fd);
	return NULL;
}

START_TEST(threads_that_take_arm_and_close_at_once_mix_up_nothing)
{
	pthread_t threads[THREADS], clients[CLIENTS], shedder;
	unsigned good[CLIENTS] = {0};
	uint64_t one = 1;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, echo, NULL);
	pthread_create(&shedder, NULL, shed, NULL);
	for (int i = 0; i < CLIENTS; i++)
		pthread_create(&clients[i], NULL, ask, &good[i]);
	for (int i = 0; i < CLIENTS; i++)
		pthread_join(clients[i], NULL);
	over = true;
	pthread_join(shedder, NULL);
	ck_assert_int_eq(write(stop, &one, sizeof(one)), sizeof(one));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_ge(answered, CLIENTS * ROUNDS);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("kept");
	TCase *tc = tcase_create("kept");

	tcase_add_checked_fixture(tc, scratch_make, scratch_remove);
	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_test(tc, a_request_is_found_once);
	tcase_add_test(tc, what_came_before_it_was_armed_is_found);
	tcase_add_test(tc, the_end_of_a_connection_is_found);
	tcase_add_test(tc, a_full_table_has_no_place_until_one_is_dropped);
	tcase_add_test(tc, only_those_that_wait_expire_and_only_the_old_ones);
	tcase_add_test(tc, only_those_that_have_carried_a_request_are_shed);
	tcase_add_test(tc, who_is_to_stop_takes_all_that_wait);
	tcase_add_test(tc, an_event_of_an_earlier_connection_is_nobodys);
	tcase_add_test(tc, connections_spread_over_processes);
	tcase_add_test(
	    tc, threads_that_take_arm_and_close_at_once_mix_up_nothing);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	return suite;
}
