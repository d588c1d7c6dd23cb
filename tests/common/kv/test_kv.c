#include "common/kv/kv.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/common/kv/kv_help.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

static const char *const two_tables[] = {"first", "second"};

/* --- pairs ---------------------------------------------------------------- */

START_TEST(what_is_committed_is_there_after_reopening)
{
	struct kv *kv = open_kv("a.mdb", (enum kv_mode)_i);

	put_one(kv, "key", "value");
	put_one(kv, "empty", "");
	ck_assert_int_eq(kv_sync(kv), ERR_OK);
	kv_close(kv);
	kv = open_kv("a.mdb", KV_FROZEN);
	ck_assert(has_one(kv, "key", "value"));
	ck_assert(has_one(kv, "empty", ""));
	ck_assert(!has_one(kv, "other", ""));
	kv_close(kv);
	ck_assert_int_eq(quiet_lines(), 0);
}
END_TEST

START_TEST(what_is_aborted_is_not_there)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED);
	struct kv_txn *txn;

	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	ck_assert_int_eq(kv_put(txn, 0, SPAN("key"), SPAN("v")), ERR_OK);
	ck_assert(is_there(txn, 0, "key", "v"));
	kv_abort(txn);
	kv_abort(NULL);
	ck_assert(!has_one(kv, "key", "v"));
	kv_close(kv);
	kv_close(NULL);
}
END_TEST

START_TEST(pairs_out_of_bounds_are_refused_and_do_no_harm)
{
	static const char bytes[KV_KEY_MAX + 1];
	static const struct {
		size_t key, value;
		enum err err;
	} cases[] = {
	    {1, 0, ERR_OK},
	    {KV_KEY_MAX, 10, ERR_OK},
	    {0, 1, ERR_TOO_LARGE},
	    {KV_KEY_MAX + 1, 1, ERR_TOO_LARGE},
	    {1, (size_t)UINT32_MAX + 1, ERR_TOO_LARGE},
	};
	struct kv *kv = open_kv("a.mdb", KV_SHARED);
	struct kv_txn *txn;
	struct span got;

	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct span key = span_make(bytes, cases[i].key);
		bool good = cases[i].err == ERR_OK;

		(void)quiet_lines();
		ck_assert_int_eq(
		    kv_put(txn, 0, key, span_make(bytes, cases[i].value)),
		    cases[i].err);
		ck_assert_int_eq(quiet_lines(), good ? 0 : 1);
		if (cases[i].value > KV_KEY_MAX)
			continue;
		ck_assert_int_eq(
		    kv_get(txn, 0, key, &got), good ? ERR_OK : ERR_NOT_FOUND);
		ck_assert_int_eq(
		    kv_del(txn, 0, key), good ? ERR_OK : ERR_NOT_FOUND);
	}
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
	kv_close(kv);
}
END_TEST

START_TEST(append_out_of_order_is_told_and_the_rest_goes_on)
{
	struct kv *kv = open_kv("a.mdb", KV_BUILD);
	struct kv_txn *txn;

	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	ck_assert_int_eq(kv_append(txn, 0, SPAN("b"), SPAN("1")), ERR_OK);
	ck_assert_int_eq(kv_append(txn, 0, SPAN("a"), SPAN("2")), ERR_EXISTS);
	ck_assert_int_eq(kv_append(txn, 0, SPAN("b"), SPAN("2")), ERR_EXISTS);
	ck_assert_int_eq(kv_append(txn, 0, SPAN("c"), SPAN("3")), ERR_OK);
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
	ck_assert(has_one(kv, "b", "1"));
	ck_assert(!has_one(kv, "a", "2"));
	ck_assert(has_one(kv, "c", "3"));
	kv_close(kv);
}
END_TEST

START_TEST(reserved_room_is_the_value)
{
	struct kv *kv = open_kv("a.mdb", (enum kv_mode)_i);
	struct kv_txn *txn;
	struct span got;
	void *room;

	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	ck_assert_int_eq(
	    kv_reserve(txn, 0, SPAN("big"), 100000, &room), ERR_OK);
	memset(room, 'x', 100000);
	ck_assert_int_eq(kv_reserve(txn, 0, SPAN("abc"), 3, &room), ERR_OK);
	memcpy(room, "abc", 3);
	ck_assert_int_eq(kv_reserve(txn, 0, SPAN(""), 3, &room), ERR_TOO_LARGE);
	ck_assert_ptr_null(room);
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
	ck_assert(has_one(kv, "abc", "abc"));
	ck_assert_int_eq(kv_read(&txn, kv), ERR_OK);
	ck_assert_int_eq(kv_get(txn, 0, SPAN("big"), &got), ERR_OK);
	ck_assert_uint_eq(got.len, 100000);
	ck_assert(got.ptr[0] == 'x' && got.ptr[99999] == 'x');
	kv_abort(txn);
	kv_close(kv);
}
END_TEST

