#include "lmdb-schema/facts/intake.h"

#include <stdio.h>
#include <unistd.h>

#include "common/num.h"
#include "lmdb-schema/schema.h"
#include "tests/lmdb-schema/facts.h"
#include "tests/support/quiet.h"
#include "tests/support/random.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define M NUM_MICRO

/* The facts: one supplier, one article, stores B and D, two months of sales. */
static void
import_base(void)
{
	struct intake *intake = facts_begin(NULL);

	intake_supplier(intake, SPAN("S"), SPAN("Alt"));
	intake_store(intake, SPAN("D"), SPAN("Dijon"));
	intake_store(intake, SPAN("B"), SPAN("Brest"));
	intake_class(intake, SPAN("12"), SPAN("Douze"));
	facts_put_article(intake, "S", "1");
	facts_put_article(intake, "S", "2");
	ck_assert_int_eq(intake_seal(intake, NULL, NULL), ERR_OK);
	facts_put(intake, SERIES_SALES, "S", "1", "D", FACTS_MONTH - 1, 1 * M);
	facts_put(intake, SERIES_SALES, "S", "1", "B", FACTS_MONTH - 1, 2 * M);
	facts_put(intake, SERIES_SALES, "S", "1", "D", FACTS_MONTH, 3 * M);
	facts_put(intake, SERIES_SALES, "S", "2", "D", FACTS_MONTH, 9 * M);
	facts_put(intake, SERIES_POSITIONS, "S", "1", "D", 0, 4 * M);
	facts_end_series(intake);
	facts_end(intake);
}

/* "B/-1=2 D/-1=1 D/0=3 ": a series with the stores' codes. */
static const char *
series_text(const char *codein, enum series_kind kind)
{
	static char text[512];
	struct source_article article;
	struct source_walk *walk;
	struct source *source;
	size_t len = 0;

	text[0] = '\0';
	ck_assert_int_eq(source_open(&source, facts), ERR_OK);
	ck_assert_int_eq(source_walk_begin(&walk, source, SPAN("S")), ERR_OK);
	while (source_walk_next(walk, &article) == ERR_OK) {
		struct series_reader reader;
		struct series_record record;

		if (!span_eq(article.codein, span_of(codein)))
			continue;
		series_open(&reader, kind, article.series[kind]);
		while (series_next(&reader, &record))
			len += (size_t)snprintf(text + len, sizeof(text) - len,
			    "%.*s/%d=%lld ",
			    SPAN_ARG(source_store_code(source, record.store)),
			    record.month == 0 ? 0 : record.month - FACTS_MONTH,
			    (long long)(record.value[0] / M));
		ck_assert(!series_bad(&reader));
	}
	source_walk_end(walk);
	source_close(source);
	return text;
}

START_TEST(lines_in_any_order_come_out_by_store_and_month)
{
	import_base();
	ck_assert_str_eq(
	    series_text("1", SERIES_SALES), "B/-1=2 D/-1=1 D/0=3 ");
	ck_assert_str_eq(series_text("2", SERIES_SALES), "D/0=9 ");
	ck_assert_str_eq(series_text("1", SERIES_POSITIONS), "D/0=4 ");
	ck_assert_str_eq(series_text("1", SERIES_STOCK), "");
}
END_TEST

START_TEST(the_header_counts_what_was_put)
{
	const struct source_header *header;
	struct source *source;

	import_base();
	ck_assert_int_eq(source_open(&source, facts), ERR_OK);
	header = source_header(source);
	ck_assert_int_eq(header->newest_month, FACTS_MONTH);
	ck_assert_int_eq(header->oldest_sales, FACTS_MONTH - 1);
	ck_assert_uint_eq(header->suppliers, 1);
	ck_assert_uint_eq(header->stores, 2);
	ck_assert_uint_eq(header->classes, 1);
	ck_assert_uint_eq(header->articles, 2);
	ck_assert_uint_eq(header->records[SERIES_SALES], 4);
	ck_assert_uint_eq(header->records[SERIES_POSITIONS], 1);
	source_close(source);
}
END_TEST

