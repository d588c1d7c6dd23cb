/*
 * The writes of a transaction as bytes: what is taken, and what is refused.
 * test_kv_steps.c applies many to a copy.
 */
#include "common/kv/kv_ops.h"

#include "tests/common/kv/kv_help.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

static const char *const names[] = {"one", "two"};
static struct kv *kv;

static void
open_two(void)
{
	struct kv_spec spec;

	scratch_make();
	quiet_begin();
	spec = spec_of("a.mdb", KV_SHARED);
	spec.tables = names;
	spec.table_count = 2;
	ck_assert_int_eq(kv_open(&kv, &spec), ERR_OK);
}

static void
close_two(void)
{
	kv_close(kv);
	quiet_end();
	scratch_remove();
}

START_TEST(each_kind_of_write_has_its_bytes)
{
	static const char want[] = "\1\1\1\0\2\0\0\0kvv"
				   "\1\0\1\0\0\0\0\0a"
				   "\2\1\1\0k"
				   "\3\0";
	struct kv_txn *txn;
	struct buf ops;

	buf_init(&ops, 1000);
	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	kv_keep_ops(txn, &ops);
	ck_assert_int_eq(kv_put(txn, 1, SPAN("k"), SPAN("vv")), ERR_OK);
	ck_assert_int_eq(kv_append(txn, 0, SPAN("a"), SPAN("")), ERR_OK);
	ck_assert_int_eq(kv_append(txn, 0, SPAN("a"), SPAN("b")), ERR_EXISTS);
	ck_assert_int_eq(kv_del(txn, 1, SPAN("none")), ERR_NOT_FOUND);
	ck_assert_int_eq(kv_del(txn, 1, SPAN("k")), ERR_OK);
	ck_assert_int_eq(kv_clear(txn, 0), ERR_OK);
	ck_assert(span_eq(buf_span(&ops), span_make(want, sizeof(want) - 1)));
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
	buf_fini(&ops);
}
END_TEST

START_TEST(a_commit_whose_ops_have_no_room_stores_nothing)
{
	struct kv_txn *txn;
	struct buf ops;

	buf_init(&ops, 8);
	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	kv_keep_ops(txn, &ops);
	ck_assert_int_eq(kv_put(txn, 0, SPAN("key"), SPAN("value")), ERR_OK);
	ck_assert_int_eq(kv_commit(txn), ERR_TOO_LARGE);
	ck_assert(!has_one(kv, "key", "value"));
	buf_fini(&ops);
}
END_TEST

/* A good write comes first: none of it may be done. */
#define FIRST "\1\0\1\0\1\0\0\0av"

START_TEST(ops_that_are_none_are_refused_whole)
{
	static const struct span cases[] = {
	    SPAN(FIRST "\0"), /* cut */
	    SPAN(FIRST "\0\0"), /* no kind */
	    SPAN(FIRST "\4\0"), /* another kind */
	    SPAN(FIRST "\3"), /* no table */
	    SPAN(FIRST "\3\2"), /* another table */
	    SPAN(FIRST "\2\0\0\0"), /* an empty key */
	    SPAN(FIRST "\2\0\1"), /* half a length */
	    SPAN(FIRST "\2\0\2\0k"), /* half a key */
	    SPAN(FIRST "\2\0\0\2k"), /* a key longer than any */
	    SPAN(FIRST "\1\0\1\0\1\0\0"), /* half a length */
	    SPAN(FIRST "\1\0\1\0\2\0\0\0kv"), /* half a value */
	    SPAN(FIRST "\1\0\1\0\377\377\377\377kv"),
	};
	struct kv_txn *txn;

	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_int_eq(kv_apply(txn, cases[i]), ERR_BAD_INPUT);
		ck_assert(!is_there(txn, 0, "a", "v"));
	}
	ck_assert_int_eq(kv_apply(txn, SPAN("")), ERR_OK);
	ck_assert_int_eq(kv_apply(txn, SPAN(FIRST "\2\0\1\0k")), ERR_OK);
	ck_assert(is_there(txn, 0, "a", "v"));
	kv_abort(txn);
	ck_assert_int_eq(quiet_lines(), 0);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("kv_ops");
	TCase *tc = tcase_create("kv_ops");

	tcase_add_checked_fixture(tc, open_two, close_two);
	tcase_add_test(tc, each_kind_of_write_has_its_bytes);
	tcase_add_test(tc, a_commit_whose_ops_have_no_room_stores_nothing);
	tcase_add_test(tc, ops_that_are_none_are_refused_whole);
	suite_add_tcase(suite, tc);
	return suite;
}
