#include "lmdb-schema/compute/rowcalc.h"

#include <assert.h>
#include <string.h>

#include "common/date.h"
#include "common/num.h"

#define DAYS_A_YEAR 365

/* The sums that one pass over the series gathers. */
struct sums {
	int64_t ca, qte, marge, receptions;
	int64_t month_qte[SCHEMA_MONTHS];
	int64_t ca_before, qte_before; /* of the year before; NUM_NULL: none */
	int64_t stock_sum; /* end-of-month stock, all months and stores */
	bool stock_month[SCHEMA_MONTHS];
	int64_t stock_now;
	bool stock_known;
	int64_t first_sale, last_sale, last_reception;
	int64_t stores_sold, stores_stock, stores_out;
	bool overflow;
	uint8_t sold[SCHEMA_STORES_MAX / 8];
};

void
rowcalc_places(struct rowcalc_places *places)
{
	for (unsigned i = 0; i < ROW_COLUMNS; i++)
		places->of[i] = (int8_t)row_number_index(i);
	places->count = row_numbers();
}

static void
add(struct sums *sums, int64_t *to, int64_t value)
{
	if (value != NUM_NULL && !num_add(to, *to, value))
		sums->overflow = true;
}

/* Adds to a sum that is NUM_NULL as long as there is nothing to add. */
static void
add_known(struct sums *sums, int64_t *to, int64_t value)
{
	if (value != NUM_NULL && *to == NUM_NULL)
		*to = 0;
	add(sums, to, value);
}

static bool
in_period(const struct period *period, int32_t month)
{
	return month >= period_first(period) && month <= period->last_month;
}

static bool
in_year_before(const struct period *period, int32_t month)
{
	return month >= period_first_before(period) &&
	    month < period_first(period);
}

static void
end_store(struct sums *sums, unsigned store, int64_t qte)
{
	if (qte <= 0)
		return;
	sums->stores_sold++;
	sums->sold[store / 8] |= (uint8_t)(1u << store % 8);
}

static bool
gather_sales(struct sums *sums, struct span bytes, const struct period *period)
{
	struct series_reader reader;
	struct series_record record;
	int64_t store_qte = 0;
	unsigned store = 0;

	sums->ca_before = sums->qte_before = NUM_NULL;
	series_open(&reader, SERIES_SALES, bytes);
	while (series_next(&reader, &record)) {
		if (record.store != store) {
			end_store(sums, store, store_qte);
			store = record.store;
			store_qte = 0;
		}
		if (in_year_before(period, record.month)) {
			add_known(
			    sums, &sums->ca_before, record.value[SALES_CA]);
			add_known(sums, &sums->qte_before,
			    record.value[SALES_QUANTITE]);
		}
		if (!in_period(period, record.month))
			continue;
		add(sums, &sums->ca, record.value[SALES_CA]);
		add(sums, &sums->marge, record.value[SALES_MARGE]);
		add(sums, &sums->qte, record.value[SALES_QUANTITE]);
		add(sums, &store_qte, record.value[SALES_QUANTITE]);
		add(sums, &sums->month_qte[record.month - period_first(period)],
		    record.value[SALES_QUANTITE]);
	}
	end_store(sums, store, store_qte);
	return !series_bad(&reader);
}

static bool
gather_stock(struct sums *sums, struct span bytes, const struct period *period)
{
	struct series_reader reader;
	struct series_record record;

	series_open(&reader, SERIES_STOCK, bytes);
	while (series_next(&reader, &record)) {
		if (!in_period(period, record.month) ||
		    record.value[0] == NUM_NULL)
			continue;
		add(sums, &sums->stock_sum, record.value[0]);
		sums->stock_month[record.month - period_first(period)] = true;
	}
	return !series_bad(&reader);
}

static bool
gather_receptions(
    struct sums *sums, struct span bytes, const struct period *period)
{
	struct series_reader reader;
	struct series_record record;

