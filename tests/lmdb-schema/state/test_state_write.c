/*
 * Several writers at once, in threads and in processes, and writers that are
 * killed: every acknowledged write is there, whole and in a serial order.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/kv/kv.h"
#include "lmdb-schema/state/proposal.h"
#include "lmdb-schema/store/store.h"
#include "tests/lmdb-schema/states.h"
#include "tests/support/quiet.h"
#include "tests/support/random.h"
#include "tests/support/run.h"

#define ARTICLES 20

/* All articles get that range, in one transaction. */
static enum err
deposit_all(const char *author, char letter, char codeins[ARTICLES][8])
{
	struct proposal_change changes[ARTICLES];
	struct proposal_request request = {
	    SPAN("S"), span_of(author), changes, ARTICLES};
	struct proposal_result results[ARTICLES];
	int64_t when_ms;

	for (unsigned i = 0; i < ARTICLES; i++) {
		snprintf(codeins[i], 8, "%03u", i);
		changes[i].motif = SPAN("");
		changes[i].codein = span_of(codeins[i]);
		changes[i].gamme = states_code(letter);
	}
	return proposal_deposit(states, &request, results, &when_ms);
}

/* Every article has the range and the author of the one request. */
static void
must_be_of_one(void)
{
	const char *text = states_pending("S");
	char range = text[4], author = text[5];
	unsigned count = 0;

	for (; *text != '\0'; text += 7, count++) {
		ck_assert_int_eq(text[4], range);
		ck_assert_int_eq(text[5], author);
		ck_assert_int_eq(text[6], ' ');
	}
	ck_assert_uint_eq(count, ARTICLES);
}

/* Each request's entries stand together: the trail is the serial order. */
static void
must_be_serial(unsigned requests)
{
	const char *line = states_audit(0);
	char actor[8], range, codein[8], event[16];
	unsigned count = 0;

	while (*line != '\0') {
		char first_actor = 0, first_range = 0;

		for (unsigned i = 0; i < ARTICLES; i++) {
			ck_assert_int_eq(sscanf(line, "%15s %7s S %7s %c",
					     event, actor, codein, &range),
			    4);
			if (i == 0) {
				first_actor = actor[0];
				first_range = range;
			}
			ck_assert_int_eq(actor[0], first_actor);
			ck_assert_int_eq(range, first_range);
			ck_assert_uint_eq(strtoul(codein, NULL, 10), i);
			line = strchr(line, '\n') + 1;
		}
		count++;
	}
	ck_assert_uint_eq(count, requests);
}

/* --- threads -------------------------------------------------------------- */

#define THREADS 8
#define ROUNDS 25

static void *
deposit_often(void *context)
{
	const char *author = context;
	char codeins[ARTICLES][8];

	/* Never twice the same by one author: each leaves its entries. */
	for (unsigned i = 0; i < ROUNDS; i++)
		run_must(
		    deposit_all(author, "ABCYZ"[i % 5], codeins) == ERR_OK);
	return NULL;
}