static void
add_line(void *context, struct span codein, uint64_t line)
{
	ck_assert(span_eq(codein, SPAN("1")));
	*(uint64_t *)context += line;
}

START_TEST(the_same_thing_twice_is_told)
{
	uint64_t lines = 0;
	struct source_article article = facts_article("1");
	struct intake *intake = facts_begin(NULL);

	ck_assert_int_eq(intake_supplier(intake, SPAN("S"), SPAN("")), ERR_OK);
	ck_assert_int_eq(
	    intake_supplier(intake, SPAN("S"), SPAN("x")), ERR_EXISTS);
	ck_assert_int_eq(intake_store(intake, SPAN("D"), SPAN("")), ERR_OK);
	ck_assert_int_eq(intake_store(intake, SPAN("D"), SPAN("")), ERR_EXISTS);
	ck_assert_int_eq(intake_class(intake, SPAN("12"), SPAN("")), ERR_OK);
	ck_assert_int_eq(
	    intake_class(intake, SPAN("12"), SPAN("")), ERR_EXISTS);
	for (uint64_t line = 2; line < 5; line++)
		ck_assert_int_eq(
		    intake_article(intake, SPAN("S"), &article, line), ERR_OK);
	ck_assert_int_eq(
	    intake_article(intake, SPAN("T"), &article, 9), ERR_NOT_FOUND);
	ck_assert_int_eq(intake_seal(intake, add_line, &lines), ERR_EXISTS);
	ck_assert_uint_eq(lines, 3 + 4);
	intake_free(intake);
	intake_free(NULL);
}
END_TEST

START_TEST(the_same_month_twice_is_told_and_nothing_is_left)
{
	struct intake *intake = facts_begin(NULL);
	struct intake_twice twice;

	intake_supplier(intake, SPAN("S"), SPAN(""));
	intake_store(intake, SPAN("D"), SPAN(""));
	facts_put_article(intake, "S", "1");
	ck_assert_int_eq(intake_seal(intake, NULL, NULL), ERR_OK);
	facts_put(intake, (enum series_kind)_i, "S", "1", "D", FACTS_MONTH, M);
	facts_put(intake, (enum series_kind)_i, "S", "1", "D", FACTS_MONTH, M);
	facts_end_series(intake);
	ck_assert_int_eq(
	    intake_write(intake, scratch_path("f.mdb"), &twice, NULL, NULL),
	    ERR_EXISTS);
	ck_assert_int_eq(twice.kind, _i);
	ck_assert(span_eq(twice.supplier, SPAN("S")));
	ck_assert(span_eq(twice.codein, SPAN("1")));
	ck_assert(span_eq(twice.store, SPAN("D")));
	ck_assert_int_ne(access(scratch_path("f.mdb"), F_OK), 0);
	intake_free(intake);
}
END_TEST

START_TEST(what_was_not_put_is_not_found)
{
	struct intake *intake = facts_begin(NULL);
	char longer[100];

	memset(longer, 'x', sizeof(longer));
	intake_supplier(intake, SPAN("S"), SPAN(""));
	intake_store(intake, SPAN("D"), SPAN(""));
	facts_put_article(intake, "S", "1");
	ck_assert_int_eq(intake_seal(intake, NULL, NULL), ERR_OK);
	ck_assert_uint_eq(intake_find_article(intake, SPAN("S"), SPAN("1")), 0);
	ck_assert_uint_eq(
	    intake_find_article(intake, SPAN("S"), SPAN("2")), INTAKE_NONE);
	ck_assert_uint_eq(
	    intake_find_article(intake, SPAN(""), SPAN("1")), INTAKE_NONE);
	ck_assert_uint_eq(intake_find_article(intake, SPAN("S"),
			      span_make(longer, sizeof(longer))),
	    INTAKE_NONE);
	ck_assert_uint_eq(intake_find_store(intake, SPAN("D")), 0);
	ck_assert_uint_eq(intake_find_store(intake, SPAN("E")), INTAKE_NONE);
	ck_assert(intake_has_supplier(intake, SPAN("S")));
	ck_assert(!intake_has_supplier(intake, SPAN("T")));
	intake_free(intake);
}
END_TEST

