/*
 * Merges: only what they bring is written, and the facts are those that one
 * import of everything makes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/kv/kv.h"
#include "common/num.h"
#include "lmdb-schema/schema.h"
#include "lmdb-schema/upkeep/check.h"
#include "lmdb-schema/upkeep/copy.h"
#include "lmdb-schema/upkeep/prune.h"
#include "tests/lmdb-schema/facts.h"
#include "tests/lmdb-schema/old_facts.h"
#include "tests/support/flip.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define SUPPLIERS 5
#define ARTICLES 6 /* of each, at most */
#define MONTHS 4
#define ROUNDS 60
#define SHARES 3

static const char *const suppliers[SUPPLIERS] = {"A", "B", "C", "D", "E"};
static const char *const stores[] = {"001", "002", "000"};

/* Everything that was ever brought; 0: nothing. */
static struct model {
	unsigned stores; /* how many of them there are */
	unsigned label; /* of the one classification code */
	bool there[SUPPLIERS][ARTICLES];
	unsigned name[SUPPLIERS];
	int64_t sales[SUPPLIERS][ARTICLES][2][MONTHS];
} model;

static void
put_supplier(struct intake *intake, unsigned s)
{
	char name[16];

	snprintf(name, sizeof(name), "n%u", model.name[s]);
	ck_assert_int_eq(
	    intake_supplier(intake, span_of(suppliers[s]), span_of(name)),
	    ERR_OK);
}

static void
put_article(struct intake *intake, unsigned s, unsigned a)
{
	char codein[8];
	struct source_article article;

	snprintf(codein, sizeof(codein), "%u", a);
	article = facts_article(codein);
	article.libelle1 = SPAN("Article");
	article.code3 = s == 0 ? 120305 : SOURCE_NO_CODE3;
	ck_assert_int_eq(
	    intake_article(intake, span_of(suppliers[s]), &article, 0), ERR_OK);
}

static void
put_label(struct intake *intake)
{
	char label[16];

	snprintf(label, sizeof(label), "l%u", model.label);
	ck_assert_int_eq(
	    intake_class(intake, SPAN("120305"), span_of(label)), ERR_OK);
}

static void
put_sale(struct intake *intake, unsigned s, unsigned a, unsigned store,
    unsigned month)
{
	char codein[8];

	snprintf(codein, sizeof(codein), "%u", a);
	facts_put(intake, SERIES_SALES, suppliers[s], codein, stores[store],
	    FACTS_MONTH - (int)month, model.sales[s][a][store][month]);
}

/* Everything, at once. */
static void
import_model(void)
{
	struct intake *intake = facts_begin(NULL);

	for (unsigned i = 0; i < model.stores; i++)
		ck_assert_int_eq(
		    intake_store(intake, span_of(stores[i]), SPAN("Magasin")),
		    ERR_OK);
	put_label(intake);
	for (unsigned s = 0; s < SUPPLIERS; s++) {
		put_supplier(intake, s);
		for (unsigned a = 0; a < ARTICLES; a++)
			if (model.there[s][a])
				put_article(intake, s, a);
	}
	ck_assert_int_eq(intake_seal(intake, NULL, NULL), ERR_OK);
	for (unsigned s = 0; s < SUPPLIERS; s++)
		for (unsigned a = 0; a < ARTICLES; a++)
			for (unsigned k = 0; k < 2 * MONTHS; k++)
				if (model.sales[s][a][k / MONTHS][k % MONTHS] !=
				    0)
					put_sale(intake, s, a, k / MONTHS,
					    k % MONTHS);
	facts_end_series(intake);
	facts_end(intake);
}

static void
begin_model(void)
{
	memset(&model, 0, sizeof(model));
	model.stores = 2;
	for (unsigned s = 0; s < SUPPLIERS; s++)
		for (unsigned a = 0; a < 3; a++) {
			model.there[s][a] = true;
			model.sales[s][a][s % 2][a] = (s + 1) * NUM_MICRO;
		}
	import_model();
}

static struct source *
open_facts(void)
{
	struct source *source;

	ck_assert_int_eq(source_open_verified(&source, facts), ERR_OK);
	return source;
}

/* The shares that the last import wrote. */
static unsigned
written(void)
{
	struct source *source = open_facts();
	unsigned count = 0;

	ck_assert_uint_eq(source_shares(source), facts_shares);
	for (unsigned i = 0; i < source_shares(source); i++)
		count += source_share_generation(source, i) ==
		    source_generation(source);
	source_close(source);
	return count;
}

