#include "lmdb-schema/compute/compute.h"

#include <stdlib.h>

#include "common/date.h"
#include "common/num.h"
#include "lmdb-schema/snapshot/snapshot.h"
#include "tests/lmdb-schema/facts.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"

static struct compute_result result;
static struct compute_options options;

static void
make(void)
{
	facts_make();
	options = (struct compute_options){
	    .threads = 1, .slots = 4, .wait = true, .as_of_day = DATE_NULL};
}

/* All rows, one behind the other, whatever the generation. */
static char *
rows_of(const char *supplier, size_t *len)
{
	struct snapshot *snap = facts_snapshot(supplier);
	struct snapshot_part part;
	struct buf buf;

	buf_init(&buf, (size_t)1 << 28);
	for (uint32_t row = 0; row < snapshot_rows(snap); row++) {
		ck_assert(snapshot_flat(snap, row, &part));
		buf_add(&buf, part.json, part.off.flat[ROW_FLATS]);
		ck_assert(snapshot_maps(snap, row, &part));
		buf_add(&buf, part.json, part.off.maps[ROW_MAPCOUNT]);
	}
	snapshot_close(snap);
	return buf_take(&buf, len);
}

START_TEST(who_cannot_be_computed_is_told)
{
	struct compute_result none;

	ck_assert_int_eq(facts_compute("BIG", &none), ERR_NOT_READY);
	facts_import(3, 1);
	ck_assert_int_eq(facts_compute("NONE", &none), ERR_NOT_FOUND);
	ck_assert_int_eq(facts_compute("", &none), ERR_NOT_FOUND);
	ck_assert_int_eq(facts_compute("EMPTY", &none), ERR_EXISTS);
}
END_TEST

START_TEST(the_number_of_threads_changes_no_byte)
{
	size_t one_len, four_len;
	char *one, *four;

	facts_import(5000, 5);
	facts_network("100003", NUM_MICRO);
	ck_assert_int_eq(facts_compute("BIG", &result), ERR_OK);
	one = rows_of("BIG", &one_len);
	options.threads = 4;
	ck_assert_int_eq(
	    compute_supplier(&result, facts, SPAN("BIG"), &options), ERR_OK);
	four = rows_of("BIG", &four_len);
	ck_assert_uint_eq(one_len, four_len);
	ck_assert(memcmp(one, four, one_len) == 0);
	free(one);
	free(four);
}
END_TEST

START_TEST(the_result_says_what_is_current)
{
	struct catalog_entry entry;

	facts_import(10, 1);
	ck_assert_int_eq(facts_compute("BIG", &result), ERR_OK);
	ck_assert(!result.shared);
	ck_assert_uint_eq(result.entry.rows, 10);
	ck_assert_int_eq(catalog_current(facts, SPAN("BIG"), &entry), ERR_OK);
	ck_assert_mem_eq(&entry, &result.entry, sizeof(entry));
}
END_TEST

START_TEST(each_computation_is_a_later_generation)
{
	uint64_t last = 0;

	facts_import(2, 1);
	for (unsigned i = 0; i < 5; i++) {
		ck_assert_int_eq(facts_compute("BIG", &result), ERR_OK);
		ck_assert_uint_gt(result.entry.generation, last);
		last = result.entry.generation;
	}
}
END_TEST

START_TEST(a_snapshot_is_stale_when_its_sources_changed)
{
	bool stale;

	facts_import(10, 1);
	ck_assert_int_eq(facts_compute("BIG", &result), ERR_OK);
	compute_is_stale(&stale, facts, SPAN("BIG"), &result.entry);
	ck_assert(!stale);
	facts_gamme("SMALL", "C000001", 1); /* another supplier's */
	compute_is_stale(&stale, facts, SPAN("BIG"), &result.entry);
	ck_assert(!stale);
	if (_i == 0)
		facts_gamme("BIG", "C000001", 1);
	else if (_i == 1)
		facts_network("100009", 1);
	else
		facts_import(10, 1);
	compute_is_stale(&stale, facts, SPAN("BIG"), &result.entry);
	ck_assert(stale);
}
END_TEST

START_TEST(the_period_may_end_on_another_day)
{
	struct snapshot *snap;

	facts_import(10, 1);
	options.as_of_day = date_day_of(2025, 3, 15);
	ck_assert_int_eq(
	    compute_supplier(&result, facts, SPAN("BIG"), &options), ERR_OK);
	snap = facts_snapshot("BIG");
	ck_assert_int_eq(snapshot_head(snap)->last_month, 2025 * 12 + 2);
	ck_assert_int_eq(snapshot_head(snap)->as_of_day, options.as_of_day);
	ck_assert_int_eq(snapshot_head(snap)->oldest_sales, FACTS_MONTH - 40);
	snapshot_close(snap);
}
END_TEST