START_TEST(tables_are_apart_counted_and_emptied)
{
	struct kv_spec spec = spec_of("a.mdb", KV_SHARED);
	struct kv *kv;
	struct kv_txn *txn;
	uint64_t count;

	spec.tables = two_tables;
	spec.table_count = 2;
	ck_assert_int_eq(kv_open(&kv, &spec), ERR_OK);
	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	ck_assert_int_eq(kv_put(txn, 0, SPAN("k"), SPAN("0")), ERR_OK);
	ck_assert_int_eq(kv_put(txn, 1, SPAN("k"), SPAN("1")), ERR_OK);
	ck_assert_int_eq(kv_put(txn, 1, SPAN("l"), SPAN("1")), ERR_OK);
	ck_assert_int_eq(kv_count(txn, 1, &count), ERR_OK);
	ck_assert_uint_eq(count, 2);
	ck_assert_int_eq(kv_clear(txn, 1), ERR_OK);
	ck_assert_int_eq(kv_count(txn, 1, &count), ERR_OK);
	ck_assert_uint_eq(count, 0);
	ck_assert(is_there(txn, 0, "k", "0"));
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
	kv_close(kv);

	/* And are found again, without anything being written. */
	ck_assert_int_eq(kv_open(&kv, &spec), ERR_OK);
	ck_assert_int_eq(kv_read(&txn, kv), ERR_OK);
	ck_assert(is_there(txn, 0, "k", "0"));
	kv_abort(txn);
	kv_close(kv);
}
END_TEST

/* --- walks ---------------------------------------------------------------- */

static const struct {
	const char *prefix;
	const char *from;
	const char *keys; /* the keys met, each followed by a blank */
} walks[] = {
    {"", "", "a ab abc abd b ba c "},
    {"a", "", "a ab abc abd "},
    {"ab", "", "ab abc abd "},
    {"abc", "", "abc "},
    {"abcd", "", ""},
    {"d", "", ""},
    {"a", "ab", "ab abc abd "},
    {"a", "abb", "abc abd "},
    {"a", "abe", ""},
    {"a", "b", ""},
    {"b", "a", "b ba "},
    {"", "abd", "abd b ba c "},
    {"", "d", ""},
};

static void
put_walked(struct kv_txn *txn)
{
	static const char *const keys[] = {
	    "b", "abd", "c", "a", "ba", "abc", "ab"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		ck_assert_int_eq(
		    kv_put(txn, 0, span_of(keys[i]), span_of(keys[i])), ERR_OK);
}

static void
walk_all(char *met, size_t size, struct kv_txn *txn, const char *prefix,
    const char *from)
{
	struct kv_walk *walk =
	    kv_walk_begin(txn, 0, span_of(prefix), span_of(from));
	struct span key, value;
	size_t len = 0;
	enum err err;

	met[0] = '\0';
	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK) {
		ck_assert(span_eq(key, value));
		len += (size_t)snprintf(
		    met + len, size - len, "%.*s ", SPAN_ARG(key));
	}
	ck_assert_int_eq(err, ERR_NOT_FOUND);
	/* And stays so. */
	ck_assert_int_eq(kv_walk_next(walk, &key, &value), ERR_NOT_FOUND);
	ck_assert_uint_eq(key.len, 0);
	kv_walk_end(walk);
}

START_TEST(walk_meets_the_keys_of_its_prefix_in_order)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED);
	struct kv_txn *txn;
	char met[64];

	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	put_walked(txn);
	walk_all(met, sizeof(met), txn, walks[_i].prefix, walks[_i].from);
	ck_assert_str_eq(met, walks[_i].keys);
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
	ck_assert_int_eq(kv_read(&txn, kv), ERR_OK);
	walk_all(met, sizeof(met), txn, walks[_i].prefix, walks[_i].from);
	ck_assert_str_eq(met, walks[_i].keys);
	kv_abort(txn);
	kv_close(kv);
}
END_TEST

