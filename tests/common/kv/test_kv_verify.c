#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/kv/kv.h"
#include "tests/common/kv/kv_help.h"
#include "tests/fcgi/failing.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define PAGE 4096
#define KEYS 600

static struct kv *kv;

static void
fill_from(unsigned first)
{
	static char value[300];
	struct kv_txn *txn;
	char key[16];

	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	for (unsigned i = first; i < KEYS; i += 3) {
		int len = snprintf(key, sizeof(key), "key %05u", i);

		ck_assert_int_eq(kv_put(txn, 0, span_make(key, (size_t)len),
				     span_make(value, i % sizeof(value))),
		    ERR_OK);
	}
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
}

/* Several commits, so that there are free pages among those in use. */
static void
make(void)
{
	scratch_make();
	kv = open_kv("a.mdb", KV_SHARED_LAZY);
	for (unsigned i = 0; i < 6; i++)
		fill_from(i % 3);
	ck_assert_int_eq(kv_sync(kv), ERR_OK);
}

static void
drop(void)
{
	kv_close(kv);
	scratch_remove();
}

START_TEST(what_was_written_is_whole)
{
	ck_assert_int_eq(kv_verify(kv), ERR_OK);
	fill_from(0);
	ck_assert_int_eq(kv_verify(kv), ERR_OK);
	ck_assert_int_eq(quiet_lines(), 0);
}
END_TEST

START_TEST(an_empty_environment_is_whole)
{
	struct kv *empty = open_kv("b.mdb", KV_SHARED);

	ck_assert_int_eq(kv_verify(empty), ERR_OK);
	kv_close(empty);
}
END_TEST

/* Writes `len` bytes of a page, and gives back those that were there. */
static void
swap(int fd, off_t at, char *bytes, size_t len)
{
	char old[PAGE];

	ck_assert_int_eq(pread(fd, old, len, at), (ssize_t)len);
	ck_assert_int_eq(pwrite(fd, bytes, len, at), (ssize_t)len);
	memcpy(bytes, old, len);
}

/*
 * Damages each page in turn, while the file is open: damage to an index page in
 * use is found; free pages and pages of values are not examined.
 */
START_TEST(a_page_that_was_overwritten_is_told)
{
	int fd = open(scratch_path("a.mdb"), O_RDWR | O_CLOEXEC);
	unsigned damaged = 0, whole = 0;

	for (off_t at = 2 * PAGE; at < size_of("a.mdb"); at += PAGE) {
		char bytes[64];
		enum err err;

		(void)quiet_lines();
		memset(bytes, 0xff, sizeof(bytes));
		swap(fd, at, bytes, sizeof(bytes));
		err = kv_verify(kv);
		swap(fd, at, bytes, sizeof(bytes));
		ck_assert(err == ERR_OK || err == ERR_DAMAGED);
		ck_assert_int_eq(quiet_lines(), err == ERR_OK ? 0 : 1);
		damaged += err != ERR_OK;
		whole += err == ERR_OK;
	}
	close(fd);
	/* 600 values of 150 bytes in the mean take 25 pages or more. */
	ck_assert_uint_ge(damaged, 25);
	ck_assert_uint_ge(whole, 1);
	ck_assert_int_eq(kv_verify(kv), ERR_OK);
}
END_TEST

/*
 * A writer shows its meta page as soon as it has written it, and counts as the
 * last commit only when the page is on the disk, which may take long.
 */
START_TEST(a_commit_that_waits_for_the_disk_keeps_nobody_waiting)
{
	int fd = open(scratch_path("a.mdb"), O_RDWR | O_CLOEXEC);
	char meta[PAGE];
	struct kv_txn *txn;
	uint64_t commit;

	ck_assert_int_eq(kv_read(&txn, kv), ERR_OK);
	commit = kv_txn_id(txn);
	kv_abort(txn);
	ck_assert_int_eq(
	    pread(fd, meta, PAGE, (off_t)(commit % 2 * PAGE)), PAGE);
	commit++;
	memcpy(meta + 144, &commit, sizeof(commit));
	commit %= 2;
	memcpy(meta, &commit, sizeof(commit));
	swap(fd, (off_t)(commit * PAGE), meta, PAGE);
	ck_assert_int_eq(kv_verify(kv), ERR_OK);
	swap(fd, (off_t)(commit * PAGE), meta, PAGE);
	ck_assert_int_eq(kv_verify(kv), ERR_OK);
	close(fd);
}
END_TEST

