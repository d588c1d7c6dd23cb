#include "lmdb-schema/upkeep/check.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/fs.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "tests/lmdb-schema/book.h"
#include "tests/lmdb-schema/facts.h"
#include "tests/lmdb-schema/mirror.h"
#include "tests/lmdb-schema/plain.h"
#include "tests/lmdb-schema/spoil.h"
#include "tests/lmdb-schema/told.h"
#include "tests/support/flip.h"
#include "tests/support/process.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"

static struct compute_result result;

static void
make(void)
{
	facts_make();
	facts_import(60, 1);
	facts_gamme("BIG", "C000001", 1);
	facts_network("100001", 1);
	ck_assert_int_eq(facts_compute("BIG", &result), ERR_OK);
}

/* Asserts that there is damage, and that a fault has these words. */
static void
must_tell(const char *words)
{
	quiet_begin();
	told_check(facts);
	ck_assert_uint_ge(told_counts.damages, 1);
	told_must_have(words);
}

/* With all that make() has put into it. */
static void
must_be_whole(void)
{
	told_check(facts);
	ck_assert_str_eq(told, "");
	ck_assert_uint_eq(told_counts.damages, 0);
	ck_assert_uint_eq(told_counts.articles, 63);
	ck_assert_uint_eq(told_counts.networks, 1);
	ck_assert_uint_eq(told_counts.gammes, 1);
	ck_assert_uint_eq(told_counts.snapshots, 1);
	/* 3 of live's meta, a product, a range and its generation; two of the
	 * catalogue's meta, an entry; one of the state's meta; and the places
	 * in the log of those two that were written to (mirror.h). */
	ck_assert_uint_eq(told_counts.records, 6 + 3 + 1 + 2);
}

START_TEST(a_healthy_store_is_whole_and_counted)
{
	must_be_whole();
	ck_assert_uint_gt(told_counts.sections, 100);
	ck_assert_uint_gt(told_counts.references, 63);
	ck_assert_uint_gt(told_counts.bytes, 10000);
	ck_assert_uint_eq(told_counts.leftovers, 0);
}
END_TEST

START_TEST(a_store_of_the_version_before_is_whole_and_counted)
{
	facts_close();
	for (unsigned i = 0; i < PLAIN_FILES; i++)
		ck_assert_int_eq(plain_make(i, facts_dir()), ERR_OK);
	facts_open();
	must_be_whole();
}
END_TEST

START_TEST(an_empty_store_is_whole)
{
	facts_remove();
	facts_make();
	told_check(facts);
	ck_assert_uint_eq(told_counts.damages, 0);
	ck_assert_uint_eq(told_counts.articles, 0);
}
END_TEST

static void
snapshot_file(char path[FS_PATH_MAX])
{
	ck_assert_int_eq(store_snapshot_path(path, facts, SPAN("BIG"),
			     result.entry.generation, ""),
	    ERR_OK);
}

START_TEST(a_cut_snapshot_is_told)
{
	char path[FS_PATH_MAX];

	snapshot_file(path);
	ck_assert_int_eq(truncate(path, 9000), 0);
	must_tell("supplier BIG");
}
END_TEST

START_TEST(a_snapshot_of_another_version_is_counted_and_no_damage)
{
	facts_make_foreign("BIG");
	quiet_begin();
	told_check(facts);
	ck_assert_str_eq(told, "");
	ck_assert_uint_eq(told_counts.foreign, 1);
	ck_assert_uint_eq(told_counts.snapshots, 0);
	ck_assert_int_eq(facts_compute("BIG", &result), ERR_OK);
	told_check(facts); /* the replaced one is still there */
	ck_assert_str_eq(told, "");
	ck_assert_uint_eq(told_counts.foreign, 1);
	ck_assert_uint_eq(told_counts.snapshots, 1);
}
END_TEST

START_TEST(a_missing_snapshot_is_told)
{
	char path[FS_PATH_MAX];

	snapshot_file(path);
	ck_assert_int_eq(unlink(path), 0);
	must_tell("its file is missing");
}
END_TEST

START_TEST(a_flipped_bit_in_a_snapshot_is_told)
{
	char path[FS_PATH_MAX];

	snapshot_file(path);
	flip(path, SPAN("\"moyenneMensuelle\""), 8);
	must_tell("checksum");
}
END_TEST

static void
tell_no_damage(void *context, const struct fault *fault)
{
	(void)context;
	ck_abort_msg("%s: %s", fault->place, fault->message);
}

/*
 * With a few open files more than there are. A restored backup, as a damage
 * advises, loses what came since.
 */
