/* tests/lmdb-schema/state/test_trail_archive.c: lmdb-schema/state/trail_archive.h */
#include "lmdb-schema/state/trail_archive.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/date.h"
#include "common/fs.h"
#include "lmdb-schema/state/trail.h"
#include "lmdb-schema/state/trail_part.h"
#include "lmdb-schema/store/store.h"
#include "tests/lmdb-schema/states.h"
#include "tests/lmdb-schema/told.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

static struct fault fault;

#define JANUARY "2026-01-0000000000000001.part"
#define FEBRUARY "2026-02-0000000000000385.part"

/* --- kills ---------------------------------------------------------------- */

static unsigned kill_at, steps;

static void
step(void)
{
	if (++steps == kill_at)
		raise(SIGKILL);
}

enum err __real_fs_publish(const char *from, const char *to);
enum err __wrap_fs_publish(const char *from, const char *to);
enum err __real_fs_unlink(const char *path);
enum err __wrap_fs_unlink(const char *path);

enum err
__wrap_fs_publish(const char *from, const char *to)
{
	enum err err;

	step();
	err = __real_fs_publish(from, to);
	step();
	return err;
}

enum err
__wrap_fs_unlink(const char *path)
{
	enum err err;

	step();
	err = __real_fs_unlink(path);
	step();
	return err;
}

/* --- months --------------------------------------------------------------- */

static void
make(void)
{
	states_three_months();
	ck_assert_int_eq(mkdir(scratch_path("archive"), 0750), 0);
}

static int64_t
first_of(int month)
{
	return (int64_t)date_day_of(2026, month, 1) * 86400000;
}

static uint64_t
archives(int month)
{
	uint64_t moved;

	ck_assert_int_eq(trail_archive(&moved, states, scratch_path("archive"),
			     first_of(month), NULL),
	    ERR_OK);
	return moved;
}

static bool
is_there(const char *folder, const char *name)
{
	char path[FS_PATH_MAX];

	ck_assert_int_eq(
	    fs_path(path, "%s/%s", scratch_path(folder), name), ERR_OK);
	return access(path, F_OK) == 0;
}

static enum err
get(uint64_t number)
{
	struct audit_entry entry;
	struct state_view *view;
	enum err err;

	ck_assert_int_eq(state_view_open(&view, states), ERR_OK);
	err = trail_get(view, number, &entry);
	state_view_close(view);
	return err;
}

static void
must_be_whole(void)
{
	told_check(states);
	ck_assert_str_eq(told, "");
}

/* As an operator copies it. */
static void
put_back(const char *name)
{
	char path[FS_PATH_MAX], to[FS_PATH_MAX];
	struct buf file;

	buf_init(&file, (size_t)1 << 24);
	ck_assert_int_eq(
	    fs_path(path, "%s/%s", scratch_path("archive"), name), ERR_OK);
	ck_assert_int_eq(fs_path(to, "data/trail/%s", name), ERR_OK);
	ck_assert_int_eq(fs_read(&file, path), ERR_OK);
	scratch_write(to, file.data, file.len);
	buf_fini(&file);
}

START_TEST(only_months_before_go_and_come_back)
{
	ck_assert_uint_eq(archives(1), 0);
	ck_assert_uint_eq(archives(2), 1);
	ck_assert(is_there("archive", JANUARY));
	ck_assert(!is_there("data/trail", JANUARY));
	ck_assert(is_there("data/trail", FEBRUARY));
	ck_assert_int_eq(get(5), ERR_NOT_FOUND);
	ck_assert_int_eq(get(950), ERR_OK);
	must_be_whole();
	ck_assert_uint_eq(archives(2), 0);
	put_back(JANUARY);
	ck_assert_int_eq(get(5), ERR_OK);
	must_be_whole();
	ck_assert_uint_eq(archives(12), 1);
	ck_assert_int_eq(get(950), ERR_NOT_FOUND);
	ck_assert_int_eq(get(1005), ERR_OK);
	must_be_whole();
}
END_TEST

static int64_t
since(void)
{
	struct state_view *view;
	int64_t when_ms;

	ck_assert_int_eq(state_view_open(&view, states), ERR_OK);
	ck_assert_int_eq(trail_since(view, &when_ms), ERR_OK);
	state_view_close(view);
	return when_ms;
}

/* All entries are of the 10th of their month. */
START_TEST(the_trail_begins_behind_the_last_month_that_lacks)
{
	const int64_t tenth = INT64_C(9) * 86400000;

	ck_assert_int_eq(since(), first_of(1) + tenth);
	archives(12);
	ck_assert_int_eq(since(), first_of(3) + tenth);
	put_back(JANUARY);
	ck_assert_int_eq(since(), first_of(3) + tenth);
	put_back(FEBRUARY);
	ck_assert_int_eq(since(), first_of(1) + tenth);
	ck_assert_int_eq(unlink(scratch_path("data/trail/" JANUARY)), 0);
	ck_assert_int_eq(since(), first_of(2) + tenth);
}
END_TEST