START_TEST(ranges_of_articles_that_are_gone_are_passed_over)
{
	struct snapshot *snap;
	uint32_t row;

	facts_import(10, 1);
	facts_gamme("BIG", "A", 1);
	facts_gamme("BIG", "C000004", 2);
	facts_gamme("BIG", "C0000040", 3);
	facts_gamme("BIG", "Z", 4);
	ck_assert_int_eq(facts_compute("BIG", &result), ERR_OK);
	snap = facts_snapshot("BIG");
	ck_assert_int_eq(snapshot_find(snap, SPAN("C000004"), &row), ERR_OK);
	for (uint32_t i = 0; i < 10; i++)
		ck_assert_uint_eq(snapshot_gammes(snap)[i], i == row ? 2 : 0);
	snapshot_close(snap);
}
END_TEST

/* --- shares, ranks, classes ----------------------------------------------- */

static void
import_turnovers(const int64_t *ca, unsigned count)
{
	struct intake *intake = facts_begin(NULL);
	char codein[2] = "a";

	intake_supplier(intake, SPAN("S"), SPAN(""));
	intake_store(intake, SPAN("1"), SPAN(""));
	for (unsigned i = 0; i < count; i++) {
		codein[0] = (char)('a' + i);
		facts_put_article(intake, "S", codein);
	}
	ck_assert_int_eq(intake_seal(intake, NULL, NULL), ERR_OK);
	for (unsigned i = 0; i < count; i++) {
		codein[0] = (char)('a' + i);
		facts_put(intake, SERIES_SALES, "S", codein, "1", FACTS_MONTH,
		    ca[i] * NUM_MICRO);
	}
	facts_end_series(intake);
	facts_end(intake);
}

static const struct {
	int64_t ca[5];
	unsigned count;
	const char *codes, *classes, *shares, *sums;
} ranked[] = {
    {{10, 79, 1, 10, 0}, 5, "badce", "AABCC", "0.79 0.1 0.1 0.01 0 ",
	"0.79 0.89 0.99 1 1 "},
    {{80, 15, 5}, 3, "abc", "ABC", "0.8 0.15 0.05 ", "0.8 0.95 1 "},
    {{0, 0}, 2, "ab", "--", "null null ", "null null "},
    {{-5, 5}, 2, "ba", "--", "null null ", "null null "},
    {{-10, 20}, 2, "ba", "AC", "2 -1 ", "2 1 "},
    {{7}, 1, "a", "A", "1 ", "1 "},
};

START_TEST(articles_are_ranked_and_classed_by_turnover)
{
	char codes[8] = "", classes[8] = "", shares[64] = "", sums[64] = "";
	struct snapshot *snap;

	import_turnovers(ranked[_i].ca, ranked[_i].count);
	ck_assert_int_eq(facts_compute("S", &result), ERR_OK);
	snap = facts_snapshot("S");
	for (uint32_t row = 0; row < ranked[_i].count; row++) {
		struct span abc = snapshot_value(snap, row, COL_classeAbc);
		struct span share = snapshot_value(snap, row, COL_partCa);
		struct span sum = snapshot_value(snap, row, COL_cumulCaPct);

		codes[row] = snapshot_value(snap, row, COL_codein).ptr[1];
		classes[row] = abc.len == 3 ? abc.ptr[1] : '-';
		strncat(shares, share.ptr, share.len);
		strncat(shares, " ", 2);
		strncat(sums, sum.ptr, sum.len);
		strncat(sums, " ", 2);
	}
	snapshot_close(snap);
	ck_assert_str_eq(codes, ranked[_i].codes);
	ck_assert_str_eq(classes, ranked[_i].classes);
	ck_assert_str_eq(shares, ranked[_i].shares);
	ck_assert_str_eq(sums, ranked[_i].sums);
}
END_TEST

START_TEST(a_sum_that_does_not_fit_leaves_the_old_snapshot)
{
	struct intake *intake;
	struct catalog_entry entry;

	import_turnovers(ranked[0].ca, 5);
	ck_assert_int_eq(facts_compute("S", &result), ERR_OK);
	intake = facts_begin(NULL);
	intake_supplier(intake, SPAN("S"), SPAN(""));
	intake_store(intake, SPAN("1"), SPAN(""));
	facts_put_article(intake, "S", "x");
	ck_assert_int_eq(intake_seal(intake, NULL, NULL), ERR_OK);
	for (int i = 0; i < 12; i++)
		facts_put(intake, SERIES_SALES, "S", "x", "1", FACTS_MONTH - i,
		    INT64_MAX / 16);
	facts_put(intake, SERIES_STOCK, "S", "x", "1", FACTS_MONTH, 1);
	facts_end_series(intake);
	facts_end(intake);
	ck_assert_int_eq(facts_compute("S", &result), ERR_OK);
	entry = result.entry;

	intake = facts_begin(NULL);
	intake_supplier(intake, SPAN("S"), SPAN(""));
	intake_store(intake, SPAN("1"), SPAN(""));
	intake_store(intake, SPAN("2"), SPAN(""));
	facts_put_article(intake, "S", "x");
	ck_assert_int_eq(intake_seal(intake, NULL, NULL), ERR_OK);
	for (int i = 0; i < 24; i++)
		facts_put(intake, SERIES_SALES, "S", "x", i < 12 ? "1" : "2",
		    FACTS_MONTH - i % 12, INT64_MAX / 16);
	facts_end_series(intake);
	facts_end(intake);
	quiet_begin();
	ck_assert_int_eq(facts_compute("S", &result), ERR_TOO_LARGE);
	ck_assert_int_eq(
	    catalog_current(facts, SPAN("S"), &result.entry), ERR_OK);
	ck_assert_uint_eq(result.entry.generation, entry.generation);
}
END_TEST

