#include "common/kv/kv.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/kv/kv_priv.h"
#include "common/log.h"
#include "tests/common/kv/kv_help.h"
#include "tests/support/process.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define MAP_BYTES KV_HELP_MAP_BYTES

static const char *const two_tables[] = {"first", "second"};

/* --- opening -------------------------------------------------------------- */

START_TEST(second_opening_of_a_live_file_is_refused)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED);

	ck_assert_int_eq(try_open("a.mdb", KV_SHARED), ERR_INTERNAL);
	ck_assert_int_eq(
	    symlink(scratch_path("a.mdb"), scratch_path("b.mdb")), 0);
	ck_assert_int_eq(try_open("b.mdb", KV_SHARED_LAZY), ERR_INTERNAL);
	ck_assert_int_eq(try_open("b.mdb", KV_FROZEN), ERR_INTERNAL);
	ck_assert_int_eq(quiet_lines(), 3);
	put_one(kv, "k", "v");
	kv_close(kv);
	ck_assert_int_eq(try_open("b.mdb", KV_SHARED), ERR_OK);
}
END_TEST

/* A reader whose place has no room on a full disk ends by SIGBUS. */
START_TEST(lock_file_has_all_its_room_on_the_disk)
{
	struct stat st;

	for (unsigned i = 0; i < 2; i++) {
		struct kv *kv = open_kv("a.mdb", KV_SHARED);

		ck_assert_int_eq(stat(scratch_path("a.mdb-lock"), &st), 0);
		ck_assert_int_gt(st.st_size, 60000);
		ck_assert_int_ge(st.st_blocks * 512, st.st_size);
		kv_close(kv);
		/* A file of an earlier version is full of holes. */
		ck_assert_int_eq(truncate(scratch_path("a.mdb-lock"), 0), 0);
		ck_assert_int_eq(
		    truncate(scratch_path("a.mdb-lock"), st.st_size), 0);
	}
}
END_TEST

START_TEST(immutable_file_is_shared_until_its_last_user_closes)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED);
	struct kv *one, *two;

	put_one(kv, "k", "v");
	kv_close(kv);
	one = open_kv("a.mdb", KV_FROZEN);
	two = open_kv("a.mdb", KV_FROZEN);
	ck_assert_ptr_eq(one, two);
	ck_assert_int_eq(try_open("a.mdb", KV_SHARED), ERR_INTERNAL);
	kv_close(one);
	ck_assert_int_eq(unlink(scratch_path("a.mdb")), 0);
	ck_assert(has_one(two, "k", "v"));
	kv_close(two);
	ck_assert_int_eq(try_open("a.mdb", KV_FROZEN), ERR_NOT_FOUND);
}
END_TEST

START_TEST(finished_file_is_as_long_as_its_pages)
{
	struct kv *kv = open_kv("a.mdb", KV_BUILD);
	struct kv_txn *txn;
	uint64_t count;
	size_t used;

	fill(kv, 3000, 700);
	used = kv_used_bytes(kv);
	ck_assert_int_le(size_of("a.mdb"), (off_t)used);
	ck_assert_uint_gt(used, 3000 * 700);
	ck_assert_uint_lt(used, 3000 * 700 * 2);
	ck_assert_int_eq(kv_finish(kv, scratch_path("a.mdb"), ERR_OK), ERR_OK);
	ck_assert_int_eq(size_of("a.mdb"), (off_t)used);

	kv = open_kv("a.mdb", KV_FROZEN);
	ck_assert_uint_eq(kv_used_bytes(kv), used);
	ck_assert_int_eq(kv_read(&txn, kv), ERR_OK);
	ck_assert_int_eq(kv_count(txn, 0, &count), ERR_OK);
	ck_assert_uint_eq(count, 3000);
	kv_abort(txn);
	kv_close(kv);
}
END_TEST

START_TEST(file_whose_making_failed_is_removed)
{
	struct kv *kv = open_kv("a.mdb", KV_BUILD);

	put_one(kv, "k", "v");
	ck_assert_int_eq(
	    kv_finish(kv, scratch_path("a.mdb"), ERR_BAD_INPUT), ERR_BAD_INPUT);
	ck_assert_int_ne(access(scratch_path("a.mdb"), F_OK), 0);
	ck_assert_int_eq(
	    kv_finish(NULL, scratch_path("a.mdb"), ERR_NO_SPACE), ERR_NO_SPACE);
	ck_assert_int_eq(quiet_lines(), 0);
}
END_TEST

