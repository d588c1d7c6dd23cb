/* tests/lmdb-schema/state/test_trail.c: lmdb-schema/state/trail.h */
#include "lmdb-schema/state/trail.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/kv/kv.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/store/store.h"
#include "tests/lmdb-schema/spoil.h"
#include "tests/lmdb-schema/states.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

static char numbers[256];

static enum err
add_number(void *context, const struct audit_entry *entry)
{
	size_t len = strlen(context);

	snprintf((char *)context + len, sizeof(numbers) - len, "%llu ",
	    (unsigned long long)entry->number);
	return ERR_OK;
}

/* The numbers of a history's entries. */
static const char *
history(const struct trail_article *article)
{
	struct state_view *view;

	numbers[0] = '\0';
	ck_assert_int_eq(state_view_open(&view, states), ERR_OK);
	ck_assert_int_eq(
	    trail_history(view, article, add_number, numbers), ERR_OK);
	state_view_close(view);
	return numbers;
}

static const char *
of(const char *supplier, const char *codein)
{
	return history(&(struct trail_article){
	    .supplier = span_of(supplier), .codein = span_of(codein)});
}

static uint64_t
behind(void)
{
	struct state_view *view;
	uint64_t count;

	ck_assert_int_eq(state_view_open(&view, states), ERR_OK);
	ck_assert_int_eq(trail_behind(view, &count), ERR_OK);
	state_view_close(view);
	return count;
}

START_TEST(each_article_has_its_entries)
{
	states_propose("key", "1", 'B');
	states_propose("key", "12", 'B');
	states_propose("key", "1", 'C');
	states_decide(PROPOSAL_SAVE, "1", '-');
	states_propose("key", "2", 'A');
	ck_assert_str_eq(of("S", "1"), "1 3 4 ");
	ck_assert_str_eq(of("S", "12"), "2 ");
	ck_assert_str_eq(of("S", "2"), "5 ");
	ck_assert_str_eq(of("S", "3"), "");
	ck_assert_str_eq(of("S2", "1"), "");
	ck_assert_str_eq(of("S", ""), "");
	ck_assert_uint_eq(behind(), 0);
}
END_TEST

/* The trail as a program without an index leaves it. */
static enum err
forget_index(void *context, struct kv_txn *txn)
{
	struct kv_walk *walk =
	    kv_walk_begin(txn, STATE_META, SPAN("trail"), SPAN(""));
	struct span key, value;
	enum err err;

	(void)context;
	ck_assert_ptr_nonnull(walk);
	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK)
		ck_assert_int_eq(kv_walk_del(walk), ERR_OK);
	kv_walk_end(walk);
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

static void
propose_at(const char *supplier, const char *codein)
{
	struct proposal_change change = {
	    .codein = span_of(codein), .gamme = states_code('B')};
	struct proposal_request request = {
	    span_of(supplier), SPAN("key"), &change, 1};
	struct proposal_result result;
	int64_t when_ms;

	ck_assert_int_eq(
	    proposal_deposit(states, &request, &result, &when_ms), ERR_OK);
}

START_TEST(an_article_has_its_entries_at_all_suppliers_in_order)
{
	propose_at("T", "1");
	states_propose("key", "1", 'B');
	propose_at("S", "12");
	states_propose("key", "1", 'C');
	propose_at("R", "1");
	ck_assert_str_eq(of("", "1"), "1 2 4 5 ");
	ck_assert_str_eq(of("", "2"), "");
	ck_assert_int_eq(
	    store_write(states, STORE_STATE, forget_index, NULL), ERR_OK);
	ck_assert_str_eq(of("", "1"), "1 2 4 5 ");
	propose_at("T", "12");
	ck_assert_str_eq(of("", "12"), "3 6 ");
}
END_TEST

static enum err
stop(void *context, const struct audit_entry *entry)
{
	add_number(context, entry);
	return ERR_EXISTS;
}