START_TEST(walk_over_an_empty_table_ends_at_once)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED);
	struct kv_txn *txn;
	char met[64];

	ck_assert_int_eq(kv_read(&txn, kv), ERR_OK);
	walk_all(met, sizeof(met), txn, "", "");
	ck_assert_str_eq(met, "");
	kv_abort(txn);
	kv_close(kv);
}
END_TEST

/* Keys of the greatest length, and bounds that are longer than any key. */
START_TEST(walk_bounds_may_be_longer_than_a_key)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED);
	char text[KV_KEY_MAX + 2];
	struct span whole = span_make(text, KV_KEY_MAX + 1);
	struct span key_text = span_make(text, KV_KEY_MAX);
	struct span key, value;
	struct kv_walk *walk;
	struct kv_txn *txn;

	memset(text, 'm', sizeof(text));
	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	ck_assert_int_eq(kv_put(txn, 0, key_text, SPAN("1")), ERR_OK);
	ck_assert_int_eq(kv_put(txn, 0, SPAN("n"), SPAN("2")), ERR_OK);

	walk = kv_walk_begin(txn, 0, key_text, SPAN(""));
	ck_assert_int_eq(kv_walk_next(walk, &key, &value), ERR_OK);
	ck_assert_int_eq(kv_walk_next(walk, &key, &value), ERR_NOT_FOUND);
	kv_walk_end(walk);

	walk = kv_walk_begin(txn, 0, whole, SPAN(""));
	ck_assert_int_eq(kv_walk_next(walk, &key, &value), ERR_NOT_FOUND);
	kv_walk_end(walk);

	walk = kv_walk_begin(txn, 0, SPAN(""), whole);
	ck_assert_int_eq(kv_walk_next(walk, &key, &value), ERR_OK);
	ck_assert(span_eq(key, SPAN("n")));
	kv_walk_end(walk);

	text[0] = 'l'; /* now before the first key, and not a key itself */
	walk = kv_walk_begin(txn, 0, SPAN(""), whole);
	ck_assert_int_eq(kv_walk_next(walk, &key, &value), ERR_OK);
	ck_assert_uint_eq(key.len, KV_KEY_MAX);
	kv_walk_end(walk);
	kv_abort(txn);
	kv_close(kv);
}
END_TEST

START_TEST(walk_without_memory_says_so)
{
	struct span key, value;

	ck_assert_int_eq(kv_walk_next(NULL, &key, &value), ERR_NO_MEMORY);
	kv_walk_end(NULL);
}
END_TEST

START_TEST(a_walk_that_is_done_passes_on_all_codes_but_its_end)
{
	ck_assert_int_eq(kv_walk_done(NULL, ERR_NO_MEMORY), ERR_NO_MEMORY);
	ck_assert_int_eq(kv_walk_done(NULL, ERR_DAMAGED), ERR_DAMAGED);
	ck_assert_int_eq(kv_walk_done(NULL, ERR_NOT_FOUND), ERR_OK);
}
END_TEST

START_TEST(walk_goes_on_after_deleting)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED);
	struct kv_walk *walk;
	struct kv_txn *txn;
	struct span key, value;
	unsigned met = 0;
	uint64_t left;

	fill(kv, 5000, 20);
	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	walk = kv_walk_begin(txn, 0, SPAN("0000"), SPAN("00000010"));
	while (kv_walk_next(walk, &key, &value) == ERR_OK) {
		char name[16];

		snprintf(name, sizeof(name), "%08u", 10 + met++);
		ck_assert(span_eq(key, span_of(name)));
		if (met % 3 != 0)
			ck_assert_int_eq(kv_walk_del(walk), ERR_OK);
	}
	kv_walk_end(walk);
	ck_assert_uint_eq(met, 4990);
	ck_assert_int_eq(kv_count(txn, 0, &left), ERR_OK);
	ck_assert_uint_eq(left, 10 + 4990 / 3);
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
	kv_close(kv);
}
END_TEST

/* --- views ---------------------------------------------------------------- */

