#include "lmdb-schema/snapshot/snapshot.h"

#include <pthread.h>

#include "common/jsonr.h"
#include "common/num.h"
#include "lmdb-schema/upkeep/prune.h"
#include "tests/lmdb-schema/facts.h"
#include "tests/lmdb-schema/snapshot/one.h"
#include "tests/support/run.h"

#define BIG 4200 /* two slices */

static void
make(void)
{
	one_make(BIG);
}

/* A row's place by code: what decides between equals. */
static uint32_t by_code[BIG];

static void
find_places(void)
{
	const uint32_t *order = snapshot_by_codein(one_snap);

	for (uint32_t i = 0; i < one_rows; i++)
		by_code[order[i]] = i;
}

/* --- contents ---------------------------------------------------------- */

START_TEST(the_head_says_what_it_was_made_from)
{
	const struct snap_head *head = snapshot_head(one_snap);

	ck_assert_uint_eq(snapshot_rows(one_snap), one_rows);
	ck_assert(span_eq(snapshot_supplier(one_snap), SPAN("BIG")));
	ck_assert(span_eq(snapshot_name(one_snap), SPAN("Grande \"Maison\"")));
	ck_assert_uint_eq(head->generation, one_result.entry.generation);
	ck_assert_uint_eq(head->facts, one_result.entry.facts);
	ck_assert_uint_eq(head->network, one_result.entry.network);
	ck_assert_uint_eq(head->gamme, one_result.entry.gamme);
	ck_assert_int_eq(head->last_month, FACTS_MONTH);
}
END_TEST

START_TEST(rows_stand_by_turnover_then_code)
{
	const int64_t *ca = snapshot_numbers(one_snap, COL_totalCa);
	const int64_t *rank = snapshot_numbers(one_snap, COL_rangCa);

	find_places();
	for (uint32_t i = 0; i < one_rows; i++) {
		run_must(rank[i] == (int64_t)i + 1);
		run_must(i == 0 || ca[i - 1] > ca[i] ||
		    (ca[i - 1] == ca[i] && by_code[i - 1] < by_code[i]));
	}
}
END_TEST

/* Each row, put together, is JSON with the sixty members in their order. */
START_TEST(every_row_is_json_with_all_columns_in_order)
{
	struct jsonr_limits limits = {1 << 20, 0, 1, NULL};

	for (uint32_t row = 0; row < one_rows; row += 7) {
		struct snapshot_part flat, maps;
		const struct jsonr_value *value;
		struct jsonr *doc;
		struct span name;
		void *iter = NULL;
		unsigned column = 0;
		struct buf buf;

		ck_assert(snapshot_flat(one_snap, row, &flat));
		ck_assert(snapshot_maps(one_snap, row, &maps));
		buf_init(&buf, 1 << 20);
		buf_add(&buf, flat.json, flat.off.flat[ROW_FLATS]);
		buf_add(&buf, maps.json, maps.off.maps[ROW_MAPCOUNT]);
		ck_assert_int_eq(
		    jsonr_parse(&doc, buf_span(&buf), &limits, NULL), ERR_OK);
		while (jsonr_next(jsonr_root(doc), &iter, &name, &value)) {
			run_must(column < ROW_COLUMNS);
			run_must(span_eq(name, row_info[column].name));
			column++;
		}
		ck_assert_uint_eq(column, ROW_COLUMNS);
		jsonr_free(doc);
		buf_fini(&buf);
	}
}
END_TEST

START_TEST(the_number_columns_are_those_of_the_rows)
{
	for (unsigned column = 0; column < ROW_FLATS; column++) {
		const int64_t *numbers = snapshot_numbers(one_snap, column);

		if (!row_is_number(column)) {
			ck_assert_ptr_null(numbers);
			continue;
		}
		for (uint32_t row = 0; row < one_rows; row += 13) {
			struct span text =
			    snapshot_value(one_snap, row, column);
			int64_t value;

			if (span_eq(text, SPAN("null")))
				run_must(numbers[row] == NUM_NULL);
			else if (row_info[column].type == ROW_DECIMAL) {
				run_must(num_decimal(&value, text));
				run_must(value == numbers[row]);
			} else if (row_info[column].type == ROW_INTEGER) {
				run_must(num_int(
				    &value, text, INT64_MIN + 1, INT64_MAX));
				run_must(value == numbers[row]);
			}
		}
	}
}
END_TEST

