#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/kv/kv.h"
#include "tests/common/kv/kv_help.h"
#include "tests/support/quiet.h"
#include "tests/support/random.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define KEYS 3000
#define KEY_LEN 9
#define PAGE 4096

static const char *const tables[] = {"first", "second", "third"};

static uint32_t
sum(uint32_t before, const void *bytes, size_t len)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < len; i++)
		before = (before + at[i] + 1) * 0x01000193;
	return before;
}

static enum err
open_tables(struct kv **kv, const char *name, bool piecemeal)
{
	struct kv_spec spec = spec_of(name, KV_SHARED);
	enum err err;

	spec.tables = tables;
	spec.table_count = 3;
	spec.piecemeal = piecemeal;
	err = kv_open(kv, &spec);
	if (err == ERR_OK)
		kv_keep_sums(*kv, sum);
	return err;
}

/* Even numbers are keys; odd ones lie between them. */
static struct span
key_of(char key[16], unsigned number)
{
	return span_make(key, (size_t)snprintf(key, 16, "key %05u", number));
}

/* Mostly small, some on pages of their own; different ones for each round. */
static struct span
value_of(unsigned number, unsigned round)
{
	static char value[9000];
	size_t len = number % 97 == 0 ? 9000 : 10 + number * (round + 1) % 83;

	memset(value, 'a' + (int)((number + round) % 26), len);
	return span_make(value, len);
}

static void
put_all(struct kv *kv, unsigned step, unsigned round)
{
	struct kv_txn *txn;
	char key[16];

	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	for (unsigned i = 0; i < KEYS; i += step)
		ck_assert_int_eq(
		    kv_put(txn, 1, key_of(key, 2 * i), value_of(i, round)),
		    ERR_OK);
	ck_assert_int_eq(kv_put(txn, 0, SPAN("k"), SPAN("v")), ERR_OK);
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
}

static void
make(void)
{
	struct kv *kv;

	scratch_make();
	ck_assert_int_eq(open_tables(&kv, "a.mdb", false), ERR_OK);
	put_all(kv, 1, 0);
	kv_close(kv);
}

/* --- what is whole -------------------------------------------------------- */

static void
expect_all(struct kv *kv, unsigned step, unsigned round)
{
	unsigned count = 0;
	struct span key, value;
	struct kv_walk *walk;
	struct kv_txn *txn;
	char text[16];

	ck_assert_int_eq(kv_read(&txn, kv), ERR_OK);
	for (unsigned i = 0; i < KEYS; i += step) {
		ck_assert_int_eq(
		    kv_get(txn, 1, key_of(text, 2 * i), &value), ERR_OK);
		ck_assert(span_eq(value, value_of(i, round)));
		ck_assert_int_eq(
		    kv_get(txn, 1, key_of(text, 2 * i + 1), &value),
		    ERR_NOT_FOUND);
	}
	walk = kv_walk_begin(txn, 1, SPAN(""), SPAN(""));
	while (kv_walk_next(walk, &key, &value) == ERR_OK)
		count++;
	kv_walk_end(walk);
	ck_assert_uint_ge(count, (KEYS + step - 1) / step);
	ck_assert_int_eq(kv_get(txn, 2, SPAN("x"), &value), ERR_NOT_FOUND);
	kv_abort(txn);
}

START_TEST(what_was_written_is_read)
{
	struct kv *kv;

	ck_assert_int_eq(open_tables(&kv, "a.mdb", true), ERR_OK);
	expect_all(kv, 1, 0);
	kv_close(kv);
	ck_assert_int_eq(quiet_lines(), 0);
}
END_TEST

/* Pages that were filled, emptied, split and joined have no gap either. */
START_TEST(what_was_changed_and_removed_is_read)
{
	struct kv_txn *txn;
	struct kv *kv;
	char key[16];

	for (unsigned round = 1; round <= 10; round++) {
		ck_assert_int_eq(open_tables(&kv, "a.mdb", false), ERR_OK);
		ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
		for (unsigned i = 0; i < KEYS; i++)
			if (random_bits() % 3 == 0)
				(void)kv_del(txn, 1, key_of(key, 2 * i));
		ck_assert_int_eq(kv_commit(txn), ERR_OK);
		put_all(kv, 1 + round % 5, round);
		kv_close(kv);
		ck_assert_int_eq(open_tables(&kv, "a.mdb", true), ERR_OK);
		expect_all(kv, 1 + round % 5, round);
		kv_close(kv);
	}
	ck_assert_int_eq(quiet_lines(), 0);
}
END_TEST