START_TEST(a_history_has_its_bounds_in_either_direction_and_ends_when_told)
{
	struct trail_article article = {.codein = SPAN("1")};
	struct state_view *view;

	for (unsigned i = 0; i < 4; i++)
		states_propose("key", "1", i % 2 == 0 ? 'B' : 'C');
	ck_assert_str_eq(history(&article), "1 2 3 4 ");
	article.back = true;
	ck_assert_str_eq(history(&article), "4 3 2 1 ");
	article.from = 2;
	article.to = 3;
	ck_assert_str_eq(history(&article), "3 2 ");
	article.back = false;
	ck_assert_str_eq(history(&article), "2 3 ");
	numbers[0] = '\0';
	ck_assert_int_eq(state_view_open(&view, states), ERR_OK);
	ck_assert_int_eq(
	    trail_history(view, &article, stop, numbers), ERR_EXISTS);
	ck_assert_str_eq(numbers, "2 ");
	state_view_close(view);
}
END_TEST

START_TEST(entries_without_index_are_found_and_indexed_with_the_next)
{
	states_propose("key", "1", 'B');
	states_propose("key", "2", 'B');
	ck_assert_int_eq(
	    store_write(states, STORE_STATE, forget_index, NULL), ERR_OK);
	ck_assert_uint_eq(behind(), 2);
	ck_assert_str_eq(of("S", "1"), "1 ");
	states_propose("key", "1", 'C');
	ck_assert_uint_eq(behind(), 0);
	ck_assert_str_eq(of("S", "1"), "1 3 ");
	ck_assert_str_eq(of("S", "2"), "2 ");
}
END_TEST

START_TEST(a_damaged_entry_stops_no_proposal)
{
	uint64_t first = htobe64(1);

	states_propose("key", "1", 'B');
	states_propose("key", "2", 'B');
	ck_assert_int_eq(
	    store_write(states, STORE_STATE, forget_index, NULL), ERR_OK);
	quiet_begin();
	spoil_one(store_state(states), STATE_AUDIT,
	    scratch_path("data/state.mdb"), span_make(&first, sizeof(first)));
	ck_assert(states_propose("key", "2", 'C'));
	ck_assert_str_eq(of("S", "2"), "2 3 ");
	ck_assert_str_eq(of("S", "1"), "");
}
END_TEST

START_TEST(long_codes_have_an_index_too)
{
	char code[SCHEMA_CODE_MAX + 1];

	memset(code, 'x', SCHEMA_CODE_MAX);
	code[SCHEMA_CODE_MAX] = '\0';
	ck_assert(states_propose("key", code, 'B'));
	ck_assert_str_eq(of("S", code), "1 ");
	code[SCHEMA_CODE_MAX - 1] = 'y';
	ck_assert_str_eq(of("S", code), "");
}
END_TEST

START_TEST(an_entry_is_got_by_its_number)
{
	struct audit_entry entry;
	struct state_view *view;
	uint64_t last;

	states_propose("key", "1", 'B');
	states_propose("key", "2", 'B');
	ck_assert_int_eq(state_view_open(&view, states), ERR_OK);
	ck_assert_int_eq(trail_last(view, &last), ERR_OK);
	ck_assert_uint_eq(last, 2);
	ck_assert_int_eq(trail_get(view, 2, &entry), ERR_OK);
	ck_assert(span_eq(entry.codein, SPAN("2")));
	ck_assert_int_eq(trail_get(view, 3, &entry), ERR_NOT_FOUND);
	state_view_close(view);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("trail");
	TCase *tc = tcase_create("trail");

	tcase_add_checked_fixture(tc, states_make, states_remove);
	tcase_add_checked_fixture(tc, quiet_begin, quiet_end);
	tcase_add_test(tc, each_article_has_its_entries);
	tcase_add_test(
	    tc, an_article_has_its_entries_at_all_suppliers_in_order);
	tcase_add_test(tc,
	    a_history_has_its_bounds_in_either_direction_and_ends_when_told);
	tcase_add_test(
	    tc, entries_without_index_are_found_and_indexed_with_the_next);
	tcase_add_test(tc, a_damaged_entry_stops_no_proposal);
	tcase_add_test(tc, long_codes_have_an_index_too);
	tcase_add_test(tc, an_entry_is_got_by_its_number);
	suite_add_tcase(suite, tc);
	return suite;
}