START_TEST(a_limit_of_the_process_is_no_damage)
{
	struct check_counts counts;
	struct rlimit before;
	enum err err;

	quiet_begin();
	process_limit_files(&before, (unsigned)_i);
	err = check_store(&counts, facts, tell_no_damage, NULL, NULL);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	ck_assert_uint_eq(counts.damages, 0);
	ck_assert(_i == 0 ? err == ERR_NO_FILES
			  : err == ERR_NO_FILES || err == ERR_OK);
}
END_TEST

static void
facts_file(char path[FS_PATH_MAX])
{
	uint64_t generation;

	ck_assert_int_eq(source_current(&generation, facts), ERR_OK);
	ck_assert_int_eq(store_facts_path(path, facts, generation, ""), ERR_OK);
}

START_TEST(a_flipped_bit_in_the_facts_is_told)
{
	static const char *const texts[] = {"Article n", "Petite \xc3\x89pi",
	    "Magasin", "Conserves", "C000059\0BIG"};
	char path[FS_PATH_MAX];

	facts_file(path);
	flip(path, _i == 4 ? span_make(texts[4], 11) : span_of(texts[_i]), 5);
	must_tell("import again");
}
END_TEST

START_TEST(cut_facts_are_told)
{
	char path[FS_PATH_MAX];

	facts_file(path);
	ck_assert_int_eq(truncate(path, 9000), 0);
	must_tell("import again");
}
END_TEST

static void
put(struct kv *kv, unsigned table, struct span key, struct span value)
{
	struct kv_txn *txn;

	mirror_drop();
	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	ck_assert_int_eq(kv_put(txn, table, key, value), ERR_OK);
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
}

START_TEST(a_broken_network_record_is_told)
{
	put(store_live(facts), LIVE_NETWORK, SPAN("100001"), SPAN("\xff"));
	must_tell("network record is broken");
}
END_TEST

START_TEST(a_central_code_that_is_none_is_told)
{
	put(store_live(facts), LIVE_NETWORK, SPAN("x"), SPAN("\0\0\0\0\0\0\0"));
	must_tell("central code x");
}
END_TEST

START_TEST(a_broken_range_is_told)
{
	struct key key = key_pair(SPAN("BIG"), SPAN("C000002"));

	put(store_live(facts), LIVE_GAMMES, key_span(&key), SPAN("Q"));
	must_tell("server range of supplier BIG");
}
END_TEST

START_TEST(a_broken_catalogue_entry_is_told)
{
	put(store_catalog(facts), CATALOG_CURRENT, SPAN("BIG"), SPAN("\xff"));
	must_tell("entry is broken");
}
END_TEST

START_TEST(a_catalogue_that_counts_wrong_is_told)
{
	struct catalog_entry entry = result.entry;

	entry.rows++;
	ck_assert_int_eq(catalog_publish(facts, SPAN("BIG"), &entry), ERR_OK);
	must_tell("61 rows");
}
END_TEST

/*
 * The record is named once, and nothing else is reported of that environment.
 */
static void
look(const char *table, struct span key)
{
	char text[KV_KEY_TEXT_MAX], words[KV_KEY_TEXT_MAX + 64];

	kv_key_text(text, key);
	snprintf(words, sizeof(words),
	    "record %s of table %s does not match its checksum", text, table);
	told_check(facts);
	ck_assert_msg(strstr(told, words) != NULL, "for %s: %s", words, told);
	ck_assert_ptr_null(strstr(told, "broken"));
}

static const struct {
	struct kv *(*kv)(struct store *store);
	const char *file;
	unsigned tables;
} environments[] = {
    {store_live, "live.mdb", LIVE_GAMMEGEN + 1},
    {store_catalog, "catalog.mdb", CATALOG_RETIRED + 1},
};

/* Each table has a record; with another computation, the retired ones too. */
START_TEST(a_flipped_bit_in_any_value_is_told_by_its_record)
{
	struct compute_result second;
	char path[FS_PATH_MAX];

	quiet_begin();
	ck_assert_int_eq(facts_compute("BIG", &second), ERR_OK);
	ck_assert_int_eq(
	    fs_path(path, "%s/%s", facts_dir(), environments[_i].file), ERR_OK);
	for (unsigned i = 0; i < environments[_i].tables; i++)
		ck_assert_uint_gt(
		    spoil_each(environments[_i].kv(facts), i, path, look), 4);
	told_check(facts);
	ck_assert_str_eq(told, "");
}
END_TEST

START_TEST(the_words_of_all_suppliers_are_verified_when_they_are_there)
{
	struct check_counts before;

	told_check(facts);
	before = told_counts;
	book_make();
	told_check(facts);
	ck_assert_str_eq(told, "");
	ck_assert_uint_eq(
	    told_counts.sections, before.sections + WORD_INDEX_SECTIONS);
	ck_assert_uint_gt(told_counts.bytes, before.bytes);
	ck_assert_uint_eq(told_counts.references, before.references + 1);
	/* Packed rows of an older snapshot count as none. */
	ck_assert_int_eq(facts_compute("BIG", &result), ERR_OK);
	told_check(facts);
	ck_assert_str_eq(told, "");
	ck_assert_uint_eq(told_counts.references, before.references);
}
END_TEST

