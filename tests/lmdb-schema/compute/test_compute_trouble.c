/* tests/lmdb-schema/compute/test_compute_trouble.c: computing at once, and in trouble */
#include "lmdb-schema/compute/compute.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/date.h"
#include "common/fs.h"
#include "lmdb-schema/snapshot/snapshot.h"
#include "tests/lmdb-schema/facts.h"
#include "tests/support/limit.h"
#include "tests/support/process.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"

static struct compute_result result;
static struct compute_options options;

static void
make(void)
{
	facts_make();
	options = (struct compute_options){
	    .threads = 1, .slots = 4, .wait = true, .as_of_day = DATE_NULL};
}

/* --- at once -------------------------------------------------------------- */

static unsigned
snapshots_there(void)
{
	char folder[FS_PATH_MAX], command[FS_PATH_MAX + 64];
	unsigned count = 0;
	FILE *pipe;

	ck_assert_int_eq(
	    store_snapshot_folder(folder, facts, SPAN("BIG")), ERR_OK);
	snprintf(command, sizeof(command), "ls '%s' | wc -l", folder);
	pipe = popen(command, "r");
	ck_assert_int_eq(fscanf(pipe, "%u", &count), 1);
	pclose(pipe);
	return count;
}

/* Takes the supplier's lock: no process computes before it is closed. */
static int
hold_back(void)
{
	char path[FS_PATH_MAX];
	int lock;

	snprintf(path, sizeof(path), "%s/locks/compute-BIG", facts_dir());
	ck_assert_int_eq(fs_lock(&lock, path, true), ERR_OK);
	return lock;
}

/*
 * Computes in a child process: 0 it computed, 1 another one did, 2 a failure.
 */
static pid_t
start_process(int gate)
{
	pid_t pid = fork();
	struct fault fault;
	char byte;

	if (pid != 0)
		return pid;
	fault_clear(&fault);
	if (store_open(&facts, facts_dir(), &fault) != ERR_OK ||
	    read(gate, &byte, 1) != 1 ||
	    compute_supplier(&result, facts, SPAN("BIG"), &options) != ERR_OK)
		_exit(2);
	_exit(result.shared);
}

START_TEST(two_processes_at_once_do_the_work_once)
{
	int gate[2], lock, status, worked = 0;
	pid_t pids[2];

	facts_import(8000, 1);
	facts_close();
	ck_assert_int_eq(pipe(gate), 0);
	for (unsigned i = 0; i < 2; i++)
		pids[i] = start_process(gate[0]);
	lock = hold_back();
	ck_assert_int_eq(write(gate[1], "go", 2), 2);
	for (unsigned i = 0; i < 2; i++)
		process_waits(pids[i], 1);
	close(lock);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_int_eq(waitpid(pids[i], &status, 0), pids[i]);
		ck_assert(WIFEXITED(status));
		ck_assert_int_lt(WEXITSTATUS(status), 2);
		worked += WEXITSTATUS(status) == 0;
	}
	close(gate[0]);
	close(gate[1]);
	facts_open();
	ck_assert_int_eq(worked, 1);
	ck_assert_uint_eq(snapshots_there(), 1);
}
END_TEST

static void *
compute_thread(void *context)
{
	struct compute_result *mine = context;

	if (compute_supplier(mine, facts, SPAN("BIG"), &options) != ERR_OK)
		mine->entry.generation = 0;
	return NULL;
}

START_TEST(four_threads_at_once_do_the_work_once)
{
	struct compute_result results[4];
	pthread_t threads[4];
	unsigned worked = 0;
	int lock;

	facts_import(8000, 1);
	lock = hold_back();
	for (unsigned i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL,
				     compute_thread, &results[i]),
		    0);
	process_waits(getpid(), 4);
	close(lock);
	for (unsigned i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		worked += !results[i].shared;
		ck_assert_uint_ne(results[i].entry.generation, 0);
		ck_assert_uint_eq(
		    results[i].entry.generation, results[0].entry.generation);
	}
	ck_assert_uint_eq(worked, 1);
	ck_assert_uint_eq(snapshots_there(), 1);
}
END_TEST

