/* Suppliers whose rows a change of facts or network leaves as they are. */
#include "lmdb-schema/facts/live.h"

#include "common/fs.h"
#include "common/kv/kv.h"
#include "lmdb-schema/key.h"
#include "tests/lmdb-schema/by_hand.h"
#include "tests/lmdb-schema/facts.h"
#include "tests/lmdb-schema/mirror.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"

/* Suppliers S and T with an article each; S's names a product. */
static struct source *
import(const char *product, const char *label)
{
	struct intake *intake = facts_begin(NULL);
	struct source_article article = facts_article("1");
	struct source *source;

	ck_assert_int_eq(intake_supplier(intake, SPAN("S"), SPAN("s")), ERR_OK);
	ck_assert_int_eq(intake_supplier(intake, SPAN("T"), SPAN("t")), ERR_OK);
	article.code_centrale = span_of(product);
	ck_assert_int_eq(
	    intake_article(intake, SPAN("S"), &article, 0), ERR_OK);
	article = facts_article("2");
	article.libelle1 = span_of(label);
	ck_assert_int_eq(
	    intake_article(intake, SPAN("T"), &article, 0), ERR_OK);
	ck_assert_int_eq(intake_seal(intake, NULL, NULL), ERR_OK);
	facts_end_series(intake);
	facts_end(intake);
	ck_assert_int_eq(source_open(&source, facts), ERR_OK);
	return source;
}

static void
put_network(struct source *source, const char *code, int64_t ca)
{
	struct network network = {.ca = ca, .fetched_ms = -1};
	struct live_change *change;

	change = hand_begin(facts);
	ck_assert_int_eq(
	    live_put_network(change, span_of(code), &network), ERR_OK);
	ck_assert_int_eq(live_keep_unchanged(change, source, source), ERR_OK);
	hand_commit(change);
}

struct made {
	uint64_t facts, network;
};

static struct made
now(void)
{
	struct live_view *view;
	struct made made;

	ck_assert_int_eq(live_view_open(&view, facts), ERR_OK);
	made = (struct made){live_facts(view), live_network_generation(view)};
	live_view_close(view);
	return made;
}

static bool
unchanged(const char *supplier, struct made made)
{
	struct live_view *view;
	bool same, network;

	ck_assert_int_eq(live_view_open(&view, facts), ERR_OK);
	same = live_is_unchanged(
	    view, span_of(supplier), made.facts, made.network);
	network = live_network_is_unchanged(
	    view, span_of(supplier), made.facts, made.network);
	ck_assert(network || !same);
	live_view_close(view);
	return same;
}

/* Imports as gridctl does: the commit that switches also compares. */
static struct source *
replace(struct source *before, const char *product, const char *label)
{
	struct made made = now();
	struct live_change *change;
	struct source *source;
	uint64_t generation;

	source = import(product, label);
	generation = source_generation(source);
	/* Back to before facts_end()'s own commit. */
	change = hand_begin(facts);
	ck_assert_int_eq(live_set_facts(change, made.facts), ERR_OK);
	hand_commit(change);
	change = hand_begin(facts);
	ck_assert_int_eq(live_set_facts(change, generation), ERR_OK);
	ck_assert_int_eq(live_keep_unchanged(change, before, source), ERR_OK);
	hand_commit(change);
	return source;
}

START_TEST(an_import_changes_whom_it_changes)
{
	struct source *first = import("100001", "a"), *second, *third;
	struct made made = now(), later;

	second = replace(first, "100001", "b");
	ck_assert(unchanged("S", made));
	ck_assert(!unchanged("T", made));
	ck_assert(!unchanged("U", made)); /* no such supplier */
	later = now();
	ck_assert(unchanged("T", later));
	third = replace(second, "100001", "b");
	ck_assert(unchanged("S", made));
	ck_assert(!unchanged("T", made));
	ck_assert(unchanged("T", later));
	/* A number that no computation can have seen is of another store. */
	later.facts = now().facts + 1;
	ck_assert(!unchanged("S", later));
	source_close(first);
	source_close(second);
	source_close(third);
}
END_TEST

START_TEST(a_product_changes_who_lists_it)
{
	struct source *source = import("100001", "a");
	struct made made = now();

	put_network(source, "100002", 1);
	ck_assert(unchanged("S", made));
	ck_assert(unchanged("T", made));
	put_network(source, "100001", 1);
	ck_assert(!unchanged("S", made));
	ck_assert(unchanged("T", made));
	made = now();
	put_network(source, "100001", 1); /* the same */
	ck_assert(unchanged("S", made));
	put_network(source, "100003", 1);
	ck_assert(unchanged("S", made));
	source_close(source);
}
END_TEST

/*
 * An older snapshot still shows an article whose product the newer facts do not
 * list: its figures are to be read.
 */
START_TEST(newer_facts_do_not_vouch_for_an_older_snapshots_figures)
{
	struct source *first = import("100001", "a"), *second;
	struct live_view *view;
	struct made made = now();

	second = replace(first, "100009", "a");
	ck_assert(!unchanged("S", made));
	put_network(second, "100001", 1);
	ck_assert_int_eq(live_view_open(&view, facts), ERR_OK);
	ck_assert(!live_network_is_unchanged(
	    view, SPAN("S"), made.facts, made.network));
	ck_assert(live_network_is_unchanged(
	    view, SPAN("T"), made.facts, made.network));
	live_view_close(view);
	source_close(first);
	source_close(second);
}
END_TEST