/* In its head, in its last list, cut, and empty. */
START_TEST(damaged_words_are_told)
{
	static const off_t places[] = {20, 5000, 300, 0};
	char byte;
	int fd;

	book_make();
	if (_i >= 2)
		ck_assert_int_eq(truncate(book_path(""), places[_i]), 0);
	else {
		fd = open(book_path(""), O_RDWR | O_CLOEXEC);
		ck_assert_int_eq(pread(fd, &byte, 1, places[_i]), 1);
		byte ^= 1;
		ck_assert_int_eq(pwrite(fd, &byte, 1, places[_i]), 1);
		close(fd);
	}
	must_tell("words.idx: ");
	must_tell("'gridctl index' makes it again");
	book_make();
	told_check(facts);
	ck_assert_str_eq(told, "");
}
END_TEST

START_TEST(words_of_other_rows_than_the_snapshot_has_are_told)
{
	struct catalog_entry entry = result.entry;

	book_make();
	entry.rows++;
	ck_assert_int_eq(catalog_publish(facts, SPAN("BIG"), &entry), ERR_OK);
	must_tell("words.idx: supplier BIG: 60 rows, but its snapshot has 61");
}
END_TEST

START_TEST(leftovers_are_counted_and_are_no_damage)
{
	static const char *const names[] = {
	    "snapshots/BIG/0000000000000002.mdb.tmp",
	    "snapshots/BIG/0000000000000003.mdb",
	    "facts/0000000000000003.mdb.tmp", "facts/0000000000000004.mdb",
	    "facts/0000000000000004-01.mdb",
	    "facts/0000000000000004-02.mdb.tmp", "words.idx.tmp"};
	char path[FS_PATH_MAX];

	for (unsigned i = 0; i < 7; i++) {
		ck_assert_int_eq(
		    fs_path(path, "%s/%s", facts_dir(), names[i]), ERR_OK);
		ck_assert_int_eq(fs_replace(path, SPAN("x"), 0640), ERR_OK);
	}
	told_check(facts);
	ck_assert_str_eq(told, "");
	ck_assert_uint_eq(told_counts.leftovers, 7);
}
END_TEST

START_TEST(a_kept_snapshot_is_verified_too)
{
	char path[FS_PATH_MAX];
	struct compute_result second;

	ck_assert_int_eq(facts_compute("BIG", &second), ERR_OK);
	told_check(facts);
	ck_assert_uint_eq(told_counts.leftovers, 0);
	ck_assert_uint_eq(told_counts.snapshots, 2);
	snapshot_file(path);
	ck_assert_int_eq(truncate(path, 9000), 0);
	must_tell("supplier BIG");
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("check");
	TCase *tc = tcase_create("check");

	tcase_add_checked_fixture(tc, make, facts_remove);
	tcase_add_test(tc, a_healthy_store_is_whole_and_counted);
	tcase_add_test(tc, a_store_of_the_version_before_is_whole_and_counted);
	tcase_add_test(tc, an_empty_store_is_whole);
	tcase_add_test(tc, a_cut_snapshot_is_told);
	tcase_add_test(
	    tc, a_snapshot_of_another_version_is_counted_and_no_damage);
	tcase_add_test(tc, a_missing_snapshot_is_told);
	tcase_add_loop_test(tc, a_limit_of_the_process_is_no_damage, 0, 12);
	tcase_add_test(tc, a_flipped_bit_in_a_snapshot_is_told);
	tcase_add_loop_test(tc, a_flipped_bit_in_the_facts_is_told, 0, 5);
	tcase_add_test(tc, cut_facts_are_told);
	tcase_add_test(tc, a_broken_network_record_is_told);
	tcase_add_test(tc, a_central_code_that_is_none_is_told);
	tcase_add_test(tc, a_broken_range_is_told);
	tcase_add_test(tc, a_broken_catalogue_entry_is_told);
	tcase_add_test(tc, a_catalogue_that_counts_wrong_is_told);
	tcase_add_loop_test(
	    tc, a_flipped_bit_in_any_value_is_told_by_its_record, 0, 2);
	tcase_add_test(
	    tc, the_words_of_all_suppliers_are_verified_when_they_are_there);
	tcase_add_loop_test(tc, damaged_words_are_told, 0, 4);
	tcase_add_test(tc, words_of_other_rows_than_the_snapshot_has_are_told);
	tcase_add_test(tc, leftovers_are_counted_and_are_no_damage);
	tcase_add_test(tc, a_kept_snapshot_is_verified_too);
	suite_add_tcase(suite, tc);
	return suite;
}