START_TEST(file_that_is_there_is_not_built_over)
{
	struct kv_spec spec = spec_of("a.mdb", KV_BUILD);
	struct kv *kv;
	off_t size;
	enum err err;

	scratch_text("a.mdb", "");
	ck_assert_int_eq(try_open("a.mdb", KV_BUILD), ERR_OK);
	size = size_of("a.mdb");
	ck_assert_int_gt(size, 0);
	err = kv_open(&kv, &spec);
	ck_assert_int_eq(err, ERR_EXISTS);
	ck_assert_int_eq(kv_finish(kv, spec.path, err), ERR_EXISTS);
	ck_assert_int_eq(size_of("a.mdb"), size);
	ck_assert_int_eq(quiet_lines(), 1);
}
END_TEST

START_TEST(immutable_file_takes_no_writer)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED);
	struct kv_txn *txn;

	put_one(kv, "k", "v");
	kv_close(kv);
	kv = open_kv("a.mdb", KV_FROZEN);
	ck_assert_int_eq(kv_write(&txn, kv), ERR_DENIED);
	ck_assert_ptr_null(txn);
	ck_assert_int_eq(kv_sync(kv), ERR_OK);
	kv_close(kv);
}
END_TEST

/* --- damage --------------------------------------------------------------- */

/* Two tables of several pages each, whose keys tell which. */
static void
make_two_tables(struct kv_spec *spec)
{
	struct kv_txn *txn;
	struct kv *kv;

	*spec = spec_of("a.mdb", KV_BUILD);
	spec->tables = two_tables;
	spec->table_count = 2;
	ck_assert_int_eq(kv_open(&kv, spec), ERR_OK);
	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	for (unsigned i = 0; i < 2000; i++) {
		char key[16];

		snprintf(key, sizeof(key), "%s%05u", i % 2 == 0 ? "f" : "s", i);
		ck_assert_int_eq(
		    kv_put(txn, i % 2, span_of(key), SPAN("v")), ERR_OK);
	}
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
	ck_assert_int_eq(kv_finish(kv, spec->path, ERR_OK), ERR_OK);
	spec->mode = KV_FROZEN;
	spec->map_bytes = 0;
}

/* Gives the page that has this key the kind of none. */
static void
spoil_page_of(const char *key)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), len;
	struct buf buf;
	char *bytes, *at;

	buf_init(&buf, 1u << 30);
	ck_assert_int_eq(fs_read(&buf, scratch_path("a.mdb")), ERR_OK);
	bytes = buf_take(&buf, &len);
	at = memmem(bytes, len, key, strlen(key));
	ck_assert_ptr_nonnull(at);
	bytes[(size_t)(at - bytes) / page * page + 10] = 0x20;
	scratch_write("a.mdb", bytes, len);
	free(bytes);
}

START_TEST(table_of_an_immutable_file_is_verified_when_it_is_read)
{
	struct kv_spec spec;
	struct kv_txn *txn;
	struct kv_walk *walk;
	struct span key, value;
	struct kv *kv;

	make_two_tables(&spec);
	spoil_page_of("s01001");
	ck_assert_int_eq(kv_open(&kv, &spec), ERR_OK);
	ck_assert_int_eq(kv_read(&txn, kv), ERR_OK);
	ck_assert(is_there(txn, 0, "f01000", "v"));
	ck_assert_int_eq(quiet_lines(), 0);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(
		    kv_get(txn, 1, SPAN("s00001"), &value), ERR_DAMAGED);
	walk = kv_walk_begin(txn, 1, SPAN(""), SPAN(""));
	ck_assert_int_eq(kv_walk_next(walk, &key, &value), ERR_DAMAGED);
	kv_walk_end(walk);
	ck_assert(is_there(txn, 0, "f00998", "v"));
	kv_abort(txn);
	ck_assert_int_eq(kv_copy(kv, scratch_path("b.mdb")), ERR_DAMAGED);
	kv_close(kv);
}
END_TEST