/* Nulls last in both ways, ties by code. */
static bool
in_order(const int64_t *numbers, uint32_t a, uint32_t b, bool descending)
{
	if (numbers[a] == numbers[b])
		return by_code[a] < by_code[b];
	if (numbers[a] == NUM_NULL || numbers[b] == NUM_NULL)
		return numbers[b] == NUM_NULL;
	return descending ? numbers[a] > numbers[b] : numbers[a] < numbers[b];
}

START_TEST(every_order_is_sorted_with_ties_by_code)
{
	find_places();
	for (unsigned i = 0; i < 2 * ROW_FLATS; i++) {
		const int64_t *numbers = snapshot_numbers(one_snap, i / 2);
		const uint32_t *order = snapshot_order(one_snap, i / 2, i % 2);

		ck_assert_ptr_nonnull(order);
		for (uint32_t k = 1; k < one_rows && numbers != NULL; k++)
			run_must(
			    in_order(numbers, order[k - 1], order[k], i % 2));
	}
}
END_TEST

START_TEST(every_article_is_found_and_no_other)
{
	static const char *const others[] = {
	    "", "C", "C000000x", "D", "C\"", "C000003", "C\\\"000003"};
	struct source_article article;
	struct source_walk *walk;
	struct source *source;
	uint32_t row;

	ck_assert_int_eq(source_open(&source, facts), ERR_OK);
	ck_assert_int_eq(source_walk_begin(&walk, source, SPAN("BIG")), ERR_OK);
	while (source_walk_next(walk, &article) == ERR_OK) {
		struct buf quoted;

		run_must(
		    snapshot_find(one_snap, article.codein, &row) == ERR_OK);
		buf_init(&quoted, 1000);
		jsonw_quote(&quoted, article.codein);
		run_must(span_eq(snapshot_value(one_snap, row, COL_codein),
		    buf_span(&quoted)));
		buf_fini(&quoted);
	}
	source_walk_end(walk);
	source_close(source);
	for (unsigned i = 0; i < 7; i++)
		ck_assert_int_eq(
		    snapshot_find(one_snap, span_of(others[i]), &row),
		    ERR_NOT_FOUND);
}
END_TEST

START_TEST(the_search_text_is_folded_and_complete)
{
	const uint32_t *at;
	struct span text;

	ck_assert(snapshot_text(one_snap, &text, &at));
	for (uint32_t row = 0; row < one_rows; row++) {
		struct span mine =
		    span_sub(text, at[row], at[row + 1] - at[row]);
		unsigned ends = 0;

		for (size_t i = 0; i < mine.len; i++) {
			ends += mine.ptr[i] == SNAP_TEXT_END;
			run_must(mine.ptr[i] < 'A' || mine.ptr[i] > 'Z');
		}
		run_must(ends == 5);
	}
}
END_TEST

START_TEST(the_classes_count_every_article_once)
{
	for (unsigned level = 1; level <= 3; level++) {
		struct snapshot_classes classes;
		uint64_t articles = 0;
		int64_t ca = 0, all = 0;
		const int64_t *turnover =
		    snapshot_numbers(one_snap, COL_totalCa);
		const uint32_t *code3 = snapshot_code3(one_snap);

		ck_assert(snapshot_classes(one_snap, level, &classes));
		for (uint32_t i = 0; i < classes.count; i++) {
			articles += classes.class[i].articles;
			ca += classes.class[i].ca;
			ck_assert(i == 0 ||
			    classes.class[i - 1].code < classes.class[i].code);
		}
		for (uint32_t row = 0; row < one_rows; row++)
			all += code3[row] == SNAP_NO_CODE ? 0 : turnover[row];
		ck_assert_uint_eq(articles + classes.without, one_rows);
		ck_assert_int_eq(ca, all);
		if (level < 3)
			continue;
		ck_assert_uint_eq(classes.count, 3);
		ck_assert(
		    span_eq(snapshot_class_label(&classes, &classes.class[0]),
			SPAN("Thon")));
		ck_assert_uint_eq(
		    snapshot_class_label(&classes, &classes.class[2]).len, 0);
	}
}
END_TEST

START_TEST(live_values_are_those_of_the_computation)
{
	uint32_t row;

	ck_assert_int_eq(
	    snapshot_find(one_snap, SPAN("C000007"), &row), ERR_OK);
	ck_assert_uint_eq(snapshot_gammes(one_snap)[row], 2);
	ck_assert(span_eq(snapshot_value(one_snap, row, COL_codeGammeServeur),
	    SPAN("\"B\"")));
	ck_assert(span_eq(
	    snapshot_value(one_snap, row, COL_gammeAValider), SPAN("null")));
	ck_assert_int_eq(
	    snapshot_find(one_snap, SPAN("C000001"), &row), ERR_OK);
	ck_assert(
	    span_eq(snapshot_value(one_snap, row, COL_caReseau), SPAN("77")));
	ck_assert(span_eq(snapshot_value(one_snap, row, COL_trend),
	    SPAN("{\"direction\":\"up\",\"pct\":0.2,\"label\":\"+20 %\","
		 "\"monthsUsed\":2}")));
}
END_TEST