/* The facts as text: all that a reader can see. */
struct seeing {
	struct source *source;
	struct buf *text;
};

static enum err
see_lister(void *context, struct span supplier)
{
	buf_add_char(context, ' ');
	buf_add_span(context, supplier);
	return ERR_OK;
}

static enum err
see_supplier(void *context, const struct source_supplier *supplier)
{
	struct seeing *seeing = context;
	struct source_article article;
	struct source_walk *walk;

	buf_addf(seeing->text, "%.*s %.*s %u ", SPAN_ARG(supplier->code),
	    SPAN_ARG(supplier->name), (unsigned)supplier->articles);
	buf_add_span(seeing->text, supplier->digest);
	buf_add_span(seeing->text, supplier->products);
	ck_assert_int_eq(
	    source_walk_begin(&walk, seeing->source, supplier->code), ERR_OK);
	while (source_walk_next(walk, &article) == ERR_OK) {
		buf_add_span(seeing->text, source_walk_raw(walk));
		ck_assert(facts_lists(
		    seeing->source, supplier->code, article.codein));
		ck_assert_int_eq(source_where(seeing->source, article.codein,
				     see_lister, seeing->text),
		    ERR_OK);
	}
	source_walk_end(walk);
	return ERR_OK;
}

/* With the digest of what all suppliers share, or without it. */
static void
see_all(struct buf *text, bool with_common)
{
	struct source *source = open_facts();
	struct seeing seeing = {source, text};
	const struct source_header *header = source_header(source);

	buf_clear(text);
	buf_addf(text, "%d %u %u %u %u %u\n", header->newest_month,
	    (unsigned)header->suppliers, (unsigned)header->stores,
	    (unsigned)header->classes, (unsigned)header->articles,
	    (unsigned)header->records[SERIES_SALES]);
	if (with_common)
		buf_add_span(text, source_common(source));
	ck_assert_int_eq(
	    source_suppliers(source, see_supplier, &seeing), ERR_OK);
	ck_assert_int_eq(buf_end(text), ERR_OK);
	source_close(source);
}

static void
see(struct buf *text)
{
	see_all(text, true);
}

static struct source *base;

static struct intake *
begin_merge(void)
{
	ck_assert_int_eq(source_open(&base, facts), ERR_OK);
	return facts_begin(base);
}

static void
seal(struct intake *intake)
{
	ck_assert_int_eq(intake_seal(intake, NULL, NULL), ERR_OK);
}

static void
end_merge(struct intake *intake)
{
	facts_end_series(intake);
	facts_end(intake);
	source_close(base);
}

static void
merge_sale(unsigned s, unsigned a, int64_t value)
{
	struct intake *intake = begin_merge();

	model.sales[s][a][0][0] = value;
	seal(intake);
	put_sale(intake, s, a, 0, 0);
	end_merge(intake);
}

static void
compare_all(bool with_common)
{
	struct buf merged, whole;

	buf_init(&merged, 1 << 20);
	buf_init(&whole, 1 << 20);
	see_all(&merged, with_common);
	import_model();
	see_all(&whole, with_common);
	ck_assert(span_eq(buf_span(&merged), buf_span(&whole)));
	ck_assert_uint_eq(written(), facts_shares);
	buf_fini(&merged);
	buf_fini(&whole);
}

/* Merges must have made the facts that one import of everything makes. */
static void
compare(void)
{
	compare_all(true);
}

START_TEST(a_merge_writes_the_shares_of_the_suppliers_that_it_names)
{
	struct source *source;
	struct source_supplier found;
	unsigned share = source_share_of(span_of(suppliers[0]), SHARES);
	unsigned others = 0;

	facts_shares = SHARES;
	begin_model();
	merge_sale(0, 1, 7 * NUM_MICRO);
	ck_assert_uint_eq(written(), 1);
	source = open_facts();
	for (unsigned i = 0; i < SUPPLIERS; i++) {
		struct span code = span_of(suppliers[i]);

		ck_assert_int_eq(source_supplier(source, code, &found), ERR_OK);
		ck_assert_int_eq(found.at == source_generation(source),
		    source_share_of(code, SHARES) == share);
		others += found.at != source_generation(source);
	}
	ck_assert_uint_gt(others, 0);
	source_close(source);
	compare();
}
END_TEST