START_TEST(threads_that_share_commits_keep_an_order)
{
	static char names[THREADS][2];
	pthread_t threads[THREADS];

	for (unsigned i = 0; i < THREADS; i++) {
		names[i][0] = (char)('a' + i);
		ck_assert_int_eq(
		    pthread_create(&threads[i], NULL, deposit_often, names[i]),
		    0);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	must_be_of_one();
	must_be_serial(THREADS * ROUNDS);
}
END_TEST

static atomic_bool stop;

static enum err
write_too_much(void *context, struct kv_txn *txn)
{
	static const char bytes[KV_KEY_MAX + 1];

	(void)context;
	(void)kv_put(txn, STATE_META, SPAN("spoilt"), SPAN("x"));
	return kv_put(
	    txn, STATE_META, span_make(bytes, sizeof(bytes)), SPAN("x"));
}

static void *
fail_often(void *context)
{
	while (!stop)
		run_must(store_write(states, STORE_STATE, write_too_much,
			     context) == ERR_TOO_LARGE);
	return NULL;
}

START_TEST(one_that_fails_takes_nobody_with_it)
{
	pthread_t failing[2], good[2];
	struct state_view *view;
	struct span value;

	stop = false;
	for (unsigned i = 0; i < 2; i++)
		pthread_create(&failing[i], NULL, fail_often, NULL);
	pthread_create(&good[0], NULL, deposit_often, "a");
	pthread_create(&good[1], NULL, deposit_often, "b");
	for (unsigned i = 0; i < 2; i++)
		pthread_join(good[i], NULL);
	stop = true;
	for (unsigned i = 0; i < 2; i++)
		pthread_join(failing[i], NULL);
	must_be_of_one();
	must_be_serial(2 * ROUNDS);
	ck_assert_int_eq(state_view_open(&view, states), ERR_OK);
	ck_assert_int_eq(
	    kv_get(state_view_txn(view), STATE_META, SPAN("spoilt"), &value),
	    ERR_NOT_FOUND);
	state_view_close(view);
}
END_TEST

/* --- processes ------------------------------------------------------------ */

/* Deposits until it is killed, and writes to `fd` what was acknowledged. */
static void
deposit_until_killed(const char *author, unsigned round, int fd)
{
	char codeins[ARTICLES][8];

	states_open();
	for (unsigned i = round;; i++) {
		char letter = "ABCYZ"[i % 5];

		if (deposit_all(author, letter, codeins) != ERR_OK ||
		    write(fd, &letter, 1) != 1)
			_exit(1);
	}
}

static pid_t
start(const char *author, unsigned round, int *fd)
{
	int fds[2];
	pid_t pid;

	ck_assert_int_eq(pipe(fds), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		deposit_until_killed(author, round, fds[1]);
	close(fds[1]);
	*fd = fds[0];
	return pid;
}

/* Kills it some time after `least` answers; how many it noted. */
static unsigned
kill_some_time(pid_t pid, int fd, unsigned least)
{
	unsigned noted = 0;
	char byte;

	while (noted < least) {
		ck_assert_int_eq(read(fd, &byte, 1), 1);
		noted++;
	}
	usleep((useconds_t)(random_bits() % 4000));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	while (read(fd, &byte, 1) == 1)
		noted++;
	close(fd);
	return noted;
}

static unsigned
count_requests(void)
{
	unsigned lines = 0;

	for (const char *at = states_audit(0); *at != '\0'; at++)
		lines += *at == '\n';
	ck_assert_uint_eq(lines % ARTICLES, 0); /* none by half */
	return lines / ARTICLES;
}

START_TEST(killed_writers_lose_nothing_that_was_acknowledged)
{
	unsigned noted = 0, before = 0;

	states_close();
	for (unsigned round = 0; round < 40; round++) {
		int fd;
		pid_t pid = start("k", 2 * round, &fd);
		unsigned now, got = kill_some_time(pid, fd, 1 + round % 3);

		states_open();
		now = count_requests();
		must_be_of_one();
		/* At most one was on disk and not acknowledged yet, and the
		 * first one of a round may be what stood there before. */
		ck_assert_uint_ge(now + 1, before + got);
		ck_assert_uint_le(now, before + got + 1);
		before = now;
		noted += got;
		states_close();
	}
	ck_assert_uint_gt(noted, 40);
}
END_TEST

START_TEST(two_processes_keep_an_order)
{
	int fds[2];
	pid_t pids[2];

	states_close();
	for (unsigned i = 0; i < 2; i++)
		pids[i] = start(i == 0 ? "x" : "y", i, &fds[i]);
	usleep(200000);
	for (unsigned i = 0; i < 2; i++)
		kill_some_time(pids[i], fds[i], 2);
	states_open();
	must_be_of_one();
	must_be_serial(count_requests());
	ck_assert_ptr_nonnull(strstr(states_audit(0), " x S"));
	ck_assert_ptr_nonnull(strstr(states_audit(0), " y S"));
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("state_write");
	TCase *tc = tcase_create("state_write");

	tcase_add_checked_fixture(tc, states_make, states_remove);
	tcase_add_checked_fixture(tc, quiet_begin, quiet_end);
	tcase_set_timeout(tc, 300);
	tcase_add_test(tc, threads_that_share_commits_keep_an_order);
	tcase_add_test(tc, one_that_fails_takes_nobody_with_it);
	tcase_add_test(tc, killed_writers_lose_nothing_that_was_acknowledged);
	tcase_add_test(tc, two_processes_keep_an_order);
	suite_add_tcase(suite, tc);
	return suite;
}
