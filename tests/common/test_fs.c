#include "common/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/process.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

static bool
holds(const char *name, struct span wanted)
{
	struct buf buf;
	bool same;

	buf_init(&buf, 1 << 20);
	ck_assert_int_eq(fs_read(&buf, scratch_path(name)), ERR_OK);
	same = span_eq(buf_span(&buf), wanted);
	buf_fini(&buf);
	return same;
}

/* --- paths ---------------------------------------------------- */

START_TEST(path_that_does_not_fit_is_refused)
{
	char path[FS_PATH_MAX];

	ck_assert_int_eq(fs_path(path, "%s/%08d.mdb", "/var/lib", 7), ERR_OK);
	ck_assert_str_eq(path, "/var/lib/00000007.mdb");
	ck_assert_int_eq(fs_path(path, "%*d", FS_PATH_MAX - 1, 1), ERR_OK);
	ck_assert_int_eq(fs_path(path, "%*d", FS_PATH_MAX, 1), ERR_TOO_LARGE);
	ck_assert_str_eq(path, "");
}
END_TEST

/* --- whole files ---------------------------------------------------------- */

START_TEST(file_is_read_up_to_the_ceiling_and_no_further)
{
	static const struct {
		size_t size, max;
		enum err err;
	} cases[] = {
	    {0, 1, ERR_OK},
	    {1, 1, ERR_OK},
	    {2, 1, ERR_TOO_LARGE},
	    {65536, 65536, ERR_OK},
	    {65537, 65536, ERR_TOO_LARGE},
	    {200000, 1 << 20, ERR_OK},
	};
	static char bytes[200000];
	struct buf buf;

	memset(bytes, 'x', sizeof(bytes));
	scratch_write("file", bytes, cases[_i].size);
	buf_init(&buf, cases[_i].max);
	ck_assert_int_eq(fs_read(&buf, scratch_path("file")), cases[_i].err);
	if (cases[_i].err == ERR_OK)
		ck_assert(
		    span_eq(buf_span(&buf), span_make(bytes, cases[_i].size)));
	ck_assert_int_eq(quiet_lines(), cases[_i].err == ERR_OK ? 0 : 1);
	buf_fini(&buf);
}
END_TEST

START_TEST(missing_file_is_quiet_and_a_folder_is_not_a_file)
{
	struct buf buf;

	buf_init(&buf, 100);
	ck_assert_int_eq(fs_read(&buf, scratch_path("none")), ERR_NOT_FOUND);
	ck_assert_int_eq(quiet_lines(), 0);
	ck_assert_int_eq(fs_read(&buf, scratch_dir()), ERR_SYSTEM);
	ck_assert_int_eq(quiet_lines(), 1);
	buf_fini(&buf);
}
END_TEST

START_TEST(replaced_file_has_the_new_bytes_and_mode)
{
	struct stat st;
	mode_t old = umask(077);

	ck_assert_int_eq(
	    fs_replace(scratch_path("f"), SPAN("one"), 0640), ERR_OK);
	ck_assert(holds("f", SPAN("one")));
	ck_assert_int_eq(
	    fs_replace(scratch_path("f"), SPAN("two"), 0644), ERR_OK);
	umask(old);
	ck_assert(holds("f", SPAN("two")));
	ck_assert_int_eq(stat(scratch_path("f"), &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0644);
	scratch_must_have("f ");
}
END_TEST

START_TEST(file_that_cannot_be_replaced_stays_and_nothing_is_left)
{
	ck_assert_int_eq(fs_mkdir(scratch_path("folder/in")), ERR_OK);
	ck_assert_int_ne(
	    fs_replace(scratch_path("folder"), SPAN("x"), 0640), ERR_OK);
	ck_assert_int_eq(
	    fs_replace(scratch_path("none/f"), SPAN("x"), 0640), ERR_NOT_FOUND);
	scratch_must_have("folder ");
	ck_assert_int_eq(quiet_lines(), 2);
}
END_TEST

static int
replace_on_a_small_disk(void)
{
	static char bytes[10000];
	struct rlimit small = {5000, 5000};

	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &small) != 0)
		return 1;
	return fs_replace(scratch_path("f"), span_make(bytes, sizeof(bytes)),
		   0640) == ERR_OK
	    ? 2
	    : 0;
}

START_TEST(full_disk_leaves_the_old_file)
{
	scratch_text("f", "old");
	ck_assert_int_eq(process_run(replace_on_a_small_disk), 0);
	ck_assert(holds("f", SPAN("old")));
	scratch_must_have("f ");
}
END_TEST

static void
replace_for_ever(void)
{
	static char bytes[50000];

	alarm(30); /* not for ever, if it is not killed */
	for (char c = 'a';; c = c == 'z' ? 'a' : (char)(c + 1)) {
		memset(bytes, c, sizeof(bytes));
		(void)fs_replace(
		    scratch_path("f"), span_make(bytes, sizeof(bytes)), 0640);
	}
}

