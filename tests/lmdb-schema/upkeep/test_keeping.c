/*
 * tests/lmdb-schema/upkeep/test_keeping.c: the records of nodes that keep a part,
 * over an engine that has one log and the nodes that a test says.
 */
#include "lmdb-schema/upkeep/keeping.h"

#include <stdio.h>
#include <string.h>

#include "lmdb-schema/store/store.h"
#include "tests/lmdb-schema/upkeep/list_engine.h"
#include "tests/support/run.h"

#define S INT64_C(1000000000)

static struct store *store;
static struct engine engine;
static struct keeping_watching watch;

static void
begin(void)
{
	store = list_begin(&engine);
	memset(&watch, 0, sizeof(watch));
}

static void
end(void)
{
	list_end(store);
}

/* --- */

static void
tell(const char *name, unsigned keep)
{
	struct engine_node node = {.name = ""};

	snprintf(node.name, sizeof(node.name), "%s", name);
	ck_assert_int_eq(keeping_tell(store, &node, keep), ERR_OK);
}

/* The names that have records, in order. */
static void
must_have(const char *names)
{
	char found[256] = "";
	struct share share;

	ck_assert_int_eq(share_look(&share, store), ERR_OK);
	for (unsigned i = 0; i < share.count; i++) {
		strcat(found, i == 0 ? "" : " ");
		strcat(found, share.nodes[i].name);
	}
	ck_assert_str_eq(found, names);
}

static enum err
look(int64_t at_s)
{
	return keeping_watch(&watch, store, &engine, "a", at_s * S);
}

START_TEST(a_node_that_keeps_all_has_a_record_beside_others_alone)
{
	tell("a", 0);
	must_have("");
	ck_assert_uint_eq(list_entries, 0);
	tell("b", 2);
	tell("a", 0);
	must_have("a b");
	ck_assert_uint_eq(list_entries, 2);
	/* Nothing is written where nothing has changed. */
	tell("a", 0);
	tell("b", 2);
	ck_assert_uint_eq(list_entries, 2);
	ck_assert_int_eq(share_drop(store, "b"), ERR_OK);
	tell("a", 0);
	must_have("");
}
END_TEST

START_TEST(a_node_that_is_gone_for_long_has_no_record)
{
	tell("a", 2);
	tell("b", 2);
	tell("c", 2);
	list_alive = "a b c";
	ck_assert_int_eq(look(0), ERR_OK);
	ck_assert_uint_eq(watch.away, 0);
	ck_assert_uint_eq(watch.changes, 3);
	list_alive = "a c";
	ck_assert_int_eq(look(1), ERR_OK);
	ck_assert_uint_eq(watch.away, 1 << 1);
	ck_assert_int_eq(look(KEEPING_GONE_S), ERR_OK);
	must_have("a b c");
	/* Back for a moment: the time begins anew. */
	list_alive = "a b c";
	ck_assert_int_eq(look(KEEPING_GONE_S), ERR_OK);
	list_alive = "a c";
	ck_assert_int_eq(look(KEEPING_GONE_S + 1), ERR_OK);
	ck_assert_int_eq(look(2 * KEEPING_GONE_S), ERR_OK);
	must_have("a b c");
	ck_assert_int_eq(look(2 * KEEPING_GONE_S + 1), ERR_OK);
	must_have("a c");
	/* And this node's own stays, whatever the engine says of it. */
	list_alive = "c";
	ck_assert_int_eq(look(2 * KEEPING_GONE_S + 2), ERR_OK);
	ck_assert_int_eq(look(4 * KEEPING_GONE_S), ERR_OK);
	must_have("a c");
}
END_TEST

START_TEST(who_is_cut_off_drops_nobody)
{
	tell("a", 2);
	tell("b", 2);
	list_alive = "a";
	ck_assert_int_eq(look(0), ERR_OK);
	list_alive = NULL;
	ck_assert_int_eq(look(KEEPING_GONE_S - 1), ERR_AWAY);
	ck_assert_uint_eq(watch.away, 0);
	/* Since when b is away is not known. */
	list_alive = "a";
	ck_assert_int_eq(look(KEEPING_GONE_S + 1), ERR_OK);
	must_have("a b");
	ck_assert_int_eq(look(2 * KEEPING_GONE_S + 1), ERR_OK);
	must_have("a");
}
END_TEST

START_TEST(the_version_grows_with_each_change)
{
	uint64_t first, second;

	ck_assert_int_eq(keeping_version(&first, store), ERR_OK);
	tell("a", 2);
	ck_assert_int_eq(keeping_version(&second, store), ERR_OK);
	ck_assert_uint_eq(second, first + 1);
	tell("a", 3);
	ck_assert_int_eq(keeping_version(&first, store), ERR_OK);
	ck_assert_uint_eq(first, second + 1);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("keeping");
	TCase *tc = tcase_create("keeping");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(
	    tc, a_node_that_keeps_all_has_a_record_beside_others_alone);
	tcase_add_test(tc, a_node_that_is_gone_for_long_has_no_record);
	tcase_add_test(tc, who_is_cut_off_drops_nobody);
	tcase_add_test(tc, the_version_grows_with_each_change);
	suite_add_tcase(suite, tc);
	return suite;
}