static atomic_bool done;

static void *
write_on(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 300; i++)
		fill_from(i % 3);
	atomic_store(&done, true);
	return NULL;
}

START_TEST(a_writer_meanwhile_is_no_damage)
{
	pthread_t writer;
	unsigned looked = 0;

	atomic_store(&done, false);
	ck_assert_int_eq(pthread_create(&writer, NULL, write_on, NULL), 0);
	do {
		enum err err = kv_verify(kv);

		/* Busy: for a hundred looks the writer was always faster. */
		ck_assert(err == ERR_OK || err == ERR_BUSY);
		looked += err == ERR_OK;
	} while (!atomic_load(&done));
	ck_assert_int_eq(pthread_join(writer, NULL), 0);
	ck_assert_uint_ge(looked, 1);
	ck_assert_int_eq(kv_verify(kv), ERR_OK);
	ck_assert_int_eq(quiet_lines(), 0);
}
END_TEST

/*
 * The result that a reader, a writer and a renewal get: the same for all three.
 */
static enum err
told(struct kv_txn *reader)
{
	struct kv_txn *txn;
	enum err renewed, err;

	/* Looks are 10 ms apart. */
	usleep(12000);
	renewed = kv_renew(reader);
	kv_rest(reader);
	err = kv_read(&txn, kv);
	ck_assert_int_eq(err, renewed);
	kv_abort(txn);
	err = kv_write(&txn, kv);
	ck_assert_int_eq(err, renewed);
	kv_abort(txn);
	return err;
}

/*
 * Waits until the file is no longer damaged, verifying repeatedly, 2 s at most.
 */
static enum err
told_at_last(struct kv_txn *reader, enum err until)
{
	enum err err = told(reader);

	for (int i = 0; err != until && i < 150; i++)
		err = told(reader);
	return err;
}

static bool
is_young(const char *name)
{
	int fd = open(scratch_path(name), O_RDONLY | O_CLOEXEC);
	struct fs_stamp stamp;

	ck_assert_int_eq(fs_stamp(&stamp, fd), ERR_OK);
	close(fd);
	return fs_stamp_is_young(&stamp);
}

/* The root of the table's tree: its first four bytes are its number. */
static off_t
root_page(int fd)
{
	uint64_t roots[2], commits[2];

	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(pread(fd, &roots[i], 8, i * PAGE + 128), 8);
		ck_assert_int_eq(pread(fd, &commits[i], 8, i * PAGE + 144), 8);
	}
	return (off_t)roots[commits[1] > commits[0]] * PAGE;
}

START_TEST(a_watched_file_that_is_overwritten_is_refused_until_it_is_mended)
{
	int fd = open(scratch_path("a.mdb"), O_RDWR | O_CLOEXEC);
	struct kv_txn *reader;
	char bytes[64] = {0};
	off_t root = root_page(fd);

	ck_assert_int_eq(kv_watch(kv), ERR_OK);
	ck_assert_int_eq(kv_read(&reader, kv), ERR_OK);
	ck_assert_int_eq(told(reader), ERR_OK);
	swap(fd, root, bytes, sizeof(bytes));
	ck_assert_int_eq(told_at_last(reader, ERR_DAMAGED), ERR_DAMAGED);
	ck_assert_int_eq(quiet_lines(), 1);
	swap(fd, root, bytes, sizeof(bytes));
	ck_assert_int_eq(told_at_last(reader, ERR_OK), ERR_OK);
	kv_abort(reader);
	close(fd);
	ck_assert_int_eq(quiet_lines(), 0);
}
END_TEST

START_TEST(a_file_that_was_overwritten_since_it_was_opened_is_not_watched)
{
	char bytes[64] = {0};
	int fd;

	kv_close(kv);
	/* Times of a file that was written just now prove nothing. */
	while (is_young("a.mdb"))
		sched_yield();
	kv = open_kv("a.mdb", KV_SHARED_LAZY);
	fd = open(scratch_path("a.mdb"), O_RDWR | O_CLOEXEC);
	swap(fd, root_page(fd), bytes, sizeof(bytes));
	ck_assert_int_eq(kv_watch(kv), ERR_DAMAGED);
	ck_assert_int_eq(quiet_lines(), 1);
	swap(fd, root_page(fd), bytes, sizeof(bytes));
	ck_assert_int_eq(kv_watch(kv), ERR_OK);
	close(fd);
}
END_TEST

