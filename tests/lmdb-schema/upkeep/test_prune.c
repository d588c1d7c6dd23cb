#include <stdio.h>
#include <unistd.h>

#include "common/fs.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/upkeep/prune.h"
#include "tests/lmdb-schema/facts.h"
#include "tests/lmdb-schema/mirror.h"
#include "tests/lmdb-schema/spoil.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"

static struct pruned pruned;
static struct compute_result first, second;

static void
make(void)
{
	facts_make();
	facts_import(30, 1);
	ck_assert_int_eq(facts_compute("BIG", &first), ERR_OK);
	ck_assert_int_eq(facts_compute("BIG", &second), ERR_OK);
}

static bool
is_there(uint64_t generation)
{
	char path[FS_PATH_MAX];

	ck_assert_int_eq(
	    store_snapshot_path(path, facts, SPAN("BIG"), generation, ""),
	    ERR_OK);
	return access(path, F_OK) == 0;
}

static void
leave(const char *name)
{
	char path[FS_PATH_MAX];

	ck_assert_int_eq(fs_path(path, "%s/%s", facts_dir(), name), ERR_OK);
	ck_assert_int_eq(fs_replace(path, SPAN("left over"), 0640), ERR_OK);
}

static bool
is_left(const char *name)
{
	char path[FS_PATH_MAX];

	ck_assert_int_eq(fs_path(path, "%s/%s", facts_dir(), name), ERR_OK);
	return access(path, F_OK) == 0;
}

START_TEST(a_replaced_snapshot_is_kept_for_the_grace_time)
{
	ck_assert_int_eq(prune_all(facts, 900, &pruned), ERR_OK);
	ck_assert_uint_eq(pruned.snapshots, 0);
	ck_assert(is_there(first.entry.generation));
}
END_TEST

START_TEST(after_it_only_the_current_one_is_left)
{
	ck_assert_int_eq(prune_all(facts, 0, &pruned), ERR_OK);
	ck_assert_uint_eq(pruned.snapshots, 1);
	ck_assert_uint_gt(pruned.bytes, 0);
	ck_assert(!is_there(first.entry.generation));
	ck_assert(is_there(second.entry.generation));
}
END_TEST

START_TEST(a_snapshot_that_the_catalogue_never_knew_goes)
{
	leave("snapshots/BIG/0000000000000001.mdb");
	ck_assert_int_eq(prune_all(facts, 900, &pruned), ERR_OK);
	ck_assert_uint_eq(pruned.snapshots, 1);
	ck_assert(!is_left("snapshots/BIG/0000000000000001.mdb"));
}
END_TEST

START_TEST(what_a_crash_left_goes)
{
	leave("snapshots/BIG/0000000000000002.mdb.tmp");
	leave("facts/0000000000000003.mdb.tmp");
	ck_assert_int_eq(prune_all(facts, 900, &pruned), ERR_OK);
	ck_assert_uint_eq(pruned.leftovers, 2);
	ck_assert(!is_left("snapshots/BIG/0000000000000002.mdb.tmp"));
	ck_assert(!is_left("facts/0000000000000003.mdb.tmp"));
}
END_TEST

START_TEST(packed_rows_go_with_their_snapshot_and_are_not_counted)
{
	char name[64];

	leave("snapshots/BIG/0000000000000001.rows");
	leave("snapshots/BIG/0000000000000001.pages");
	leave("snapshots/BIG/0000000000000001.zstd");
	leave("snapshots/BIG/0000000000000001.gz");
	leave("snapshots/BIG/0000000000000002.rows.tmp");
	snprintf(name, sizeof(name), "snapshots/BIG/%016llx.rows",
	    (unsigned long long)second.entry.generation);
	leave(name);
	ck_assert_int_eq(prune_all(facts, 900, &pruned), ERR_OK);
	ck_assert_uint_eq(pruned.snapshots, 0);
	ck_assert_uint_eq(pruned.leftovers, 1);
	ck_assert(!is_left("snapshots/BIG/0000000000000001.rows"));
	ck_assert(!is_left("snapshots/BIG/0000000000000001.pages"));
	ck_assert(!is_left("snapshots/BIG/0000000000000001.zstd"));
	ck_assert(!is_left("snapshots/BIG/0000000000000001.gz"));
	ck_assert(!is_left("snapshots/BIG/0000000000000002.rows.tmp"));
	ck_assert(is_left(name));
}
END_TEST