	series_open(&reader, SERIES_RECEPTIONS, bytes);
	while (series_next(&reader, &record))
		if (in_period(period, record.month))
			add(sums, &sums->receptions, record.value[0]);
	return !series_bad(&reader);
}

static void
later(int64_t *to, int64_t day)
{
	if (day != DATE_NULL && (*to == NUM_NULL || day > *to))
		*to = day;
}

static void
earlier(int64_t *to, int64_t day)
{
	if (day != DATE_NULL && (*to == NUM_NULL || day < *to))
		*to = day;
}

static bool
gather_positions(struct sums *sums, struct span bytes)
{
	struct series_reader reader;
	struct series_record record;
	int64_t in_stock_and_sold = 0;

	sums->first_sale = sums->last_sale = sums->last_reception = NUM_NULL;
	series_open(&reader, SERIES_POSITIONS, bytes);
	while (series_next(&reader, &record)) {
		int64_t stock = record.value[POSITION_STOCK];

		if (stock != NUM_NULL) {
			add(sums, &sums->stock_now, stock);
			sums->stock_known = true;
		}
		if (stock != NUM_NULL && stock > 0) {
			sums->stores_stock++;
			in_stock_and_sold +=
			    sums->sold[record.store / 8] >> (record.store % 8) &
			    1;
		}
		earlier(&sums->first_sale, record.value[POSITION_FIRST_SALE]);
		later(&sums->last_sale, record.value[POSITION_LAST_SALE]);
		later(&sums->last_reception,
		    record.value[POSITION_LAST_RECEPTION]);
	}
	sums->stores_out = sums->stores_sold - in_stock_and_sold;
	return !series_bad(&reader);
}

static int64_t
months_sold(const struct sums *sums)
{
	int64_t count = 0;

	for (unsigned i = 0; i < SCHEMA_MONTHS; i++)
		count += sums->month_qte[i] > 0;
	return count;
}

/* (last half - first half) / first half */
static int64_t
change(const struct sums *sums)
{
	__int128 before = 0, after = 0;

	for (unsigned i = 0; i < SCHEMA_MONTHS / 2; i++) {
		before += sums->month_qte[i];
		after += sums->month_qte[i + SCHEMA_MONTHS / 2];
	}
	return num_ratio(after - before, before);
}

/* (now - before) / before; none beside nothing, or returns alone. */
static int64_t
change_on_year(int64_t now, int64_t before)
{
	if (before == NUM_NULL || before <= 0)
		return NUM_NULL;
	return num_ratio((__int128)now - before, before);
}

/* Sales over the mean of the months' stocks. */
static int64_t
turns(const struct sums *sums)
{
	int64_t months = 0;

	for (unsigned i = 0; i < SCHEMA_MONTHS; i++)
		months += sums->stock_month[i];
	if (sums->stock_sum <= 0)
		return NUM_NULL;
	return num_ratio((__int128)sums->qte * months, sums->stock_sum);
}

static int64_t
unit_margin(const struct source_article *article)
{
	const int64_t whole = 100 * NUM_MICRO;
	int64_t price;

	if (article->prix_vente == NUM_NULL || article->tva == NUM_NULL ||
	    article->prix_achat == NUM_NULL)
		return NUM_NULL;
	price = num_ratio((__int128)article->prix_vente * 100,
	    (__int128)whole + article->tva);
	return price == NUM_NULL ? NUM_NULL : price - article->prix_achat;
}

static int64_t
times(int64_t a, int64_t b)
{
	return a == NUM_NULL || b == NUM_NULL ? NUM_NULL : num_times(a, b);
}

#define SET(column, value) (out->number[places->of[COL_##column]] = (value))
#define GET(column) (out->number[places->of[COL_##column]])