START_TEST(a_watched_file_that_is_cut_is_not_touched)
{
	off_t bytes = size_of("a.mdb");
	int fd = open(scratch_path("a.mdb"), O_RDWR | O_CLOEXEC);
	struct kv_txn *reader;

	ck_assert_int_eq(kv_watch(kv), ERR_OK);
	ck_assert_int_eq(kv_read(&reader, kv), ERR_OK);
	kv_rest(reader);
	ck_assert_int_eq(ftruncate(fd, 100), 0);
	ck_assert_int_eq(told(reader), ERR_DAMAGED);
	ck_assert_int_eq(told(reader), ERR_DAMAGED);
	ck_assert_int_eq(quiet_lines(), 1);
	/* The cut bytes are lost, even after the length is restored. */
	ck_assert_int_eq(ftruncate(fd, bytes), 0);
	ck_assert_int_eq(told(reader), ERR_DAMAGED);
	kv_abort(reader);
	close(fd);
}
END_TEST

/* The next look that verifies lacks its nth allocation; how many it makes. */
static unsigned long
look_without(unsigned long nth, struct kv_txn *reader, enum err *err)
{
	unsigned long count = 0;

	while (count == 0) {
		usleep(12000);
		failing_begin(nth);
		*err = kv_renew(reader);
		count = failing_end();
		kv_rest(reader);
	}
	return count;
}

START_TEST(a_watched_file_is_not_damaged_by_a_lack_of_memory)
{
	int fd = open(scratch_path("a.mdb"), O_RDWR | O_CLOEXEC);
	unsigned long nth = 0, count;
	struct kv_txn *reader;
	enum err err;

	ck_assert_int_eq(kv_watch(kv), ERR_OK);
	ck_assert_int_eq(kv_read(&reader, kv), ERR_OK);
	kv_rest(reader);
	do {
		/* Written without a commit: it is to be verified. */
		ck_assert_int_eq(futimens(fd, NULL), 0);
		count = look_without(++nth, reader, &err);
		ck_assert(err == ERR_OK || err == ERR_NO_MEMORY);
		ck_assert_int_eq(told(reader), ERR_OK);
	} while (count >= nth);
	ck_assert_uint_gt(nth, 4);
	kv_abort(reader);
	close(fd);
}
END_TEST

START_TEST(commits_are_no_damage_to_a_watched_file)
{
	struct kv_txn *reader;

	ck_assert_int_eq(kv_watch(kv), ERR_OK);
	ck_assert_int_eq(kv_read(&reader, kv), ERR_OK);
	for (unsigned i = 0; i < 20; i++) {
		fill_from(i % 3);
		ck_assert_int_eq(told(reader), ERR_OK);
	}
	kv_abort(reader);
	ck_assert_int_eq(quiet_lines(), 0);
}
END_TEST

START_TEST(a_file_that_is_gone_is_told)
{
	ck_assert_int_eq(unlink(scratch_path("a.mdb")), 0);
	ck_assert_int_eq(kv_verify(kv), ERR_NOT_FOUND);
	ck_assert_int_eq(quiet_lines(), 1);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("kv_verify");
	TCase *tc = tcase_create("kv_verify");

	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_checked_fixture(tc, quiet_begin, quiet_end);
	tcase_set_timeout(tc, 300);
	tcase_add_test(tc, what_was_written_is_whole);
	tcase_add_test(tc, an_empty_environment_is_whole);
	tcase_add_test(tc, a_page_that_was_overwritten_is_told);
	tcase_add_test(
	    tc, a_commit_that_waits_for_the_disk_keeps_nobody_waiting);
	tcase_add_test(tc, a_writer_meanwhile_is_no_damage);
	tcase_add_test(tc,
	    a_watched_file_that_is_overwritten_is_refused_until_it_is_mended);
	tcase_add_test(
	    tc, a_file_that_was_overwritten_since_it_was_opened_is_not_watched);
	tcase_add_test(tc, a_watched_file_that_is_cut_is_not_touched);
	tcase_add_test(tc, a_watched_file_is_not_damaged_by_a_lack_of_memory);
	tcase_add_test(tc, commits_are_no_damage_to_a_watched_file);
	tcase_add_test(tc, a_file_that_is_gone_is_told);
	suite_add_tcase(suite, tc);
	return suite;
}
