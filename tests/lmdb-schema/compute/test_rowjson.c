#include "lmdb-schema/compute/rowjson.h"

#include <stdlib.h>

#include "common/date.h"
#include "common/num.h"
#include "tests/lmdb-schema/facts.h"
#include "tests/support/run.h"

#define M NUM_MICRO

static struct source *source;
static struct rowjson json;
static struct buf out, cells, series[SERIES_KINDS];
static struct source_article article;
static struct row_numbers numbers;
static struct rowjson_input input;
static struct span level1[100], level2[10000], level3[1000000];
static struct span *const labels[] = {level1, level2, level3};
static struct period period = {FACTS_MONTH, 20453, 0};

static void
make(void)
{
	facts_make();
	facts_import(1, 1);
	ck_assert_int_eq(source_open(&source, facts), ERR_OK);
	ck_assert_int_eq(rowjson_init(&json, source, &period), ERR_OK);
	buf_init(&out, 1 << 20);
	buf_init(&cells, ROWJSON_CELLS_MAX);
	article = facts_article("A\"1");
	for (unsigned i = 0; i < ROWCALC_NUMBERS; i++)
		numbers.number[i] = NUM_NULL;
	for (unsigned i = 0; i < SERIES_KINDS; i++)
		buf_init(&series[i], 1 << 16);
	memset(&input, 0, sizeof(input));
	input.text.article = &article;
	input.text.labels = labels;
	input.numbers = &numbers;
	input.text.supplier = SPAN("S");
}

static void
drop(void)
{
	for (unsigned i = 0; i < SERIES_KINDS; i++)
		buf_fini(&series[i]);
	buf_fini(&out);
	buf_fini(&cells);
	rowjson_fini(&json);
	source_close(source);
	facts_remove();
}

static struct span
flat(unsigned column)
{
	struct snap_flat at;

	buf_clear(&out);
	rowjson_flat(&json, &out, &at, &input);
	ck_assert_int_eq(buf_end(&out), ERR_OK);
	return span_make(out.data + at.at + at.off[column],
	    (size_t)(at.off[column + 1] - 1 - at.off[column]));
}

static struct span
map(unsigned column)
{
	struct snap_maps at;
	unsigned i = column - ROW_FLATS;

	buf_clear(&out);
	rowjson_maps(&json, &out, &cells, &at, &input, NULL);
	ck_assert_int_eq(buf_end(&out), ERR_OK);
	return span_make(out.data + at.at + at.off[i],
	    (size_t)(at.off[i + 1] - 1 - at.off[i]));
}

static void
must_be(struct span found, const char *text)
{
	ck_assert_msg(span_eq(found, span_of(text)), "%.*s", SPAN_ARG(found));
}

START_TEST(texts_are_quoted_or_null)
{
	article.marque = SPAN("L'\"\xc3\xa9toile\"\n");
	must_be(flat(COL_codein), "\"codein\":\"A\\\"1\"");
	must_be(flat(COL_marque), "\"marque\":\"L'\\\"\xc3\xa9toile\\\"\\n\"");
	must_be(flat(COL_libelle2), "\"libelle2\":null");
	must_be(flat(COL_codeFournisseur), "\"codeFournisseur\":\"S\"");
	must_be(flat(COL_nomFournisseur), "\"nomFournisseur\":null");
}
END_TEST

START_TEST(classification_codes_keep_their_zeros)
{
	article.code3 = 10203;
	level2[102] = SPAN("Zwei");
	must_be(flat(COL_code1), "\"code1\":\"01\"");
	must_be(flat(COL_code2), "\"code2\":\"0102\"");
	must_be(flat(COL_code3), "\"code3\":\"010203\"");
	must_be(flat(COL_libelleCode1), "\"libelleCode1\":null");
	must_be(flat(COL_libelleCode2), "\"libelleCode2\":\"Zwei\"");
	article.code3 = SOURCE_NO_CODE3;
	must_be(flat(COL_code2), "\"code2\":null");
}
END_TEST

START_TEST(ranges_and_classes_are_letters_or_null)
{
	must_be(flat(COL_codeGamme), "\"codeGamme\":null");
	must_be(flat(COL_classeAbc), "\"classeAbc\":null");
	input.text.gamme = 4;
	input.text.abc = 'B';
	must_be(flat(COL_codeGammeServeur), "\"codeGammeServeur\":\"Y\"");
	must_be(flat(COL_codeGamme), "\"codeGamme\":\"Y\"");
	must_be(flat(COL_codeGammeInit), "\"codeGammeInit\":\"Y\"");
	must_be(flat(COL_gammeAValider), "\"gammeAValider\":null");
	must_be(flat(COL_classeAbc), "\"classeAbc\":\"B\"");
}
END_TEST

START_TEST(numbers_have_the_form_of_their_type)
{
	numbers.number[json.places.of[COL_totalCa]] = -1250000;
	numbers.number[json.places.of[COL_rangCa]] = 7;
	numbers.number[json.places.of[COL_derniereVente]] =
	    date_day_of(2025, 3, 9);
	must_be(flat(COL_totalCa), "\"totalCa\":-1.25");
	must_be(flat(COL_rangCa), "\"rangCa\":7");
	must_be(flat(COL_derniereVente), "\"derniereVente\":\"2025-03-09\"");
	must_be(flat(COL_partCa), "\"partCa\":null");
}
END_TEST

START_TEST(the_scalars_begin_with_a_brace_and_end_with_a_comma)
{
	struct snap_flat at;

	buf_add_text(&out, "before");
	rowjson_flat(&json, &out, &at, &input);
	ck_assert_uint_eq(at.at, 6);
	ck_assert_int_eq(out.data[6], '{');
	ck_assert_int_eq(out.data[out.len - 1], ',');
	ck_assert_uint_eq(at.off[ROW_FLATS], out.len - 6);
}
END_TEST

