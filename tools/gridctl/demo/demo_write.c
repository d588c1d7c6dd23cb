/*
 * Some twenty million lines: numbers are written digit by digit, directly into
 * the buffer.
 */
#include "tools/gridctl/csv/csv_write.h"
#include "tools/gridctl/demo/demo_write.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "common/date.h"
#include "tools/gridctl/demo/demo_random.h"
#include "tools/gridctl/demo/demo_shape.h"

#define ROW_MAX 160 /* a line of facts is shorter */

const char *const demo_file_names[DEMO_FILES] = {"suppliers.csv", "stores.csv",
    "nomenclature.csv", "articles.csv", "sales.csv", "stock.csv",
    "receptions.csv", "positions.csv", "network.csv", "gammes.csv"};

static const char *const headers[DEMO_FILES] = {"code,nom\n", "magasin,nom\n",
    "code,libelle\n",
    "fournisseur,codein,libelle1,libelle2,marque,gtin,reference,codeCentrale,"
    "code3,pcb,prixAchat,prixVente,tva,gamme\n",
    "fournisseur,codein,magasin,mois,quantite,ca,marge\n",
    "fournisseur,codein,magasin,mois,stock\n",
    "fournisseur,codein,magasin,mois,quantite\n",
    "fournisseur,codein,magasin,stock,premiereVente,derniereVente,"
    "derniereReception\n",
    "codeCentrale,caReseau,qteReseau,nbMagasinsReseau,margePctReseau,"
    "fetchedAt",
    "fournisseur,codein,gamme\n"};

void
demo_texts_init(struct demo_texts *texts)
{
	assert(texts != NULL);
	for (int i = 0; i < DEMO_FILES; i++)
		buf_init(&texts->text[i], DEMO_TEXT_MAX);
	memset(texts->rows, 0, sizeof(texts->rows));
}

void
demo_texts_fini(struct demo_texts *texts)
{
	assert(texts != NULL);
	for (int i = 0; i < DEMO_FILES; i++)
		buf_fini(&texts->text[i]);
}

void
demo_texts_clear(struct demo_texts *texts)
{
	assert(texts != NULL);
	for (int i = 0; i < DEMO_FILES; i++)
		buf_clear(&texts->text[i]);
	memset(texts->rows, 0, sizeof(texts->rows));
}

enum err
demo_texts_end(const struct demo_texts *texts)
{
	enum err err = ERR_OK;

	assert(texts != NULL);
	for (int i = 0; i < DEMO_FILES && err == ERR_OK; i++)
		err = buf_end(&texts->text[i]);
	return err;
}

/* --- digits ---------------------------------------------------------------*/

/* At least `width` digits. */
static char *
put_digits(char *to, uint64_t value, int width)
{
	char text[20], *at = text + sizeof(text);

	for (; value > 0 || width > 0; value /= 10, width--)
		*--at = '0' + (char)(value % 10);
	memcpy(to, at, text + sizeof(text) - at);
	return to + (text + sizeof(text) - at);
}

/* A count of tenths, hundredths...: `unit` is 100 for cents. */
static char *
put_parts(char *to, int64_t value, uint64_t unit, int digits)
{
	uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;

	if (value < 0)
		*to++ = '-';
	to = put_digits(to, size / unit, 1);
	*to++ = '.';
	return put_digits(to, size % unit, digits);
}

static char *
put_cents(char *to, int64_t cents)
{
	return put_parts(to, cents, 100, 2);
}

/* Whole pieces, or grams with three decimals. */
static char *
put_quantity(char *to, int64_t thousandths, bool by_weight)
{
	if (by_weight)
		return put_parts(to, thousandths, 1000, 3);
	if (thousandths < 0) {
		*to++ = '-';
		thousandths = -thousandths;
	}
	return put_digits(to, thousandths / 1000, 1);
}

static char *
put_month(char *to, int m)
{
	int month = DEMO_FIRST_MONTH + m;

	return put_digits(to, month / 12 * 100 + month % 12 + 1, 6);
}

static char *
put_day(char *to, int32_t day)
{
	char text[DATE_TEXT_MAX];
	size_t len;

	if (day == DATE_NULL)
		return to;
	len = date_day_text(text, day);
	memcpy(to, text, len);
	return to + len;
}

