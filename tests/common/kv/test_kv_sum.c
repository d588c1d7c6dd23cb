#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/kv/kv.h"
#include "common/log.h"
#include "tests/common/kv/kv_help.h"
#include "tests/support/flip.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

static const char *const tables[] = {"first", "second"};
static struct kv *kv;
static char said[1024];
static unsigned lines;

static void
hear(enum log_level level, const char *line)
{
	(void)level;
	lines++;
	snprintf(said, sizeof(said), "%s", line);
}

/* Any sum will do here, as long as each byte and its place matter. */
static uint32_t
sum(uint32_t before, const void *bytes, size_t len)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < len; i++)
		before = (before + at[i] + 1) * 0x01000193;
	return before;
}

static void
reopen(bool sums)
{
	struct kv_spec spec = spec_of("a.mdb", KV_SHARED);

	spec.tables = tables;
	spec.table_count = 2;
	kv_close(kv);
	ck_assert_int_eq(kv_open(&kv, &spec), ERR_OK);
	if (sums)
		kv_keep_sums(kv, sum);
}

static void
make(void)
{
	scratch_make();
	log_catch(hear);
	lines = 0;
	kv = NULL;
	reopen(true);
}

static void
drop(void)
{
	kv_close(kv);
	log_catch(NULL);
	scratch_remove();
}

static void
put(unsigned table, const char *key, struct span value)
{
	struct kv_txn *txn;

	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	ck_assert_int_eq(kv_put(txn, table, span_of(key), value), ERR_OK);
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
}

/* Returns kv_get()'s result; the value must be the given one, or empty. */
static enum err
get(unsigned table, const char *key, struct span value)
{
	struct kv_txn *txn;
	struct span got;
	enum err err;

	ck_assert_int_eq(kv_read(&txn, kv), ERR_OK);
	err = kv_get(txn, table, span_of(key), &got);
	ck_assert(span_eq(got, err == ERR_OK ? value : SPAN("")));
	kv_abort(txn);
	return err;
}

/* Walks all of a table: "a=1 b! c=3 ", '!' for ERR_DAMAGED. */
static const char *
walk(unsigned table)
{
	static char met[256];
	struct kv_txn *txn;
	struct kv_walk *walk;
	struct span key, value;
	size_t len = 0;
	enum err err;

	met[0] = '\0';
	ck_assert_int_eq(kv_read(&txn, kv), ERR_OK);
	walk = kv_walk_begin(txn, table, SPAN(""), SPAN(""));
	while ((err = kv_walk_next(walk, &key, &value)) != ERR_NOT_FOUND) {
		ck_assert(err == ERR_OK || err == ERR_DAMAGED);
		ck_assert(err == ERR_OK || value.len == 0);
		len += (size_t)snprintf(met + len, sizeof(met) - len,
		    "%.*s%c%.*s ", SPAN_ARG(key), err == ERR_OK ? '=' : '!',
		    SPAN_ARG(value));
	}
	kv_walk_end(walk);
	kv_abort(txn);
	return met;
}

START_TEST(what_is_put_is_read_without_its_sum)
{
	char *big = calloc(1, 100000);
	struct kv_txn *txn;

	ck_assert_ptr_nonnull(big);
	put(0, "empty", SPAN(""));
	put(0, "key", SPAN("value"));
	put(0, "key", SPAN("another"));
	put(0, "large", span_make(big, 100000));
	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	ck_assert_int_eq(kv_append(txn, 1, SPAN("a"), SPAN("1")), ERR_OK);
	ck_assert_int_eq(kv_append(txn, 1, SPAN("b"), SPAN("2")), ERR_OK);
	ck_assert_int_eq(kv_append(txn, 1, SPAN("a"), SPAN("3")), ERR_EXISTS);
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
	reopen(true);
	ck_assert_int_eq(get(0, "empty", SPAN("")), ERR_OK);
	ck_assert_int_eq(get(0, "key", SPAN("another")), ERR_OK);
	ck_assert_int_eq(get(0, "large", span_make(big, 100000)), ERR_OK);
	ck_assert_int_eq(get(0, "none", SPAN("")), ERR_NOT_FOUND);
	ck_assert_str_eq(walk(1), "a=1 b=2 ");
	ck_assert_uint_eq(lines, 0);
	free(big);
}
END_TEST