START_TEST(packed_rows_in_the_making_stay)
{
	int lock;

	leave("snapshots/BIG/0000000000000002.rows.tmp");
	ck_assert_int_eq(store_lock_packing(&lock, facts, true), ERR_OK);
	ck_assert_int_eq(prune_all(facts, 900, &pruned), ERR_OK);
	ck_assert(is_left("snapshots/BIG/0000000000000002.rows.tmp"));
	close(lock);
	ck_assert_int_eq(prune_all(facts, 900, &pruned), ERR_OK);
	ck_assert(!is_left("snapshots/BIG/0000000000000002.rows.tmp"));
}
END_TEST

START_TEST(words_in_the_making_stay)
{
	int lock;

	leave("words.idx");
	leave("words.idx.tmp");
	ck_assert_int_eq(store_lock_words(&lock, facts, true), ERR_OK);
	ck_assert_int_eq(prune_all(facts, 900, &pruned), ERR_OK);
	ck_assert_uint_eq(pruned.leftovers, 0);
	ck_assert(is_left("words.idx.tmp"));
	close(lock);
	ck_assert_int_eq(prune_all(facts, 900, &pruned), ERR_OK);
	ck_assert_uint_eq(pruned.leftovers, 1);
	ck_assert(!is_left("words.idx.tmp"));
	ck_assert(is_left("words.idx"));
}
END_TEST

START_TEST(shares_of_no_generation_that_counts_go)
{
	leave("facts/0000000000000003-00.mdb");
	leave("facts/0000000000000003-ff.mdb.tmp");
	ck_assert_int_eq(prune_all(facts, 900, &pruned), ERR_OK);
	ck_assert_uint_eq(pruned.facts, 1);
	ck_assert_uint_eq(pruned.leftovers, 1);
	ck_assert(!is_left("facts/0000000000000003-00.mdb"));
	ck_assert(!is_left("facts/0000000000000003-ff.mdb.tmp"));
}
END_TEST

