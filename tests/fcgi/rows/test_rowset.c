/* tests/fcgi/rows/test_rowset.c: fcgi/rows/rowset.h; orders and filters in
 * their breadth
 * are tests/flow/oracle.py's. */
#include "fcgi/rows/rowset.h"

#include <stdio.h>

#include "fcgi/rows/snapview.h"
#include "tests/fcgi/world.h"
#include "tests/support/run.h"

static struct call call;
static struct snapview view;
static struct code_filter codes[4];
static struct rowset_query query;
static struct rowset set;

static void
make(void)
{
	world_open();
	call = world_call();
	view = world_view(&call, "S1");
	for (unsigned i = 0; i < 4; i++)
		codes[i] = (struct code_filter){PARAMS_NO_CODE, 1};
	query = (struct rowset_query){
	    .codes = codes, .code_count = 4, .sort = -1, .descending = true};
}

static void
drop(void)
{
	snapview_close(&view, &call, ERR_OK);
	world_close();
}

static enum err
get(int64_t page, int64_t limit)
{
	return rowset_get(&set, view.pinned, view.ranges, &query, page, limit);
}

/* The page's codeins, "A2 A3". */
static void
page_is(const char *wanted)
{
	char got[128] = "";

	for (uint32_t i = 0; i < set.count; i++) {
		struct span codein = snapshot_value(view.pinned->snap,
		    rowset_row(&set, set.first + i), COL_codein);

		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%.*s",
		    i == 0 ? "" : " ", (int)codein.len - 2, codein.ptr + 1);
	}
	ck_assert_str_eq(got, wanted);
	rowset_release(&set);
}

START_TEST(without_filter_the_stored_order_is_used)
{
	ck_assert_int_eq(get(1, 0), ERR_OK);
	ck_assert_ptr_null(set.order);
	ck_assert_ptr_null(set.list);
	ck_assert_uint_eq(set.total, 7);
	page_is("A2 A3 A1 A4 A6 A7 A5");
}
END_TEST

START_TEST(other_sort_uses_its_permutation_without_a_list)
{
	query.sort = COL_libelle1;
	query.descending = false;
	ck_assert_int_eq(get(1, 0), ERR_OK);
	ck_assert_ptr_nonnull(set.order);
	ck_assert_ptr_null(set.list);
	page_is("A1 A4 A5 A6 A3 A2 A7");
}
END_TEST

/* As though somebody had proposed and validated, once more each time. */
static struct ranges *
change_ranges(uint64_t state)
{
	static uint8_t shown[7] = {1, 2, 3, 4, 5, 0, 1};
	static uint8_t pending[7] = {0, 0, 2, 0, 1, 0, 2};
	static struct ranges ranges = {.rows = 7,
	    .shown = shown,
	    .raw = shown,
	    .server = shown,
	    .pending = pending,
	    .pending_count = 3};

	ranges.state = state;
	return &ranges;
}

START_TEST(what_has_changed_is_sorted_once_for_each_change)
{
	const uint32_t *first;

	query.sort = COL_gammeAValider;
	ck_assert_int_eq(get(1, 0), ERR_OK);
	ck_assert_ptr_null(set.list); /* nothing is pending */
	page_is("A1 A2 A3 A4 A5 A6 A7");
	view.ranges = change_ranges(1);
	ck_assert_int_eq(get(1, 0), ERR_OK);
	ck_assert_ptr_nonnull(set.list);
	first = set.order;
	page_is("A1 A5 A6 A2 A3 A4 A7");
	ck_assert_int_eq(get(2, 3), ERR_OK);
	ck_assert_ptr_eq(set.order, first);
	ck_assert_uint_eq(set.total, 7);
	page_is("A2 A3 A4");
	view.ranges = change_ranges(2);
	ck_assert_int_eq(get(1, 0), ERR_OK);
	ck_assert_ptr_ne(set.order, first);
	rowset_release(&set);
	query.sort = COL_totalMarge; /* others keep their stored order */
	ck_assert_int_eq(get(1, 0), ERR_OK);
	ck_assert_ptr_null(set.list);
	rowset_release(&set);
	view.ranges = NULL;
}
END_TEST

static const struct {
	int64_t page, limit;
	const char *rows;
} pages[] = {
    {1, 3, "A2 A3 A1"},
    {2, 3, "A4 A6 A7"},
    {3, 3, "A5"},
    {4, 3, ""},
    {1, 7, "A2 A3 A1 A4 A6 A7 A5"},
    {2, 0, ""},
    {1, INT64_MAX, "A2 A3 A1 A4 A6 A7 A5"},
    {2, INT64_MAX, ""},
    {INT64_MAX, INT64_MAX, ""},
};

START_TEST(page_is_cut_out)
{
	ck_assert_int_eq(get(pages[_i].page, pages[_i].limit), ERR_OK);
	ck_assert_uint_eq(set.total, 7);
	page_is(pages[_i].rows);
}
END_TEST

START_TEST(filters_hold_together)
{
	codes[0] = (struct code_filter){10, 10000};
	query.words = SPAN("e");
	query.gamme = row_gamme(SPAN("A"));
	ck_assert_int_eq(get(1, 0), ERR_OK);
	page_is("A1 A7");
	codes[2] = (struct code_filter){201030, 1};
	ck_assert_int_eq(get(1, 0), ERR_OK);
	ck_assert_uint_eq(set.total, 0);
	page_is("");
}
END_TEST

