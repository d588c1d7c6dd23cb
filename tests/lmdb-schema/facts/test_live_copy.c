/* lmdb-schema/facts/live_copy.h: what one node has changed, on another one. */
#include "lmdb-schema/facts/live_copy.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/kv/kv.h"
#include "lmdb-schema/row.h"
#include "lmdb-schema/schema.h"
#include "tests/lmdb-schema/facts.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

static struct store *other;
static struct live_edition edition = {.number = 1, .hash = {1, 2, 3}};

static void
make(void)
{
	struct fault fault;

	fault_clear(&fault);
	facts_make();
	ck_assert_int_eq(store_create(scratch_path("other"), &fault), ERR_OK);
	ck_assert_int_eq(
	    store_open(&other, scratch_path("other"), &fault), ERR_OK);
}

static void
end(void)
{
	store_close(other);
	facts_remove();
}

/* All records of both, but those of each node itself. */
static void
must_be_equal(struct store *a, struct store *b)
{
	struct kv_txn *one, *two;

	ck_assert_int_eq(kv_read(&one, store_live(a)), ERR_OK);
	ck_assert_int_eq(kv_read(&two, store_live(b)), ERR_OK);
	for (unsigned table = LIVE_META; table <= LIVE_GAMMEGEN; table++) {
		struct kv_walk *walk =
		    kv_walk_begin(one, table, SPAN(""), SPAN(""));
		struct span key, value, found;
		uint64_t count, others;

		while (kv_walk_next(walk, &key, &value) == ERR_OK) {
			if (table == LIVE_META &&
			    (span_eq(key, SPAN("edition")) ||
				span_eq(key, SPAN("log"))))
				continue;
			ck_assert_msg(
			    kv_get(two, table, key, &found) == ERR_OK &&
				span_eq(value, found),
			    "table %u key %.*s", table, SPAN_ARG(key));
		}
		kv_walk_end(walk);
		ck_assert_int_eq(kv_count(one, table, &count), ERR_OK);
		ck_assert_int_eq(kv_count(two, table, &others), ERR_OK);
		if (table != LIVE_META)
			ck_assert_uint_eq(count, others);
	}
	kv_abort(one);
	kv_abort(two);
}

static enum err
add_range(void *context, struct live_change *change)
{
	return live_put_gamme(
	    change, SPAN("BIG"), span_of(context), ROW_GAMME_NONE + 1);
}

static enum err
refuse(void *context, struct live_change *change)
{
	return add_range(context, change) == ERR_OK ? ERR_BAD_INPUT
						    : ERR_INTERNAL;
}

static uint64_t
facts_of(struct store *store)
{
	struct live_view *view;
	uint64_t generation;

	ck_assert_int_eq(live_view_open(&view, store), ERR_OK);
	generation = live_facts(view);
	live_view_close(view);
	return generation;
}

static void
copy_to_other(bool own)
{
	char path[FS_PATH_MAX];
	uint64_t generation, again;

	snprintf(path, sizeof(path), "%s", scratch_path("copy"));
	ck_assert_int_eq(
	    live_copy_make(facts, path, NULL, NULL, NULL, &generation), ERR_OK);
	ck_assert_int_eq(live_copy_facts(&again, path), ERR_OK);
	ck_assert_uint_eq(generation, again);
	ck_assert_int_eq(live_copy_take(other, path, &edition, own), ERR_OK);
	ck_assert_int_eq(unlink(path), 0);
}

START_TEST(a_change_is_made_in_the_copy_alone)
{
	char path[FS_PATH_MAX], codein[] = "1";
	struct live_counts counts;
	uint64_t generation, before = facts_import(5, 1);
	struct live_view *view;
	uint8_t gamme;

	snprintf(path, sizeof(path), "%s", scratch_path("copy"));
	ck_assert_int_eq(live_copy_make(facts, path, add_range, codein, &counts,
			     &generation),
	    ERR_OK);
	ck_assert_uint_eq(counts.gammes, 1);
	ck_assert_uint_eq(generation, before);
	ck_assert_int_eq(access(scratch_path("copy-lock"), F_OK), -1);
	ck_assert_int_eq(live_view_open(&view, facts), ERR_OK);
	ck_assert_int_eq(
	    live_gamme(view, SPAN("BIG"), SPAN("1"), &gamme), ERR_OK);
	ck_assert_uint_eq(gamme, ROW_GAMME_NONE);
	live_view_close(view);
	ck_assert_int_eq(live_copy_take(other, path, &edition, false), ERR_OK);
	ck_assert_int_eq(live_view_open(&view, other), ERR_OK);
	ck_assert_int_eq(
	    live_gamme(view, SPAN("BIG"), SPAN("1"), &gamme), ERR_OK);
	ck_assert_uint_eq(gamme, ROW_GAMME_NONE + 1);
	ck_assert_uint_eq(live_facts(view), before);
	live_view_close(view);
	unlink(path);
	ck_assert_int_eq(
	    live_copy_make(facts, path, refuse, codein, &counts, &generation),
	    ERR_BAD_INPUT);
	ck_assert_int_eq(access(path, F_OK), -1);
}
END_TEST