static const char *
said_of(const char *folder)
{
	fault_clear(&fault);
	ck_assert_int_eq(trail_archive_check(scratch_path("data"),
			     scratch_path(folder), &fault),
	    ERR_BAD_INPUT);
	ck_assert_str_eq(fault.place, "[trail] archive");
	return fault.message;
}

START_TEST(an_archive_is_a_folder_that_can_be_written)
{
	scratch_text("file", "x");
	ck_assert_ptr_nonnull(strstr(said_of("file"), "is no folder"));
	ck_assert_ptr_nonnull(strstr(said_of("none"), "is not there"));
	fault_clear(&fault);
	ck_assert_int_eq(trail_archive_check(scratch_path("data"),
			     scratch_path("archive"), &fault),
	    ERR_OK);
}
END_TEST

START_TEST(a_folder_that_is_not_there_is_not_made)
{
	uint64_t moved;

	fault_clear(&fault);
	ck_assert_int_eq(rmdir(scratch_path("archive")), 0);
	ck_assert_int_eq(trail_archive(&moved, states, scratch_path("archive"),
			     first_of(12), &fault),
	    ERR_BAD_INPUT);
	ck_assert_str_eq(fault.place, "[trail] archive");
	ck_assert_uint_eq(moved, 0);
	ck_assert_int_eq(get(5), ERR_OK);
}
END_TEST

static void
bend(const char *path)
{
	struct trail_part_head head;
	char byte;
	int fd = open(path, O_RDWR);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pread(fd, &head, sizeof(head), 0), sizeof(head));
	ck_assert_int_eq(pread(fd, &byte, 1, (off_t)head.section[0].at), 1);
	byte ^= 1;
	ck_assert_int_eq(pwrite(fd, &byte, 1, (off_t)head.section[0].at), 1);
	close(fd);
}

START_TEST(a_damaged_month_stays)
{
	uint64_t moved;

	bend(scratch_path("data/trail/" JANUARY));
	fault_clear(&fault);
	ck_assert_int_eq(trail_archive(&moved, states, scratch_path("archive"),
			     first_of(12), &fault),
	    ERR_DAMAGED);
	ck_assert_str_eq(fault.place, scratch_path("data/trail/" JANUARY));
	ck_assert_uint_eq(moved, 1); /* the other one goes */
	ck_assert(is_there("data/trail", JANUARY));
	ck_assert(!is_there("archive", JANUARY));
	ck_assert(!is_there("archive", JANUARY ".tmp"));
}
END_TEST

static void
must_not_be_an_archive(const char *folder)
{
	uint64_t moved;

	fault_clear(&fault);
	ck_assert_int_eq(trail_archive(&moved, states, scratch_path(folder),
			     first_of(12), &fault),
	    ERR_BAD_INPUT);
	ck_assert_ptr_nonnull(
	    strstr(fault.message, "lies in the data directory"));
	ck_assert_uint_eq(moved, 0);
	ck_assert(is_there("data/trail", JANUARY));
}

/* A file that is removed there would be the archive's. */
START_TEST(the_data_directory_is_no_archive)
{
	ck_assert_int_eq(mkdir(scratch_path("data/trail/old"), 0750), 0);
	ck_assert_int_eq(
	    symlink(scratch_path("data/trail"), scratch_path("link")), 0);
	ck_assert_int_eq(mkdir(scratch_path("database"), 0750), 0);
	must_not_be_an_archive("data/trail");
	must_not_be_an_archive("data");
	must_not_be_an_archive("data/trail/old");
	must_not_be_an_archive("link");
	must_not_be_an_archive("archive/../link/old");
	ck_assert_int_eq(trail_archive_check(scratch_path("data"),
			     scratch_path("database"), &fault),
	    ERR_OK);
	must_be_whole();
}
END_TEST

/* Of another store, or of this one before it was restored. */
START_TEST(another_file_in_the_archive_stays)
{
	struct buf file;
	uint64_t moved;

	scratch_text("archive/" JANUARY, "x");
	fault_clear(&fault);
	ck_assert_int_eq(trail_archive(&moved, states, scratch_path("archive"),
			     first_of(12), &fault),
	    ERR_EXISTS);
	ck_assert_str_eq(fault.place, scratch_path("archive/" JANUARY));
	ck_assert_ptr_nonnull(strstr(fault.message, "another data directory"));
	ck_assert_uint_eq(moved, 1);
	ck_assert(is_there("data/trail", JANUARY));
	buf_init(&file, 1024);
	ck_assert_int_eq(
	    fs_read(&file, scratch_path("archive/" JANUARY)), ERR_OK);
	ck_assert(span_eq(buf_span(&file), SPAN("x")));
	buf_fini(&file);
	ck_assert_int_eq(get(5), ERR_OK);
	must_be_whole();
}
END_TEST

