#include "lmdb-schema/compute/rowcalc.h"

#include "common/date.h"
#include "common/num.h"
#include "tests/support/run.h"

#define M NUM_MICRO
#define LAST (2025 * 12 + 11) /* 202512 */

static struct buf bytes[SERIES_KINDS];
static struct series_writer writers[SERIES_KINDS];
static struct source_article article;
static struct rowcalc_places places;
static struct row_numbers row;
static struct period period;

static void
make(void)
{
	memset(&article, 0, sizeof(article));
	article.pcb = article.prix_achat = NUM_NULL;
	article.prix_vente = article.tva = NUM_NULL;
	article.code3 = SOURCE_NO_CODE3;
	rowcalc_places(&places);
	period.last_month = LAST;
	period.as_of_day = date_day_of(2025, 12, 31);
	for (unsigned i = 0; i < SERIES_KINDS; i++) {
		buf_init(&bytes[i], 1 << 20);
		memset(&writers[i], 0, sizeof(writers[i]));
		series_begin(&writers[i], (enum series_kind)i, &bytes[i]);
	}
}

static void
drop(void)
{
	for (unsigned i = 0; i < SERIES_KINDS; i++) {
		series_fini(&writers[i]);
		buf_fini(&bytes[i]);
	}
}

static void
put(enum series_kind kind, unsigned store, int month, int64_t a, int64_t b,
    int64_t c)
{
	struct series_record record = {(uint16_t)store, month, {a, b, c, 0}};

	ck_assert(series_put(&writers[kind], &record));
}

static void
sold(unsigned store, int month, int64_t qte, int64_t ca, int64_t marge)
{
	put(SERIES_SALES, store, month, qte * M, ca * M, marge * M);
}

static void
position(unsigned store, int64_t stock, int64_t first, int64_t last,
    int64_t reception)
{
	struct series_record record = {
	    (uint16_t)store, 0, {stock, first, last, reception}};

	ck_assert(series_put(&writers[SERIES_POSITIONS], &record));
}

static enum err
calc(const struct network *network)
{
	for (unsigned i = 0; i < SERIES_KINDS; i++) {
		series_end(&writers[i]);
		article.series[i] = buf_span(&bytes[i]);
	}
	return rowcalc_article(&row, &places, &article, network, &period);
}

