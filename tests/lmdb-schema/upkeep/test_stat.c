#include "lmdb-schema/upkeep/stat.h"

#include <unistd.h>

#include "common/fs.h"
#include "lmdb-schema/snapshot/catalog_format.h"
#include "lmdb-schema/state/proposal.h"
#include "tests/lmdb-schema/book.h"
#include "tests/lmdb-schema/facts.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"

static struct stat_counts counts;

START_TEST(an_empty_store_holds_nothing)
{
	ck_assert_int_eq(stat_collect(&counts, facts), ERR_OK);
	ck_assert_uint_eq(counts.facts, 0);
	ck_assert_uint_eq(counts.articles, 0);
	ck_assert_uint_eq(counts.snapshots, 0);
	ck_assert_uint_gt(counts.live_bytes, 0);
	ck_assert_uint_gt(counts.free_bytes, 0);
}
END_TEST

START_TEST(what_is_there_is_counted)
{
	uint64_t generation = facts_import(100, 1);
	struct compute_result result;

	facts_gamme("BIG", "C000001", 1);
	facts_network("100001", 1);
	ck_assert_int_eq(facts_compute("BIG", &result), ERR_OK);
	ck_assert_int_eq(facts_compute("SMALL", &result), ERR_OK);
	ck_assert_int_eq(facts_compute("SMALL", &result), ERR_OK);
	facts_gamme("BIG", "C000001", 2); /* now BIG is stale */
	ck_assert_int_eq(stat_collect(&counts, facts), ERR_OK);
	ck_assert_uint_eq(counts.facts, generation);
	ck_assert_int_eq(counts.newest_month, FACTS_MONTH);
	ck_assert_int_eq(counts.oldest_sales, FACTS_MONTH - 40);
	ck_assert_uint_eq(counts.suppliers, 3);
	ck_assert_uint_eq(counts.stores, FACTS_STORES);
	ck_assert_uint_eq(counts.classes, 4);
	ck_assert_uint_eq(counts.articles, 103);
	ck_assert_uint_gt(counts.sales, 0);
	ck_assert_uint_gt(counts.stock, 0);
	ck_assert_uint_gt(counts.receptions, 0);
	ck_assert_uint_eq(counts.positions, 103 * FACTS_STORES);
	ck_assert_uint_eq(counts.networks, 1);
	ck_assert_uint_eq(counts.gammes, 1);
	ck_assert_uint_eq(counts.snapshots, 2);
	ck_assert_uint_eq(counts.rows, 103);
	ck_assert_uint_eq(counts.stale, 1);
	ck_assert_uint_eq(counts.absent, 0);
	ck_assert_uint_eq(counts.pending, 0);
	ck_assert_uint_eq(counts.pending_since_ms, 0);
	ck_assert_uint_eq(counts.retired, 1);
	ck_assert_uint_gt(counts.facts_bytes, 4096);
	ck_assert_uint_gt(counts.snapshot_bytes, 4096);
}
END_TEST

static void
remove_snapshots(const char *supplier)
{
	char folder[FS_PATH_MAX];

	ck_assert_int_eq(
	    store_snapshot_folder(folder, facts, span_of(supplier)), ERR_OK);
	ck_assert_int_eq(fs_remove_tree(folder), ERR_OK);
}

static enum err
note_other(void *context, struct kv_txn *txn)
{
	const uint64_t *generation = context;

	return catalog_format_put(txn, SPAN("BIG"), *generation - 1);
}

START_TEST(a_snapshot_of_another_version_is_stale)
{
	struct compute_result result;

	facts_import(100, 1);
	ck_assert_int_eq(facts_compute("BIG", &result), ERR_OK);
	ck_assert_int_eq(facts_compute("SMALL", &result), ERR_OK);
	facts_make_foreign("BIG");
	ck_assert_int_eq(stat_collect(&counts, facts), ERR_OK);
	ck_assert_uint_eq(counts.snapshots, 2);
	ck_assert_uint_eq(counts.stale, 1);
	ck_assert_uint_eq(counts.foreign, 1);
	facts_gamme("BIG", "C000001", 2); /* and for another reason, too */
	ck_assert_int_eq(stat_collect(&counts, facts), ERR_OK);
	ck_assert_uint_eq(counts.stale, 1);
	ck_assert_int_eq(facts_compute("BIG", &result), ERR_OK);
	ck_assert_int_eq(stat_collect(&counts, facts), ERR_OK);
	ck_assert_uint_eq(counts.stale, 0);
	ck_assert_uint_eq(counts.foreign, 0);
}
END_TEST

/* Once it is noted, the file may be gone. */
START_TEST(the_version_of_a_snapshot_is_told_without_its_file)
{
	struct compute_result result;

	facts_import(100, 1);
	ck_assert_int_eq(facts_compute("BIG", &result), ERR_OK);
	ck_assert_int_eq(facts_compute("SMALL", &result), ERR_OK);
	ck_assert_int_eq(stat_collect(&counts, facts), ERR_OK);
	ck_assert_uint_eq(counts.unnoted, 0);
	facts_make_foreign("BIG");
	ck_assert_int_eq(stat_collect(&counts, facts), ERR_OK);
	ck_assert_uint_eq(counts.unnoted, 1);
	ck_assert_int_eq(catalog_note_formats(facts), ERR_OK);
	remove_snapshots("BIG");
	ck_assert_int_eq(stat_collect(&counts, facts), ERR_OK);
	ck_assert_uint_eq(counts.unnoted, 0);
	ck_assert_uint_eq(counts.foreign, 1);
}
END_TEST

