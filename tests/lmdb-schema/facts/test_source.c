#include "lmdb-schema/facts/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/log.h"
#include "common/num.h"
#include "lmdb-schema/schema.h"
#include "tests/lmdb-schema/by_hand.h"
#include "tests/lmdb-schema/facts.h"
#include "tests/support/flip.h"
#include "tests/support/quiet.h"
#include "tests/support/random.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define BIG 900

static struct source *source;

static void
make(void)
{
	facts_make();
	facts_import(BIG, 1);
	ck_assert_int_eq(source_open(&source, facts), ERR_OK);
}

static void
drop(void)
{
	source_close(source);
	source = NULL;
	facts_remove();
}

static unsigned
walk_all(struct span supplier)
{
	struct source_article article;
	struct source_walk *walk;
	char before[SCHEMA_CODE_MAX] = "";
	size_t before_len = 0;
	unsigned count = 0;
	enum err err;

	ck_assert_int_eq(source_walk_begin(&walk, source, supplier), ERR_OK);
	while ((err = source_walk_next(walk, &article)) == ERR_OK) {
		run_must(span_cmp(article.codein,
			     span_make(before, before_len)) > 0);
		memcpy(before, article.codein.ptr, article.codein.len);
		before_len = article.codein.len;
		count++;
	}
	ck_assert_int_eq(err, ERR_NOT_FOUND);
	source_walk_end(walk);
	return count;
}

START_TEST(a_suppliers_articles_come_in_the_order_of_their_codes)
{
	ck_assert_uint_eq(walk_all(SPAN("BIG")), BIG);
	ck_assert_uint_eq(walk_all(SPAN("SMALL")), 3);
	ck_assert_uint_eq(walk_all(SPAN("EMPTY")), 0);
	ck_assert_uint_eq(walk_all(SPAN("NONE")), 0);
	ck_assert_uint_eq(walk_all(SPAN("BI")), 0);
	source_walk_end(NULL);
}
END_TEST

static enum err
add_name(void *context, const struct source_supplier *supplier)
{
	char *text = context;
	size_t len = strlen(text);

	snprintf(text + len, 200 - len, "%.*s:%.*s:%u ",
	    SPAN_ARG(supplier->code), SPAN_ARG(supplier->name),
	    (unsigned)supplier->articles);
	return ERR_OK;
}

START_TEST(suppliers_come_in_order_with_their_counts)
{
	char text[200] = "";

	ck_assert_int_eq(source_suppliers(source, add_name, text), ERR_OK);
	ck_assert_str_eq(text,
	    "BIG:Grande \"Maison\":900 EMPTY::0 "
	    "SMALL:Petite \xc3\x89picerie:3 ");
}
END_TEST

static enum err
stop(void *context, const struct source_supplier *supplier)
{
	(void)supplier;
	++*(unsigned *)context;
	return ERR_CLOSED;
}

START_TEST(a_callbacks_failure_ends_the_list)
{
	unsigned calls = 0;

	ck_assert_int_eq(source_suppliers(source, stop, &calls), ERR_CLOSED);
	ck_assert_uint_eq(calls, 1);
}
END_TEST

START_TEST(an_unknown_supplier_is_not_found)
{
	struct source_supplier supplier;

	ck_assert_int_eq(
	    source_supplier(source, SPAN("NONE"), &supplier), ERR_NOT_FOUND);
	ck_assert_int_eq(
	    source_supplier(source, SPAN(""), &supplier), ERR_NOT_FOUND);
	ck_assert_int_eq(
	    source_supplier(source, SPAN("a\0b"), &supplier), ERR_NOT_FOUND);
}
END_TEST

START_TEST(stores_are_numbered_by_code)
{
	ck_assert(span_eq(source_store_code(source, 0), SPAN("001")));
	ck_assert(span_eq(source_store_code(source, 1), SPAN("002")));
	ck_assert(span_eq(source_store_code(source, 2), SPAN("10\"0")));
	ck_assert(span_eq(source_store_name(source, 2), SPAN("Magasin")));
	ck_assert_uint_eq(source_store_code(source, 3).len, 0);
	ck_assert_uint_eq(source_store_name(source, 65535).len, 0);
}
END_TEST