START_TEST(an_empty_environment_is_read)
{
	struct span value;
	struct kv_txn *txn;
	struct kv *kv;

	ck_assert_int_eq(open_tables(&kv, "b.mdb", false), ERR_OK);
	kv_close(kv);
	ck_assert_int_eq(open_tables(&kv, "b.mdb", true), ERR_OK);
	ck_assert_int_eq(kv_read(&txn, kv), ERR_OK);
	ck_assert_int_eq(kv_get(txn, 1, SPAN("x"), &value), ERR_NOT_FOUND);
	kv_abort(txn);
	kv_close(kv);
}
END_TEST

START_TEST(tables_are_not_made)
{
	struct kv *kv;

	ck_assert_int_eq(open_tables(&kv, "b.mdb", true), ERR_DAMAGED);
}
END_TEST

START_TEST(walks_begin_and_end_where_they_do_with_all_verified)
{
	char from[16], prefix[16];
	struct span key, value;
	struct kv_txn *txn;
	struct kv *kv;

	ck_assert_int_eq(open_tables(&kv, "a.mdb", true), ERR_OK);
	ck_assert_int_eq(kv_read(&txn, kv), ERR_OK);
	for (unsigned i = 0; i < 500; i++) {
		unsigned first = (unsigned)(random_bits() % (2 * KEYS));
		struct span begin = span_sub(
		    key_of(prefix, first), 0, 4 + (size_t)(random_bits() % 6));
		struct kv_walk *walk =
		    kv_walk_begin(txn, 1, begin, key_of(from, first));
		unsigned next = first + first % 2;

		while (kv_walk_next(walk, &key, &value) == ERR_OK) {
			char text[16];

			ck_assert(span_eq(key, key_of(text, next)));
			next += 2;
		}
		kv_walk_end(walk);
		key = key_of(from, next);
		ck_assert(next >= 2 * KEYS || !span_starts(key, begin));
	}
	kv_abort(txn);
	kv_close(kv);
}
END_TEST

/* A writer of another process goes on beside readers that begin. */
START_TEST(readers_begin_beside_a_writer)
{
	struct kv *kv;
	pid_t writer = fork();
	int status;

	if (writer == 0) {
		if (open_tables(&kv, "a.mdb", false) != ERR_OK)
			_exit(1);
		for (unsigned i = 0; i < 60; i++)
			put_one(kv, i % 2 == 0 ? "k" : "l", "another");
		_exit(0);
	}
	for (unsigned i = 0; i < 10; i++) {
		ck_assert_int_eq(open_tables(&kv, "a.mdb", true), ERR_OK);
		expect_all(kv, 1, 0);
		kv_close(kv);
	}
	ck_assert_int_eq(waitpid(writer, &status, 0), writer);
	ck_assert_int_eq(status, 0);
}
END_TEST

/* --- what is damaged ------------------------------------------------------ */

static void
ask_one(struct kv_txn *txn, unsigned number)
{
	struct span value;
	char key[16];
	enum err err = kv_get(txn, 1, key_of(key, number), &value);

	if (err == ERR_DAMAGED)
		return;
	ck_assert_int_eq(err, number % 2 == 0 ? ERR_OK : ERR_NOT_FOUND);
	ck_assert(number % 2 != 0 || span_eq(value, value_of(number / 2, 0)));
}

/* A walk that meets no damage has every pair. */
static void
ask_walk(struct kv_txn *txn)
{
	struct kv_walk *walk = kv_walk_begin(txn, 1, SPAN(""), SPAN(""));
	struct span key, value;
	unsigned next = 0;
	char text[16];
	enum err err;

	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK) {
		ck_assert(span_eq(key, key_of(text, 2 * next)));
		ck_assert(span_eq(value, value_of(next, 0)));
		next++;
	}
	ck_assert(err == ERR_DAMAGED || (err == ERR_NOT_FOUND && next == KEYS));
	kv_walk_end(walk);
}

static void
ask(struct kv *kv)
{
	struct kv_txn *txn;

	if (kv_read(&txn, kv) != ERR_OK)
		return;
	for (unsigned i = 0; i < 30; i++)
		ask_one(txn, (unsigned)(random_bits() % (2 * KEYS)));
	ask_walk(txn);
	kv_abort(txn);
}