/* Months of sales, each of the same amount; `stores` of them. */
static void
put_sales(struct intake *intake, const char *codein, int months, int64_t amount)
{
	for (int i = 0; i < months; i++)
		facts_put(intake, SERIES_SALES, "S", codein, i < 12 ? "1" : "2",
		    FACTS_MONTH - i % 12, amount);
}

/* Of "a" to "e", 24 months each of these amounts of a sixteenth. */
static const struct {
	int64_t amount[5];
	const char *rows; /* by turnover */
} absurd[] = {
    {{1, 1, INT64_MAX / 16, 1, 1}, "abde"},
    {{INT64_MAX / 16, 1, 2, 3, INT64_MAX / 16}, "dcb"},
    /* Each fits, all together do not. */
    {{INT64_MAX / 80, 5, INT64_MAX / 81, INT64_MAX / 82, INT64_MAX / 83},
	"cdeb"},
    {{INT64_MIN / 80, 5, INT64_MAX / 81, INT64_MAX / 82, INT64_MAX / 83},
	"cdeb"},
    {{INT64_MAX / 16, INT64_MAX / 16, INT64_MAX / 16, INT64_MAX / 16, 1}, "e"},
};

START_TEST(an_article_whose_sums_do_not_fit_is_left_out)
{
	struct intake *intake = facts_begin(NULL);
	char name[2] = "a", rows[8] = "";
	struct snapshot *snap;

	intake_supplier(intake, SPAN("S"), SPAN(""));
	intake_store(intake, SPAN("1"), SPAN(""));
	intake_store(intake, SPAN("2"), SPAN(""));
	for (int i = 0; i < 5; i++, name[0]++)
		facts_put_article(intake, "S", name);
	ck_assert_int_eq(intake_seal(intake, NULL, NULL), ERR_OK);
	name[0] = 'a';
	for (int i = 0; i < 5; i++, name[0]++)
		put_sales(intake, name, 24, absurd[_i].amount[i]);
	facts_end_series(intake);
	facts_end(intake);
	quiet_begin();
	ck_assert_int_eq(facts_compute("S", &result), ERR_OK);
	snap = facts_snapshot("S");
	for (uint32_t row = 0; row < snapshot_rows(snap); row++) {
		struct span codein = snapshot_value(snap, row, COL_codein);

		ck_assert_uint_eq(codein.len, 3);
		rows[row] = codein.ptr[1];
	}
	ck_assert_str_eq(rows, absurd[_i].rows);
	ck_assert_uint_eq(snapshot_left_out(snap), 5 - strlen(absurd[_i].rows));
	ck_assert_int_eq(snapshot_verify(snap, NULL, NULL), ERR_OK);
	snapshot_close(snap);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("compute");
	TCase *tc = tcase_create("compute");

	tcase_set_timeout(tc, 300);
	tcase_add_checked_fixture(tc, make, facts_remove);
	tcase_add_test(tc, who_cannot_be_computed_is_told);
	tcase_add_test(tc, the_number_of_threads_changes_no_byte);
	tcase_add_test(tc, the_result_says_what_is_current);
	tcase_add_test(tc, each_computation_is_a_later_generation);
	tcase_add_loop_test(
	    tc, a_snapshot_is_stale_when_its_sources_changed, 0, 3);
	tcase_add_test(tc, the_period_may_end_on_another_day);
	tcase_add_test(tc, ranges_of_articles_that_are_gone_are_passed_over);
	tcase_add_loop_test(tc, articles_are_ranked_and_classed_by_turnover, 0,
	    sizeof(ranked) / sizeof(ranked[0]));
	tcase_add_test(tc, a_sum_that_does_not_fit_leaves_the_old_snapshot);
	tcase_add_loop_test(tc, an_article_whose_sums_do_not_fit_is_left_out, 0,
	    sizeof(absurd) / sizeof(absurd[0]));
	suite_add_tcase(suite, tc);
	return suite;
}