START_TEST(classes_have_labels_or_none)
{
	ck_assert(span_eq(source_class(source, SPAN("120305")), SPAN("Thon")));
	ck_assert_uint_eq(source_class(source, SPAN("99")).len, 0);
	ck_assert_uint_eq(source_class(source, SPAN("")).len, 0);
}
END_TEST

static enum err
count_supplier(void *context, struct span supplier)
{
	ck_assert(supplier.len > 0);
	++*(unsigned *)context;
	return ERR_OK;
}

START_TEST(an_article_knows_its_suppliers)
{
	unsigned both = 0, one = 0, none = 0;

	ck_assert_int_eq(
	    source_where(source, SPAN("C000001"), count_supplier, &both),
	    ERR_OK);
	ck_assert_int_eq(
	    source_where(source, SPAN("C000501"), count_supplier, &one),
	    ERR_OK);
	ck_assert_int_eq(
	    source_where(source, SPAN("C0000"), count_supplier, &none), ERR_OK);
	ck_assert_int_eq(
	    source_where(source, SPAN(""), count_supplier, &none), ERR_OK);
	ck_assert_uint_eq(both, 2);
	ck_assert_uint_eq(one, 1);
	ck_assert_uint_eq(none, 0);
	ck_assert(facts_lists(source, SPAN("BIG"), SPAN("C000501")));
	ck_assert(!facts_lists(source, SPAN("SMALL"), SPAN("C000501")));
	ck_assert(!facts_lists(source, SPAN(""), SPAN("")));
}
END_TEST

START_TEST(an_article_reads_back_as_it_was_written)
{
	struct source_article in = facts_article("A1"), out;
	struct buf buf;

	in.libelle1 = SPAN("l1");
	in.libelle2 = SPAN("l2");
	in.marque = SPAN("m");
	in.gtin = SPAN("3400000000000");
	in.reference = SPAN("r");
	in.code_centrale = SPAN("100001");
	in.code3 = 999999;
	in.pcb = 6 * NUM_MICRO;
	in.tva = 5500000;
	in.series[SERIES_STOCK] = SPAN("\x01\x01\x01\x01");
	buf_init(&buf, 4096);
	source_article_write(&buf, &in);
	ck_assert_int_eq(source_article_read(buf_span(&buf), &out), ERR_OK);
	ck_assert(span_eq(out.codein, in.codein));
	ck_assert(span_eq(out.libelle1, in.libelle1));
	ck_assert(span_eq(out.libelle2, in.libelle2));
	ck_assert(span_eq(out.marque, in.marque));
	ck_assert(span_eq(out.gtin, in.gtin));
	ck_assert(span_eq(out.reference, in.reference));
	ck_assert(span_eq(out.code_centrale, in.code_centrale));
	ck_assert_uint_eq(out.code3, in.code3);
	ck_assert_int_eq(out.pcb, in.pcb);
	ck_assert_int_eq(out.prix_achat, NUM_NULL);
	ck_assert_int_eq(out.tva, in.tva);
	ck_assert(span_eq(out.series[SERIES_STOCK], in.series[SERIES_STOCK]));
	ck_assert_uint_eq(out.series[SERIES_SALES].len, 0);
	for (size_t len = 0; len < buf.len; len++)
		ck_assert_int_eq(
		    source_article_read(span_make(buf.data, len), &out),
		    ERR_DAMAGED);
	buf_fini(&buf);
}
END_TEST

START_TEST(a_pinned_source_outlives_its_file)
{
	char path[FS_PATH_MAX];

	ck_assert_int_eq(
	    store_facts_path(path, facts, source_generation(source), ""),
	    ERR_OK);
	ck_assert_int_eq(unlink(path), 0);
	facts_import(10, 2);
	ck_assert_uint_eq(walk_all(SPAN("BIG")), BIG);
}
END_TEST

START_TEST(nothing_imported_is_not_found)
{
	struct source *other;
	struct live_change *change;

	change = hand_begin(facts);
	ck_assert_int_eq(live_set_facts(change, 0), ERR_OK);
	hand_commit(change);
	ck_assert_int_eq(source_open(&other, facts), ERR_NOT_FOUND);
	ck_assert_ptr_null(other);
	source_close(NULL);
}
END_TEST