/* A write into the file undoes its verification. */
START_TEST(touched_immutable_file_is_verified_anew)
{
	struct kv_spec spec;
	struct kv_txn *txn;
	struct span value;
	struct kv *one, *two;
	struct fs_stamp before, after;

	make_two_tables(&spec);
	ck_assert_int_eq(kv_open(&one, &spec), ERR_OK);
	ck_assert_int_eq(kv_stamp(&before, one), ERR_OK);
	ck_assert_int_eq(kv_read(&txn, one), ERR_OK);
	ck_assert(is_there(txn, 1, "s00001", "v"));
	do { /* until the clock of the file's times has gone on */
		spoil_page_of("s01001");
		ck_assert_int_eq(kv_stamp(&after, one), ERR_OK);
	} while (fs_stamp_eq(&before, &after));
	ck_assert_int_eq(kv_open(&two, &spec), ERR_OK);
	ck_assert_ptr_eq(one, two);
	ck_assert_int_eq(kv_get(txn, 1, SPAN("s00001"), &value), ERR_DAMAGED);
	kv_abort(txn);
	kv_close(one);
	kv_close(two);
}
END_TEST

START_TEST(cut_file_is_damaged_and_no_signal)
{
	static const enum kv_mode modes[] = {KV_FROZEN, KV_SHARED};
	struct kv *kv = open_kv("a.mdb", KV_SHARED);

	fill(kv, 100, 5000);
	kv_close(kv);
	for (off_t cut = size_of("a.mdb") - 1; cut > 0; cut = cut * 2 / 3) {
		ck_assert_int_eq(truncate(scratch_path("a.mdb"), cut), 0);
		(void)quiet_lines();
		ck_assert_int_eq(try_open("a.mdb", KV_FROZEN), ERR_DAMAGED);
		ck_assert_int_eq(quiet_lines(), 1);
	}
	ck_assert_int_eq(truncate(scratch_path("a.mdb"), 0), 0);
	ck_assert_int_eq(try_open("a.mdb", KV_FROZEN), ERR_DAMAGED);
	for (int i = 0; i < 2; i++) {
		scratch_text("b.mdb", "not what it should be");
		ck_assert_int_eq(try_open("b.mdb", modes[i]), ERR_DAMAGED);
	}
}
END_TEST

/* Many free pages, in a list of several pages itself. */
static void
make_holes(struct kv *kv)
{
	struct kv_txn *reader;
	char key[16];
	char value[600] = "";

	fill(kv, 400, 600);
	/* An open reader keeps the old pages from being reused. */
	ck_assert_int_eq(kv_read(&reader, kv), ERR_OK);
	for (unsigned i = 0; i < 400; i++) {
		struct kv_txn *txn;

		snprintf(key, sizeof(key), "%08u", i);
		ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
		ck_assert_int_eq(kv_put(txn, 0, span_of(key),
				     span_make(value, sizeof(value))),
		    ERR_OK);
		ck_assert_int_eq(kv_commit(txn), ERR_OK);
	}
	kv_abort(reader);
	/* Now low pages are free, for the root of the list among others. */
	for (int i = 0; i < 20; i++)
		put_one(kv, "z", "v");
}

/* The number of pairs that are there and unchanged. */
static unsigned
count_good(struct kv *kv)
{
	static const char zeros[600];
	struct kv_txn *txn;
	struct span value;
	unsigned good = 0;
	char key[16];

	ck_assert_int_eq(kv_read(&txn, kv), ERR_OK);
	for (unsigned i = 0; i < 400; i++) {
		snprintf(key, sizeof(key), "%08u", i);
		if (kv_get(txn, 0, span_of(key), &value) == ERR_OK &&
		    span_eq(value, span_make(zeros, sizeof(zeros))))
			good++;
	}
	kv_abort(txn);
	return good;
}