/* --- the short files ------------------------------------------------------*/

static void
write_suppliers(struct demo_texts *texts, const struct demo_plan *plan)
{
	struct buf *buf = &texts->text[DEMO_SUPPLIERS_CSV];
	struct demo_random random;
	struct span trade, place, form;
	char name[160];

	for (uint32_t i = 0; i < plan->supplier_count; i++) {
		random = demo_random(
		    plan->seed, DEMO_OF_SUPPLIER, plan->suppliers[i].number, 2);
		trade = demo_draw(&random, demo_trades);
		place = demo_draw(&random, demo_places);
		form = demo_draw(&random, demo_forms);
		snprintf(name, sizeof(name), "%.*s %.*s%s%.*s", SPAN_ARG(trade),
		    SPAN_ARG(place), form.len > 0 ? " " : "", SPAN_ARG(form));
		buf_addf(buf, "%s,", plan->suppliers[i].code);
		/* A few suppliers have a code but no name. */
		if (plan->suppliers[i].number < 4 || !demo_chance(&random, 2))
			csv_write_field(buf, span_of(name));
		buf_add_char(buf, '\n');
		texts->rows[DEMO_SUPPLIERS_CSV]++;
	}
}

static void
write_stores(struct demo_texts *texts, const struct demo_plan *plan)
{
	struct buf *buf = &texts->text[DEMO_STORES_CSV];
	unsigned towns = demo_list_count(demo_towns);
	unsigned quarters = demo_list_count(demo_quarters);
	struct span town, quarter;
	char name[160];
	/* The towns in turn, each time with the next quarter. */
	for (uint32_t i = 0; i < plan->store_count; i++) {
		town = demo_list_at(demo_towns, i % towns);
		quarter =
		    demo_list_at(demo_quarters, (i / towns + i) % quarters);
		snprintf(name, sizeof(name), "%.*s %.*s", SPAN_ARG(town),
		    SPAN_ARG(quarter));
		buf_addf(buf, "%u,", 101 + (unsigned)i);
		csv_write_field(buf, span_of(name));
		buf_add_char(buf, '\n');
		texts->rows[DEMO_STORES_CSV]++;
	}
}

static void
write_label(struct demo_texts *texts, const char *code, const char *label)
{
	struct buf *buf = &texts->text[DEMO_NOMENCLATURE_CSV];

	buf_addf(buf, "%s,", code);
	csv_write_field(buf, span_of(label));
	buf_add_char(buf, '\n');
	texts->rows[DEMO_NOMENCLATURE_CSV]++;
}

void
demo_write_head(struct demo_texts *texts, const struct demo_plan *plan)
{
	struct buf *network = &texts->text[DEMO_NETWORK_CSV];
	char month[DATE_TEXT_MAX];

	assert(plan->suppliers != NULL && plan->store_count > 0);
	for (unsigned i = 0; i < DEMO_FILES; i++)
		buf_add_span(&texts->text[i], span_of(headers[i]));
	for (unsigned i = 0; i < DEMO_NETWORK_MONTHS; i++) {
		date_month_dashed_text(
		    month, DEMO_LAST_MONTH - DEMO_NETWORK_MONTHS + 1 + (int)i);
		buf_addf(network, ",%s", month);
	}
	buf_add_char(network, '\n');
	write_suppliers(texts, plan);
	write_stores(texts, plan);
	for (unsigned i = 0; i < demo_label_count; i++)
		write_label(texts, demo_labels[i].code, demo_labels[i].label);
	for (unsigned i = 0; i < demo_kind_count; i++)
		write_label(texts, demo_kinds[i].code, demo_kinds[i].label);
}

/* --- a listing ------------------------------------------------------------*/

/* Writes "12345,01000003," and the values that follow in the files of facts. */
struct demo_key {
	char text[32];
	size_t len;
};

static struct demo_key
make_key(const struct demo_plan *plan, const struct demo_listing *listing,
    const struct demo_product *product)
{
	struct demo_key key;
	char *to = key.text;

	memcpy(to, plan->suppliers[listing->supplier].code, 5);
	to += 5;
	*to++ = ',';
	to = put_digits(to, product->codein, 8);
	*to++ = ',';
	key.len = to - key.text;
	return key;
}