START_TEST(facts_that_are_gone_are_damage)
{
	char path[FS_PATH_MAX];
	struct source *other;

	ck_assert_int_eq(
	    store_facts_path(path, facts, source_generation(source), ""),
	    ERR_OK);
	ck_assert_int_eq(unlink(path), 0);
	quiet_begin();
	log_open("test", LOG_ERROR_);
	ck_assert_int_eq(source_open(&other, facts), ERR_DAMAGED);
	/* A file that a prune removes beneath a reader is no error yet. */
	ck_assert_int_eq(quiet_lines(), 1);
}
END_TEST

/* As schema.h has it: files on the disk are named by it. */
START_TEST(a_supplier_has_its_share_for_good)
{
	static const struct {
		const char *code;
		unsigned count, share;
	} rows[] = {
	    {"F1", 1, 0}, {"F1", 4, 3}, {"F2", 4, 2}, {"0001", 256, 182}};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_uint_eq(
		    source_share_of(span_of(rows[i].code), rows[i].count),
		    rows[i].share);
}
END_TEST

START_TEST(files_of_shares_have_names)
{
	char path[FS_PATH_MAX];

	ck_assert_int_eq(
	    source_share_path(path, "/d.mdb/7.mdb.tmp", 0, 10), ERR_OK);
	ck_assert_str_eq(path, "/d.mdb/7-0a.mdb.tmp");
	ck_assert_int_eq(
	    source_share_path(path, "/d.mdb/7.mdb.tmp", 8, 255), ERR_OK);
	ck_assert_str_eq(path, "/d.mdb/0000000000000008-ff.mdb");
	ck_assert_int_eq(source_share_path(path, "/d/7", 0, 1), ERR_BAD_INPUT);
}
END_TEST

/* --- damaged files -------------------------------------------------------- */

static size_t facts_len;

static char *
read_facts(void)
{
	char path[FS_PATH_MAX];
	struct buf buf;

	ck_assert_int_eq(
	    store_facts_path(path, facts, source_generation(source), ""),
	    ERR_OK);
	buf_init(&buf, (size_t)1 << 30);
	ck_assert_int_eq(fs_read(&buf, path), ERR_OK);
	return buf_take(&buf, &facts_len);
}

START_TEST(cut_short_facts_are_damaged)
{
	struct source *other;
	char *bytes = read_facts();

	quiet_begin();
	for (unsigned i = 0; i < 50; i++) {
		size_t len = i < 4 ? i * 4096 : random_bits() % facts_len;

		scratch_write("cut.mdb", bytes, len);
		ck_assert_int_eq(
		    source_open_file(&other, scratch_path("cut.mdb"), 1),
		    ERR_DAMAGED);
		ck_assert_ptr_null(other);
	}
	free(bytes);
}
END_TEST