/* LMDB looks for its second meta page where the newest one says. */
START_TEST(live_file_with_other_pages_is_damaged_and_no_signal)
{
	static const uint32_t sizes[] = {0, 512, 8192, 0x7fffffff, 0xffffff8f};
	struct kv *kv = open_kv("a.mdb", KV_SHARED);

	put_one(kv, "k", "v");
	kv_close(kv);
	for (unsigned i = 0; i < 10; i++) {
		off_t at = (off_t)(i % 2) * sysconf(_SC_PAGESIZE) + 40;
		FILE *file = fopen(scratch_path("a.mdb"), "r+");
		uint32_t before;

		ck_assert_int_eq(fseeko(file, at, SEEK_SET), 0);
		ck_assert_uint_eq(fread(&before, sizeof(before), 1, file), 1);
		ck_assert_int_eq(fseeko(file, at, SEEK_SET), 0);
		fwrite(&sizes[i / 2], sizeof(before), 1, file);
		ck_assert_int_eq(fflush(file), 0);
		(void)quiet_lines();
		ck_assert_int_eq(try_open("a.mdb", KV_SHARED), ERR_DAMAGED);
		ck_assert_int_eq(quiet_lines(), 1);
		ck_assert_int_eq(fseeko(file, at, SEEK_SET), 0);
		fwrite(&before, sizeof(before), 1, file);
		ck_assert_int_eq(fclose(file), 0);
		ck_assert_int_eq(try_open("a.mdb", KV_SHARED), ERR_OK);
	}
}
END_TEST

START_TEST(live_file_cut_anywhere_is_damaged_or_whole)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED_LAZY);
	struct kv_spec spec;
	off_t whole;
	unsigned damaged = 0;
	enum err err;

	make_holes(kv);
	kv_close(kv);
	whole = size_of("a.mdb");
	for (off_t cut = whole - 1; cut > 0; cut -= 5 * 4096) {
		ck_assert_int_eq(truncate(scratch_path("a.mdb"), cut), 0);
		(void)quiet_lines();
		spec = spec_of("a.mdb", KV_SHARED_LAZY);
		err = kv_open(&kv, &spec);
		if (err == ERR_OK) {
			ck_assert_int_eq(size_of("a.mdb"), whole);
			ck_assert_uint_eq(count_good(kv), 400);
			kv_close(kv);
			continue;
		}
		ck_assert_int_eq(err, ERR_DAMAGED);
		ck_assert_int_eq(quiet_lines(), 1);
		ck_assert_int_eq(size_of("a.mdb"), cut);
		damaged++;
	}
	ck_assert_uint_gt(damaged, 10);
}
END_TEST

/*
 * Pages taken at the end of the file and given back in one transaction are
 * never written; the file is then shorter than it says, yet whole.
 */
START_TEST(pages_given_back_at_the_end_are_no_damage)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED);
	struct kv_txn *txn;
	void *room;
	size_t used;

	/* Free pages for the rest, so that only "big" is at the end. */
	for (int i = 0; i < 5; i++)
		put_one(kv, "k", "v");
	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	ck_assert_int_eq(
	    kv_reserve(txn, 0, SPAN("big"), 1 << 20, &room), ERR_OK);
	memset(room, 0, 1 << 20);
	ck_assert_int_eq(kv_put(txn, 0, SPAN("l"), SPAN("v")), ERR_OK);
	ck_assert_int_eq(kv_del(txn, 0, SPAN("big")), ERR_OK);
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
	used = kv_used_bytes(kv);
	ck_assert_uint_gt(used, 1 << 20);
	ck_assert_int_lt(size_of("a.mdb"), (off_t)used); /* the case itself */
	ck_assert_int_eq(kv_copy(kv, scratch_path("b.mdb")), ERR_OK);
	kv_close(kv);
	ck_assert_int_eq(try_open("b.mdb", KV_FROZEN), ERR_OK);
	kv = open_kv("a.mdb", KV_SHARED);
	ck_assert(has_one(kv, "l", "v"));
	ck_assert_int_eq(size_of("a.mdb"), (off_t)used);
	kv_close(kv);
	ck_assert_int_eq(quiet_lines(), 0);
}
END_TEST

START_TEST(immutable_file_without_its_table_is_damaged)
{
	struct kv_spec spec = spec_of("a.mdb", KV_FROZEN);
	struct kv *kv = open_kv("a.mdb", KV_SHARED);

	put_one(kv, "k", "v");
	kv_close(kv);
	spec.tables = two_tables;
	spec.table_count = 2;
	ck_assert_int_eq(kv_open(&kv, &spec), ERR_DAMAGED);
	ck_assert_ptr_null(kv);
	ck_assert_int_eq(quiet_lines(), 1);
}
END_TEST

/* --- copies --------------------------------------------------------------- */