START_TEST(on_the_disk_the_sum_of_key_and_value_stands_behind_it)
{
	uint32_t number = sum(0, "keyvalue", 8);
	char stored[] = "value....";

	put(0, "key", SPAN("value"));
	for (unsigned i = 0; i < 4; i++)
		stored[5 + i] = (char)(number >> 8 * i & 0xff);
	reopen(false);
	ck_assert_int_eq(get(0, "key", span_make(stored, 9)), ERR_OK);
}
END_TEST

/* Each byte of the value, and of its sum. */
START_TEST(a_flipped_bit_is_told_and_no_value_comes_back)
{
	put(1, "a", SPAN("1"));
	put(1, "flipped", SPAN("value"));
	put(1, "z", SPAN("9"));
	flip(scratch_path("a.mdb"), SPAN("flippedvalue"), 7 + (size_t)_i);
	ck_assert_int_eq(get(1, "flipped", SPAN("")), ERR_DAMAGED);
	ck_assert_uint_eq(lines, 1);
	ck_assert_ptr_nonnull(strstr(said, "a.mdb table=second key=flipped"));
	ck_assert_str_eq(walk(1), "a=1 flipped! z=9 ");
	ck_assert_int_eq(get(1, "a", SPAN("1")), ERR_OK);
	ck_assert_uint_eq(lines, 1); /* not again and again */
}
END_TEST

START_TEST(a_large_value_is_told_too)
{
	char *big = calloc(1, 100000);

	ck_assert_ptr_nonnull(big);
	memcpy(big + 90000, "needle", 6);
	put(0, "large", span_make(big, 100000));
	flip(scratch_path("a.mdb"), SPAN("needle"), 3);
	ck_assert_int_eq(get(0, "large", SPAN("")), ERR_DAMAGED);
	free(big);
}
END_TEST

START_TEST(a_flipped_bit_in_a_key_is_told_by_a_walk)
{
	put(0, "akey", SPAN("value"));
	put(0, "other", SPAN("1"));
	flip(scratch_path("a.mdb"), SPAN("akeyvalue"), 3);
	ck_assert_str_eq(walk(0), "akex! other=1 ");
	/* The key cannot be reported as absent. */
	ck_assert_int_eq(get(0, "akey", SPAN("")), ERR_DAMAGED);
	ck_assert_int_eq(get(0, "zero", SPAN("")), ERR_NOT_FOUND);
	ck_assert_int_eq(get(0, "a", SPAN("")), ERR_DAMAGED);
}
END_TEST

/* How a walk over the keys with that prefix ends, and how many it meets. */
static enum err
walk_prefix(unsigned *met, const char *prefix)
{
	struct kv_txn *txn;
	struct kv_walk *walk;
	struct span key, value;
	enum err err;

	*met = 0;
	ck_assert_int_eq(kv_read(&txn, kv), ERR_OK);
	walk = kv_walk_begin(txn, 0, span_of(prefix), SPAN(""));
	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK)
		++*met;
	if (err != ERR_NOT_FOUND) {
		ck_assert_uint_eq(key.len, 0);
		ck_assert_int_eq(
		    kv_walk_next(walk, &key, &value), ERR_NOT_FOUND);
	}
	kv_walk_end(walk);
	kv_abort(txn);
	return err;
}

START_TEST(a_walk_that_a_pair_was_lost_to_says_so)
{
	unsigned met;

	put(0, "a/1", SPAN("value 1"));
	put(0, "a/2", SPAN("value 2"));
	put(0, "d/1", SPAN("value 3"));
	put(0, "d/2", SPAN("value 4"));
	put(0, "k/1", SPAN("value 5"));
	put(0, "p/1", SPAN("value 6"));
	ck_assert_int_eq(walk_prefix(&met, "a/"), ERR_NOT_FOUND);
	ck_assert_uint_eq(met, 2);
	flip(scratch_path("a.mdb"), SPAN("a/2value 2"), 1); /* a.2 */
	ck_assert_int_eq(walk_prefix(&met, "a/"), ERR_DAMAGED);
	flip(scratch_path("a.mdb"), SPAN("a.2value 2"), 1);
	flip(scratch_path("a.mdb"), SPAN("a/2value 2"), 0); /* `/2 */
	flip(scratch_path("a.mdb"), SPAN("`/2value 2"), 0);
	flip(scratch_path("a.mdb"), SPAN("d/1value 3"), 0); /* e/1 */
	ck_assert_int_eq(walk_prefix(&met, "a/"), ERR_DAMAGED);
	ck_assert_uint_eq(met, 2);
	ck_assert_int_eq(walk_prefix(&met, "k/"), ERR_NOT_FOUND);
	ck_assert_uint_eq(met, 1);
	ck_assert_int_eq(walk_prefix(&met, "q/"), ERR_NOT_FOUND);
	flip(scratch_path("a.mdb"), SPAN("p/1value 6"), 0); /* q/1 */
	ck_assert_int_eq(walk_prefix(&met, "p/"), ERR_DAMAGED);
	ck_assert_int_eq(walk_prefix(&met, "r/"), ERR_DAMAGED);
}
END_TEST