/* Everything there is to read in a file that may be damaged. */
static enum err
read_through(const char *path)
{
	struct source_article article;
	struct source_walk *walk;
	struct source *other;
	enum err err = source_open_file(&other, path, 1);

	if (err != ERR_OK)
		return err;
	err = source_walk_begin(&walk, other, SPAN("BIG"));
	while (err == ERR_OK)
		err = source_walk_next(walk, &article);
	source_walk_end(walk);
	source_close(other);
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

START_TEST(a_flipped_bit_in_the_articles_is_damage)
{
	struct source_article article;
	struct source_walk *walk;
	struct span raw;
	char *bytes = read_facts(), *at;
	unsigned told = 0;

	ck_assert_int_eq(source_walk_begin(&walk, source, SPAN("BIG")), ERR_OK);
	for (unsigned i = 0; i < 500; i++)
		ck_assert_int_eq(source_walk_next(walk, &article), ERR_OK);
	raw = source_walk_raw(walk);
	at = memmem(bytes, facts_len, raw.ptr, raw.len);
	ck_assert_ptr_nonnull(at);
	source_walk_end(walk);
	quiet_begin();
	for (unsigned i = 0; i < 40; i++) {
		char *byte = at + random_bits() % 2000;
		char bit = (char)(1 << random_bits() % 8);

		*byte ^= bit;
		scratch_write("flip.mdb", bytes, facts_len);
		told += read_through(scratch_path("flip.mdb")) == ERR_DAMAGED;
		*byte ^= bit;
	}
	ck_assert_uint_eq(told, 40);
	free(bytes);
}
END_TEST

/* No checksum covers the key of a block; its supplier's count does. */
START_TEST(a_flipped_bit_in_the_key_of_a_block_is_damage)
{
	static const char key[] = "BIG\0\0\0\0";
	char *bytes = read_facts();

	scratch_write("flip.mdb", bytes, facts_len);
	free(bytes);
	ck_assert_int_eq(read_through(scratch_path("flip.mdb")), ERR_OK);
	quiet_begin();
	flip(scratch_path("flip.mdb"), span_make(key, sizeof(key)), 2);
	ck_assert_int_eq(read_through(scratch_path("flip.mdb")), ERR_DAMAGED);
}
END_TEST

/*
 * An article that no supplier lists would be left out of an export without a
 * word. The listings are compared when they are needed: a reader of only the
 * suppliers is served.
 */
START_TEST(a_flipped_bit_in_the_listings_is_damage_to_those_who_look)
{
	static const char key[] = "C000501\0BIG";
	char path[FS_PATH_MAX], text[200] = "";
	struct source *other;
	unsigned found = 0;
	bool lists = true;

	ck_assert_int_eq(
	    store_facts_path(path, facts, source_generation(source), ""),
	    ERR_OK);
	flip(path, span_make(key, sizeof(key) - 1), sizeof("C000501"));
	ck_assert_int_eq(source_open_verified(&other, facts), ERR_OK);
	ck_assert_int_eq(source_suppliers(other, add_name, text), ERR_OK);
	quiet_begin();
	log_open("test", LOG_ERROR_);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_int_eq(
		    source_lists(&lists, other, SPAN("BIG"), SPAN("C000501")),
		    ERR_DAMAGED);
		ck_assert_int_eq(source_where(other, SPAN("C000001"),
				     count_supplier, &found),
		    ERR_DAMAGED);
	}
	ck_assert(!lists);
	ck_assert_uint_eq(found, 0);
	ck_assert_int_eq(quiet_lines(), 1);
	ck_assert_int_eq(source_verify(other), ERR_DAMAGED);
	source_close(other);
}
END_TEST

START_TEST(flipped_bytes_anywhere_never_crash)
{
	char *bytes = read_facts();

	quiet_begin();
	for (unsigned i = 0; i < 150; i++) {
		size_t at = random_bits() % facts_len;
		char old = bytes[at];
		enum err err;

		/* Half of them where LMDB keeps its own. */
		if (i % 2 == 0)
			at = at / 4096 * 4096 + random_bits() % 64;
		if (at >= facts_len)
			continue;
		old = bytes[at];
		bytes[at] = (char)random_bits();
		scratch_write("flip.mdb", bytes, facts_len);
		err = read_through(scratch_path("flip.mdb"));
		ck_assert(
		    err == ERR_OK || err == ERR_DAMAGED || err == ERR_VERSION);
		bytes[at] = old;
	}
	free(bytes);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("source");
	TCase *tc = tcase_create("source");

	tcase_set_timeout(tc, 300);
	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_test(
	    tc, a_suppliers_articles_come_in_the_order_of_their_codes);
	tcase_add_test(tc, suppliers_come_in_order_with_their_counts);
	tcase_add_test(tc, a_callbacks_failure_ends_the_list);
	tcase_add_test(tc, an_unknown_supplier_is_not_found);
	tcase_add_test(tc, stores_are_numbered_by_code);
	tcase_add_test(tc, classes_have_labels_or_none);
	tcase_add_test(tc, an_article_knows_its_suppliers);
	tcase_add_test(tc, an_article_reads_back_as_it_was_written);
	tcase_add_test(tc, a_pinned_source_outlives_its_file);
	tcase_add_test(tc, nothing_imported_is_not_found);
	tcase_add_test(tc, facts_that_are_gone_are_damage);
	tcase_add_test(tc, a_supplier_has_its_share_for_good);
	tcase_add_test(tc, files_of_shares_have_names);
	tcase_add_test(tc, cut_short_facts_are_damaged);
	tcase_add_test(tc, a_flipped_bit_in_the_articles_is_damage);
	tcase_add_test(tc, a_flipped_bit_in_the_key_of_a_block_is_damage);
	tcase_add_test(
	    tc, a_flipped_bit_in_the_listings_is_damage_to_those_who_look);
	tcase_add_test(tc, flipped_bytes_anywhere_never_crash);
	suite_add_tcase(suite, tc);
	return suite;
}