START_TEST(a_row_that_is_not_there_is_not_given)
{
	struct snapshot_part part;

	ck_assert(!snapshot_flat(one_snap, one_rows, &part));
	ck_assert(!snapshot_maps(one_snap, one_rows, &part));
	ck_assert(!snapshot_flat(one_snap, UINT32_MAX, &part));
	ck_assert_uint_eq(
	    snapshot_value(one_snap, one_rows, COL_codein).len, 0);
	ck_assert_uint_eq(
	    snapshot_value(one_snap, one_rows, COL_network).len, 0);
}
END_TEST

START_TEST(a_whole_snapshot_verifies)
{
	struct snapshot_verified verified;
	struct fault fault;

	fault_clear(&fault);
	ck_assert_int_eq(snapshot_verify(one_snap, &fault, &verified), ERR_OK);
	ck_assert_uint_gt(verified.sections, 2 * ROW_FLATS);
	ck_assert_uint_le(verified.bytes, one_result.entry.bytes);
}
END_TEST

/* --- pinned --------------------------------------------------------------- */

static uint32_t
sum_of(struct snapshot *which)
{
	uint32_t sum = 0;

	for (uint32_t row = 0; row < snapshot_rows(which); row++) {
		struct snapshot_part part;

		run_must(snapshot_maps(which, row, &part));
		for (uint32_t i = 0; i < part.off.maps[ROW_MAPCOUNT]; i++)
			sum = sum * 31 + (unsigned char)part.json[i];
	}
	return sum;
}

START_TEST(a_pinned_generation_outlives_its_file)
{
	struct pruned pruned;
	struct compute_result second;
	struct snapshot *none;
	uint32_t before = sum_of(one_snap);

	facts_import(20, 9);
	ck_assert_int_eq(facts_compute("BIG", &second), ERR_OK);
	ck_assert_int_eq(prune_all(facts, 0, &pruned), ERR_OK);
	ck_assert_uint_eq(pruned.snapshots, 1);
	ck_assert_int_eq(snapshot_open(&none, facts, SPAN("BIG"),
			     one_result.entry.generation),
	    ERR_NOT_FOUND);
	ck_assert_uint_eq(sum_of(one_snap), before);
}
END_TEST

static void *
read_all(void *context)
{
	uint32_t *sum = context;

	for (unsigned column = 0; column < ROW_FLATS; column++)
		run_must(snapshot_order(one_snap, column, true) != NULL);
	*sum = sum_of(one_snap);
	return NULL;
}

START_TEST(threads_share_one)
{
	pthread_t threads[4];
	uint32_t sums[4];

	for (unsigned i = 0; i < 4; i++)
		ck_assert_int_eq(
		    pthread_create(&threads[i], NULL, read_all, &sums[i]), 0);
	for (unsigned i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 1; i < 4; i++)
		ck_assert_uint_eq(sums[i], sums[0]);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("snapshot");
	TCase *tc = tcase_create("whole");

	tcase_set_timeout(tc, 300);
	tcase_add_checked_fixture(tc, make, one_drop);
	tcase_add_test(tc, the_head_says_what_it_was_made_from);
	tcase_add_test(tc, rows_stand_by_turnover_then_code);
	tcase_add_test(tc, every_row_is_json_with_all_columns_in_order);
	tcase_add_test(tc, the_number_columns_are_those_of_the_rows);
	tcase_add_test(tc, every_order_is_sorted_with_ties_by_code);
	tcase_add_test(tc, every_article_is_found_and_no_other);
	tcase_add_test(tc, the_search_text_is_folded_and_complete);
	tcase_add_test(tc, the_classes_count_every_article_once);
	tcase_add_test(tc, live_values_are_those_of_the_computation);
	tcase_add_test(tc, a_row_that_is_not_there_is_not_given);
	tcase_add_test(tc, a_whole_snapshot_verifies);
	tcase_add_test(tc, a_pinned_generation_outlives_its_file);
	tcase_add_test(tc, threads_share_one);
	suite_add_tcase(suite, tc);
	return suite;
}