START_TEST(the_maps_end_with_a_brace_and_a_comma_that_does_not_count)
{
	struct snap_maps at;

	rowjson_maps(&json, &out, &cells, &at, &input, NULL);
	ck_assert_uint_eq(at.off[ROW_MAPCOUNT] + 1, out.len);
	ck_assert_mem_eq(out.data + out.len - 2, "},", 2);
}
END_TEST

START_TEST(without_facts_the_maps_are_empty_or_null)
{
	must_be(map(COL_network), "\"network\":null");
	must_be(map(COL_trend), "\"trend\":null");
	must_be(map(COL_qteReseauByMonth), "\"qteReseauByMonth\":null");
	must_be(map(COL_sales12m), "\"sales12m\":{}");
	must_be(map(COL_sales12mN1), "\"sales12mN1\":{}");
	must_be(map(COL_stock12mByStore), "\"stock12mByStore\":{}");
}
END_TEST

static void
put(struct series_writer *writer, unsigned store, int month, int64_t value)
{
	struct series_record record = {
	    (uint16_t)store, FACTS_MONTH - month, {value, 0, 0, 0}};

	ck_assert(series_put(writer, &record));
}

START_TEST(months_are_summed_over_the_stores_and_absent_ones_stay_absent)
{
	struct series_writer writer = {0};

	series_begin(&writer, SERIES_SALES, &series[SERIES_SALES]);
	put(&writer, 0, 12, 99 * M); /* before the period */
	put(&writer, 0, 11, 1 * M);
	put(&writer, 0, 1, NUM_NULL);
	put(&writer, 0, 0, 2500000);
	put(&writer, 0, -1, 99 * M); /* after it */
	put(&writer, 1, 12, 5 * M); /* nothing of this store */
	put(&writer, 2, 11, 0);
	put(&writer, 2, 0, -1 * M);
	series_end(&writer);
	series_fini(&writer);
	article.series[SERIES_SALES] = buf_span(&series[SERIES_SALES]);
	must_be(
	    map(COL_sales12m), "\"sales12m\":{\"202501\":1,\"202512\":1.5}");
	must_be(map(COL_sales12mByStore),
	    "\"sales12mByStore\":{\"001\":{\"202501\":1,\"202512\":2.5},"
	    "\"10\\\"0\":{\"202501\":0,\"202512\":-1}}");
}
END_TEST

START_TEST(the_year_before_has_a_map_over_all_stores)
{
	struct series_writer writer = {0};

	series_begin(&writer, SERIES_SALES, &series[SERIES_SALES]);
	put(&writer, 0, 24, 99 * M); /* before it */
	put(&writer, 0, 23, 1 * M);
	put(&writer, 0, 20, NUM_NULL);
	put(&writer, 0, 12, 2 * M);
	put(&writer, 0, 11, 7 * M); /* the period */
	put(&writer, 2, 23, 3500000);
	put(&writer, 2, 13, 0);
	series_end(&writer);
	series_fini(&writer);
	article.series[SERIES_SALES] = buf_span(&series[SERIES_SALES]);
	must_be(map(COL_sales12mN1),
	    "\"sales12mN1\":{\"202401\":4.5,\"202411\":0,\"202412\":2}");
	must_be(map(COL_sales12m), "\"sales12m\":{\"202501\":7}");
	must_be(map(COL_sales12mByStore),
	    "\"sales12mByStore\":{\"001\":{\"202501\":7}}");
}
END_TEST

START_TEST(stores_that_are_not_known_are_left_out)
{
	struct series_writer writer = {0};

	series_begin(&writer, SERIES_STOCK, &series[SERIES_STOCK]);
	put(&writer, 1, 0, M);
	put(&writer, FACTS_STORES, 0, M);
	series_end(&writer);
	series_fini(&writer);
	article.series[SERIES_STOCK] = buf_span(&series[SERIES_STOCK]);
	must_be(map(COL_stock12mByStore),
	    "\"stock12mByStore\":{\"002\":{\"202512\":1}}");
}
END_TEST

START_TEST(a_row_of_scalars_that_is_too_long_is_told)
{
	char *text = malloc(70000);
	struct snap_flat at;

	memset(text, 'x', 70000);
	article.libelle1 = span_make(text, 70000);
	rowjson_flat(&json, &out, &at, &input);
	ck_assert_int_eq(buf_end(&out), ERR_TOO_LARGE);
	free(text);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("rowjson");
	TCase *tc = tcase_create("rowjson");

	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_test(tc, texts_are_quoted_or_null);
	tcase_add_test(tc, classification_codes_keep_their_zeros);
	tcase_add_test(tc, ranges_and_classes_are_letters_or_null);
	tcase_add_test(tc, numbers_have_the_form_of_their_type);
	tcase_add_test(tc, the_scalars_begin_with_a_brace_and_end_with_a_comma);
	tcase_add_test(
	    tc, the_maps_end_with_a_brace_and_a_comma_that_does_not_count);
	tcase_add_test(tc, without_facts_the_maps_are_empty_or_null);
	tcase_add_test(
	    tc, months_are_summed_over_the_stores_and_absent_ones_stay_absent);
	tcase_add_test(tc, the_year_before_has_a_map_over_all_stores);
	tcase_add_test(tc, stores_that_are_not_known_are_left_out);
	tcase_add_test(tc, a_row_of_scalars_that_is_too_long_is_told);
	suite_add_tcase(suite, tc);
	return suite;
}