START_TEST(article_without_class_is_in_no_class)
{
	static const struct code_filter filters[] = {
	    {0, 10000}, {99, 10000}, {999999, 1}, {201098, 1}};

	for (unsigned i = 0; i < 4; i++) {
		codes[0] = filters[i];
		ck_assert_int_eq(get(1, 0), ERR_OK);
		page_is("");
	}
}
END_TEST

static const struct {
	struct span words;
	const char *rows;
} searches[] = {
    {{"yaourt", 6}, "A2 A3"},
    {{"376", 3}, "A2 A3 A1 A4 A7 A5"},
    {{"a", 1}, "A2 A3 A1 A4 A6 A7 A5"},
    {{"yaourt eclair", 13}, "A3"},
    {{"eclair yaourt", 13}, "A3"},
    {{"zz yaourt", 9}, ""},
    {{"oe-3", 4}, "A3"},
    {{"nature3760", 10}, ""},
};

START_TEST(words_are_looked_for_in_their_row_alone)
{
	query.words = searches[_i].words;
	ck_assert_int_eq(get(1, 0), ERR_OK);
	page_is(searches[_i].rows);
}
END_TEST

START_TEST(list_is_kept_for_the_next_page)
{
	struct rowlist *list;

	query.words = SPAN("a");
	ck_assert_int_eq(get(1, 2), ERR_OK);
	list = set.list;
	page_is("A2 A3");
	ck_assert_int_eq(get(2, 2), ERR_OK);
	ck_assert_ptr_eq(set.list, list);
	page_is("A1 A4");
}
END_TEST

START_TEST(other_questions_have_other_lists)
{
	struct rowset first;

	query.words = SPAN("a");
	ck_assert_int_eq(get(1, 0), ERR_OK);
	first = set;
	query.descending = false;
	ck_assert_int_eq(get(1, 0), ERR_OK);
	ck_assert_ptr_ne(set.list, first.list);
	page_is("A5 A7 A6 A4 A1 A2 A3");
	rowset_release(&first);
}
END_TEST

START_TEST(list_in_use_outlives_its_place)
{
	struct rowset first;

	query.words = SPAN("a");
	ck_assert_int_eq(get(1, 0), ERR_OK);
	first = set;
	for (char c = 0; c < 100; c++) { /* more than are kept */
		char word[2] = {(char)('!' + c % 90), (char)('0' + c / 90)};

		query.words = span_make(word, 2);
		ck_assert_int_eq(get(1, 0), ERR_OK);
		rowset_release(&set);
	}
	set = first;
	page_is("A2 A3 A1 A4 A6 A7 A5");
}
END_TEST

START_TEST(words_that_folding_made_long_are_fine)
{
	static char words[40000];

	memset(words, 'x', sizeof(words));
	query.words = span_make(words, sizeof(words));
	ck_assert_int_eq(get(1, 0), ERR_OK);
	page_is("");
}
END_TEST

/* The most that was kept between two of the questions. */
static size_t
ask_for_many(struct span words)
{
	size_t most = 0;

	for (int i = 0; i < 60; i++) {
		query.words = words;
		query.gamme = row_gamme(SPAN("A"));
		query.sort = i % 20;
		ck_assert_int_eq(get(1, 0), ERR_OK);
		rowset_release(&set);
		if (rowlists_bytes() > most)
			most = rowlists_bytes();
	}
	return most;
}

START_TEST(lists_of_all_snapshots_have_one_ceiling)
{
	ck_assert_uint_gt(ask_for_many(SPAN("")), 600);
	rowlists_limit(600);
	ck_assert_uint_le(ask_for_many(SPAN("a")), 600);
	ck_assert_uint_gt(rowlists_bytes(), 0);
	rowlists_limit(ROWLISTS_BYTES);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("rowset");
	TCase *tc = tcase_create("rowset");

	tcase_add_unchecked_fixture(tc, world_make, world_remove);
	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_test(tc, without_filter_the_stored_order_is_used);
	tcase_add_test(tc, other_sort_uses_its_permutation_without_a_list);
	tcase_add_test(tc, what_has_changed_is_sorted_once_for_each_change);
	tcase_add_loop_test(
	    tc, page_is_cut_out, 0, sizeof(pages) / sizeof(pages[0]));
	tcase_add_test(tc, filters_hold_together);
	tcase_add_test(tc, article_without_class_is_in_no_class);
	tcase_add_loop_test(tc, words_are_looked_for_in_their_row_alone, 0,
	    sizeof(searches) / sizeof(searches[0]));
	tcase_add_test(tc, list_is_kept_for_the_next_page);
	tcase_add_test(tc, other_questions_have_other_lists);
	tcase_add_test(tc, list_in_use_outlives_its_place);
	tcase_add_test(tc, lists_of_all_snapshots_have_one_ceiling);
	tcase_add_test(tc, words_that_folding_made_long_are_fine);
	suite_add_tcase(suite, tc);
	return suite;
}
