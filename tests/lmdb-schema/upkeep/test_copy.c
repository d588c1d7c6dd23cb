#include "lmdb-schema/upkeep/copy.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fs.h"
#include "lmdb-schema/upkeep/check.h"
#include "tests/lmdb-schema/book.h"
#include "tests/lmdb-schema/facts.h"
#include "tests/support/limit.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

static struct copy_counts counts;
static struct compute_result result;
static struct fault fault;

static void
make(void)
{
	facts_make();
	facts_import(40, 1);
	facts_gamme("BIG", "C000001", 1);
	ck_assert_int_eq(facts_compute("BIG", &result), ERR_OK);
	ck_assert_int_eq(facts_compute("SMALL", &result), ERR_OK);
	facts_close(); /* the copy opens it itself */
	fault_clear(&fault);
}

static void
tell(void *context, const struct fault *damage)
{
	(void)context;
	ck_abort_msg("%s: %s", damage->place, damage->message);
}

/* Opens the copy instead, and has it checked. */
static void
open_copy(uint64_t snapshots)
{
	struct check_counts checked;

	ck_assert_int_eq(
	    store_open(&facts, scratch_path("copy"), &fault), ERR_OK);
	ck_assert_int_eq(
	    check_store(&checked, facts, tell, NULL, NULL), ERR_OK);
	ck_assert_uint_eq(checked.snapshots, snapshots);
	ck_assert_uint_eq(checked.articles, 43);
	ck_assert_uint_eq(checked.gammes, 1);
}

START_TEST(a_copy_is_a_whole_store)
{
	ck_assert_int_eq(store_copy(facts_dir(), scratch_path("copy"), NULL,
			     NULL, &counts, &fault),
	    ERR_OK);
	ck_assert_uint_eq(counts.snapshots, 2);
	ck_assert_uint_eq(counts.skipped, 0);
	ck_assert_uint_gt(counts.bytes, 10000);
	open_copy(2);
}
END_TEST

START_TEST(an_empty_folder_may_be_there)
{
	ck_assert_int_eq(mkdir(scratch_path("copy"), 0750), 0);
	ck_assert_int_eq(store_copy(facts_dir(), scratch_path("copy"), NULL,
			     NULL, &counts, &fault),
	    ERR_OK);
	open_copy(2);
}
END_TEST

START_TEST(nothing_that_is_there_is_written_over)
{
	ck_assert_int_eq(mkdir(scratch_path("copy"), 0750), 0);
	scratch_text("copy/file", "mine");
	ck_assert_int_eq(store_copy(facts_dir(), scratch_path("copy"), NULL,
			     NULL, &counts, &fault),
	    ERR_EXISTS);
	ck_assert(fault_is_set(&fault));
	ck_assert_int_eq(access(scratch_path("copy/file"), F_OK), 0);
}
END_TEST

START_TEST(what_is_no_store_is_not_copied)
{
	ck_assert_int_eq(store_copy(scratch_path("none"), scratch_path("copy"),
			     NULL, NULL, &counts, &fault),
	    ERR_NOT_FOUND);
	ck_assert_int_ne(access(scratch_path("copy"), F_OK), 0);
}
END_TEST

/* Removes the snapshot of SMALL, and returns its path. */
static void
remove_small(char path[FS_PATH_MAX])
{
	facts_open();
	ck_assert_int_eq(store_snapshot_path(path, facts, SPAN("SMALL"),
			     result.entry.generation, ""),
	    ERR_OK);
	facts_close();
	ck_assert_int_eq(unlink(path), 0);
}

START_TEST(a_snapshot_that_is_gone_is_left_out)
{
	char path[FS_PATH_MAX];

	remove_small(path);
	ck_assert_int_eq(store_copy(facts_dir(), scratch_path("copy"), NULL,
			     NULL, &counts, &fault),
	    ERR_OK);
	ck_assert_uint_eq(counts.snapshots, 1);
	ck_assert_uint_eq(counts.skipped, 1);
	open_copy(1);
}
END_TEST