START_TEST(no_free_slot_is_busy_when_it_may_not_wait)
{
	int slot;

	facts_import(3, 1);
	options.slots = 1;
	options.wait = false;
	ck_assert_int_eq(store_lock_slot(&slot, facts, 1, false), ERR_OK);
	ck_assert_int_eq(
	    compute_supplier(&result, facts, SPAN("BIG"), &options), ERR_BUSY);
	close(slot);
	ck_assert_int_eq(
	    compute_supplier(&result, facts, SPAN("BIG"), &options), ERR_OK);
}
END_TEST

/* --- damage and trouble --------------------------------------------------- */

START_TEST(the_next_computation_heals_a_damaged_snapshot)
{
	char path[FS_PATH_MAX];
	struct snapshot *snap;

	facts_import(50, 1);
	ck_assert_int_eq(facts_compute("BIG", &result), ERR_OK);
	ck_assert_int_eq(store_snapshot_path(path, facts, SPAN("BIG"),
			     result.entry.generation, ""),
	    ERR_OK);
	ck_assert_int_eq(truncate(path, 5000), 0);
	quiet_begin();
	ck_assert_int_eq(
	    snapshot_open(&snap, facts, SPAN("BIG"), result.entry.generation),
	    ERR_DAMAGED);
	ck_assert_int_eq(facts_compute("BIG", &result), ERR_OK);
	snap = facts_snapshot("BIG");
	ck_assert_int_eq(snapshot_verify(snap, NULL, NULL), ERR_OK);
	snapshot_close(snap);
}
END_TEST

START_TEST(a_full_disk_keeps_the_old_snapshot)
{
	uint64_t before;
	enum err err;

	facts_import(2000, 1);
	ck_assert_int_eq(facts_compute("BIG", &result), ERR_OK);
	before = result.entry.generation;
	quiet_begin();
	limit_files(1 << 20);
	err = facts_compute("BIG", &result);
	limit_end();
	ck_assert_int_eq(err, ERR_NO_SPACE);
	ck_assert_int_eq(
	    catalog_current(facts, SPAN("BIG"), &result.entry), ERR_OK);
	ck_assert_uint_eq(result.entry.generation, before);
	ck_assert_uint_eq(snapshots_there(), 1);
}
END_TEST

/*
 * Allows less and less memory: computing fails in many places, and does no
 * harm.
 */
START_TEST(little_memory_is_told_and_harms_nothing)
{
	unsigned failed = 0;

	facts_import(3000, 1);
	ck_assert_int_eq(facts_compute("BIG", &result), ERR_OK);
	facts_close();
	for (rlim_t kib = 200; kib < 40000; kib += 2900) {
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			struct rlimit limit = {kib << 10, kib << 10};
			enum err err;

			quiet_begin();
			facts_open();
			setrlimit(RLIMIT_DATA, &limit);
			err = facts_compute("BIG", &result);
			_exit(err == ERR_OK ? 0 : err == ERR_NO_MEMORY ? 1 : 2);
		}
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_msg(
		    WIFEXITED(status), "died with %u KiB", (unsigned)kib);
		ck_assert_int_lt(WEXITSTATUS(status), 2);
		failed += WEXITSTATUS(status) == 1;
	}
	facts_open();
#ifndef __SANITIZE_ADDRESS__
	ck_assert_uint_gt(failed, 0);
#endif
	snapshot_close(facts_snapshot("BIG"));
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("compute in trouble");
	TCase *tc = tcase_create("trouble");

	tcase_set_timeout(tc, 300);
	tcase_add_checked_fixture(tc, make, facts_remove);
	tcase_add_test(tc, two_processes_at_once_do_the_work_once);
	tcase_add_test(tc, four_threads_at_once_do_the_work_once);
	tcase_add_test(tc, no_free_slot_is_busy_when_it_may_not_wait);
	tcase_add_test(tc, the_next_computation_heals_a_damaged_snapshot);
	tcase_add_test(tc, a_full_disk_keeps_the_old_snapshot);
	tcase_add_test(tc, little_memory_is_told_and_harms_nothing);
	suite_add_tcase(suite, tc);
	return suite;
}