START_TEST(copy_holds_what_was_committed)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED);
	struct kv *copy;
	struct kv_txn *txn;

	put_one(kv, "k", "v");
	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	ck_assert_int_eq(kv_put(txn, 0, SPAN("l"), SPAN("w")), ERR_OK);
	kv_abort(txn);
	ck_assert_int_eq(kv_copy(kv, scratch_path("b.mdb")), ERR_OK);
	put_one(kv, "k", "later");
	copy = open_kv("b.mdb", KV_FROZEN);
	ck_assert(has_one(copy, "k", "v"));
	ck_assert(!has_one(copy, "l", "w"));
	kv_close(copy);
	ck_assert_int_eq(kv_copy(kv, scratch_path("b.mdb")), ERR_EXISTS);
	ck_assert_int_eq(kv_copy(kv, scratch_path("no/b.mdb")), ERR_NOT_FOUND);
	kv_close(kv);
}
END_TEST

/* --- several processes ---------------------------------------------------- */

static int
write_from_child(void)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED);

	put_one(kv, "k", "of the child");
	kv_close(kv);
	return 0;
}

START_TEST(one_process_sees_what_another_committed)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED);
	struct kv_txn *reader;

	put_one(kv, "k", "own");
	ck_assert_int_eq(kv_read(&reader, kv), ERR_OK);
	ck_assert_int_eq(process_run(write_from_child), 0);
	ck_assert(is_there(reader, 0, "k", "own"));
	ck_assert_int_eq(kv_renew(reader), ERR_OK);
	ck_assert(is_there(reader, 0, "k", "of the child"));
	kv_abort(reader);
	kv_close(kv);
}
END_TEST

START_TEST(processes_that_open_a_new_file_at_once_all_get_it)
{
	enum { COUNT = 8 };
	struct kv *kv;
	pid_t pids[COUNT];
	int status;
	char key[16];

	for (int i = 0; i < COUNT; i++) {
		pids[i] = fork();
		ck_assert_int_ge(pids[i], 0);
		if (pids[i] != 0)
			continue;
		kv = open_kv("a.mdb", KV_SHARED);
		snprintf(key, sizeof(key), "%d", i);
		put_one(kv, key, "v");
		kv_close(kv);
		_exit(0);
	}
	for (int i = 0; i < COUNT; i++) {
		ck_assert_int_eq(waitpid(pids[i], &status, 0), pids[i]);
		ck_assert_int_eq(status, 0);
	}
	kv = open_kv("a.mdb", KV_SHARED);
	for (int i = 0; i < COUNT; i++) {
		snprintf(key, sizeof(key), "%d", i);
		ck_assert(has_one(kv, key, "v"));
	}
	kv_close(kv);
}
END_TEST

static int
write_half(void)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED);
	struct kv_txn *txn;

	put_one(kv, "done", "v");
	return kv_write(&txn, kv) != ERR_OK ||
	    kv_put(txn, 0, SPAN("undone"), SPAN("v")) != ERR_OK;
}

START_TEST(writer_that_is_killed_leaves_its_commits_and_no_lock)
{
	pid_t pid = process_start(write_half);
	struct kv *kv = open_kv("a.mdb", KV_SHARED);

	process_kill(pid);
	ck_assert(has_one(kv, "done", "v"));
	ck_assert(!has_one(kv, "undone", "v"));
	put_one(kv, "after", "v");
	ck_assert(has_one(kv, "after", "v"));
	kv_close(kv);
}
END_TEST

static int
take_all_slots(void)
{
	struct kv_spec spec = spec_of("a.mdb", KV_SHARED);
	struct kv *kv;
	struct kv_txn *txns[4];

	spec.readers = 4;
	if (kv_open(&kv, &spec) != ERR_OK)
		return 1;
	for (int i = 0; i < 4; i++)
		if (kv_read(&txns[i], kv) != ERR_OK)
			return 1;
	return 0;
}

START_TEST(slots_of_killed_readers_are_taken_back)
{
	struct kv_spec spec = spec_of("a.mdb", KV_SHARED);
	struct kv *kv;
	struct kv_txn *txn;
	pid_t pid;

	/* Open first: the first process decides the number of slots. */
	spec.readers = 4;
	pid = process_start(take_all_slots);
	ck_assert_int_eq(kv_open(&kv, &spec), ERR_BUSY);
	ck_assert_int_eq(quiet_lines(), 1);
	process_kill(pid);
	ck_assert_int_eq(kv_open(&kv, &spec), ERR_OK);
	ck_assert_int_eq(kv_read(&txn, kv), ERR_OK);
	kv_abort(txn);
	ck_assert_int_eq(kv_reap_readers(kv), 0);
	kv_close(kv);
}
END_TEST