START_TEST(reader_keeps_its_view_until_it_is_renewed)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED);
	struct kv_txn *reader;
	uint64_t before;

	put_one(kv, "k", "old");
	ck_assert_int_eq(kv_read(&reader, kv), ERR_OK);
	before = kv_txn_id(reader);
	put_one(kv, "k", "new");
	ck_assert(is_there(reader, 0, "k", "old"));
	ck_assert_int_eq(kv_renew(reader), ERR_OK);
	ck_assert(is_there(reader, 0, "k", "new"));
	ck_assert_uint_eq(kv_txn_id(reader), before + 1);
	kv_rest(reader);
	kv_rest(reader);
	ck_assert_int_eq(kv_renew(reader), ERR_OK);
	ck_assert(is_there(reader, 0, "k", "new"));
	kv_rest(reader);
	kv_abort(reader);
	kv_close(kv);
}
END_TEST

START_TEST(writer_stands_on_the_last_commit)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED);
	struct kv_txn *reader, *writer;

	put_one(kv, "k", "v");
	ck_assert_int_eq(kv_read(&reader, kv), ERR_OK);
	ck_assert_int_eq(kv_write(&writer, kv), ERR_OK);
	ck_assert_uint_eq(kv_txn_id(reader), kv_txn_id(writer));
	ck_assert_int_eq(kv_commit(reader), ERR_OK);
	kv_abort(writer);
	kv_close(kv);
}
END_TEST

/* Both halves are always of the same commit, in every thread. */
static void *
look_often(void *context)
{
	struct kv *kv = context;
	struct kv_txn *txn;
	struct span a, b;
	bool good = kv_read(&txn, kv) == ERR_OK;

	for (int i = 0; good && i < 500; i++) {
		good = kv_renew(txn) == ERR_OK &&
		    kv_get(txn, 0, SPAN("a"), &a) == ERR_OK &&
		    kv_get(txn, 0, SPAN("b"), &b) == ERR_OK && span_eq(a, b);
		kv_rest(txn);
	}
	kv_abort(txn);
	return good ? context : NULL;
}

static void
put_halves(struct kv *kv, int number)
{
	struct kv_txn *txn;
	char text[16];

	snprintf(text, sizeof(text), "%d", number);
	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	ck_assert_int_eq(kv_put(txn, 0, SPAN("a"), span_of(text)), ERR_OK);
	ck_assert_int_eq(kv_put(txn, 0, SPAN("b"), span_of(text)), ERR_OK);
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
}

START_TEST(threads_read_whole_commits_while_one_writes)
{
	struct kv *kv = open_kv("a.mdb", KV_SHARED_LAZY);
	pthread_t threads[4];
	void *result;

	put_halves(kv, 0);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(
		    pthread_create(&threads[i], NULL, look_often, kv), 0);
	for (int i = 1; i < 200; i++)
		put_halves(kv, i);
	for (int i = 0; i < 4; i++) {
		ck_assert_int_eq(pthread_join(threads[i], &result), 0);
		ck_assert_ptr_nonnull(result);
	}
	kv_close(kv);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("kv");
	TCase *tc = tcase_create("kv");

	tcase_add_checked_fixture(tc, scratch_make, scratch_remove);
	tcase_add_checked_fixture(tc, quiet_begin, quiet_end);
	tcase_set_timeout(tc, 300);
	tcase_add_loop_test(tc, what_is_committed_is_there_after_reopening,
	    KV_SHARED, KV_BUILD + 1);
	tcase_add_test(tc, what_is_aborted_is_not_there);
	tcase_add_test(tc, pairs_out_of_bounds_are_refused_and_do_no_harm);
	tcase_add_test(tc, append_out_of_order_is_told_and_the_rest_goes_on);
	tcase_add_loop_test(
	    tc, reserved_room_is_the_value, KV_SHARED, KV_BUILD + 1);
	tcase_add_test(tc, tables_are_apart_counted_and_emptied);
	tcase_add_loop_test(tc, walk_meets_the_keys_of_its_prefix_in_order, 0,
	    sizeof(walks) / sizeof(walks[0]));
	tcase_add_test(tc, walk_over_an_empty_table_ends_at_once);
	tcase_add_test(tc, walk_bounds_may_be_longer_than_a_key);
	tcase_add_test(tc, walk_without_memory_says_so);
	tcase_add_test(tc, a_walk_that_is_done_passes_on_all_codes_but_its_end);
	tcase_add_test(tc, walk_goes_on_after_deleting);
	tcase_add_test(tc, reader_keeps_its_view_until_it_is_renewed);
	tcase_add_test(tc, writer_stands_on_the_last_commit);
	tcase_add_test(tc, threads_read_whole_commits_while_one_writes);
	suite_add_tcase(suite, tc);
	return suite;
}