/* Whole, and of one replacement: whenever a reader looks, or all ends. */
static bool
is_of_one_piece(void)
{
	struct buf buf;
	bool same = true;

	buf_init(&buf, 1 << 20);
	ck_assert_int_eq(fs_read(&buf, scratch_path("f")), ERR_OK);
	same = buf.len == 50000;
	for (size_t i = 1; same && i < buf.len; i++)
		same = buf.data[i] == buf.data[0];
	buf_fini(&buf);
	return same;
}

START_TEST(reader_meets_the_old_file_or_the_new_one)
{
	static char bytes[50000];
	pid_t pid;

	ck_assert_int_eq(fs_replace(scratch_path("f"),
			     span_make(bytes, sizeof(bytes)), 0640),
	    ERR_OK);
	for (int round = 0; round < 5; round++) {
		pid = fork();
		ck_assert_int_ge(pid, 0);
		if (pid == 0)
			replace_for_ever();
		for (int i = 0; i < 40; i++) {
			ck_assert(is_of_one_piece());
			usleep(500);
		}
		process_kill(pid);
		ck_assert(is_of_one_piece());
	}
}
END_TEST

START_TEST(published_file_takes_the_place_of_the_old_one)
{
	scratch_text("new", "new");
	scratch_text("f", "old");
	ck_assert_int_eq(
	    fs_publish(scratch_path("new"), scratch_path("f")), ERR_OK);
	ck_assert(holds("f", SPAN("new")));
	scratch_must_have("f ");
	ck_assert_int_eq(
	    fs_publish(scratch_path("new"), scratch_path("f")), ERR_NOT_FOUND);
	ck_assert_int_eq(quiet_lines(), 1);
}
END_TEST

START_TEST(unlinking_what_is_not_there_is_fine)
{
	scratch_text("f", "");
	ck_assert_int_eq(fs_unlink(scratch_path("f")), ERR_OK);
	ck_assert(access(scratch_path("f"), F_OK) != 0);
	ck_assert_int_eq(fs_unlink(scratch_path("f")), ERR_OK);
	ck_assert_int_ne(fs_unlink(scratch_dir()), ERR_OK);
	ck_assert_int_eq(quiet_lines(), 1);
}
END_TEST

START_TEST(folder_of_a_bare_name_is_synced_too)
{
	ck_assert_int_eq(fs_sync_folder("name"), ERR_OK);
	ck_assert_int_eq(fs_sync_folder("/name"), ERR_OK);
	ck_assert_int_eq(
	    fs_sync_folder(scratch_path("none/name")), ERR_NOT_FOUND);
}
END_TEST

/* --- sizes ---------------------------------------------------------------- */

START_TEST(hole_counts_as_bytes_but_not_on_the_disk)
{
	uint64_t bytes, on_disk, free_bytes;

	scratch_text("f", "x");
	ck_assert_int_eq(truncate(scratch_path("f"), 64 << 20), 0);
	ck_assert_int_eq(fs_size(scratch_path("f"), &bytes, &on_disk), ERR_OK);
	ck_assert_uint_eq(bytes, 64 << 20);
	ck_assert_uint_lt(on_disk, 1 << 20);
	ck_assert_int_eq(
	    fs_size(scratch_path("none"), &bytes, &on_disk), ERR_NOT_FOUND);
	ck_assert_int_eq(
	    fs_size(scratch_path("f/none"), &bytes, &on_disk), ERR_NOT_FOUND);
	ck_assert_int_eq(quiet_lines(), 0);
	ck_assert_uint_eq(bytes, 0);
	ck_assert_int_eq(fs_free_bytes(scratch_path("f"), &free_bytes), ERR_OK);
	ck_assert_uint_gt(free_bytes, 0);
	/* A file that is still to be made. */
	ck_assert_int_eq(
	    fs_free_bytes(scratch_path("none"), &free_bytes), ERR_OK);
	ck_assert_uint_gt(free_bytes, 0);
	ck_assert_int_eq(
	    fs_free_bytes(scratch_path("no/ne"), &free_bytes), ERR_NOT_FOUND);
	ck_assert_int_eq(quiet_lines(), 0);
}
END_TEST

/* --- locks ---------------------------------------------------------------- */

static int
take_lock(void)
{
	int fd;

	return (int)fs_lock(&fd, scratch_path("lock"), true);
}

START_TEST(lock_is_free_once_its_holder_is_dead)
{
	pid_t pid = process_start(take_lock);
	int status;
	int fd;

	ck_assert_int_eq(fs_lock(&fd, scratch_path("lock"), false), ERR_BUSY);
	ck_assert_int_eq(fd, -1);
	ck_assert_int_eq(quiet_lines(), 0);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	/* Waits, should the kernel not be done yet. */
	ck_assert_int_eq(fs_lock(&fd, scratch_path("lock"), true), ERR_OK);
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
}
END_TEST