START_TEST(another_node_has_the_same_records)
{
	struct live_edition shown;

	facts_import(20, 1);
	facts_gamme("BIG", "1", 2);
	facts_gamme("SMALL", "2", 3);
	facts_network("100001", 5);
	facts_network("100002", 6);
	copy_to_other(false);
	must_be_equal(facts, other);
	ck_assert_int_eq(live_edition(&shown, other), ERR_OK);
	ck_assert_mem_eq(&shown, &edition, sizeof(shown));
	/* And what is gone or another one goes and changes there. */
	facts_import(10, 2);
	facts_gamme("BIG", "1", 4);
	facts_gamme("SMALL", "2", ROW_GAMME_NONE);
	facts_network("100002", 7);
	copy_to_other(false);
	must_be_equal(facts, other);
	must_be_equal(other, facts);
}
END_TEST

START_TEST(a_change_of_its_own_is_of_no_edition)
{
	struct live_edition shown;
	char codein[] = "1";

	facts_import(5, 1);
	copy_to_other(false);
	ck_assert_int_eq(
	    live_change_run(other, add_range, codein, NULL), ERR_OK);
	ck_assert_int_eq(live_edition(&shown, other), ERR_OK);
	ck_assert_uint_eq(shown.number, 0);
}
END_TEST

static enum err
set_facts(void *context, struct live_change *change)
{
	return live_set_facts(change, *(uint64_t *)context);
}

static struct source *rows;

/* Facts of another generation, with the same rows. */
static enum err
set_same(void *context, struct live_change *change)
{
	enum err err = set_facts(context, change);

	return err == ERR_OK ? live_keep_unchanged(change, rows, rows) : err;
}

static bool
counts_as_unchanged(uint64_t made_from)
{
	struct live_view *view;
	bool unchanged;

	ck_assert_int_eq(live_view_open(&view, other), ERR_OK);
	unchanged = live_is_unchanged(
	    view, SPAN("SMALL"), made_from, live_network_generation(view));
	live_view_close(view);
	return unchanged;
}

/*
 * SMALL is the same in all imports, so that what was computed from one counts;
 * what another node computed from an import of its own between two of them does
 * not, whatever its number says.
 */
START_TEST(what_was_imported_apart_counts_as_changed)
{
	uint64_t first = facts_import(5, 1), apart = first + 1;
	uint64_t second = first + 2, third = first + 3;
	int own = _i;

	ck_assert_int_eq(source_open(&rows, facts), ERR_OK);
	ck_assert_int_eq(
	    live_change_run(other, set_facts, &apart, NULL), ERR_OK);
	ck_assert_uint_eq(facts_of(other), apart);
	ck_assert_int_eq(
	    live_change_run(facts, set_same, &second, NULL), ERR_OK);
	copy_to_other(own);
	ck_assert_uint_eq(facts_of(other), second);
	ck_assert(counts_as_unchanged(second));
	ck_assert_int_eq(counts_as_unchanged(apart), own);
	/* Later editions change nothing in that. */
	ck_assert_int_eq(
	    live_change_run(facts, set_same, &third, NULL), ERR_OK);
	copy_to_other(false);
	ck_assert(counts_as_unchanged(third));
	ck_assert(counts_as_unchanged(second));
	ck_assert_int_eq(counts_as_unchanged(apart), own);
	source_close(rows);
}
END_TEST