/* A user who may write there could lead a copying root to any file. */
START_TEST(only_a_regular_file_is_copied)
{
	char path[FS_PATH_MAX];

	remove_small(path);
	scratch_text("elsewhere", "not his");
	switch (_i) {
	case 0:
		ck_assert_int_eq(symlink(scratch_path("elsewhere"), path), 0);
		break;
	case 1: /* a pipe without writer: opening must not wait */
		ck_assert_int_eq(mkfifo(path, 0600), 0);
		break;
	default:
		ck_assert_int_eq(mkdir(path, 0700), 0);
	}
	ck_assert_int_eq(store_copy(facts_dir(), scratch_path("copy"), NULL,
			     NULL, &counts, &fault),
	    ERR_DAMAGED);
	ck_assert_str_eq(fault.place, path);
	ck_assert_ptr_nonnull(strstr(fault.message, "no regular file"));
	ck_assert_int_ne(access(scratch_path("copy"), F_OK), 0);
}
END_TEST

/* Another process has it open, and computes again and again. */
START_TEST(a_store_in_use_can_be_copied)
{
	int ready[2];
	pid_t pid;
	char byte;

	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		facts_open();
		for (;;)
			if (facts_compute("BIG", &result) != ERR_OK ||
			    write(ready[1], "x", 1) != 1)
				_exit(1);
	}
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	ck_assert_int_eq(store_copy(facts_dir(), scratch_path("copy"), NULL,
			     NULL, &counts, &fault),
	    ERR_OK);
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	close(ready[0]);
	close(ready[1]);
	open_copy(2);
}
END_TEST

/* The catalogue in the copy names a generation that only a new one passes. */
START_TEST(the_words_are_not_copied_and_can_be_made_anew)
{
	struct word_index_result made;
	struct word_index *book;
	uint64_t noted;

	facts_open();
	book_make();
	noted = book_noted();
	facts_close();
	ck_assert_int_eq(store_copy(facts_dir(), scratch_path("copy"), NULL,
			     NULL, &counts, &fault),
	    ERR_OK);
	open_copy(2);
	ck_assert_int_eq(word_index_open(&book, facts), ERR_NOT_FOUND);
	ck_assert_uint_eq(book_noted(), noted);
	made = book_make();
	ck_assert(made.made);
	ck_assert_uint_eq(made.suppliers, 2);
	ck_assert_uint_gt(book_noted(), noted);
	store_close(facts);
	open_copy(2);
}
END_TEST

START_TEST(a_full_disk_leaves_no_copy)
{
	enum err err;

	quiet_begin();
	limit_files(20000);
	err = store_copy(
	    facts_dir(), scratch_path("copy"), NULL, NULL, &counts, &fault);
	limit_end();
	ck_assert_int_eq(err, ERR_NO_SPACE);
	ck_assert(fault_is_set(&fault));
	ck_assert_int_ne(access(scratch_path("copy"), F_OK), 0);
}
END_TEST

START_TEST(a_folder_that_was_there_is_left_empty)
{
	enum err err;

	ck_assert_int_eq(mkdir(scratch_path("copy"), 0750), 0);
	quiet_begin();
	limit_files(20000);
	err = store_copy(
	    facts_dir(), scratch_path("copy"), NULL, NULL, &counts, &fault);
	limit_end();
	ck_assert_int_eq(err, ERR_NO_SPACE);
	ck_assert_int_eq(rmdir(scratch_path("copy")), 0); /* there, empty */
}
END_TEST

/* --- on top of an earlier copy ---------------------------------------------- */

static void
copy_to(const char *name, const char *base)
{
	char path[FS_PATH_MAX];

	snprintf(path, sizeof(path), "%s", scratch_path(base));
	ck_assert_int_eq(store_copy(facts_dir(), scratch_path(name), path, NULL,
			     &counts, &fault),
	    ERR_OK);
}

START_TEST(what_the_base_has_is_linked)
{
	copy_to("first", "none");
	ck_assert_uint_eq(counts.linked, 0);
	copy_to("copy", "first");
	ck_assert_uint_eq(counts.linked, 3); /* the facts, two snapshots */
	ck_assert_uint_gt(counts.linked_bytes, 10000);
	open_copy(2);
	store_close(facts);
	/* Each is whole without the other. */
	ck_assert_int_eq(fs_remove_tree(scratch_path("first")), ERR_OK);
	open_copy(2);
}
END_TEST