START_TEST(there_is_a_ceiling_on_stores)
{
	struct intake *intake = facts_begin(NULL);
	char code[16];

	for (unsigned i = 0; i < SCHEMA_STORES_MAX; i++) {
		snprintf(code, sizeof(code), "%u", i);
		run_must(
		    intake_store(intake, span_of(code), SPAN("")) == ERR_OK);
	}
	ck_assert_int_eq(
	    intake_store(intake, SPAN("more"), SPAN("")), ERR_TOO_LARGE);
	intake_free(intake);
}
END_TEST

START_TEST(suppliers_may_be_all_there_is)
{
	struct intake *intake = facts_begin(NULL);
	struct source *source;

	intake_supplier(intake, SPAN("S"), SPAN("Seul"));
	ck_assert_int_eq(intake_seal(intake, NULL, NULL), ERR_OK);
	facts_end_series(intake);
	facts_end(intake);
	ck_assert_int_eq(source_open(&source, facts), ERR_OK);
	ck_assert_uint_eq(source_header(source)->articles, 0);
	ck_assert_int_eq(source_header(source)->newest_month, 0);
	source_close(source);
}
END_TEST

/* --- merging ------------------------------------------------------------- */

static struct source *base;

static struct intake *
begin_merge(void)
{
	import_base();
	ck_assert_int_eq(source_open(&base, facts), ERR_OK);
	return facts_begin(base);
}

static void
end_merge(struct intake *intake)
{
	facts_end(intake);
	source_close(base);
	base = NULL;
}

START_TEST(an_empty_merge_changes_nothing)
{
	struct intake *intake = begin_merge();

	ck_assert_int_eq(intake_seal(intake, NULL, NULL), ERR_OK);
	facts_end_series(intake);
	end_merge(intake);
	ck_assert_str_eq(
	    series_text("1", SERIES_SALES), "B/-1=2 D/-1=1 D/0=3 ");
	ck_assert_str_eq(series_text("2", SERIES_SALES), "D/0=9 ");
	ck_assert_str_eq(series_text("1", SERIES_POSITIONS), "D/0=4 ");
}
END_TEST

START_TEST(a_merge_adds_and_replaces_and_renumbers_stores)
{
	struct intake *intake = begin_merge();
	const struct source_header *header;
	struct source *source;

	intake_store(intake, SPAN("A"), SPAN("Arles")); /* before B and D */
	intake_store(intake, SPAN("C"), SPAN("Caen"));
	facts_put_article(intake, "S", "15");
	ck_assert_int_eq(intake_seal(intake, NULL, NULL), ERR_OK);
	facts_put(intake, SERIES_SALES, "S", "1", "D", FACTS_MONTH, 30 * M);
	facts_put(intake, SERIES_SALES, "S", "1", "C", FACTS_MONTH, 5 * M);
	facts_put(intake, SERIES_SALES, "S", "1", "A", FACTS_MONTH + 1, 7 * M);
	facts_put(intake, SERIES_SALES, "S", "15", "A", FACTS_MONTH, 6 * M);
	facts_end_series(intake);
	ck_assert_int_eq(intake_newest(intake, SERIES_SALES), FACTS_MONTH + 1);
	ck_assert_int_eq(intake_newest(intake, SERIES_STOCK), 0);
	end_merge(intake);
	ck_assert_str_eq(series_text("1", SERIES_SALES),
	    "A/1=7 B/-1=2 C/0=5 D/-1=1 D/0=30 ");
	ck_assert_str_eq(series_text("15", SERIES_SALES), "A/0=6 ");
	ck_assert_str_eq(series_text("2", SERIES_SALES), "D/0=9 ");
	ck_assert_str_eq(series_text("1", SERIES_POSITIONS), "D/0=4 ");
	ck_assert_int_eq(source_open(&source, facts), ERR_OK);
	header = source_header(source);
	ck_assert_uint_eq(header->stores, 4);
	ck_assert_uint_eq(header->articles, 3);
	ck_assert_int_eq(header->newest_month, FACTS_MONTH + 1);
	/* one of them replaced another */
	ck_assert_uint_eq(header->records[SERIES_SALES], 7);
	ck_assert_uint_eq(header->records[SERIES_POSITIONS], 1);
	source_close(source);
}
END_TEST