/* A program of before has computed it, and noted nothing. */
START_TEST(a_version_counts_for_its_generation_alone)
{
	struct compute_result result;

	facts_import(100, 1);
	ck_assert_int_eq(facts_compute("BIG", &result), ERR_OK);
	ck_assert_int_eq(store_write_local(facts, STORE_CATALOG, note_other,
			     &result.entry.generation),
	    ERR_OK);
	ck_assert_int_eq(stat_collect(&counts, facts), ERR_OK);
	ck_assert_uint_eq(counts.unnoted, 1);
	ck_assert_int_eq(catalog_note_formats(facts), ERR_OK);
	ck_assert_int_eq(stat_collect(&counts, facts), ERR_OK);
	ck_assert_uint_eq(counts.unnoted, 0);
	ck_assert_uint_eq(counts.foreign, 0);
}
END_TEST

START_TEST(suppliers_without_a_snapshot_are_counted_but_empty_ones)
{
	struct compute_result result;

	facts_import(100, 1);
	ck_assert_int_eq(stat_collect(&counts, facts), ERR_OK);
	ck_assert_uint_eq(counts.suppliers, 3); /* one has no article */
	ck_assert_uint_eq(counts.absent, 2);
	ck_assert_int_eq(facts_compute("BIG", &result), ERR_OK);
	ck_assert_int_eq(stat_collect(&counts, facts), ERR_OK);
	ck_assert_uint_eq(counts.absent, 1);
}
END_TEST

static int64_t
propose(const char *supplier, const char *codein, uint8_t gamme)
{
	struct proposal_change change = {
	    .codein = span_of(codein), .gamme = gamme};
	struct proposal_request request = {
	    span_of(supplier), SPAN("robot"), &change, 1};
	struct proposal_result result;
	int64_t when_ms;

	ck_assert_int_eq(
	    proposal_deposit(facts, &request, &result, &when_ms), ERR_OK);
	ck_assert(result.pending);
	return when_ms;
}

START_TEST(waiting_ranges_are_counted_with_the_age_of_the_oldest)
{
	int64_t first_ms;

	facts_import(100, 1);
	first_ms = propose("BIG", "C000001", 1);
	propose("BIG", "C000002", 2);
	propose("SMALL", "S1", 2);
	ck_assert_int_eq(stat_collect(&counts, facts), ERR_OK);
	ck_assert_uint_eq(counts.pending, 3);
	ck_assert_uint_eq(counts.validated, 0);
	ck_assert_int_eq((int64_t)counts.pending_since_ms, first_ms);
}
END_TEST

static void
must_be_indexed(uint64_t snapshots)
{
	ck_assert_int_eq(stat_collect(&counts, facts), ERR_OK);
	ck_assert_uint_eq(counts.indexed, snapshots);
}

START_TEST(snapshots_are_in_the_index_until_they_are_computed_again)
{
	struct compute_result result;

	facts_import(100, 1);
	ck_assert_int_eq(facts_compute("BIG", &result), ERR_OK);
	must_be_indexed(0);
	ck_assert_uint_eq(counts.words_bytes, 0);
	book_make();
	must_be_indexed(1);
	ck_assert_uint_ge(counts.words_bytes, 4096);
	ck_assert_int_eq(facts_compute("SMALL", &result), ERR_OK);
	must_be_indexed(1);
	ck_assert_int_eq(facts_compute("BIG", &result), ERR_OK);
	must_be_indexed(0);
	book_make();
	must_be_indexed(2);
	/* Damaged: its bytes are there, and nothing is in it. */
	quiet_begin();
	ck_assert_int_eq(truncate(book_path(""), 100), 0);
	must_be_indexed(0);
	ck_assert_int_gt(quiet_lines(), 0);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("stat");
	TCase *tc = tcase_create("stat");

	tcase_add_checked_fixture(tc, facts_make, facts_remove);
	tcase_add_test(tc, an_empty_store_holds_nothing);
	tcase_add_test(tc, what_is_there_is_counted);
	tcase_add_test(tc, a_snapshot_of_another_version_is_stale);
	tcase_add_test(tc, the_version_of_a_snapshot_is_told_without_its_file);
	tcase_add_test(tc, a_version_counts_for_its_generation_alone);
	tcase_add_test(
	    tc, suppliers_without_a_snapshot_are_counted_but_empty_ones);
	tcase_add_test(
	    tc, waiting_ranges_are_counted_with_the_age_of_the_oldest);
	tcase_add_test(
	    tc, snapshots_are_in_the_index_until_they_are_computed_again);
	suite_add_tcase(suite, tc);
	return suite;
}