START_TEST(a_value_without_sum_or_with_anothers_is_told)
{
	static const struct span stored[] = {{"", 0}, {"abc", 3}, {"value", 5}};

	reopen(false);
	put(0, "key", stored[_i]);
	reopen(true);
	ck_assert_int_eq(get(0, "key", SPAN("")), ERR_DAMAGED);
	ck_assert_str_eq(walk(0), "key! ");
}
END_TEST

START_TEST(a_damaged_pair_can_be_put_anew_or_removed)
{
	struct kv_txn *txn;
	struct kv_walk *over;
	struct span key, value;

	put(0, "one", SPAN("value"));
	put(0, "two", SPAN("value"));
	flip(scratch_path("a.mdb"), SPAN("onevalue"), 4);
	flip(scratch_path("a.mdb"), SPAN("twovalue"), 4);
	put(0, "one", SPAN("again"));
	ck_assert_str_eq(walk(0), "one=again two! ");
	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	over = kv_walk_begin(txn, 0, SPAN(""), SPAN(""));
	ck_assert_int_eq(kv_walk_next(over, &key, &value), ERR_OK);
	ck_assert_int_eq(kv_walk_next(over, &key, &value), ERR_DAMAGED);
	ck_assert_int_eq(kv_walk_del(over), ERR_OK);
	ck_assert_int_eq(kv_walk_next(over, &key, &value), ERR_NOT_FOUND);
	kv_walk_end(over);
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
	ck_assert_str_eq(walk(0), "one=again ");
}
END_TEST

static const struct {
	struct span key;
	const char *text;
} texts[] = {
    {{"C000001", 7}, "C000001"},
    {{"BIG\0C 1", 7}, "BIG\\x00C\\x201"},
    {{"\\\xc3\xa9\x7f~!", 6}, "\\x5c\\xc3\\xa9\\x7f~!"},
    {{"", 0}, ""},
};

START_TEST(a_key_is_shown_in_printable_bytes)
{
	char text[KV_KEY_TEXT_MAX];

	kv_key_text(text, texts[_i].key);
	ck_assert_str_eq(text, texts[_i].text);
}
END_TEST

START_TEST(a_long_key_is_cut_within_the_room)
{
	static const char bytes[KV_KEY_MAX];
	char text[KV_KEY_TEXT_MAX];

	for (size_t len = 0; len <= KV_KEY_MAX; len++) {
		bool cut = len > 49;

		kv_key_text(text, span_make(bytes, len));
		ck_assert_uint_eq(strlen(text), cut ? 199 : 4 * len);
		ck_assert_int_eq(strstr(text, "...") != NULL, cut);
	}
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("kv_sum");
	TCase *tc = tcase_create("kv_sum");

	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_test(tc, what_is_put_is_read_without_its_sum);
	tcase_add_test(
	    tc, on_the_disk_the_sum_of_key_and_value_stands_behind_it);
	tcase_add_loop_test(
	    tc, a_flipped_bit_is_told_and_no_value_comes_back, 0, 5 + 4);
	tcase_add_test(tc, a_large_value_is_told_too);
	tcase_add_test(tc, a_flipped_bit_in_a_key_is_told_by_a_walk);
	tcase_add_test(tc, a_walk_that_a_pair_was_lost_to_says_so);
	tcase_add_loop_test(
	    tc, a_value_without_sum_or_with_anothers_is_told, 0, 3);
	tcase_add_test(tc, a_damaged_pair_can_be_put_anew_or_removed);
	tcase_add_loop_test(tc, a_key_is_shown_in_printable_bytes, 0,
	    sizeof(texts) / sizeof(texts[0]));
	tcase_add_test(tc, a_long_key_is_cut_within_the_room);
	suite_add_tcase(suite, tc);
	return suite;
}