START_TEST(what_is_new_is_copied)
{
	copy_to("first", "none");
	facts_open();
	ck_assert_int_eq(facts_compute("BIG", &result), ERR_OK);
	facts_close();
	copy_to("copy", "first");
	ck_assert_uint_eq(counts.linked, 2);
	open_copy(2);
}
END_TEST

/* Also what was restored is the same: a copy keeps the times. */
START_TEST(a_copy_of_a_copy_is_linked)
{
	char first[FS_PATH_MAX], second[FS_PATH_MAX];

	copy_to("first", "none");
	snprintf(first, sizeof(first), "%s", scratch_path("first"));
	snprintf(second, sizeof(second), "%s", scratch_path("second"));
	ck_assert_int_eq(
	    store_copy(first, second, NULL, NULL, &counts, &fault), ERR_OK);
	ck_assert_int_eq(store_copy(second, scratch_path("copy"), first, NULL,
			     &counts, &fault),
	    ERR_OK);
	ck_assert_uint_eq(counts.linked, 3);
	open_copy(2);
}
END_TEST

/* Of another size, of another time, or a link to elsewhere. */
START_TEST(a_base_of_other_files_is_not_linked)
{
	char path[FS_PATH_MAX], folder[FS_PATH_MAX];
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1}};

	copy_to("first", "none");
	facts_open();
	snprintf(folder, sizeof(folder), "%s", facts_dir());
	ck_assert_int_eq(store_snapshot_path(path, facts, SPAN("SMALL"),
			     result.entry.generation, ""),
	    ERR_OK);
	facts_close();
	snprintf(folder, sizeof(folder), "%s%s", scratch_path("first"),
	    path + strlen(folder));
	if (_i == 0)
		ck_assert_int_eq(truncate(folder, 100), 0);
	else if (_i == 1)
		ck_assert_int_eq(utimensat(AT_FDCWD, folder, times, 0), 0);
	else {
		ck_assert_int_eq(unlink(folder), 0);
		ck_assert_int_eq(symlink(path, folder), 0);
	}
	copy_to("copy", "first");
	ck_assert_uint_eq(counts.linked, 2);
	open_copy(2);
}
END_TEST

/* A link to the file that is in use would be no copy. */
START_TEST(the_store_itself_is_no_base)
{
	ck_assert_int_eq(store_copy(facts_dir(), scratch_path("copy"),
			     facts_dir(), NULL, &counts, &fault),
	    ERR_BAD_INPUT);
	ck_assert(fault_is_set(&fault));
	ck_assert_int_ne(access(scratch_path("copy"), F_OK), 0);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("copy");
	TCase *tc = tcase_create("copy");

	tcase_add_checked_fixture(tc, make, facts_remove);
	tcase_add_test(tc, a_copy_is_a_whole_store);
	tcase_add_test(tc, an_empty_folder_may_be_there);
	tcase_add_test(tc, nothing_that_is_there_is_written_over);
	tcase_add_test(tc, what_is_no_store_is_not_copied);
	tcase_add_test(tc, a_snapshot_that_is_gone_is_left_out);
	tcase_add_loop_test(tc, only_a_regular_file_is_copied, 0, 3);
	tcase_add_test(tc, a_store_in_use_can_be_copied);
	tcase_add_test(tc, the_words_are_not_copied_and_can_be_made_anew);
	tcase_add_test(tc, a_full_disk_leaves_no_copy);
	tcase_add_test(tc, a_folder_that_was_there_is_left_empty);
	tcase_add_test(tc, what_the_base_has_is_linked);
	tcase_add_test(tc, what_is_new_is_copied);
	tcase_add_test(tc, a_copy_of_a_copy_is_linked);
	tcase_add_loop_test(tc, a_base_of_other_files_is_not_linked, 0, 3);
	tcase_add_test(tc, the_store_itself_is_no_base);
	suite_add_tcase(suite, tc);
	return suite;
}