START_TEST(a_merge_writes_all_when_all_may_change)
{
	struct intake *intake;

	facts_shares = SHARES;
	begin_model();
	merge_sale(0, 1, 7 * NUM_MICRO);
	intake = begin_merge();
	if (_i == 0) {
		model.stores = 3; /* sorts first: others get its number */
		ck_assert_int_eq(
		    intake_store(intake, SPAN("000"), SPAN("Magasin")), ERR_OK);
	} else {
		model.label = 9;
		put_label(intake);
	}
	seal(intake);
	end_merge(intake);
	ck_assert_uint_eq(written(), SHARES);
	compare();
}
END_TEST

START_TEST(the_same_label_and_name_change_nothing)
{
	struct intake *intake;

	facts_shares = SHARES;
	begin_model();
	intake = begin_merge();
	put_label(intake);
	put_supplier(intake, 3);
	seal(intake);
	end_merge(intake);
	ck_assert_uint_eq(written(), 0);
	compare();
}
END_TEST

/* Merges a few random things. */
static void
merge_something(void)
{
	struct intake *intake = begin_merge();
	unsigned s = (unsigned)rand() % SUPPLIERS;
	unsigned a = (unsigned)rand() % ARTICLES;
	unsigned month = (unsigned)rand() % MONTHS;

	if (rand() % 4 == 0) {
		model.name[s]++;
		put_supplier(intake, s);
	}
	if (rand() % 20 == 0) {
		model.label++;
		put_label(intake);
	}
	if (rand() % 3 == 0 || !model.there[s][a]) {
		model.there[s][a] = true;
		put_article(intake, s, a);
	}
	seal(intake);
	if (rand() % 4 != 0) {
		model.sales[s][a][1][month] = (1 + rand() % 50) * NUM_MICRO;
		put_sale(intake, s, a, 1, month);
	}
	end_merge(intake);
}

static void
note_fault(void *context, const struct fault *fault)
{
	printf("%s: %s\n", fault->place, fault->message);
	++*(unsigned *)context;
}

static void
check(void)
{
	struct check_counts counts;
	unsigned faults = 0;

	ck_assert_int_eq(
	    check_store(&counts, facts, note_fault, NULL, &faults), ERR_OK);
	ck_assert_uint_eq(faults, 0);
	ck_assert_uint_eq(counts.leftovers, 0);
}

START_TEST(many_merges_make_what_one_import_makes)
{
	struct pruned pruned;

	srand((unsigned)_i + 1);
	facts_shares = _i % 2 == 0 ? 1 : SHARES;
	begin_model();
	for (unsigned i = 0; i < ROUNDS; i++) {
		merge_something();
		if (rand() % 3 == 0) {
			ck_assert_int_eq(prune_all(facts, 0, &pruned), ERR_OK);
			check();
		}
	}
	compare();
	ck_assert_int_eq(prune_all(facts, 0, &pruned), ERR_OK);
	check();
}
END_TEST

START_TEST(a_copy_has_the_shares)
{
	struct copy_counts counts;
	struct buf here, there;
	struct fault fault;

	buf_init(&here, 1 << 20);
	buf_init(&there, 1 << 20);
	facts_shares = SHARES;
	begin_model();
	merge_sale(0, 1, 7 * NUM_MICRO);
	merge_sale(1, 1, 7 * NUM_MICRO);
	see(&here);
	fault_clear(&fault);
	facts_close(); /* a copy opens the store itself */
	ck_assert_int_eq(store_copy(facts_dir(), scratch_path("copy"), NULL,
			     NULL, &counts, &fault),
	    ERR_OK);
	ck_assert_int_eq(
	    store_open(&facts, scratch_path("copy"), &fault), ERR_OK);
	see(&there);
	ck_assert(span_eq(buf_span(&here), buf_span(&there)));
	check();
	buf_fini(&here);
	buf_fini(&there);
}
END_TEST

/* The path of the file that has a supplier. */
static void
file_of(char path[FS_PATH_MAX], const char *supplier)
{
	struct source *source = open_facts();
	unsigned share = source_share_of(span_of(supplier), facts_shares);
	uint64_t generation = source_generation(source);

	ck_assert_int_eq(store_facts_path(path, facts, generation, ""), ERR_OK);
	if (facts_shares > 1) {
		char base_path[FS_PATH_MAX];

		memcpy(base_path, path, FS_PATH_MAX);
		ck_assert_int_eq(
		    source_share_path(path, base_path,
			source_share_generation(source, share), share),
		    ERR_OK);
	}
	source_close(source);
}

