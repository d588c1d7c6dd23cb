/*
 * Merges: only what they bring is written, and the facts are those that one
 * import of everything makes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/num.h"
#include "lmdb-schema/upkeep/check.h"
#include "lmdb-schema/upkeep/copy.h"
#include "lmdb-schema/upkeep/prune.h"
#include "tests/lmdb-schema/facts.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define SUPPLIERS 5
#define ARTICLES 6 /* of each, at most */
#define MONTHS 4
#define ROUNDS 60

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

static unsigned
parts(void)
{
	uint64_t generations[SOURCE_PARTS_MAX];
	struct source *source = open_facts();
	unsigned count = source_parts(source, generations);

	source_close(source);
	return count;
}

/* The facts as text: all that a reader can see. */
static enum err
add_where(void *context, struct span key, struct span value)
{
	(void)value;
	buf_add_span(context, key);
	buf_add_char(context, '\n');
	return ERR_OK;
}

struct seeing {
	struct source *source;
	struct buf *text;
};

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
	while (source_walk_next(walk, &article) == ERR_OK)
		buf_add_span(seeing->text, source_walk_raw(walk));
	source_walk_end(walk);
	return ERR_OK;
}

static void
see(struct buf *text)
{
	struct source *source = open_facts();
	struct seeing seeing = {source, text};
	const struct source_header *header = source_header(source);

	buf_clear(text);
	buf_addf(text, "%d %u %u %u %u %u\n", header->newest_month,
	    (unsigned)header->suppliers, (unsigned)header->stores,
	    (unsigned)header->classes, (unsigned)header->articles,
	    (unsigned)header->records[SERIES_SALES]);
	buf_add_span(text, source_common(source));
	ck_assert_int_eq(
	    source_suppliers(source, see_supplier, &seeing), ERR_OK);
	ck_assert_int_eq(source_each_listing(source, add_where, text), ERR_OK);
	ck_assert_int_eq(buf_end(text), ERR_OK);
	source_close(source);
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

/* Merges must have made the facts that one import of everything makes. */
static void
compare(void)
{
	struct buf merged, whole;

	buf_init(&merged, 1 << 20);
	buf_init(&whole, 1 << 20);
	see(&merged);
	import_model();
	see(&whole);
	ck_assert(span_eq(buf_span(&merged), buf_span(&whole)));
	ck_assert_uint_eq(parts(), 0);
	buf_fini(&merged);
	buf_fini(&whole);
}

START_TEST(a_merge_writes_the_suppliers_that_it_names)
{
	struct source *source;
	struct source_supplier a, b;

	begin_model();
	merge_sale(0, 1, 7 * NUM_MICRO);
	ck_assert_uint_eq(parts(), 1);
	source = open_facts();
	ck_assert_int_eq(source_supplier(source, SPAN("A"), &a), ERR_OK);
	ck_assert_int_eq(source_supplier(source, SPAN("B"), &b), ERR_OK);
	ck_assert_uint_eq(a.at, source_generation(source));
	ck_assert_uint_lt(b.at, source_generation(source));
	ck_assert_uint_eq(source_listings(source), b.at);
	source_close(source);
	compare();
}
END_TEST

START_TEST(a_merge_writes_all_when_all_may_change)
{
	struct intake *intake;

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
	ck_assert_uint_eq(parts(), 0);
	compare();
}
END_TEST

START_TEST(the_same_label_and_name_change_nothing)
{
	struct intake *intake;

	begin_model();
	intake = begin_merge();
	put_label(intake);
	put_supplier(intake, 3);
	seal(intake);
	end_merge(intake);
	ck_assert_uint_eq(parts(), 1);
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
	begin_model();
	for (unsigned i = 0; i < ROUNDS; i++) {
		merge_something();
		ck_assert_uint_lt(parts(), SOURCE_PARTS_MAX);
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

START_TEST(a_copy_has_the_parts)
{
	struct copy_counts counts;
	struct buf here, there;
	struct fault fault;

	buf_init(&here, 1 << 20);
	buf_init(&there, 1 << 20);
	begin_model();
	merge_sale(0, 1, 7 * NUM_MICRO);
	merge_sale(1, 1, 7 * NUM_MICRO);
	see(&here);
	fault_clear(&fault);
	facts_close(); /* a copy opens the store itself */
	ck_assert_int_eq(store_copy(facts_dir(), scratch_path("copy"), NULL,
			     &counts, &fault),
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

START_TEST(facts_without_a_part_are_damaged)
{
	char path[FS_PATH_MAX];
	uint64_t generations[SOURCE_PARTS_MAX];
	struct pruned pruned;
	struct source *source;
	uint64_t current;

	quiet_begin();
	begin_model();
	merge_sale(0, 1, 7 * NUM_MICRO);
	source = open_facts();
	ck_assert_uint_eq(source_parts(source, generations), 1);
	current = source_generation(source);
	source_close(source);
	ck_assert_int_eq(
	    store_facts_path(path, facts, generations[0], ""), ERR_OK);
	if (_i == 0)
		ck_assert_int_eq(unlink(path), 0);
	else
		ck_assert_int_eq(truncate(path, 4096), 0);
	ck_assert_int_eq(source_open(&source, facts), ERR_DAMAGED);
	ck_assert_ptr_null(source);
	/* Nobody knows then which files are needed. */
	ck_assert_int_eq(prune_all(facts, 0, &pruned), ERR_OK);
	ck_assert_int_eq(store_facts_path(path, facts, current, ""), ERR_OK);
	ck_assert_int_eq(access(path, F_OK), 0);
	import_model();
	source_close(open_facts());
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("merge");
	TCase *tc = tcase_create("merge");

	tcase_add_checked_fixture(tc, facts_make, facts_remove);
	tcase_set_timeout(tc, 300);
	tcase_add_test(tc, a_merge_writes_the_suppliers_that_it_names);
	tcase_add_loop_test(tc, a_merge_writes_all_when_all_may_change, 0, 2);
	tcase_add_test(tc, the_same_label_and_name_change_nothing);
	tcase_add_loop_test(tc, many_merges_make_what_one_import_makes, 0, 4);
	tcase_add_test(tc, a_copy_has_the_parts);
	tcase_add_loop_test(tc, facts_without_a_part_are_damaged, 0, 2);
	suite_add_tcase(suite, tc);
	return suite;
}
