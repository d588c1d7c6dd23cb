/*
 * tests/lmdb-schema/snapshot/test_snapshot_columns.c:
 * lmdb-schema/snapshot/snapshot_columns.h
 */
#include "lmdb-schema/snapshot/snapshot_columns.h"

#include <stdio.h>

#include "common/date.h"
#include "common/fold.h"
#include "common/jsonr.h"
#include "common/num.h"
#include "lmdb-schema/facts/trend.h"
#include "lmdb-schema/snapshot/snapshot.h"
#include "tests/lmdb-schema/facts.h"
#include "tests/support/run.h"

#define ROWS 4200 /* two slices */
#define FEW 40 /* sections lie in index pages, unaligned */

static struct snapshot *snap;

/* A label in two writings, and a supplier whose articles share a brand. */
static void
make_rows(unsigned count)
{
	static const char *const labels[] = {
	    "\xc3\x89t\xc3\xa9", "ete", "ETE", "", "Hiver"};
	struct compute_result result;
	struct intake *intake;
	struct source *base;

	facts_make();
	facts_import(count, 3);
	ck_assert_int_eq(source_open(&base, facts), ERR_OK);
	intake = facts_begin(base);
	for (unsigned i = 0; i < 10; i++) {
		struct source_article article;
		char codein[16];

		snprintf(codein, sizeof(codein), "D%u", i);
		article = facts_article(codein);
		article.libelle2 = span_of(labels[i % 5]);
		article.code_centrale = SPAN("100001");
		ck_assert_int_eq(
		    intake_article(intake, SPAN("BIG"), &article, 0), ERR_OK);
	}
	facts_put_article(intake, "EMPTY", "E1");
	facts_put_article(intake, "EMPTY", "E2");
	ck_assert_int_eq(intake_seal(intake, NULL, NULL), ERR_OK);
	facts_put(intake, SERIES_SALES, "BIG", "D1", "001", FACTS_MONTH, 1);
	facts_put(intake, SERIES_SALES, "EMPTY", "E1", "002", FACTS_MONTH,
	    -3 * NUM_MICRO);
	facts_put(intake, SERIES_STOCK, "EMPTY", "E1", "001", FACTS_MONTH,
	    (INT32_MAX + INT64_C(1)) * NUM_MICRO);
	facts_end_series(intake);
	facts_end(intake);
	source_close(base);
	facts_network("100001", 77 * NUM_MICRO);
	ck_assert_int_eq(facts_compute("BIG", &result), ERR_OK);
	ck_assert_int_eq(
	    snapshot_open(&snap, facts, SPAN("BIG"), result.entry.generation),
	    ERR_OK);
}

static void
make(void)
{
	make_rows(ROWS);
}

static void
make_few(void)
{
	make_rows(FEW);
}

static void
drop(void)
{
	snapshot_close(snap);
	facts_remove();
}

static bool
is_text(unsigned column)
{
	return !row_is_number(column) && !row_is_gamme(column);
}

/* A JSON value, parsed; free with jsonr_free(). */
static struct jsonr *
parsed(uint32_t row, unsigned column)
{
	struct jsonr_limits limits = {1 << 20, 0, 1, NULL};
	struct jsonr *doc;
	struct buf buf;

	buf_init(&buf, 1 << 20);
	buf_add_char(&buf, '[');
	buf_add_span(&buf, snapshot_value(snap, row, column));
	buf_add_char(&buf, ']');
	ck_assert_int_eq(
	    jsonr_parse(&doc, buf_span(&buf), &limits, NULL), ERR_OK);
	buf_fini(&buf);
	return doc;
}

static void
check_text(const struct snapshot_terms *terms, uint32_t row, unsigned column)
{
	uint32_t term = snapshot_term_of(terms, row);
	struct jsonr *doc = parsed(row, column);
	const struct jsonr_value *value = jsonr_at(jsonr_root(doc), 0);
	struct buf folded;

	run_must((jsonr_type(value) == JSONR_NULL) == (term == SNAP_NO_TERM));
	if (term != SNAP_NO_TERM) {
		buf_init(&folded, 1 << 16);
		fold_add(&folded, jsonr_as_string(value));
		run_must(span_eq(
		    snapshot_term(terms, term), jsonr_as_string(value)));
		run_must(span_eq(
		    snapshot_term_folded(terms, term), buf_span(&folded)));
		run_must(snapshot_term_find(terms, jsonr_as_string(value),
			     buf_span(&folded)) == term);
		run_must(snapshot_term_at(terms, buf_span(&folded)) <= term);
		buf_fini(&folded);
	}
	jsonr_free(doc);
}