static void
add_words(struct buf *buf, const struct demo_product *product)
{
	char name[256];

	snprintf(name, sizeof(name), "%.*s%s%.*s %.*s", SPAN_ARG(product->name),
	    product->variant.len > 0 ? " " : "", SPAN_ARG(product->variant),
	    SPAN_ARG(product->size));
	csv_write_field(buf, span_of(name));
	buf_add_char(buf, ',');
	csv_write_field(buf, product->note);
	buf_add_char(buf, ',');
	csv_write_field(buf, product->brand);
	buf_add_char(buf, ',');
}

static void
add_codes(struct buf *buf, const struct demo_product *product,
    const struct demo_terms *terms)
{
	if (product->gtin != 0)
		buf_addf(buf, "%013llu", (unsigned long long)product->gtin);
	buf_addf(buf, ",%s,", terms->reference);
	if (product->central != 0)
		buf_addf(buf, "10000%u", (unsigned)product->central);
	buf_addf(buf, ",%s,", product->classified ? product->kind->code : "");
}

static void
add_prices(struct buf *buf, const struct demo_product *product,
    const struct demo_terms *terms)
{
	unsigned tva = product->kind->tva_permille;
	char *start = buf_room(buf, ROW_MAX), *to = start;

	if (start == NULL)
		return;
	if (terms->has_pcb)
		to = put_digits(to, product->pcb, 1);
	*to++ = ',';
	if (terms->has_cost)
		to = put_cents(to, terms->cost);
	*to++ = ',';
	if (terms->has_price)
		to = put_cents(to, product->price);
	*to++ = ',';
	if (terms->has_tva && tva % 10 != 0)
		to = put_parts(to, tva, 10, 1);
	else if (terms->has_tva)
		to = put_digits(to, tva / 10, 1);
	*to++ = ',';
	if (product->range != '\0')
		*to++ = product->range;
	*to++ = '\n';
	buf_grown(buf, to - start);
}

static void
write_article(struct demo_texts *texts, const struct demo_key *key,
    const struct demo_product *product, const struct demo_terms *terms)
{
	struct buf *articles = &texts->text[DEMO_ARTICLES_CSV];
	struct buf *gammes = &texts->text[DEMO_GAMMES_CSV];

	buf_add(articles, key->text, key->len);
	add_words(articles, product);
	add_codes(articles, product, terms);
	add_prices(articles, product, terms);
	texts->rows[DEMO_ARTICLES_CSV]++;
	if (product->range == '\0')
		return;
	buf_add(gammes, key->text, key->len);
	buf_add_char(gammes, product->range);
	buf_add_char(gammes, '\n');
	texts->rows[DEMO_GAMMES_CSV]++;
}

/* The key and the month of a new line; NULL when the buffer has failed. */
static char *
begin_fact(struct buf *buf, const struct demo_key *key, int m)
{
	char *to = buf_room(buf, ROW_MAX);

	if (to == NULL)
		return NULL;
	memcpy(to, key->text, key->len);
	to = put_month(to + key->len, m);
	*to++ = ',';
	return to;
}

static void
end_fact(struct demo_texts *texts, enum demo_file file, char *to)
{
	struct buf *buf = &texts->text[file];

	*to++ = '\n';
	buf_grown(buf, to - (buf->data + buf->len));
	texts->rows[file]++;
}

static void
write_sales(struct demo_texts *texts, const struct demo_key *key,
    const struct demo_cell *cell, int m, bool by_weight)
{
	char *to = begin_fact(&texts->text[DEMO_SALES_CSV], key, m);

	if (to == NULL)
		return;
	to = put_quantity(to, cell->sold, by_weight);
	*to++ = ',';
	to = put_cents(to, cell->ca);
	*to++ = ',';
	to = put_cents(to, cell->marge);
	end_fact(texts, DEMO_SALES_CSV, to);
}

static void
write_amount(struct demo_texts *texts, enum demo_file file,
    const struct demo_key *key, int64_t amount, int m, bool by_weight)
{
	char *to = begin_fact(&texts->text[file], key, m);

	if (to == NULL)
		return;
	to = put_quantity(to, amount, by_weight);
	end_fact(texts, file, to);
}