START_TEST(facts_without_a_share_are_damaged)
{
	char path[FS_PATH_MAX];
	struct pruned pruned;
	struct source *source;

	quiet_begin();
	facts_shares = SHARES;
	begin_model();
	merge_sale(0, 1, 7 * NUM_MICRO);
	file_of(path, "A");
	if (_i == 0)
		ck_assert_int_eq(unlink(path), 0);
	else
		ck_assert_int_eq(truncate(path, 4096), 0);
	ck_assert_int_eq(source_open(&source, facts), ERR_DAMAGED);
	ck_assert_ptr_null(source);
	/* Nobody knows then which files are needed. */
	ck_assert_int_eq(prune_all(facts, 0, &pruned), ERR_OK);
	ck_assert_uint_eq(pruned.facts, 0);
	import_model();
	source_close(open_facts());
}
END_TEST

/* A share of other facts, as a wrong hand at the files may put it there. */
START_TEST(a_share_of_another_import_is_damage)
{
	char older[FS_PATH_MAX], newer[FS_PATH_MAX];
	struct source *source;

	quiet_begin();
	facts_shares = SHARES;
	begin_model();
	file_of(older, "A");
	merge_sale(0, 1, 7 * NUM_MICRO);
	file_of(newer, "A");
	ck_assert_str_ne(older, newer);
	ck_assert_int_eq(rename(older, newer), 0);
	ck_assert_int_eq(source_open(&source, facts), ERR_DAMAGED);
}
END_TEST

/*
 * A merge copies or builds upon stores and labels of the base file,
 * suppliers of each share, articles and keys of their blocks in a share that it
 * writes.
 */
START_TEST(a_merge_finds_a_flipped_bit_and_does_not_carry_it_on)
{
	static const char key[] = "A\0\0\0\0";
	static const struct {
		struct span text;
		size_t at;
	} flips[] = {{{"Magasin", 7}, 3}, {{"l0", 2}, 1}, {{"n0", 2}, 1},
	    {{"Article", 7}, 3}, {{key, sizeof(key)}, 0}};
	char path[FS_PATH_MAX];
	struct intake *intake;
	enum err err;

	quiet_begin();
	facts_shares = 1; /* so that A is in the file that is written */
	begin_model();
	merge_sale(1, 1, 7 * NUM_MICRO);
	file_of(path, "A");
	flip(path, flips[_i].text, flips[_i].at);
	ck_assert_int_eq(source_open(&base, facts), ERR_OK);
	err = intake_new(&intake, facts, base);
	if (err == ERR_OK) {
		struct intake_twice twice;

		seal(intake);
		/* Loads it, or fails. */
		(void)intake_find_article(intake, SPAN("B"), SPAN("1"));
		facts_end_series(intake);
		err = intake_write(
		    intake, scratch_path("f.mdb.tmp"), &twice, NULL, NULL);
		ck_assert_int_ne(access(scratch_path("f.mdb.tmp"), F_OK), 0);
		intake_free(intake);
	}
	ck_assert_int_eq(err, ERR_DAMAGED);
	source_close(base);
}
END_TEST

/* --- facts of version 2 --------------------------------------------------- */

static void
begin_old(struct buf *text)
{
	facts_shares = 1;
	begin_model();
	see(text);
	old_facts_make(facts, SPAN("B"));
}

START_TEST(facts_of_version_2_are_read_as_they_were)
{
	struct pruned pruned;
	struct buf now, before;

	buf_init(&now, 1 << 20);
	buf_init(&before, 1 << 20);
	begin_old(&now);
	see(&before);
	ck_assert(span_eq(buf_span(&now), buf_span(&before)));
	base = open_facts();
	ck_assert_uint_eq(source_shares(base), 0);
	ck_assert_int_eq(source_header(base)->oldest_sales, 0);
	source_close(base);
	check();
	ck_assert_int_eq(prune_all(facts, 0, &pruned), ERR_OK);
	ck_assert_uint_eq(pruned.facts, 0);
	see(&before);
	ck_assert(span_eq(buf_span(&now), buf_span(&before)));
	buf_fini(&now);
	buf_fini(&before);
}
END_TEST

/* The next merge makes all of them anew, in shares. */
START_TEST(a_merge_into_facts_of_version_2_makes_shares)
{
	struct pruned pruned;
	struct buf text;
	const char version = SCHEMA_LIVE_SHARES;
	struct kv_txn *txn;
	struct span live;

	buf_init(&text, 1 << 20);
	begin_old(&text);
	facts_shares = _i == 0 ? 1 : SHARES;
	merge_sale(0, 1, 7 * NUM_MICRO);
	/* Nobody knows whether an older month is in the base. */
	base = open_facts();
	ck_assert_int_eq(source_header(base)->oldest_sales, 0);
	source_close(base);
	ck_assert_uint_eq(written(), facts_shares);
	ck_assert_int_eq(prune_all(facts, 0, &pruned), ERR_OK);
	ck_assert_uint_eq(pruned.facts, 2);
	check();
	compare_all(false);
	/* So that an earlier program refuses the store. */
	ck_assert_int_eq(kv_read(&txn, store_live(facts)), ERR_OK);
	ck_assert_int_eq(kv_get(txn, LIVE_META, SPAN("schema"), &live), ERR_OK);
	ck_assert_int_eq(live.ptr[0], version);
	kv_abort(txn);
	buf_fini(&text);
}
END_TEST