/* After the loss of the log, where the node that was furthest is not used. */
START_TEST(an_edition_that_is_lost_counts_as_apart)
{
	const struct live_edition lost = {.number = 2, .hash = {4}};
	const struct live_edition next = {.number = 2, .hash = {5}};
	uint64_t first = facts_import(5, 1), theirs = first + 1;
	uint64_t second = first + 2;
	char path[FS_PATH_MAX];
	uint64_t generation;

	snprintf(path, sizeof(path), "%s", scratch_path("copy"));
	ck_assert_int_eq(source_open(&rows, facts), ERR_OK);
	copy_to_other(false);
	ck_assert_int_eq(
	    live_copy_make(other, path, set_same, &theirs, NULL, &generation),
	    ERR_OK);
	ck_assert_int_eq(live_copy_take(other, path, &lost, false), ERR_OK);
	ck_assert_uint_eq(facts_of(other), theirs);
	ck_assert(counts_as_unchanged(first));
	/* Once more: a repair changes nothing. */
	ck_assert_int_eq(live_copy_take(other, path, &lost, false), ERR_OK);
	ck_assert(counts_as_unchanged(first));
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(
	    live_change_run(facts, set_same, &second, NULL), ERR_OK);
	ck_assert_int_eq(
	    live_copy_make(facts, path, NULL, NULL, NULL, &generation), ERR_OK);
	ck_assert_int_eq(live_copy_take(other, path, &next, false), ERR_OK);
	ck_assert(counts_as_unchanged(second));
	ck_assert(!counts_as_unchanged(theirs));
	unlink(path);
	source_close(rows);
}
END_TEST

static enum err
forget(void *context, struct live_change *change)
{
	(void)context;
	return live_forget_since(change);
}

/* The other node has an edition; this one publishes a history of its own. */
START_TEST(of_another_history_all_counts_as_changed)
{
	uint64_t first = facts_import(5, 1), theirs = first + 1;
	uint64_t second = first + 2, third = first + 3;
	int own = _i;

	ck_assert_int_eq(source_open(&rows, facts), ERR_OK);
	copy_to_other(false);
	ck_assert_int_eq(
	    live_change_run(facts, set_same, &second, NULL), ERR_OK);
	if (!own)
		ck_assert_int_eq(
		    live_change_run(facts, forget, NULL, NULL), ERR_OK);
	copy_to_other(false);
	ck_assert(counts_as_unchanged(second));
	ck_assert_int_eq(counts_as_unchanged(theirs), own);
	ck_assert_int_eq(
	    live_change_run(facts, set_same, &third, NULL), ERR_OK);
	copy_to_other(false);
	ck_assert(counts_as_unchanged(second));
	ck_assert_int_eq(counts_as_unchanged(theirs), own);
	source_close(rows);
}
END_TEST

START_TEST(a_copy_of_a_later_version_is_refused)
{
	char path[FS_PATH_MAX];
	struct kv_txn *txn;
	struct kv *copy;
	uint64_t generation, before = facts_import(5, 1);

	snprintf(path, sizeof(path), "%s", scratch_path("copy"));
	copy_to_other(false);
	facts_import(6, 1);
	ck_assert_int_eq(
	    live_copy_make(facts, path, NULL, NULL, NULL, &generation), ERR_OK);
	ck_assert_int_eq(
	    store_copy_open(&copy, path, STORE_LIVE, true), ERR_OK);
	ck_assert_int_eq(kv_write(&txn, copy), ERR_OK);
	ck_assert_int_eq(
	    store_raise_version(txn, SCHEMA_LIVE_SHARES + 1), ERR_OK);
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
	kv_close(copy);
	ck_assert_int_eq(
	    live_copy_take(other, path, &edition, false), ERR_VERSION);
	ck_assert_uint_eq(facts_of(other), before);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("live_copy");
	TCase *tc = tcase_create("live_copy");

	tcase_add_checked_fixture(tc, make, end);
	tcase_add_test(tc, a_change_is_made_in_the_copy_alone);
	tcase_add_test(tc, another_node_has_the_same_records);
	tcase_add_test(tc, a_change_of_its_own_is_of_no_edition);
	tcase_add_loop_test(
	    tc, what_was_imported_apart_counts_as_changed, 0, 2);
	tcase_add_loop_test(tc, of_another_history_all_counts_as_changed, 0, 2);
	tcase_add_test(tc, an_edition_that_is_lost_counts_as_apart);
	tcase_add_test(tc, a_copy_of_a_later_version_is_refused);
	suite_add_tcase(suite, tc);
	return suite;
}