/* Months from FACTS_MONTH; a merge may bring sales, and stock. */
static const struct since_case {
	int sales, stock, oldest;
} since_cases[] = {
    {-30, 0, -30},
    {-1, 0, -1},
    {1, 0, -1},
    {0, -40, -1},
};

START_TEST(sales_are_known_since_the_oldest_month_of_base_and_merge)
{
	const struct since_case *of = &since_cases[_i];
	struct intake *intake = begin_merge();
	struct source *source;

	ck_assert_int_eq(intake_seal(intake, NULL, NULL), ERR_OK);
	facts_put(intake, SERIES_SALES, "S", "2", "D", FACTS_MONTH + of->sales,
	    1 * M);
	facts_put(intake, SERIES_STOCK, "S", "2", "D", FACTS_MONTH + of->stock,
	    1 * M);
	facts_end_series(intake);
	end_merge(intake);
	ck_assert_int_eq(source_open(&source, facts), ERR_OK);
	ck_assert_int_eq(
	    source_header(source)->oldest_sales, FACTS_MONTH + of->oldest);
	source_close(source);
}
END_TEST

START_TEST(a_merge_replaces_texts_and_keeps_facts)
{
	struct source_article article = facts_article("1");
	struct source_supplier supplier;
	struct intake *intake = begin_merge();
	struct source_walk *walk;
	struct source *source;

	article.libelle1 = SPAN("neu");
	ck_assert_int_eq(
	    intake_supplier(intake, SPAN("S"), SPAN("Neu")), ERR_OK);
	ck_assert_int_eq(
	    intake_article(intake, SPAN("S"), &article, 0), ERR_OK);
	ck_assert_int_eq(intake_seal(intake, NULL, NULL), ERR_OK);
	facts_end_series(intake);
	end_merge(intake);
	ck_assert_int_eq(source_open(&source, facts), ERR_OK);
	ck_assert_int_eq(source_supplier(source, SPAN("S"), &supplier), ERR_OK);
	ck_assert(span_eq(supplier.name, SPAN("Neu")));
	ck_assert_int_eq(source_walk_begin(&walk, source, SPAN("S")), ERR_OK);
	ck_assert_int_eq(source_walk_next(walk, &article), ERR_OK);
	ck_assert(span_eq(article.libelle1, SPAN("neu")));
	source_walk_end(walk);
	source_close(source);
	ck_assert_str_eq(
	    series_text("1", SERIES_SALES), "B/-1=2 D/-1=1 D/0=3 ");
}
END_TEST

START_TEST(a_merge_may_bring_a_supplier_before_and_after_the_others)
{
	struct intake *intake = begin_merge();
	struct source *source;

	intake_supplier(intake, SPAN("A"), SPAN(""));
	intake_supplier(intake, SPAN("Z"), SPAN(""));
	facts_put_article(intake, "Z", "1");
	facts_put_article(intake, "A", "1");
	ck_assert_int_eq(intake_seal(intake, NULL, NULL), ERR_OK);
	facts_put(intake, SERIES_STOCK, "Z", "1", "D", FACTS_MONTH, M);
	facts_end_series(intake);
	end_merge(intake);
	ck_assert_int_eq(source_open(&source, facts), ERR_OK);
	ck_assert(facts_lists(source, SPAN("A"), SPAN("1")));
	ck_assert(facts_lists(source, SPAN("Z"), SPAN("1")));
	ck_assert(facts_lists(source, SPAN("S"), SPAN("1")));
	source_close(source);
	ck_assert_str_eq(
	    series_text("1", SERIES_SALES), "B/-1=2 D/-1=1 D/0=3 ");
}
END_TEST