START_TEST(a_merge_into_damaged_facts_of_version_2_is_refused)
{
	static const char *const texts[] = {"Magasin", "l0", "n0", "Article"};
	char path[FS_PATH_MAX];
	struct intake *intake;
	struct intake_twice twice;
	struct buf text;
	enum err err;

	quiet_begin();
	buf_init(&text, 1 << 20);
	begin_old(&text);
	ck_assert_int_eq(source_open(&base, facts), ERR_OK);
	ck_assert_int_eq(store_facts_path(path, facts,
			     source_generation(base) - (_i == 3), ""),
	    ERR_OK);
	source_close(base);
	flip(path, span_of(texts[_i]), 1);
	ck_assert_int_eq(source_open(&base, facts), ERR_OK);
	err = intake_new(&intake, facts, base);
	if (err == ERR_OK) {
		seal(intake);
		facts_end_series(intake);
		err = intake_write(
		    intake, scratch_path("f.mdb.tmp"), &twice, NULL, NULL);
		intake_free(intake);
	}
	ck_assert_int_eq(err, ERR_DAMAGED);
	source_close(base);
	buf_fini(&text);
}
END_TEST

/* --- many suppliers ------------------------------------------------------- */

/* More than a process may have maps, of two for each. */
#define MANY 33000

static void
many_code(char code[16], unsigned i)
{
	snprintf(code, 16, "S%05u", i);
}

START_TEST(a_merge_may_load_more_suppliers_than_there_may_be_maps)
{
	struct intake *intake;
	char code[16];

	facts_shares = 0;
	intake = facts_begin(NULL);
	ck_assert_int_eq(
	    intake_store(intake, SPAN("001"), SPAN("Magasin")), ERR_OK);
	for (unsigned i = 0; i < MANY; i++) {
		many_code(code, i);
		ck_assert_int_eq(
		    intake_supplier(intake, span_of(code), SPAN("n")), ERR_OK);
		facts_put_article(intake, code, "1");
	}
	seal(intake);
	facts_end_series(intake);
	facts_end(intake);
	intake = begin_merge();
	seal(intake);
	for (unsigned i = 0; i < MANY; i++) {
		many_code(code, i);
		facts_put(intake, SERIES_SALES, code, "1", "001", FACTS_MONTH,
		    NUM_MICRO);
	}
	end_merge(intake);
	base = open_facts();
	ck_assert_uint_eq(source_header(base)->records[SERIES_SALES], MANY);
	ck_assert_uint_eq(source_header(base)->articles, MANY);
	source_close(base);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("merge");
	TCase *tc = tcase_create("merge");

	tcase_add_checked_fixture(tc, facts_make, facts_remove);
	tcase_set_timeout(tc, 300);
	tcase_add_test(
	    tc, a_merge_writes_the_shares_of_the_suppliers_that_it_names);
	tcase_add_loop_test(tc, a_merge_writes_all_when_all_may_change, 0, 2);
	tcase_add_test(tc, the_same_label_and_name_change_nothing);
	tcase_add_loop_test(tc, many_merges_make_what_one_import_makes, 0, 4);
	tcase_add_test(tc, a_copy_has_the_shares);
	tcase_add_loop_test(tc, facts_without_a_share_are_damaged, 0, 2);
	tcase_add_test(tc, a_share_of_another_import_is_damage);
	tcase_add_loop_test(
	    tc, a_merge_finds_a_flipped_bit_and_does_not_carry_it_on, 0, 5);
	tcase_add_test(tc, facts_of_version_2_are_read_as_they_were);
	tcase_add_loop_test(
	    tc, a_merge_into_facts_of_version_2_makes_shares, 0, 2);
	tcase_add_loop_test(
	    tc, a_merge_into_damaged_facts_of_version_2_is_refused, 0, 4);
	tcase_add_test(
	    tc, a_merge_may_load_more_suppliers_than_there_may_be_maps);
	suite_add_tcase(suite, tc);
	return suite;
}
