/* tests/fcgi/http/test_params.c: fcgi/http/params.h */
#include "fcgi/http/params.h"

#include <stdio.h>

#include "common/jsonr.h"
#include "tests/support/run.h"

static struct arena *arena;
static struct buf message, details;
static struct params params;

static void
make(void)
{
	arena = arena_new(1 << 20);
	ck_assert_ptr_nonnull(arena);
	buf_init(&message, 1 << 16);
	buf_init(&details, 1 << 16);
}

static void
drop(void)
{
	buf_fini(&message);
	buf_fini(&details);
	arena_free(arena);
}

static enum err
read_text(const char *query, enum params_use use)
{
	struct query parsed;
	char uri[4096];

	snprintf(uri, sizeof(uri), "/x?%s", query);
	arena_reset(arena);
	ck_assert_int_eq(
	    query_parse(&parsed, span_of(uri), arena, NULL), ERR_OK);
	buf_clear(&message);
	buf_clear(&details);
	return params_read(
	    &params, &parsed, use, false, arena, &message, &details);
}

START_TEST(defaults_are_the_documents)
{
	ck_assert_int_eq(read_text("fournisseur=S1", USE_GRID), ERR_OK);
	ck_assert(span_eq(params.fournisseur, SPAN("S1")));
	ck_assert_int_eq(params.page, 1);
	ck_assert_int_eq(params.limit, 0);
	ck_assert_int_eq(params.sort, -1);
	ck_assert(params.descending && params.enrich && params.compute);
	ck_assert(!columns_any(&params.fields));
	ck_assert_uint_eq(params.gamme, ROW_GAMME_NONE);
	for (unsigned i = 0; i < 4; i++)
		ck_assert_uint_eq(params.codes[i].code, PARAMS_NO_CODE);
	ck_assert_int_eq(
	    read_text("fournisseur=S1", USE_NOMENCLATURES), ERR_OK);
	ck_assert_int_eq(params.niveau, 1);
}
END_TEST

START_TEST(values_arrive_typed)
{
	ck_assert_int_eq(
	    read_text("fournisseur=S1&page=2&limit=9223372036854775807&"
		      "sort=libelle1&order=asc&enrich=0&compute=0&gamme=Z&"
		      "code1=10&nomenclature=2030&fields=totalCa,+network&"
		      "snapshot=00064d2b8c0ffee0&search=a%20b",
		USE_GRID),
	    ERR_OK);
	ck_assert_int_eq(params.page, 2);
	ck_assert_int_eq(params.limit, INT64_MAX);
	ck_assert_int_eq(params.sort, COL_libelle1);
	ck_assert(!params.descending && !params.enrich && !params.compute);
	ck_assert_uint_eq(params.gamme, row_gamme(SPAN("Z")));
	ck_assert_uint_eq(params.codes[0].code, 10);
	ck_assert_uint_eq(params.codes[0].divisor, 10000);
	ck_assert_uint_eq(params.codes[3].code, 2030);
	ck_assert_uint_eq(params.codes[3].divisor, 100);
	ck_assert(columns_has(&params.fields, COL_codein));
	ck_assert(columns_has(&params.fields, COL_totalCa));
	ck_assert(columns_has(&params.fields, COL_network));
	ck_assert(!columns_has(&params.fields, COL_libelle1));
	ck_assert_uint_eq(params.snapshot, UINT64_C(0x64d2b8c0ffee0));
	ck_assert(span_eq(params.search, SPAN("a b")));
}
END_TEST

static const struct {
	const char *query;
	unsigned columns[3];
	bool descending[3];
	unsigned count;
} sorts[] = {
    {"sort=totalCa", {COL_totalCa}, {true}, 1},
    {"sort=totalCa&order=asc", {COL_totalCa}, {false}, 1},
    {"order=asc&sort=-totalCa", {COL_totalCa}, {true}, 1},
    {"sort=codeGamme,-totalCa", {COL_codeGamme, COL_totalCa}, {false, true}, 2},
    {"sort=codeGamme,-totalCa,tva&order=desc",
	{COL_codeGamme, COL_totalCa, COL_tva}, {true, true, true}, 3},
    {"sort=-tva,codein&order=asc", {COL_tva, COL_codein}, {true, false}, 2},
};

START_TEST(sort_keys_have_their_directions)
{
	char query[128];

	snprintf(query, sizeof(query), "fournisseur=S1&%s", sorts[_i].query);
	ck_assert_int_eq(read_text(query, USE_GRID), ERR_OK);
	ck_assert_uint_eq(params.sorts.count, sorts[_i].count);
	ck_assert_int_eq(params.sort, (int)sorts[_i].columns[0]);
	ck_assert(params.descending == sorts[_i].descending[0]);
	for (unsigned i = 0; i < sorts[_i].count; i++) {
		ck_assert_uint_eq(
		    params.sorts.keys[i].column, sorts[_i].columns[i]);
		ck_assert(
		    params.sorts.keys[i].descending == sorts[_i].descending[i]);
	}
}
END_TEST