/* As a program does that does not know of these records. */
START_TEST(a_change_that_compares_nothing_changes_all)
{
	struct source *source = import("100001", "a");
	struct made made;

	put_network(source, "100002", 1);
	made = now();
	ck_assert(unchanged("T", made));
	facts_network("100003", 1);
	ck_assert(!unchanged("T", made));
	ck_assert(!unchanged("S", made));
	ck_assert(unchanged("S", now()));
	made = now();
	put_network(source, "100002", 2); /* and from there on they count */
	ck_assert(unchanged("S", made));
	ck_assert(unchanged("T", made));
	source_close(source);
}
END_TEST

START_TEST(a_damaged_record_changes_its_supplier)
{
	struct source *source = import("100001", "a");
	struct key key = key_pair(SPAN("since"), SPAN("T"));
	struct kv_txn *txn;
	struct made made;

	quiet_begin();
	put_network(source, "100002", 1);
	made = now();
	put_network(source, "100002", 2);
	mirror_drop();
	ck_assert_int_eq(kv_write(&txn, store_live(facts)), ERR_OK);
	ck_assert_int_eq(
	    kv_put(txn, LIVE_META, key_span(&key), SPAN("short")), ERR_OK);
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
	ck_assert(!unchanged("T", made));
	ck_assert(unchanged("S", made));
	put_network(source, "100002", 3); /* mends it */
	ck_assert(!unchanged("T", made));
	ck_assert(unchanged("T", now()));
	ck_assert(unchanged("S", made));
	source_close(source);
}
END_TEST

/* Writes the suppliers' records as version 1 has them. */
static void
write_bare(const char *path)
{
	struct kv *kv;
	struct kv_txn *txn;
	struct buf header;

	buf_init(&header, 64);
	for (unsigned i = 0; i < 10; i++)
		buf_add_char(&header, 0);
	ck_assert_int_eq(store_facts_create(&kv, path), ERR_OK);
	mirror_drop();
	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	ck_assert_int_eq(
	    store_set_number(txn, "schema", SCHEMA_FACTS_VERSION_BARE), ERR_OK);
	ck_assert_int_eq(
	    kv_put(txn, FACTS_META, SPAN("header"), buf_span(&header)), ERR_OK);
	ck_assert_int_eq(
	    kv_put(txn, FACTS_SUPPLIERS, SPAN("S"), SPAN("\x01\x01s")), ERR_OK);
	ck_assert_int_eq(
	    kv_put(txn, FACTS_SUPPLIERS, SPAN("T"), SPAN("\x01\x01t")), ERR_OK);
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
	ck_assert_int_eq(kv_finish(kv, path, ERR_OK), ERR_OK);
	buf_fini(&header);
}

START_TEST(facts_of_version_1_change_all)
{
	struct source *source = import("100001", "a"), *bare, *again;
	char path[FS_PATH_MAX];
	struct made made = now();

	ck_assert_int_eq(
	    store_facts_path(path, facts, made.facts + 1, ""), ERR_OK);
	write_bare(path);
	ck_assert_int_eq(source_open_file(&bare, path, made.facts + 1), ERR_OK);
	put_network(bare, "100002", 1);
	ck_assert(!unchanged("S", made));
	ck_assert(!unchanged("T", made));
	made = now();
	again = replace(bare, "100001", "a");
	ck_assert(!unchanged("S", made));
	source_close(again);
	source_close(bare);
	source_close(source);
}
END_TEST

START_TEST(listed_products_are_found)
{
	uint64_t found = source_product_hash(SPAN("100001"));
	uint64_t hashes[3] = {1, 2, 3};
	struct source *source = import("100001", "a");
	struct source_supplier s, t;

	ck_assert_int_eq(source_supplier(source, SPAN("S"), &s), ERR_OK);
	ck_assert_int_eq(source_supplier(source, SPAN("T"), &t), ERR_OK);
	ck_assert_uint_eq(s.digest.len, SCHEMA_DIGEST);
	ck_assert_uint_eq(s.products.len, 8);
	ck_assert_uint_eq(t.products.len, 0);
	ck_assert(!source_lists_product(&s, hashes, 3));
	for (unsigned i = 0; i < 3; i++) /* ascending, with it at each place */
		hashes[i] = found + i - (unsigned)_i;
	ck_assert(source_lists_product(&s, hashes, 3));
	ck_assert(source_lists_product(&s, &found, 1));
	ck_assert(!source_lists_product(&t, hashes, 3));
	ck_assert(!source_lists_product(&s, hashes, 0));
	source_close(source);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("since");
	TCase *tc = tcase_create("since");

	tcase_add_checked_fixture(tc, facts_make, facts_remove);
	tcase_add_test(tc, an_import_changes_whom_it_changes);
	tcase_add_test(tc, a_product_changes_who_lists_it);
	tcase_add_test(
	    tc, newer_facts_do_not_vouch_for_an_older_snapshots_figures);
	tcase_add_test(tc, a_change_that_compares_nothing_changes_all);
	tcase_add_test(tc, a_damaged_record_changes_its_supplier);
	tcase_add_test(tc, facts_of_version_1_change_all);
	tcase_add_loop_test(tc, listed_products_are_found, 0, 3);
	suite_add_tcase(suite, tc);
	return suite;
}