/* Half of the lines now and half later must make the same facts. */
START_TEST(two_halves_merged_are_the_whole)
{
	char whole[64 * 1024], halves[64 * 1024];
	struct {
		unsigned article, store;
		int month;
		int64_t value;
	} lines[600];
	unsigned count = 0;

	for (unsigned a = 0; a < 8; a++)
		for (unsigned s = 0; s < 6; s++)
			for (int m = 0; m < 12; m++)
				if (random_bits() % 100 < 50 && count < 600) {
					lines[count].article = a;
					lines[count].store = s;
					lines[count].month = FACTS_MONTH - m;
					lines[count++].value =
					    (int64_t)(random_bits() % 1000) * M;
				}
	for (unsigned way = 0; way < 2; way++) {
		char *text = way == 0 ? whole : halves;
		size_t len = 0;

		for (unsigned half = 0; half <= way; half++) {
			struct intake *intake;

			base = NULL;
			if (half == 1)
				ck_assert_int_eq(
				    source_open(&base, facts), ERR_OK);
			intake = facts_begin(base);
			for (unsigned i = 0; i < 6; i++)
				if (way == 0 || i % 2 == half)
					intake_store(intake,
					    span_make(&"fedcba"[i], 1),
					    SPAN(""));
			if (half == 0)
				intake_supplier(intake, SPAN("S"), SPAN(""));
			for (unsigned i = 0; i < 8 && half == 0; i++) {
				char code[2] = {(char)('0' + i), '\0'};

				facts_put_article(intake, "S", code);
			}
			ck_assert_int_eq(
			    intake_seal(intake, NULL, NULL), ERR_OK);
			for (unsigned i = 0; i < count; i++) {
				char code[2] = {
				    (char)('0' + lines[i].article), '\0'};
				char store[2] = {
				    "fedcba"[lines[i].store], '\0'};

				if (way == 0 || lines[i].store % 2 == half)
					facts_put(intake, SERIES_STOCK, "S",
					    code, store, lines[i].month,
					    lines[i].value);
			}
			facts_end_series(intake);
			facts_end(intake);
			source_close(base);
		}
		for (unsigned i = 0; i < 8; i++) {
			char code[2] = {(char)('0' + i), '\0'};

			len += (size_t)snprintf(text + len, 64 * 1024 - len,
			    "%s: %s\n", code, series_text(code, SERIES_STOCK));
		}
	}
	ck_assert_str_eq(whole, halves);
}
END_TEST

START_TEST(a_path_that_cannot_be_written_is_told)
{
	struct intake *intake = facts_begin(NULL);
	struct intake_twice twice;

	intake_supplier(intake, SPAN("S"), SPAN(""));
	ck_assert_int_eq(intake_seal(intake, NULL, NULL), ERR_OK);
	facts_end_series(intake);
	quiet_begin();
	ck_assert_int_eq(intake_write(intake, scratch_path("none/f.mdb"),
			     &twice, NULL, NULL),
	    ERR_NOT_FOUND);
	intake_free(intake);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("intake");
	TCase *tc = tcase_create("intake");

	tcase_add_checked_fixture(tc, facts_make, facts_remove);
	tcase_add_test(tc, lines_in_any_order_come_out_by_store_and_month);
	tcase_add_test(tc, the_header_counts_what_was_put);
	tcase_add_test(tc, the_same_thing_twice_is_told);
	tcase_add_loop_test(tc,
	    the_same_month_twice_is_told_and_nothing_is_left, 0, SERIES_KINDS);
	tcase_add_test(tc, what_was_not_put_is_not_found);
	tcase_add_test(tc, there_is_a_ceiling_on_stores);
	tcase_add_test(tc, suppliers_may_be_all_there_is);
	tcase_add_test(tc, an_empty_merge_changes_nothing);
	tcase_add_test(tc, a_merge_adds_and_replaces_and_renumbers_stores);
	tcase_add_loop_test(tc,
	    sales_are_known_since_the_oldest_month_of_base_and_merge, 0,
	    sizeof(since_cases) / sizeof(since_cases[0]));
	tcase_add_test(tc, a_merge_replaces_texts_and_keeps_facts);
	tcase_add_test(
	    tc, a_merge_may_bring_a_supplier_before_and_after_the_others);
	tcase_add_test(tc, two_halves_merged_are_the_whole);
	tcase_add_test(tc, a_path_that_cannot_be_written_is_told);
	suite_add_tcase(suite, tc);
	return suite;
}
