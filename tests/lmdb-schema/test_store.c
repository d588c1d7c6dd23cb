#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fs.h"
#include "lmdb-schema/schema.h"
#include "tests/lmdb-schema/facts.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

static struct fault fault;

static bool
is_there(const char *name)
{
	char path[FS_PATH_MAX];

	ck_assert_int_eq(fs_path(path, "%s/%s", facts_dir(), name), ERR_OK);
	return access(path, F_OK) == 0;
}

START_TEST(a_new_store_has_all_its_parts)
{
	static const char *const parts[] = {"live.mdb", "catalog.mdb",
	    "state.mdb", "facts", "snapshots", "locks", "store"};

	for (unsigned i = 0; i < 7; i++)
		ck_assert(is_there(parts[i]));
}
END_TEST

START_TEST(a_whole_store_is_not_made_again)
{
	fault_clear(&fault);
	ck_assert_int_eq(store_create(facts_dir(), &fault), ERR_EXISTS);
	ck_assert(fault_is_set(&fault));
}
END_TEST

START_TEST(a_half_made_store_is_completed)
{
	char path[FS_PATH_MAX];

	facts_close();
	ck_assert_int_eq(fs_path(path, "%s/store", facts_dir()), ERR_OK);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(fs_path(path, "%s/catalog.mdb", facts_dir()), ERR_OK);
	ck_assert_int_eq(unlink(path), 0);
	fault_clear(&fault);
	ck_assert_int_eq(
	    store_open(&facts, facts_dir(), &fault), ERR_NOT_FOUND);
	ck_assert(fault_is_set(&fault));
	fault_clear(&fault);
	ck_assert_int_eq(store_create(facts_dir(), &fault), ERR_OK);
	facts_open();
}
END_TEST

START_TEST(a_folder_that_is_no_store_is_told)
{
	struct store *store;

	fault_clear(&fault);
	ck_assert_int_eq(
	    store_open(&store, scratch_path("none"), &fault), ERR_NOT_FOUND);
	ck_assert_ptr_null(store);
	ck_assert_ptr_nonnull(strstr(fault.message, "init"));
	store_close(NULL);
}
END_TEST

START_TEST(another_version_is_told_and_not_touched)
{
	struct kv_txn *txn;

	ck_assert_int_eq(kv_write(&txn, store_live(facts)), ERR_OK);
	ck_assert_int_eq(
	    store_set_number(txn, "schema", SCHEMA_VERSION + 1), ERR_OK);
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
	facts_close();
	fault_clear(&fault);
	ck_assert_int_eq(store_open(&facts, facts_dir(), &fault), ERR_VERSION);
	ck_assert_ptr_null(facts);
	ck_assert_ptr_nonnull(strstr(fault.message, "version 2"));
}
END_TEST

START_TEST(an_environment_that_is_no_environment_is_told)
{
	static const char *const files[] = {
	    "data/live.mdb", "data/catalog.mdb", "data/state.mdb"};
	char noise[20000];

	memset(noise, 'x', sizeof(noise));
	facts_close();
	scratch_write(files[_i], noise, sizeof(noise));
	quiet_begin();
	fault_clear(&fault);
	ck_assert_int_eq(store_open(&facts, facts_dir(), &fault), ERR_DAMAGED);
	ck_assert_ptr_null(facts);
	ck_assert(fault_is_set(&fault));
}
END_TEST

START_TEST(a_store_cannot_be_made_where_a_file_is)
{
	scratch_text("file", "x");
	quiet_begin();
	fault_clear(&fault);
	ck_assert_int_ne(store_create(scratch_path("file"), &fault), ERR_OK);
	ck_assert(fault_is_set(&fault));
}
END_TEST

START_TEST(numbers_that_are_not_there_are_0)
{
	struct kv_txn *txn;
	uint64_t number = 5;

	ck_assert_int_eq(kv_read(&txn, store_catalog(facts)), ERR_OK);
	ck_assert_int_eq(store_number(txn, "nothing", &number), ERR_OK);
	ck_assert_uint_eq(number, 0);
	kv_abort(txn);
}
END_TEST

