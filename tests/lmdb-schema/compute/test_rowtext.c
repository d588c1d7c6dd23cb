/* tests/lmdb-schema/compute/test_rowtext.c: lmdb-schema/compute/rowtext.h */
#include "lmdb-schema/compute/rowtext.h"

#include "lmdb-schema/row.h"
#include "tests/support/run.h"

static struct span level1[100], level2[10000], level3[1000000];
static struct span *const labels[] = {level1, level2, level3};
static struct source_article article;
static struct rowtext row;
static char code[ROWTEXT_CODE_MAX];

static void
make(void)
{
	memset(&article, 0, sizeof(article));
	article.code3 = SOURCE_NO_CODE3;
	row = (struct rowtext){.article = &article, .labels = labels};
}

static void
drop(void)
{
}

static void
must_be(unsigned column, const char *text)
{
	struct span found = rowtext_of(&row, column, code);

	ck_assert_msg(span_eq(found, span_of(text)), "%s: \"%.*s\", not \"%s\"",
	    row_info[column].name.ptr, (int)found.len, found.ptr, text);
}

START_TEST(each_column_without_number_is_empty_without_data)
{
	for (unsigned i = 0; i < ROW_FLATS; i++)
		if (!row_is_number(i))
			must_be(i, "");
}
END_TEST

START_TEST(texts_are_those_of_the_article_and_its_supplier)
{
	article.codein = SPAN("A\"1");
	article.code_centrale = SPAN("100001");
	row.supplier = SPAN("S");
	row.name = SPAN("Some \"Name\"");
	must_be(COL_codein, "A\"1");
	must_be(COL_codeCentrale, "100001");
	must_be(COL_codeFournisseur, "S");
	must_be(COL_nomFournisseur, "Some \"Name\"");
}
END_TEST

START_TEST(ranges_of_the_server_are_shown_in_three_columns)
{
	row.gamme = 4;
	row.abc = 'B';
	must_be(COL_codeGammeServeur, "Y");
	must_be(COL_codeGamme, "Y");
	must_be(COL_codeGammeInit, "Y");
	must_be(COL_gammeAValider, "");
	must_be(COL_classeAbc, "B");
}
END_TEST

/* The row's data are mostly a local variable, and the text outlives it. */
START_TEST(no_text_stands_in_the_row_itself)
{
	struct span found;

	row.abc = 'B';
	found = rowtext_of(&row, COL_classeAbc, code);
	row.abc = 'C';
	ck_assert(span_eq(found, SPAN("B")));
}
END_TEST

static const struct {
	uint32_t code3;
	unsigned column;
	const char *text;
} codes[] = {
    {120305, COL_code1, "12"},
    {120305, COL_code2, "1203"},
    {120305, COL_code3, "120305"},
    {5, COL_code1, "00"},
    {5, COL_code3, "000005"},
    {999999, COL_code3, "999999"},
    {SOURCE_NO_CODE3, COL_code2, ""},
};

START_TEST(codes_keep_their_zeros)
{
	article.code3 = codes[_i].code3;
	must_be(codes[_i].column, codes[_i].text);
}
END_TEST

START_TEST(labels_are_those_of_their_level)
{
	level1[1] = SPAN("one");
	level2[102] = SPAN("two");
	level3[10203] = SPAN("three");
	article.code3 = 10203;
	must_be(COL_libelleCode1, "one");
	must_be(COL_libelleCode2, "two");
	must_be(COL_libelleCode3, "three");
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("rowtext");
	TCase *tc = tcase_create("rowtext");

	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_test(tc, each_column_without_number_is_empty_without_data);
	tcase_add_test(tc, texts_are_those_of_the_article_and_its_supplier);
	tcase_add_test(tc, no_text_stands_in_the_row_itself);
	tcase_add_test(tc, ranges_of_the_server_are_shown_in_three_columns);
	tcase_add_loop_test(
	    tc, codes_keep_their_zeros, 0, sizeof(codes) / sizeof(codes[0]));
	tcase_add_test(tc, labels_are_those_of_their_level);
	suite_add_tcase(suite, tc);
	return suite;
}
