/*
 * The records of snapshots that nodes share. With nodes: tests/system/computed.py.
 */
#include "lmdb-schema/upkeep/computed_priv.h"

#include <string.h>
#include <unistd.h>

#include "common/date.h"
#include "common/kv/kv.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/snapshot/snapfile.h"
#include "lmdb-schema/store/store.h"
#include "tests/lmdb-schema/facts.h"
#include "tests/support/run.h"

static const char sha[] =
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

static struct computed computed;

static void
make(void)
{
	facts_make();
	memset(&computed, 0, sizeof(computed));
	computed.edition = 7;
	computed.format = SNAP_VERSION;
	computed.entry = (struct catalog_entry){.generation = 100,
	    .computed_ms = 1000,
	    .rows = 3,
	    .facts = 4,
	    .network = 5,
	    .gamme = 6,
	    .bytes = 4096};
	memcpy(computed.file.name, sha, sizeof(sha));
	computed.file.bytes = 4096;
	strcpy(computed.node, "paris-1");
	strcpy(computed.address, "https://192.0.2.11");
}

static enum err
put(void *context, struct kv_txn *txn)
{
	return computed_put(txn, span_of(context), &computed);
}

static void
put_for(const char *supplier)
{
	ck_assert_int_eq(
	    store_write(facts, STORE_STATE, put, (void *)(uintptr_t)supplier),
	    ERR_OK);
}

static enum err
spoil(void *context, struct kv_txn *txn)
{
	struct key key = key_pair(SPAN("computed"), span_of(context));

	return kv_put(txn, STATE_META, key_span(&key), SPAN("spoilt"));
}

static enum err
must_name(void *context, const struct files_id *id)
{
	ck_assert_str_eq(id->name, sha);
	ck_assert_uint_eq(id->bytes, 4096);
	++*(unsigned *)context;
	return ERR_OK;
}

START_TEST(a_record_reads_back)
{
	struct computed read;

	put_for("S");
	ck_assert_int_eq(computed_read(&read, facts, SPAN("S")), ERR_OK);
	ck_assert_mem_eq(&read, &computed, sizeof(read));
	ck_assert_int_eq(computed_read(&read, facts, SPAN("T")), ERR_OK);
	ck_assert_uint_eq(read.edition, 0);
}
END_TEST

START_TEST(one_that_cannot_be_read_is_none)
{
	struct computed read;
	unsigned named = 0;

	put_for("S");
	put_for("T");
	ck_assert_int_eq(
	    store_write(facts, STORE_STATE, spoil, (void *)(uintptr_t) "S"),
	    ERR_OK);
	ck_assert_int_eq(computed_read(&read, facts, SPAN("S")), ERR_OK);
	ck_assert_uint_eq(read.edition, 0);
	ck_assert_int_eq(computed_each_file(facts, must_name, &named), ERR_OK);
	ck_assert_uint_eq(named, 1);
}
END_TEST

START_TEST(all_are_counted_and_those_that_are_here)
{
	struct computed_counts counts;
	uint64_t published;

	put_for("S");
	put_for("S");
	put_for("T");
	ck_assert_int_eq(catalog_publish_shared(
			     facts, SPAN("S"), &computed.entry, sha, true),
	    ERR_OK);
	ck_assert_int_eq(computed_count(&counts, facts), ERR_OK);
	ck_assert_uint_eq(counts.published, 3);
	ck_assert_uint_eq(counts.snapshots, 2);
	ck_assert_uint_eq(counts.here, 1);
	ck_assert_int_eq(computed_published(&published, facts), ERR_OK);
	ck_assert_uint_eq(published, 3);
}
END_TEST

START_TEST(a_node_shows_those_of_its_import_and_format)
{
	struct computed_share share = {.shares = true};

	share.edition.number = 7;
	ck_assert(computed_fits(&computed, &share));
	share.edition.number = 6;
	ck_assert(!computed_fits(&computed, &share));
	share.edition.number = 8;
	ck_assert(computed_fits(&computed, &share));
	computed.format++;
	ck_assert(!computed_fits(&computed, &share));
	computed.format--;
	share.shares = false;
	ck_assert(!computed_fits(&computed, &share));
}
END_TEST

/* Nothing of it is in the data directory of a machine on its own. */
START_TEST(a_machine_on_its_own_shares_nothing)
{
	struct compute_options options = {
	    .threads = 1, .slots = 1, .as_of_day = DATE_NULL};
	struct computed_share share;
	struct computed_counts counts;
	struct compute_result result;
	struct fault fault;
	struct computed_taken taken;
	char path[FS_PATH_MAX];

	facts_import(10, 1);
	fault_clear(&fault);
	ck_assert_int_eq(computed_share(&share, facts, &fault), ERR_OK);
	ck_assert(!share.shares);
	ck_assert_int_eq(
	    computed_supplier(&result, facts, SPAN("BIG"), &options), ERR_OK);
	ck_assert(!result.shared && !result.elsewhere);
	ck_assert_int_eq(computed_take(&taken, facts, &fault), ERR_OK);
	ck_assert_int_eq(computed_offer(facts, &fault), ERR_OK);
	ck_assert_int_eq(computed_forget_gone(facts), ERR_OK);
	ck_assert_int_eq(computed_count(&counts, facts), ERR_OK);
	ck_assert_uint_eq(counts.published, 0);
	ck_assert_int_eq(fs_path(path, "%s/files", store_dir(facts)), ERR_OK);
	ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("computed");
	TCase *tc = tcase_create("computed");

	tcase_add_checked_fixture(tc, make, facts_remove);
	tcase_add_test(tc, a_record_reads_back);
	tcase_add_test(tc, one_that_cannot_be_read_is_none);
	tcase_add_test(tc, all_are_counted_and_those_that_are_here);
	tcase_add_test(tc, a_node_shows_those_of_its_import_and_format);
	tcase_add_test(tc, a_machine_on_its_own_shares_nothing);
	suite_add_tcase(suite, tc);
	return suite;
}