START_TEST(every_row_has_the_text_that_it_shows)
{
	for (unsigned column = 0; column < ROW_FLATS; column++) {
		struct snapshot_terms terms;

		if (!is_text(column))
			continue;
		ck_assert(snapshot_terms(snap, column, &terms));
		for (uint32_t row = 0; row < snapshot_rows(snap); row += 3)
			check_text(&terms, row, column);
	}
}
END_TEST

START_TEST(texts_stand_once_in_the_order_of_their_folded_forms)
{
	static const char *const wanted[] = {
	    "ETE", "ete", "\xc3\x89t\xc3\xa9", "Hiver"};
	struct snapshot_terms terms;

	ck_assert(snapshot_terms(snap, COL_libelle2, &terms));
	ck_assert_uint_eq(terms.count, 4);
	for (uint32_t i = 0; i < 4; i++)
		ck_assert(
		    span_eq(snapshot_term(&terms, i), span_of(wanted[i])));
	ck_assert_uint_eq(snapshot_term_at(&terms, SPAN("ete")), 0);
	ck_assert_uint_eq(snapshot_term_at(&terms, SPAN("f")), 3);
	ck_assert_uint_eq(snapshot_term_at(&terms, SPAN("z")), 4);
	ck_assert_uint_eq(
	    snapshot_term_find(&terms, SPAN("Ete"), SPAN("ete")), SNAP_NO_TERM);
}
END_TEST

START_TEST(a_text_that_all_rows_have_takes_no_room_by_row)
{
	struct snapshot_terms terms;

	ck_assert(snapshot_terms(snap, COL_codeFournisseur, &terms));
	ck_assert_ptr_null(terms.of);
	ck_assert_uint_eq(terms.count, 1);
	ck_assert_uint_eq(snapshot_term_of(&terms, 0), 0);
	ck_assert(span_eq(snapshot_term(&terms, 0), SPAN("BIG")));
}
END_TEST

/* The number of a member, or NUM_NULL. */
static int64_t
member(const struct jsonr_value *object, const char *name)
{
	const struct jsonr_value *value = jsonr_member(object, name);
	int64_t micro = NUM_NULL;
	struct buf text;

	if (jsonr_type(value) == JSONR_ABSENT)
		return NUM_NULL;
	buf_init(&text, 64);
	jsonr_write(value, &text);
	run_must(num_decimal(&micro, buf_span(&text)));
	buf_fini(&text);
	return micro;
}

static const unsigned by_month[] = {
    COL_sales12m, COL_stock12m, COL_receptions12m, COL_sales12mN1};
static const unsigned by_store[] = {
    COL_sales12mByStore, COL_stock12mByStore, COL_receptions12mByStore};

START_TEST(months_are_those_of_the_maps)
{
	for (unsigned k = 0; k < SNAP_MONTHLY; k++)
		for (unsigned m = 0; m < SCHEMA_MONTHS; m++) {
			struct snapshot_narrow values;
			char name[DATE_TEXT_MAX];
			int first = k == SNAP_SALES_N1 ? 23 : 11;

			date_month_text(name, FACTS_MONTH - first + (int)m);
			ck_assert(snapshot_month(snap, k, m, &values));
			for (uint32_t row = 0; row < snapshot_rows(snap);
			     row += 37) {
				struct jsonr *doc = parsed(row, by_month[k]);

				run_must(snapshot_narrow_value(&values, row) ==
				    member(jsonr_at(jsonr_root(doc), 0), name));
				jsonr_free(doc);
			}
		}
}
END_TEST

/* A store's total by its map. */
static int64_t
total(const struct jsonr_value *months, unsigned measure)
{
	int64_t sum = NUM_NULL;

	for (int m = 0; m < SCHEMA_MONTHS; m++) {
		char name[DATE_TEXT_MAX];
		int64_t value;

		date_month_text(name, FACTS_MONTH - 11 + m);
		value = member(months, name);
		if (value == NUM_NULL ||
		    (measure == SNAP_STOCK && m != SCHEMA_MONTHS - 1))
			continue;
		sum = sum == NUM_NULL ? value : sum + value;
	}
	return sum;
}