/* --- no room -------------------------------------------------------------- */

static enum err
fill_until_it_fails(struct kv *kv, size_t size)
{
	char *value = calloc(1, size);
	struct kv_txn *txn;
	enum err put = ERR_OK;
	enum err commit = ERR_OK;
	char key[16];

	for (unsigned i = 0; put == ERR_OK && commit == ERR_OK; i++) {
		if (kv_write(&txn, kv) != ERR_OK)
			break;
		snprintf(key, sizeof(key), "%u", i);
		put = kv_put(txn, 0, span_of(key), span_make(value, size));
		commit = kv_commit(txn);
	}
	free(value);
	/* After a failed put, the commit must fail too. */
	return put != ERR_OK && commit != put ? ERR_INTERNAL : commit;
}

static int
fill_a_small_disk(void)
{
	struct rlimit old, small;
	struct kv *kv = open_kv("a.mdb", KV_SHARED);

	put_one(kv, "before", "v");
	signal(SIGXFSZ, SIG_IGN);
	if (getrlimit(RLIMIT_FSIZE, &old) != 0)
		return 1;
	small = old;
	small.rlim_cur = (1 << 20) + 1000; /* a write ends in the middle */
	if (setrlimit(RLIMIT_FSIZE, &small) != 0)
		return 2;
	if (fill_until_it_fails(kv, 50000) != ERR_NO_SPACE)
		return 3;
	if (!has_one(kv, "before", "v"))
		return 4;
	if (kv_copy(kv, scratch_path("b.mdb")) != ERR_OK)
		return 5;
	if (setrlimit(RLIMIT_FSIZE, &old) != 0)
		return 6;
	put_one(kv, "after", "v");
	kv_close(kv);
	return 0;
}

START_TEST(full_disk_is_told_and_what_was_there_stays)
{
	struct kv *kv;

	ck_assert_int_eq(process_run(fill_a_small_disk), 0);
	kv = open_kv("a.mdb", KV_SHARED);
	ck_assert(has_one(kv, "before", "v"));
	ck_assert(has_one(kv, "after", "v"));
	kv_close(kv);
}
END_TEST

/* Lines of errors, and those of writes that work again. */
static char heard[4096];

static void
hear(enum log_level level, const char *line)
{
	size_t len = strlen(heard);

	if (level <= LOG_WARN_ || strstr(line, "work again") != NULL)
		snprintf(heard + len, sizeof(heard) - len, "%s\n", line);
}

static unsigned
count_heard(const char *what)
{
	unsigned count = 0;

	for (const char *at = heard; (at = strstr(at, what)) != NULL; at++)
		count++;
	return count;
}

static int
write_often_to_a_full_disk(void)
{
	struct rlimit old, small;
	struct kv *kv = open_kv("a.mdb", KV_SHARED);

	put_one(kv, "before", "v");
	log_open("test", LOG_INFO_);
	log_catch(hear);
	signal(SIGXFSZ, SIG_IGN);
	if (getrlimit(RLIMIT_FSIZE, &old) != 0)
		return 1;
	small = old;
	small.rlim_cur = 1 << 20;
	if (setrlimit(RLIMIT_FSIZE, &small) != 0)
		return 2;
	for (unsigned i = 0; i < 20; i++)
		if (fill_until_it_fails(kv, 500000) != ERR_NO_SPACE)
			return 3;
	if (count_heard("\n") != 1 || count_heard("times=1\n") != 1 ||
	    count_heard("LimitFSIZE=") != 1)
		return 4;
	if (setrlimit(RLIMIT_FSIZE, &old) != 0)
		return 5;
	heard[0] = '\0';
	put_one(kv, "after", "v");
	if (heard[0] != '\0')
		return 6;
	kv->refused.failed_ns -= SELDOM_EVERY_NS; /* a minute passes */
	put_one(kv, "after", "w");
	put_one(kv, "after", "x");
	kv_close(kv);
	return count_heard("work again: ") == 1 &&
		count_heard("refused=19\n") == 1 && count_heard("\n") == 1
	    ? 0
	    : 7;
}