START_TEST(a_suppliers_files_stand_in_its_own_folder)
{
	char path[FS_PATH_MAX], expected[FS_PATH_MAX];

	ck_assert_int_eq(store_snapshot_path(path, facts, SPAN("A/../B"),
			     0x019a1b2c3d4e5f60, ".tmp"),
	    ERR_OK);
	ck_assert_int_eq(
	    fs_path(expected,
		"%s/snapshots/A%%2F%%2E%%2E%%2FB/019a1b2c3d4e5f60.mdb.tmp",
		facts_dir()),
	    ERR_OK);
	ck_assert_str_eq(path, expected);
}
END_TEST

/* --- locks --------------------------------------------------------------- */

START_TEST(one_import_at_a_time)
{
	int first, second;

	ck_assert_int_eq(store_lock_import(&first, facts, false), ERR_OK);
	ck_assert_int_eq(store_lock_import(&second, facts, false), ERR_BUSY);
	ck_assert_int_eq(second, -1);
	close(first);
	ck_assert_int_eq(store_lock_import(&second, facts, false), ERR_OK);
	close(second);
}
END_TEST

START_TEST(suppliers_are_locked_apart)
{
	int a, b, again;

	ck_assert_int_eq(
	    store_lock_supplier(&a, facts, SPAN("A"), false), ERR_OK);
	ck_assert_int_eq(
	    store_lock_supplier(&b, facts, SPAN("B"), false), ERR_OK);
	ck_assert_int_eq(
	    store_lock_supplier(&again, facts, SPAN("A"), false), ERR_BUSY);
	close(a);
	close(b);
}
END_TEST

START_TEST(no_more_slots_than_allowed)
{
	int fds[4];

	for (unsigned i = 0; i < 3; i++)
		ck_assert_int_eq(
		    store_lock_slot(&fds[i], facts, 3, false), ERR_OK);
	ck_assert_int_eq(store_lock_slot(&fds[3], facts, 3, false), ERR_BUSY);
	close(fds[1]);
	ck_assert_int_eq(store_lock_slot(&fds[1], facts, 3, true), ERR_OK);
	for (unsigned i = 0; i < 3; i++)
		close(fds[i]);
}
END_TEST

START_TEST(a_lock_dies_with_its_holder)
{
	int fd, ready[2];
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		bool held =
		    store_lock_supplier(&fd, facts, SPAN("A"), false) == ERR_OK;

		if (!held || write(ready[1], "x", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	ck_assert_int_eq(
	    store_lock_supplier(&fd, facts, SPAN("A"), false), ERR_BUSY);
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(
	    store_lock_supplier(&fd, facts, SPAN("A"), false), ERR_OK);
	close(fd);
	close(ready[0]);
	close(ready[1]);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("store");
	TCase *tc = tcase_create("store");

	tcase_add_checked_fixture(tc, facts_make, facts_remove);
	tcase_add_test(tc, a_new_store_has_all_its_parts);
	tcase_add_test(tc, a_whole_store_is_not_made_again);
	tcase_add_test(tc, a_half_made_store_is_completed);
	tcase_add_test(tc, a_folder_that_is_no_store_is_told);
	tcase_add_test(tc, another_version_is_told_and_not_touched);
	tcase_add_loop_test(
	    tc, an_environment_that_is_no_environment_is_told, 0, 3);
	tcase_add_test(tc, a_store_cannot_be_made_where_a_file_is);
	tcase_add_test(tc, numbers_that_are_not_there_are_0);
	tcase_add_test(tc, a_suppliers_files_stand_in_its_own_folder);
	tcase_add_test(tc, one_import_at_a_time);
	tcase_add_test(tc, suppliers_are_locked_apart);
	tcase_add_test(tc, no_more_slots_than_allowed);
	tcase_add_test(tc, a_lock_dies_with_its_holder);
	suite_add_tcase(suite, tc);
	return suite;
}