START_TEST(totals_of_stores_are_those_of_the_maps)
{
	static const char *const codes[] = {"001", "002", "10\"0"};
	struct snapshot_stores stores;

	ck_assert(snapshot_has_stores(snap));
	ck_assert(snapshot_stores(snap, &stores));
	ck_assert_uint_eq(stores.count, FACTS_STORES);
	ck_assert_int_eq(snapshot_store_find(&stores, SPAN("003")), -1);
	for (unsigned k = 0; k < SNAP_MEASURES; k++)
		for (unsigned s = 0; s < FACTS_STORES; s++) {
			int number =
			    snapshot_store_find(&stores, span_of(codes[s]));
			struct snapshot_narrow values;

			ck_assert_int_ge(number, 0);
			ck_assert(
			    snapshot_store(snap, k, (unsigned)number, &values));
			for (uint32_t row = 0; row < snapshot_rows(snap);
			     row += 37) {
				struct jsonr *doc = parsed(row, by_store[k]);
				const struct jsonr_value *map =
				    jsonr_at(jsonr_root(doc), 0);

				run_must(snapshot_narrow_value(&values, row) ==
				    total(jsonr_member(map, codes[s]), k));
				jsonr_free(doc);
			}
		}
}
END_TEST

START_TEST(small_whole_numbers_are_narrow_and_others_are_not)
{
	struct snapshot_narrow values;
	struct compute_result result;
	struct snapshot *other;

	/* An article of BIG sold a millionth. */
	ck_assert(snapshot_month(snap, SNAP_SALES, 11, &values));
	ck_assert_ptr_null(values.narrow);
	ck_assert_int_eq(facts_compute("EMPTY", &result), ERR_OK);
	ck_assert_int_eq(snapshot_open(&other, facts, SPAN("EMPTY"),
			     result.entry.generation),
	    ERR_OK);
	ck_assert(snapshot_month(other, SNAP_SALES, 11, &values));
	ck_assert_ptr_nonnull(values.narrow);
	for (uint32_t row = 0; row < 2; row++) {
		bool first = span_eq(
		    snapshot_value(other, row, COL_codein), SPAN("\"E1\""));

		ck_assert_int_eq(snapshot_narrow_value(&values, row),
		    first ? -3 * NUM_MICRO : NUM_NULL);
	}
	ck_assert(snapshot_store(other, SNAP_STOCK, 0, &values));
	ck_assert_ptr_null(values.narrow);
	snapshot_close(other);
}
END_TEST

START_TEST(trends_are_those_of_the_rows)
{
	static const char *const names[] = {"", "up", "down", "flat"};
	const uint8_t *trends = snapshot_trends(snap);
	unsigned some = 0;

	ck_assert_ptr_nonnull(trends);
	for (uint32_t row = 0; row < snapshot_rows(snap); row++) {
		struct jsonr *doc = parsed(row, COL_trend);
		const struct jsonr_value *direction =
		    jsonr_member(jsonr_at(jsonr_root(doc), 0), "direction");

		run_must(trends[row] < TREND_CODES);
		run_must(span_eq(
		    jsonr_as_string(direction), span_of(names[trends[row]])));
		some += trends[row] != 0;
		jsonr_free(doc);
	}
	ck_assert_uint_gt(some, 0);
}
END_TEST

START_TEST(all_of_it_is_verified)
{
	ck_assert(snapshot_columns_sound(snap));
}
END_TEST

static void
add_tests(TCase *tcase)
{
	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, every_row_has_the_text_that_it_shows);
	tcase_add_test(
	    tcase, texts_stand_once_in_the_order_of_their_folded_forms);
	tcase_add_test(tcase, a_text_that_all_rows_have_takes_no_room_by_row);
	tcase_add_test(tcase, months_are_those_of_the_maps);
	tcase_add_test(tcase, totals_of_stores_are_those_of_the_maps);
	tcase_add_test(
	    tcase, small_whole_numbers_are_narrow_and_others_are_not);
	tcase_add_test(tcase, trends_are_those_of_the_rows);
	tcase_add_test(tcase, all_of_it_is_verified);
}

Suite *
test_suite(void)
{
	Suite *suite = suite_create("snapshot_columns");
	TCase *many = tcase_create("many rows");
	TCase *few = tcase_create("few rows");

	tcase_add_checked_fixture(many, make, drop);
	add_tests(many);
	suite_add_tcase(suite, many);
	tcase_add_checked_fixture(few, make_few, drop);
	add_tests(few);
	suite_add_tcase(suite, few);
	return suite;
}