START_TEST(full_disk_is_told_once_and_when_it_takes_writes_again)
{
	ck_assert_int_eq(process_run(write_often_to_a_full_disk), 0);
}
END_TEST

static int
copy_to_a_small_disk(void)
{
	struct rlimit small = {1 << 20, 1 << 20};
	struct kv *kv = open_kv("a.mdb", KV_SHARED);

	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &small) != 0)
		return 1;
	if (kv_copy(kv, scratch_path("b.mdb")) != ERR_NO_SPACE)
		return 2;
	return access(scratch_path("b.mdb"), F_OK) == 0 ? 3 : 0;
}

START_TEST(copy_that_does_not_fit_leaves_no_file)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED);

	fill(kv, 500, 5000);
	kv_close(kv);
	ck_assert_int_eq(process_run(copy_to_a_small_disk), 0);
}
END_TEST

START_TEST(full_map_is_told_and_what_was_there_stays)
{
	struct kv_spec spec = spec_of("a.mdb", KV_SHARED);
	struct kv *kv;

	spec.map_bytes = 1 << 20;
	ck_assert_int_eq(kv_open(&kv, &spec), ERR_OK);
	put_one(kv, "before", "v");
	ck_assert_int_eq(fill_until_it_fails(kv, 50000), ERR_MAP_FULL);
	ck_assert_int_eq(quiet_lines(), 1);
	ck_assert(has_one(kv, "before", "v"));
	kv_close(kv);
}
END_TEST

static int
open_as_nobody(void)
{
	if (geteuid() == 0 && seteuid(65534) != 0)
		return 1;
	if (try_open("a.mdb", KV_SHARED) != ERR_DENIED)
		return 2;
	return try_open("a.mdb", KV_FROZEN) == ERR_DENIED ? 0 : 3;
}

START_TEST(forbidden_file_is_denied)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED);

	kv_close(kv);
	ck_assert_int_eq(chmod(scratch_path("a.mdb"), 0), 0);
	ck_assert_int_eq(process_run(open_as_nobody), 0);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("kv_open");
	TCase *tc = tcase_create("kv_open");

	tcase_add_checked_fixture(tc, scratch_make, scratch_remove);
	tcase_add_checked_fixture(tc, quiet_begin, quiet_end);
	tcase_set_timeout(tc, 300);
	tcase_add_test(tc, immutable_file_without_its_table_is_damaged);
	tcase_add_test(tc, second_opening_of_a_live_file_is_refused);
	tcase_add_test(tc, lock_file_has_all_its_room_on_the_disk);
	tcase_add_test(tc, immutable_file_is_shared_until_its_last_user_closes);
	tcase_add_test(tc, finished_file_is_as_long_as_its_pages);
	tcase_add_test(tc, file_whose_making_failed_is_removed);
	tcase_add_test(tc, file_that_is_there_is_not_built_over);
	tcase_add_test(tc, immutable_file_takes_no_writer);
	tcase_add_test(tc, cut_file_is_damaged_and_no_signal);
	tcase_add_test(tc, live_file_with_other_pages_is_damaged_and_no_signal);
	tcase_add_test(tc, live_file_cut_anywhere_is_damaged_or_whole);
	tcase_add_test(tc, pages_given_back_at_the_end_are_no_damage);
	tcase_add_test(tc, copy_holds_what_was_committed);
	tcase_add_test(tc, one_process_sees_what_another_committed);
	tcase_add_test(tc, processes_that_open_a_new_file_at_once_all_get_it);
	tcase_add_test(
	    tc, writer_that_is_killed_leaves_its_commits_and_no_lock);
	tcase_add_test(tc, slots_of_killed_readers_are_taken_back);
	tcase_add_test(tc, full_disk_is_told_and_what_was_there_stays);
	tcase_add_test(
	    tc, full_disk_is_told_once_and_when_it_takes_writes_again);
	tcase_add_test(tc, copy_that_does_not_fit_leaves_no_file);
	tcase_add_test(tc, full_map_is_told_and_what_was_there_stays);
	tcase_add_test(tc, forbidden_file_is_denied);
	tcase_add_test(
	    tc, table_of_an_immutable_file_is_verified_when_it_is_read);
	tcase_add_test(tc, touched_immutable_file_is_verified_anew);
	suite_add_tcase(suite, tc);
	return suite;
}