static void
set_sales(struct row_numbers *out, const struct rowcalc_places *places,
    const struct sums *sums)
{
	SET(totalCa, sums->ca);
	SET(totalQuantite, sums->qte);
	SET(totalMarge, sums->marge);
	SET(tauxMarge, num_ratio(sums->marge, sums->ca));
	SET(prixMoyenVente, num_ratio(sums->ca, sums->qte));
	SET(nbMagasins, sums->stores_sold);
	SET(caParMagasin,
	    num_ratio(sums->ca, (__int128)sums->stores_sold * NUM_MICRO));
	SET(moyenneMensuelle,
	    num_ratio(sums->qte, (__int128)SCHEMA_MONTHS * NUM_MICRO));
	SET(moisVendus, months_sold(sums));
	SET(evolutionQte, change(sums));
}

/* A sum of a part of the year before would stand beside a whole year. */
static void
set_year_before(struct row_numbers *out, const struct rowcalc_places *places,
    const struct sums *sums, const struct period *period)
{
	if (!period_has_before(period))
		return;
	SET(totalCaN1, sums->ca_before);
	SET(evolutionCaN1, change_on_year(sums->ca, sums->ca_before));
	SET(totalQuantiteN1, sums->qte_before);
	SET(evolutionQteN1, change_on_year(sums->qte, sums->qte_before));
}

static void
set_stock(struct row_numbers *out, const struct rowcalc_places *places,
    const struct sums *sums, const struct source_article *article,
    const struct period *period)
{
	int64_t stock = sums->stock_known ? sums->stock_now : NUM_NULL;

	SET(stockActuel, stock);
	SET(stockValeur, times(stock, article->prix_achat));
	SET(couvertureJours,
	    stock == NUM_NULL || sums->qte <= 0
		? NUM_NULL
		: num_ratio((__int128)stock * DAYS_A_YEAR, sums->qte));
	SET(rotation, turns(sums));
	SET(nbMagasinsStock, sums->stores_stock);
	SET(nbRuptures, sums->stores_out);
	SET(totalReceptions, sums->receptions);
	SET(derniereReception, sums->last_reception);
	SET(premiereVente, sums->first_sale);
	SET(derniereVente, sums->last_sale);
	SET(nbJoursDerniereVente,
	    sums->last_sale == NUM_NULL ? NUM_NULL
		: sums->last_sale > period->as_of_day
		? 0
		: period->as_of_day - sums->last_sale);
}

static void
set_master(struct row_numbers *out, const struct rowcalc_places *places,
    const struct source_article *article)
{
	SET(pcb, article->pcb);
	SET(prixAchat, article->prix_achat);
	SET(prixVente, article->prix_vente);
	SET(tva, article->tva);
	SET(margeUnitaire, unit_margin(article));
}

/* tauxMarge is set already. */
static void
set_network(struct row_numbers *out, const struct rowcalc_places *places,
    const struct network *network)
{
	for (unsigned i = COL_caReseau; i <= COL_ecartMargeReseau; i++)
		out->number[places->of[i]] =
		    network_number(network, i, GET(tauxMarge));
}

enum err
rowcalc_article(struct row_numbers *out, const struct rowcalc_places *places,
    const struct source_article *article, const struct network *network,
    const struct period *period)
{
	struct sums sums;

	assert(places->count > 0 && places->count <= ROW_COLUMNS);
	memset(&sums, 0, sizeof(sums));
	for (unsigned i = 0; i < places->count; i++)
		out->number[i] = NUM_NULL;
	if (!gather_sales(&sums, article->series[SERIES_SALES], period) ||
	    !gather_stock(&sums, article->series[SERIES_STOCK], period) ||
	    !gather_receptions(
		&sums, article->series[SERIES_RECEPTIONS], period) ||
	    !gather_positions(&sums, article->series[SERIES_POSITIONS]))
		return ERR_DAMAGED;
	if (sums.overflow)
		return ERR_TOO_LARGE;
	set_sales(out, places, &sums);
	set_year_before(out, places, &sums, period);
	set_stock(out, places, &sums, article, period);
	set_master(out, places, article);
	set_network(out, places, network);
	return ERR_OK;
}