START_TEST(another_sound_month_in_the_archive_stays)
{
	struct stat before, after;
	uint64_t moved;

	ck_assert_int_eq(link(scratch_path("data/trail/" FEBRUARY),
			     scratch_path("archive/" JANUARY)),
	    0);
	ck_assert_int_eq(stat(scratch_path("archive/" JANUARY), &before), 0);
	ck_assert_int_eq(trail_archive(&moved, states, scratch_path("archive"),
			     first_of(2), NULL),
	    ERR_EXISTS);
	ck_assert_uint_eq(moved, 0);
	ck_assert_int_eq(stat(scratch_path("archive/" JANUARY), &after), 0);
	ck_assert_uint_eq(before.st_ino, after.st_ino);
	ck_assert(is_there("data/trail", JANUARY));
}
END_TEST

/* Since a kill, and its disk has suffered. */
START_TEST(a_damaged_copy_of_the_month_is_written_anew)
{
	struct buf file;

	buf_init(&file, (size_t)1 << 24);
	ck_assert_int_eq(
	    fs_read(&file, scratch_path("data/trail/" JANUARY)), ERR_OK);
	scratch_write("archive/" JANUARY, file.data, file.len);
	buf_fini(&file);
	bend(scratch_path("archive/" JANUARY));
	ck_assert_uint_eq(archives(2), 1);
	put_back(JANUARY);
	ck_assert_int_eq(get(5), ERR_OK);
	must_be_whole();
}
END_TEST

START_TEST(another_file_put_back_is_told)
{
	char from[FS_PATH_MAX];

	archives(2);
	ck_assert_int_eq(
	    fs_path(from, "%s", scratch_path("data/trail/" FEBRUARY)), ERR_OK);
	ck_assert_int_eq(link(from, scratch_path("data/trail/" JANUARY)), 0);
	ck_assert_int_eq(get(5), ERR_DAMAGED);
	ck_assert_int_eq(get(950), ERR_OK);
}
END_TEST

/* Each entry is here, or in the archive. */
static bool
archive_killed(unsigned at)
{
	int status;
	pid_t pid;

	states_close();
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		uint64_t moved;

		kill_at = at;
		steps = 0;
		fault_clear(&fault);
		if (store_open(&states, scratch_path("data"), &fault) != ERR_OK)
			_exit(3);
		_exit(trail_archive(&moved, states, scratch_path("archive"),
			  first_of(12), NULL) == ERR_OK
			? 0
			: 4);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	states_open();
	ck_assert(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
	return WIFSIGNALED(status);
}

START_TEST(a_kill_at_any_step_leaves_each_month_in_one_place_at_least)
{
	unsigned killed = 0;
	bool more = true;

	while (more) {
		if (killed > 0) {
			states_remove();
			make();
		}
		more = archive_killed(++killed);
		ck_assert(is_there("data/trail", JANUARY) ||
		    is_there("archive", JANUARY));
		ck_assert(is_there("data/trail", FEBRUARY) ||
		    is_there("archive", FEBRUARY));
		must_be_whole();
		archives(12);
		ck_assert(is_there("archive", JANUARY));
		ck_assert(is_there("archive", FEBRUARY));
		must_be_whole();
	}
	/* Two months of four steps each. */
	ck_assert_uint_eq(killed, 9);
}
END_TEST

START_TEST(months_are_counted_from_the_present_one)
{
	int64_t noon = first_of(3) + 15 * 86400000;

	ck_assert_int_eq(trail_archive_before(noon, 0), first_of(3));
	ck_assert_int_eq(trail_archive_before(noon, 1), first_of(2));
	ck_assert_int_eq(trail_archive_before(noon, 14),
	    (int64_t)date_day_of(2025, 1, 1) * 86400000);
	ck_assert_int_eq(trail_archive_before(first_of(3), 1), first_of(2));
	ck_assert_int_eq(trail_archive_before(first_of(3) - 1, 1), first_of(1));
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("trail_archive");
	TCase *tc = tcase_create("trail_archive");

	tcase_add_checked_fixture(tc, make, states_remove);
	tcase_add_checked_fixture(tc, quiet_begin, quiet_end);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, only_months_before_go_and_come_back);
	tcase_add_test(tc, the_trail_begins_behind_the_last_month_that_lacks);
	tcase_add_test(tc, an_archive_is_a_folder_that_can_be_written);
	tcase_add_test(tc, a_folder_that_is_not_there_is_not_made);
	tcase_add_test(tc, a_damaged_month_stays);
	tcase_add_test(tc, the_data_directory_is_no_archive);
	tcase_add_test(tc, another_file_in_the_archive_stays);
	tcase_add_test(tc, another_sound_month_in_the_archive_stays);
	tcase_add_test(tc, a_damaged_copy_of_the_month_is_written_anew);
	tcase_add_test(tc, another_file_put_back_is_told);
	tcase_add_test(
	    tc, a_kill_at_any_step_leaves_each_month_in_one_place_at_least);
	tcase_add_test(tc, months_are_counted_from_the_present_one);
	suite_add_tcase(suite, tc);
	return suite;
}