START_TEST(files_of_others_stay)
{
	static const char *const names[] = {"facts/0000000000000003-0g.mdb",
	    "facts/0000000000000003-1.mdb", "facts/0000000000000003-.mdb",
	    "facts/0000000000000003-00.mdx", "facts/-00.mdb"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		leave(names[i]);
	leave("snapshots/BIG/notes.txt");
	leave("facts/readme");
	leave("snapshots/BIG/xyz.mdb");
	ck_assert_int_eq(prune_all(facts, 0, &pruned), ERR_OK);
	ck_assert(is_left("snapshots/BIG/notes.txt"));
	ck_assert(is_left("snapshots/BIG/xyz.mdb"));
	ck_assert(is_left("facts/readme"));
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ck_assert(is_left(names[i]));
}
END_TEST

START_TEST(facts_that_are_not_current_go)
{
	uint64_t old;
	char path[FS_PATH_MAX];

	ck_assert_int_eq(source_current(&old, facts), ERR_OK);
	facts_import(5, 2);
	ck_assert_int_eq(prune_all(facts, 900, &pruned), ERR_OK);
	ck_assert_uint_eq(pruned.facts, 1);
	ck_assert_int_eq(store_facts_path(path, facts, old, ""), ERR_OK);
	ck_assert_int_ne(access(path, F_OK), 0);
	ck_assert_int_eq(facts_compute("BIG", &second), ERR_OK);
}
END_TEST

START_TEST(what_may_be_in_the_making_stays)
{
	int lock, import;

	leave("snapshots/BIG/0000000000000002.mdb.tmp");
	leave("facts/0000000000000003.mdb.tmp");
	ck_assert_int_eq(
	    store_lock_supplier(&lock, facts, SPAN("BIG"), false), ERR_OK);
	ck_assert_int_eq(store_lock_import(&import, facts, false), ERR_OK);
	ck_assert_int_eq(prune_all(facts, 0, &pruned), ERR_OK);
	ck_assert_uint_eq(pruned.leftovers, 0);
	ck_assert(is_left("snapshots/BIG/0000000000000002.mdb.tmp"));
	ck_assert(is_left("facts/0000000000000003.mdb.tmp"));
	close(lock);
	close(import);
}
END_TEST

START_TEST(one_supplier_can_be_pruned_alone)
{
	leave("snapshots/BIG/0000000000000002.mdb.tmp");
	leave("facts/0000000000000003.mdb.tmp");
	ck_assert_int_eq(
	    prune_supplier(facts, SPAN("BIG"), 0, &pruned), ERR_OK);
	ck_assert_uint_eq(pruned.snapshots, 1);
	ck_assert_uint_eq(pruned.leftovers, 1);
	ck_assert(is_left("facts/0000000000000003.mdb.tmp"));
}
END_TEST

START_TEST(a_clock_that_was_set_back_keeps_nothing_for_ever)
{
	struct key key = key_pair_u64(SPAN("BIG"), first.entry.generation);
	struct key when = key_of_u64(UINT64_C(1) << 60);
	struct kv_txn *txn;

	mirror_drop();
	ck_assert_int_eq(kv_write(&txn, store_catalog(facts)), ERR_OK);
	ck_assert_int_eq(
	    kv_put(txn, CATALOG_RETIRED, key_span(&key), key_span(&when)),
	    ERR_OK);
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
	ck_assert_int_eq(prune_all(facts, 900, &pruned), ERR_OK);
	ck_assert_uint_eq(pruned.snapshots, 1);
}
END_TEST

START_TEST(odd_codes_have_folders_too)
{
	struct intake *intake = facts_begin(NULL);
	struct compute_result result;

	intake_supplier(intake, SPAN("A/.. %2F"), SPAN(""));
	facts_put_article(intake, "A/.. %2F", "1");
	ck_assert_int_eq(intake_seal(intake, NULL, NULL), ERR_OK);
	facts_end_series(intake);
	facts_end(intake);
	ck_assert_int_eq(facts_compute("A/.. %2F", &result), ERR_OK);
	ck_assert_int_eq(facts_compute("A/.. %2F", &result), ERR_OK);
	ck_assert_int_eq(prune_all(facts, 0, &pruned), ERR_OK);
	/* one of them, and both of BIG, which the facts have no more */
	ck_assert_uint_eq(pruned.snapshots, 3);
}
END_TEST

START_TEST(a_supplier_that_is_gone_is_kept_for_the_grace_time)
{
	struct intake *intake = facts_begin(NULL);
	struct catalog_entry entry;

	intake_supplier(intake, SPAN("OTHER"), SPAN(""));
	ck_assert_int_eq(intake_seal(intake, NULL, NULL), ERR_OK);
	facts_end_series(intake);
	facts_end(intake);
	ck_assert_int_eq(prune_all(facts, 900, &pruned), ERR_OK);
	ck_assert_uint_eq(pruned.snapshots, 0);
	ck_assert_int_eq(
	    catalog_current(facts, SPAN("BIG"), &entry), ERR_NOT_FOUND);
	ck_assert(is_there(second.entry.generation));
	ck_assert_int_eq(prune_all(facts, 0, &pruned), ERR_OK);
	ck_assert_uint_eq(pruned.snapshots, 2);
}
END_TEST

START_TEST(a_damaged_record_of_a_replaced_one_goes_with_its_file)
{
	struct key key = key_pair_u64(SPAN("BIG"), first.entry.generation);
	char path[FS_PATH_MAX];

	quiet_begin();
	ck_assert_int_eq(fs_path(path, "%s/catalog.mdb", facts_dir()), ERR_OK);
	spoil_one(store_catalog(facts), CATALOG_RETIRED, path, key_span(&key));
	ck_assert_int_eq(prune_all(facts, 900, &pruned), ERR_OK);
	ck_assert_uint_eq(pruned.snapshots, 1);
	ck_assert(!is_there(first.entry.generation));
	ck_assert(is_there(second.entry.generation));
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("prune");
	TCase *tc = tcase_create("prune");

	tcase_add_checked_fixture(tc, make, facts_remove);
	tcase_add_test(tc, a_replaced_snapshot_is_kept_for_the_grace_time);
	tcase_add_test(tc, after_it_only_the_current_one_is_left);
	tcase_add_test(tc, a_snapshot_that_the_catalogue_never_knew_goes);
	tcase_add_test(tc, what_a_crash_left_goes);
	tcase_add_test(
	    tc, packed_rows_go_with_their_snapshot_and_are_not_counted);
	tcase_add_test(tc, packed_rows_in_the_making_stay);
	tcase_add_test(tc, words_in_the_making_stay);
	tcase_add_test(tc, shares_of_no_generation_that_counts_go);
	tcase_add_test(tc, files_of_others_stay);
	tcase_add_test(tc, facts_that_are_not_current_go);
	tcase_add_test(tc, what_may_be_in_the_making_stays);
	tcase_add_test(tc, one_supplier_can_be_pruned_alone);
	tcase_add_test(tc, a_clock_that_was_set_back_keeps_nothing_for_ever);
	tcase_add_test(tc, odd_codes_have_folders_too);
	tcase_add_test(tc, a_supplier_that_is_gone_is_kept_for_the_grace_time);
	tcase_add_test(
	    tc, a_damaged_record_of_a_replaced_one_goes_with_its_file);
	suite_add_tcase(suite, tc);
	return suite;
}