START_TEST(lock_is_held_once_even_in_one_process)
{
	int one, two;

	ck_assert_int_eq(fs_lock(&one, scratch_path("lock"), false), ERR_OK);
	ck_assert_int_eq(fs_lock(&two, scratch_path("lock"), false), ERR_BUSY);
	close(one);
	ck_assert_int_eq(fs_lock(&two, scratch_path("lock"), false), ERR_OK);
	close(two);
	ck_assert_int_eq(
	    fs_lock(&two, scratch_path("no/lock"), true), ERR_NOT_FOUND);
	ck_assert_int_eq(two, -1);
}
END_TEST

/* A waiting process must not get a lock on a file that was removed. */
START_TEST(waiter_takes_the_file_that_stands_there_then)
{
	struct stat own, there;
	int status;
	int fd;
	pid_t pid = process_start(take_lock);
	pid_t remover = fork();

	ck_assert_int_ge(remover, 0);
	if (remover == 0) {
		usleep(50000);
		unlink(scratch_path("lock"));
		kill(pid, SIGKILL);
		_exit(0);
	}
	ck_assert_int_eq(fs_lock(&fd, scratch_path("lock"), true), ERR_OK);
	ck_assert_int_eq(fstat(fd, &own), 0);
	ck_assert_int_eq(stat(scratch_path("lock"), &there), 0);
	ck_assert_uint_eq(own.st_ino, there.st_ino);
	close(fd);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(waitpid(remover, &status, 0), remover);
}
END_TEST

/* --- writing -------------------------------------------------------------- */

START_TEST(all_is_written_through_a_pipe_that_takes_little)
{
	static char bytes[300000];
	char piece[1000];
	int pipe_fds[2];
	size_t total = 0;
	ssize_t got;
	int status;
	pid_t pid;

	ck_assert_int_eq(pipe(pipe_fds), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		close(pipe_fds[0]);
		_exit(fs_write_all(pipe_fds[1], bytes, sizeof(bytes)) == ERR_OK
			? 0
			: 1);
	}
	close(pipe_fds[1]);
	while ((got = read(pipe_fds[0], piece, sizeof(piece))) > 0)
		total += (size_t)got;
	close(pipe_fds[0]);
	ck_assert_uint_eq(total, sizeof(bytes));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(fs_write_all(-1, "x", 1), ERR_SYSTEM);
	ck_assert_int_eq(fs_write_all(-1, "", 0), ERR_OK);
	ck_assert_int_eq(quiet_lines(), 0);
}
END_TEST

START_TEST(what_is_written_at_a_place_leaves_the_rest)
{
	char got[9] = "";
	int fd = open(scratch_path("places"), O_RDWR | O_CREAT, 0600);

	ck_assert_int_eq(fs_write_at(fd, "3456", 4, 3), ERR_OK);
	ck_assert_int_eq(fs_write_all(fd, "012", 3), ERR_OK);
	ck_assert_int_eq(fs_write_at(fd, "7", 1, 7), ERR_OK);
	ck_assert_int_eq(pread(fd, got, sizeof(got), 0), 8);
	ck_assert_str_eq(got, "01234567");
	close(fd);
	ck_assert_int_eq(fs_write_at(-1, "x", 1, 0), ERR_SYSTEM);
	ck_assert_int_eq(fs_write_at(-1, "", 0, 0), ERR_OK);
	ck_assert_int_eq(quiet_lines(), 0);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("fs");
	TCase *tc = tcase_create("fs");

	tcase_add_checked_fixture(tc, scratch_make, scratch_remove);
	tcase_add_checked_fixture(tc, quiet_begin, quiet_end);
	tcase_set_timeout(tc, 300);
	tcase_add_test(tc, path_that_does_not_fit_is_refused);
	tcase_add_test(tc, what_is_written_at_a_place_leaves_the_rest);
	tcase_add_loop_test(
	    tc, file_is_read_up_to_the_ceiling_and_no_further, 0, 6);
	tcase_add_test(tc, missing_file_is_quiet_and_a_folder_is_not_a_file);
	tcase_add_test(tc, replaced_file_has_the_new_bytes_and_mode);
	tcase_add_test(
	    tc, file_that_cannot_be_replaced_stays_and_nothing_is_left);
	tcase_add_test(tc, full_disk_leaves_the_old_file);
	tcase_add_test(tc, reader_meets_the_old_file_or_the_new_one);
	tcase_add_test(tc, published_file_takes_the_place_of_the_old_one);
	tcase_add_test(tc, unlinking_what_is_not_there_is_fine);
	tcase_add_test(tc, folder_of_a_bare_name_is_synced_too);
	tcase_add_test(tc, hole_counts_as_bytes_but_not_on_the_disk);
	tcase_add_test(tc, lock_is_free_once_its_holder_is_dead);
	tcase_add_test(tc, lock_is_held_once_even_in_one_process);
	tcase_add_test(tc, waiter_takes_the_file_that_stands_there_then);
	tcase_add_test(tc, all_is_written_through_a_pipe_that_takes_little);
	suite_add_tcase(suite, tc);
	return suite;
}
