#include "lmdb-schema/row.h"

#include "lmdb-schema/compute/rowcalc.h"
#include "lmdb-schema/snapshot/snapfile.h"
#include "tests/support/run.h"

START_TEST(every_column_is_found_by_its_name_and_no_other_is)
{
	for (unsigned i = 0; i < ROW_COLUMNS; i++)
		ck_assert_int_eq(row_column(row_info[i].name), (int)i);
	ck_assert_int_eq(row_column(SPAN("")), -1);
	ck_assert_int_eq(row_column(SPAN("codeIn")), -1);
	ck_assert_int_eq(row_column(SPAN("codein ")), -1);
}
END_TEST

START_TEST(every_column_is_described)
{
	for (unsigned i = 0; i < ROW_COLUMNS; i++) {
		ck_assert_uint_gt(strlen(row_info[i].label_fr), 0);
		ck_assert_uint_gt(strlen(row_info[i].label_en), 0);
		ck_assert_uint_gt(strlen(row_info[i].meaning), 0);
	}
}
END_TEST

START_TEST(scalars_come_first_and_maps_last)
{
	for (unsigned i = 0; i < ROW_COLUMNS; i++) {
		bool flat = i < ROW_FLATS;

		ck_assert_int_eq(row_info[i].part == ROW_FLAT, flat);
		ck_assert_int_eq(row_info[i].type != ROW_OBJECT, flat);
		ck_assert_int_eq(row_sortable(i), flat);
	}
	ck_assert_uint_eq(ROW_FLATS + ROW_MAPCOUNT, ROW_COLUMNS);
}
END_TEST

START_TEST(number_columns_are_counted_in_order)
{
	unsigned count = 0;

	for (unsigned i = 0; i < ROW_COLUMNS; i++)
		ck_assert_int_eq(
		    row_number_index(i), row_is_number(i) ? (int)count++ : -1);
	ck_assert_uint_eq(row_numbers(), count);
	ck_assert_uint_le(count, ROWCALC_NUMBERS);
	ck_assert_uint_le(SNAP_NUMBER + count, SNAP_ASC);
}
END_TEST

START_TEST(the_columns_that_the_documents_name_are_searched)
{
	static const unsigned searched[] = {COL_codein, COL_libelle1, COL_gtin,
	    COL_reference, COL_codeCentrale};
	unsigned count = 0;

	for (unsigned i = 0; i < ROW_COLUMNS; i++)
		count += (row_info[i].flags & ROW_SEARCH) != 0;
	ck_assert_uint_eq(count, 5);
	for (unsigned i = 0; i < 5; i++)
		ck_assert_uint_ne(row_info[searched[i]].flags & ROW_SEARCH, 0);
}
END_TEST

static const struct {
	const char *text;
	uint8_t gamme;
	const char *json;
} gammes[] = {
    {"", ROW_GAMME_NONE, "null"},
    {"A", 1, "\"A\""},
    {"B", 2, "\"B\""},
    {"C", 3, "\"C\""},
    {"Y", 4, "\"Y\""},
    {"Z", 5, "\"Z\""},
};

START_TEST(range_codes_go_there_and_back)
{
	struct span text = span_of(gammes[_i].text);

	ck_assert_uint_eq(row_gamme(text), gammes[_i].gamme);
	ck_assert(span_eq(row_gamme_text(gammes[_i].gamme), text));
	ck_assert(span_eq(
	    row_gamme_json(gammes[_i].gamme), span_of(gammes[_i].json)));
}
END_TEST

static const char *const no_gammes[] = {"a", "D", "-", "AB", " ", "A ", "null"};

START_TEST(other_texts_are_no_range_code)
{
	ck_assert_uint_eq(row_gamme(span_of(no_gammes[_i])), ROW_GAMME_BAD);
}
END_TEST

START_TEST(a_number_that_is_no_range_code_reads_as_none)
{
	ck_assert_uint_eq(row_gamme_text(6).len, 0);
	ck_assert_uint_eq(row_gamme_text(ROW_GAMME_BAD).len, 0);
	ck_assert(span_eq(row_gamme_json(ROW_GAMME_BAD), SPAN("null")));
	ck_assert_uint_eq(row_gamme(span_make("\0", 1)), ROW_GAMME_BAD);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("row");
	TCase *tc = tcase_create("row");

	tcase_add_test(tc, every_column_is_found_by_its_name_and_no_other_is);
	tcase_add_test(tc, every_column_is_described);
	tcase_add_test(tc, scalars_come_first_and_maps_last);
	tcase_add_test(tc, number_columns_are_counted_in_order);
	tcase_add_test(tc, the_columns_that_the_documents_name_are_searched);
	tcase_add_loop_test(tc, range_codes_go_there_and_back, 0,
	    sizeof(gammes) / sizeof(gammes[0]));
	tcase_add_loop_test(tc, other_texts_are_no_range_code, 0,
	    sizeof(no_gammes) / sizeof(no_gammes[0]));
	tcase_add_test(tc, a_number_that_is_no_range_code_reads_as_none);
	suite_add_tcase(suite, tc);
	return suite;
}