static const struct {
	const char *query;
	enum params_use use;
	const char *parameter; /* that is complained about */
} bad[] = {
    {"q=a&sort=totalCa,", USE_SEARCH, "sort"},
    {"q=a&sort=--totalCa", USE_SEARCH, "sort"},
    {"q=a&sort=tva,tva,tva,tva,tva", USE_SEARCH, "sort"},
    {"", USE_GRID, "fournisseur"},
    {"", USE_NOMENCLATURES, "fournisseur"},
    {"", USE_SEARCH, "q"},
    {"q=", USE_SEARCH, "q"},
    {"q=a&limit=0", USE_SEARCH, "limit"},
    {"q=a&limit=9223372036854775808", USE_SEARCH, "limit"},
    {"q=a&page=-1", USE_SEARCH, "page"},
    {"q=a&page=01", USE_SEARCH, "page"},
    {"q=a&order=Asc", USE_SEARCH, "order"},
    {"q=a&enrich=true", USE_SEARCH, "enrich"},
    {"q=a&sort=trend", USE_SEARCH, "sort"},
    {"q=a&fields=none", USE_SEARCH, "fields"},
    {"q=a&gamme=E", USE_SEARCH, "gamme"},
    {"q=a&q=b", USE_SEARCH, "q"},
    {"fournisseur=S&code1=1", USE_GRID, "code1"},
    {"fournisseur=S&code2=10", USE_GRID, "code2"},
    {"fournisseur=S&code3=10101", USE_GRID, "code3"},
    {"fournisseur=S&nomenclature=101", USE_GRID, "nomenclature"},
    {"fournisseur=S&nomenclature=10101010", USE_GRID, "nomenclature"},
    {"fournisseur=S&compute=2", USE_GRID, "compute"},
    {"fournisseur=S&snapshot=0000000000000000", USE_GRID, "snapshot"},
    {"fournisseur=S&niveau=4", USE_NOMENCLATURES, "niveau"},
    {"fournisseur=S&parent=x1", USE_NOMENCLATURES, "parent"},
    {"withData=yes", USE_FOURNISSEURS, "withData"},
    {"fournisseur=", USE_PRODUCT, "fournisseur"},
};

START_TEST(what_is_wrong_is_named)
{
	struct jsonr_limits limits = {1 << 20, 0, 8, NULL};
	struct jsonr *doc;
	const struct jsonr_value *issues;

	ck_assert_int_eq(read_text(bad[_i].query, bad[_i].use), ERR_BAD_INPUT);
	ck_assert_int_eq(
	    jsonr_parse(&doc, buf_span(&details), &limits, NULL), ERR_OK);
	issues = jsonr_member(jsonr_root(doc), "issues");
	ck_assert_uint_eq(jsonr_count(issues), 1);
	ck_assert(span_eq(
	    jsonr_as_string(jsonr_member(jsonr_at(issues, 0), "parameter")),
	    span_of(bad[_i].parameter)));
	ck_assert(span_starts(buf_span(&message), span_of(bad[_i].parameter)));
	jsonr_free(doc);
}
END_TEST

START_TEST(all_issues_come_at_once)
{
	ck_assert_int_eq(
	    read_text("page=0&order=x&fields=n,m", USE_GRID), ERR_BAD_INPUT);
	ck_assert(span_starts(
	    buf_span(&details), SPAN("{\"issues\":[{\"parameter\":\"page\"")));
	buf_add_char(&details, '\0');
	ck_assert_ptr_nonnull(
	    strstr(details.data, "\"unknown\":[\"n\",\"m\"]"));
	ck_assert_ptr_nonnull(strstr(details.data, "\"allowed\":[\"codein\","));
}
END_TEST

START_TEST(characters_are_counted_not_bytes)
{
	char query[512] = "q=";

	for (unsigned i = 0; i < 120; i++)
		memcpy(query + strlen(query), "\xc3\xa9", 3);
	ck_assert_int_eq(read_text(query, USE_SEARCH), ERR_OK);
	memcpy(query + strlen(query), "e", 2);
	ck_assert_int_eq(read_text(query, USE_SEARCH), ERR_BAD_INPUT);
}
END_TEST

START_TEST(unknown_names_and_other_endpoints_are_passed_over)
{
	ck_assert_int_eq(
	    read_text("q=a&colour=x&compute=9", USE_SEARCH), ERR_OK);
}
END_TEST

START_TEST(no_room_for_the_issues_is_no_half_list)
{
	buf_fini(&details);
	buf_init(&details, 8);
	ck_assert_int_eq(read_text("", USE_GRID), ERR_TOO_LARGE);
}
END_TEST

START_TEST(a_name_means_one_thing_at_an_endpoint)
{
	for (unsigned i = 0; i < param_count; i++)
		for (unsigned k = 0; k < i; k++)
			if (strcmp(param_infos[i].name, param_infos[k].name) ==
			    0)
				ck_assert_uint_eq(
				    param_infos[i].uses & param_infos[k].uses,
				    0);
	ck_assert_uint_le(param_count, 64); /* bits of `seen` */
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("params");
	TCase *tc = tcase_create("params");

	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_test(tc, defaults_are_the_documents);
	tcase_add_test(tc, values_arrive_typed);
	tcase_add_loop_test(tc, sort_keys_have_their_directions, 0,
	    sizeof(sorts) / sizeof(sorts[0]));
	tcase_add_loop_test(
	    tc, what_is_wrong_is_named, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(tc, all_issues_come_at_once);
	tcase_add_test(tc, characters_are_counted_not_bytes);
	tcase_add_test(tc, unknown_names_and_other_endpoints_are_passed_over);
	tcase_add_test(tc, no_room_for_the_issues_is_no_half_list);
	tcase_add_test(tc, a_name_means_one_thing_at_an_endpoint);
	suite_add_tcase(suite, tc);
	return suite;
}