#define must_be(column, expected) \
	ck_assert_int_eq(row.number[places.of[COL_##column]], (expected))

START_TEST(an_article_without_facts_has_zeros_and_nulls)
{
	ck_assert_int_eq(calc(NULL), ERR_OK);
	must_be(totalCa, 0);
	must_be(totalQuantite, 0);
	must_be(totalMarge, 0);
	must_be(tauxMarge, NUM_NULL);
	must_be(prixMoyenVente, NUM_NULL);
	must_be(nbMagasins, 0);
	must_be(caParMagasin, NUM_NULL);
	must_be(moyenneMensuelle, 0);
	must_be(moisVendus, 0);
	must_be(evolutionQte, NUM_NULL);
	must_be(stockActuel, NUM_NULL);
	must_be(stockValeur, NUM_NULL);
	must_be(couvertureJours, NUM_NULL);
	must_be(rotation, NUM_NULL);
	must_be(nbMagasinsStock, 0);
	must_be(nbRuptures, 0);
	must_be(totalReceptions, 0);
	must_be(derniereReception, NUM_NULL);
	must_be(nbJoursDerniereVente, NUM_NULL);
	must_be(margeUnitaire, NUM_NULL);
	must_be(caReseau, NUM_NULL);
	must_be(presenceReseauPct, NUM_NULL);
	must_be(ecartMargeReseau, NUM_NULL);
}
END_TEST

START_TEST(only_the_twelve_months_count)
{
	sold(0, LAST - 12, 1000, 1000, 1000);
	sold(0, LAST - 11, 3, 30, 6);
	sold(0, LAST, 5, 70, 14);
	sold(0, LAST + 1, 1000, 1000, 1000);
	ck_assert_int_eq(calc(NULL), ERR_OK);
	must_be(totalQuantite, 8 * M);
	must_be(totalCa, 100 * M);
	must_be(totalMarge, 20 * M);
	must_be(tauxMarge, M / 5);
	must_be(prixMoyenVente, 12500000);
	must_be(moisVendus, 2);
	must_be(moyenneMensuelle, 666667); /* 8 / 12, rounded once */
	must_be(evolutionQte, 666667); /* (5 - 3) / 3 */
}
END_TEST

/*
 * Sales of the year before and of the period, as {month back, quantity,
 * turnover}; a quantity of 0 ends them.
 */
#define NONE NUM_NULL
#define YEAR_AGO(back) (LAST - 12 - (back))

static const struct year_case {
	int32_t since; /* sales are known from this month; 0: not known */
	struct {
		int back, qte, ca;
	} sold[4];
	int64_t qte_before, ca_before, qte_change, ca_change;
} years[] = {
    /* the same months, and none of two years before */
    {YEAR_AGO(11), {{0, 6, 90}, {12, 4, 60}, {23, 1, 30}, {24, 99, 999}}, 5 * M,
	90 * M, M / 5, 0},
    {1, {{0, 1, 10}, {12, 3, 40}}, 3 * M, 40 * M, -666667, -750000},
    /* it began meanwhile; it ended */
    {1, {{0, 6, 90}, {11, 4, 60}}, NONE, NONE, NONE, NONE},
    {1, {{12, 4, 60}}, 4 * M, 60 * M, -M, -M},
    /* only returns; sales and returns that make nothing */
    {1, {{0, 6, 90}, {13, -2, -20}}, -2 * M, -20 * M, NONE, NONE},
    {1, {{0, 6, 90}, {12, -2, -20}, {13, 2, 20}}, 0, 0, NONE, NONE},
    /* a part of the year is known, or nobody knows */
    {YEAR_AGO(10), {{0, 6, 90}, {12, 4, 60}}, NONE, NONE, NONE, NONE},
    {0, {{0, 6, 90}, {12, 4, 60}}, NONE, NONE, NONE, NONE},
    {1, {{0, 0, 0}}, NONE, NONE, NONE, NONE},
};

START_TEST(the_year_before_is_of_its_own_twelve_months)
{
	const struct year_case *of = &years[_i];
	int64_t qte = 0, ca = 0;

	period.oldest_sales = of->since;
	for (unsigned i = 0; i < 4 && of->sold[i].qte != 0; i++) {
		sold(i, LAST - of->sold[i].back, of->sold[i].qte,
		    of->sold[i].ca, 1);
		if (of->sold[i].back < 12) {
			qte += of->sold[i].qte;
			ca += of->sold[i].ca;
		}
	}
	ck_assert_int_eq(calc(NULL), ERR_OK);
	must_be(totalQuantite, qte * M);
	must_be(totalCa, ca * M);
	must_be(totalQuantiteN1, of->qte_before);
	must_be(totalCaN1, of->ca_before);
	must_be(evolutionQteN1, of->qte_change);
	must_be(evolutionCaN1, of->ca_change);
}
END_TEST

START_TEST(empty_fields_of_the_year_before_are_no_zeros)
{
	period.oldest_sales = 1;
	sold(0, LAST, 6, 90, 1);
	put(SERIES_SALES, 1, LAST - 12, 4 * M, NUM_NULL, NUM_NULL);
	ck_assert_int_eq(calc(NULL), ERR_OK);
	must_be(totalQuantiteN1, 4 * M);
	must_be(evolutionQteN1, M / 2);
	must_be(totalCaN1, NUM_NULL);
	must_be(evolutionCaN1, NUM_NULL);
}
END_TEST

START_TEST(a_store_sold_it_when_its_sum_is_above_0)
{
	sold(0, LAST, 2, 20, 1);
	sold(1, LAST - 1, 4, 10, 1);
	sold(1, LAST, -4, -10, -1); /* brought back */
	sold(2, LAST, -1, -5, 0);
	sold(3, LAST, 1, 5, 0);
	ck_assert_int_eq(calc(NULL), ERR_OK);
	must_be(nbMagasins, 2);
	must_be(caParMagasin, 10 * M);
	must_be(moisVendus, 1); /* 202511: 4; 202512: 2 - 4 - 1 + 1 */
}
END_TEST

START_TEST(stock_is_what_the_positions_say)
{
	article.prix_achat = 2500000;
	sold(0, LAST, 10, 10, 1);
	sold(2, LAST, 10, 10, 1);
	position(0, 5 * M, 100, 200, DATE_NULL);
	position(1, NUM_NULL, 50, 300, 250);
	position(2, 0, DATE_NULL, DATE_NULL, 260);
	position(3, -M, DATE_NULL, DATE_NULL, DATE_NULL);
	ck_assert_int_eq(calc(NULL), ERR_OK);
	must_be(stockActuel, 4 * M);
	must_be(stockValeur, 10 * M);
	must_be(nbMagasinsStock, 1);
	must_be(nbRuptures, 1); /* store 2 sold it and has none */
	must_be(couvertureJours, 73 * M); /* 4 / 20 * 365 */
	must_be(premiereVente, 50);
	must_be(derniereVente, 300);
	must_be(derniereReception, 260);
	must_be(nbJoursDerniereVente, period.as_of_day - 300);
}
END_TEST

START_TEST(a_sale_after_the_period_is_0_days_ago)
{
	position(0, NUM_NULL, DATE_NULL, period.as_of_day + 9, DATE_NULL);
	ck_assert_int_eq(calc(NULL), ERR_OK);
	must_be(nbJoursDerniereVente, 0);
	must_be(stockActuel, NUM_NULL);
}
END_TEST

START_TEST(turns_are_sales_over_the_mean_stock_of_the_months_that_have_one)
{
	sold(0, LAST, 30, 30, 3);
	put(SERIES_STOCK, 0, LAST - 1, 10 * M, 0, 0);
	put(SERIES_STOCK, 0, LAST, 20 * M, 0, 0);
	put(SERIES_STOCK, 1, LAST, 10 * M, 0, 0);
	ck_assert_int_eq(calc(NULL), ERR_OK);
	must_be(rotation, 1500000); /* 30 / (40 / 2) */
}
END_TEST

START_TEST(receptions_add_up)
{
	put(SERIES_RECEPTIONS, 0, LAST - 12, 100 * M, 0, 0);
	put(SERIES_RECEPTIONS, 0, LAST - 1, 7 * M, 0, 0);
	put(SERIES_RECEPTIONS, 3, LAST, NUM_NULL, 0, 0);
	put(SERIES_RECEPTIONS, 4, LAST, 5 * M, 0, 0);
	ck_assert_int_eq(calc(NULL), ERR_OK);
	must_be(totalReceptions, 12 * M);
}
END_TEST

START_TEST(the_unit_margin_is_without_tax)
{
	article.prix_vente = 12 * M;
	article.tva = 20 * M;
	article.prix_achat = 7 * M;
	ck_assert_int_eq(calc(NULL), ERR_OK);
	must_be(margeUnitaire, 3 * M);
	must_be(prixVente, 12 * M);
	must_be(tva, 20 * M);
	article.tva = -100 * M; /* no price at all then */
	ck_assert_int_eq(calc(NULL), ERR_OK);
	must_be(margeUnitaire, NUM_NULL);
}
END_TEST

START_TEST(the_network_is_compared)
{
	struct network network = {.ca = 5 * M,
	    .qte = 6 * M,
	    .stores = 135,
	    .ca_per_store = 7 * M,
	    .margin = 150000};

	sold(0, LAST, 1, 10, 2);
	ck_assert_int_eq(calc(&network), ERR_OK);
	must_be(caReseau, 5 * M);
	must_be(qteReseau, 6 * M);
	must_be(nbMagasinsReseau, 135);
	must_be(caParMagasinReseau, 7 * M);
	must_be(margePctReseau, 150000);
	must_be(presenceReseauPct, M / 2);
	must_be(ecartMargeReseau, 50000);
}
END_TEST

START_TEST(the_last_of_the_most_stores_counts)
{
	sold(0, LAST, 1, 1, 1);
	sold(SCHEMA_STORES_MAX - 1, LAST, 1, 1, 1);
	position(SCHEMA_STORES_MAX - 1, M, DATE_NULL, DATE_NULL, DATE_NULL);
	ck_assert_int_eq(calc(NULL), ERR_OK);
	must_be(nbMagasins, 2);
	must_be(nbRuptures, 1);
}
END_TEST

START_TEST(a_store_beyond_those_known_does_no_harm)
{
	position(SCHEMA_STORES_MAX - 1, M, DATE_NULL, DATE_NULL, DATE_NULL);
	ck_assert_int_eq(calc(NULL), ERR_OK);
	must_be(nbRuptures, 0);
}
END_TEST

START_TEST(a_sum_that_does_not_fit_is_too_large)
{
	for (unsigned store = 0; store < 20; store++)
		put(SERIES_SALES, store, LAST, M, INT64_MAX / 16, 0);
	ck_assert_int_eq(calc(NULL), ERR_TOO_LARGE);
}
END_TEST

START_TEST(broken_series_are_damaged)
{
	calc(NULL);
	article.series[_i] = SPAN("\x05");
	ck_assert_int_eq(
	    rowcalc_article(&row, &places, &article, NULL, &period),
	    ERR_DAMAGED);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("rowcalc");
	TCase *tc = tcase_create("rowcalc");

	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_test(tc, an_article_without_facts_has_zeros_and_nulls);
	tcase_add_test(tc, only_the_twelve_months_count);
	tcase_add_loop_test(tc, the_year_before_is_of_its_own_twelve_months, 0,
	    sizeof(years) / sizeof(years[0]));
	tcase_add_test(tc, empty_fields_of_the_year_before_are_no_zeros);
	tcase_add_test(tc, a_store_sold_it_when_its_sum_is_above_0);
	tcase_add_test(tc, stock_is_what_the_positions_say);
	tcase_add_test(tc, a_sale_after_the_period_is_0_days_ago);
	tcase_add_test(tc,
	    turns_are_sales_over_the_mean_stock_of_the_months_that_have_one);
	tcase_add_test(tc, receptions_add_up);
	tcase_add_test(tc, the_unit_margin_is_without_tax);
	tcase_add_test(tc, the_network_is_compared);
	tcase_add_test(tc, the_last_of_the_most_stores_counts);
	tcase_add_test(tc, a_store_beyond_those_known_does_no_harm);
	tcase_add_test(tc, a_sum_that_does_not_fit_is_too_large);
	tcase_add_loop_test(tc, broken_series_are_damaged, 0, SERIES_KINDS);
	suite_add_tcase(suite, tc);
	return suite;
}