static void
write_position(struct demo_texts *texts, const struct demo_key *key,
    const struct demo_position *position, bool by_weight)
{
	struct buf *buf = &texts->text[DEMO_POSITIONS_CSV];
	char *to = buf_room(buf, ROW_MAX);

	if (to == NULL)
		return;
	memcpy(to, key->text, key->len);
	to = put_quantity(to + key->len, position->stock, by_weight);
	*to++ = ',';
	to = put_day(to, position->first_sale);
	*to++ = ',';
	to = put_day(to, position->last_sale);
	*to++ = ',';
	to = put_day(to, position->last_reception);
	end_fact(texts, DEMO_POSITIONS_CSV, to);
}

static void
write_shelf(struct demo_texts *texts, const struct demo_key *key,
    const struct demo_cell cells[DEMO_MONTHS], bool by_weight)
{
	for (int m = 0; m < DEMO_MONTHS; m++) {
		if (cells[m].sold != 0)
			write_sales(texts, key, &cells[m], m, by_weight);
		if (!cells[m].open)
			continue;
		if (cells[m].stock_told)
			write_amount(texts, DEMO_STOCK_CSV, key, cells[m].stock,
			    m, by_weight);
		if (cells[m].received != 0)
			write_amount(texts, DEMO_RECEPTIONS_CSV, key,
			    cells[m].received, m, by_weight);
	}
}

static void
write_network(struct demo_texts *texts, const struct demo_plan *plan,
    const struct demo_product *product)
{
	struct buf *buf = &texts->text[DEMO_NETWORK_CSV];
	bool by_weight = product->kind->by_weight;
	struct demo_network network;
	char *start, *to;

	demo_network_make(&network, plan, product);
	if (!network.known)
		return;
	start = buf_room(buf, ROW_MAX + DEMO_NETWORK_MONTHS * 24);
	if (start == NULL)
		return;
	memcpy(start, "10000", 5);
	to = put_digits(start + 5, product->central, 1);
	*to++ = ',';
	to = put_cents(to, network.ca);
	*to++ = ',';
	to = put_quantity(to, network.quantity, by_weight);
	*to++ = ',';
	to = put_digits(to, network.stores, 1);
	*to++ = ',';
	to = put_parts(to, network.margin, 10000, 4);
	memcpy(to, ",2026-10-31T03:", 15);
	to = put_digits(to + 15, product->id / 1000 % 60, 2);
	memcpy(to, ":00Z", 4);
	to += 4;
	for (int i = 0; i < DEMO_NETWORK_MONTHS; i++) {
		*to++ = ',';
		if (network.months[i] != DEMO_NULL)
			to = put_quantity(to, network.months[i], by_weight);
	}
	*to++ = '\n';
	buf_grown(buf, to - start);
	texts->rows[DEMO_NETWORK_CSV]++;
}

void
demo_write_listing(struct demo_texts *texts, const struct demo_plan *plan,
    const struct demo_listing *listing)
{
	struct demo_cell cells[DEMO_MONTHS];
	struct demo_position position;
	struct demo_product product;
	struct demo_terms terms;
	struct demo_key key, shelf;
	char *to;

	assert(listing->supplier < plan->supplier_count);
	assert(listing->product < plan->product_count);
	demo_product_make(&product, plan, listing->product);
	demo_terms_make(&terms, plan, listing, &product);
	key = make_key(plan, listing, &product);
	write_article(texts, &key, &product, &terms);
	for (uint32_t store = 0; store < plan->store_count; store++) {
		if (!demo_shelf_make(
			cells, plan, listing, &product, &terms, store))
			continue;
		shelf = key;
		to = put_digits(shelf.text + shelf.len, 101 + store, 3);
		*to++ = ',';
		shelf.len = to - shelf.text;
		write_shelf(texts, &shelf, cells, product.kind->by_weight);
		demo_position_make(&position, plan, &product, cells, store);
		write_position(
		    texts, &shelf, &position, product.kind->by_weight);
	}
	/* The network has each product once, however many suppliers list it. */
	if (listing->own)
		write_network(texts, plan, &product);
}