static char *bytes;
static size_t len;

static void
read_bytes(void)
{
	struct buf buf;

	buf_init(&buf, 1u << 30);
	ck_assert_int_eq(fs_read(&buf, scratch_path("a.mdb")), ERR_OK);
	bytes = buf_take(&buf, &len);
}

/* Asks the file with these bytes; true when it was not even opened. */
static bool
ask_bytes(void)
{
	struct kv *kv;

	scratch_write("c.mdb", bytes, len);
	if (open_tables(&kv, "c.mdb", true) != ERR_OK)
		return true;
	ask(kv);
	kv_close(kv);
	return false;
}

/*
 * The file is of one commit: it has no older copies of its pages, one of which a
 * flipped bit could name.
 */
START_TEST(no_answer_from_a_damaged_file_is_wrong)
{
	unsigned refused = 0;

	read_bytes();
	for (unsigned i = 0; i < 800; i++) {
		size_t page = random_bits() % (len / PAGE);
		size_t at =
		    page * PAGE + random_bits() % (i % 3 == 0 ? PAGE : 200);
		char old = bytes[at];

		bytes[at] = (char)(i % 2 == 0 ? old ^ 1 << random_bits() % 8
					      : (int)(random_bits() & 255));
		refused += ask_bytes();
		bytes[at] = old;
	}
	free(bytes);
	ck_assert_uint_ge(refused + (unsigned)quiet_lines(), 100);
}
END_TEST

/* The page's own count of bytes in use tells of it. */
START_TEST(a_record_that_its_page_hides_is_missed)
{
	unsigned hidden = 0;

	read_bytes();
	for (size_t page = 2 * PAGE; page < len; page += PAGE * 7) {
		uint16_t kind, lower;

		memcpy(&kind, bytes + page + 10, 2);
		memcpy(&lower, bytes + page + 12, 2);
		if (kind != 2 || lower < 40)
			continue;
		lower -= 2;
		memcpy(bytes + page + 12, &lower, 2);
		(void)quiet_lines();
		ck_assert(ask_bytes() || quiet_lines() > 0);
		lower += 2;
		memcpy(bytes + page + 12, &lower, 2);
		hidden++;
	}
	free(bytes);
	ck_assert_uint_ge(hidden, 5);
}
END_TEST

START_TEST(a_writer_and_a_copy_verify_all_pages)
{
	struct kv_txn *txn;
	struct kv *kv;
	const char *at;

	read_bytes();
	at = memmem(bytes, len, "key 03000", KEY_LEN);
	ck_assert_ptr_nonnull(at);
	bytes[at - bytes] = '~'; /* behind all the others */
	scratch_write("c.mdb", bytes, len);
	free(bytes);
	ck_assert_int_eq(open_tables(&kv, "c.mdb", true), ERR_OK);
	ck_assert_int_eq(kv_read(&txn, kv), ERR_OK);
	ask_one(txn, 0);
	kv_abort(txn);
	ck_assert_int_eq(kv_write(&txn, kv), ERR_DAMAGED);
	ck_assert_int_eq(kv_copy(kv, scratch_path("d.mdb")), ERR_DAMAGED);
	kv_close(kv);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("kv_piecemeal");
	TCase *tc = tcase_create("kv_piecemeal");

	tcase_set_timeout(tc, 300);
	tcase_add_checked_fixture(tc, make, scratch_remove);
	tcase_add_checked_fixture(tc, quiet_begin, quiet_end);
	tcase_add_test(tc, what_was_written_is_read);
	tcase_add_test(tc, what_was_changed_and_removed_is_read);
	tcase_add_test(tc, an_empty_environment_is_read);
	tcase_add_test(tc, tables_are_not_made);
	tcase_add_test(tc, walks_begin_and_end_where_they_do_with_all_verified);
	tcase_add_test(tc, readers_begin_beside_a_writer);
	tcase_add_test(tc, no_answer_from_a_damaged_file_is_wrong);
	tcase_add_test(tc, a_record_that_its_page_hides_is_missed);
	tcase_add_test(tc, a_writer_and_a_copy_verify_all_pages);
	suite_add_tcase(suite, tc);
	return suite;
}
