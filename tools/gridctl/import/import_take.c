/*
 * import_take: the columns of each CSV file, in a table with one line a file, and
 * for each file the function that takes in a line of it.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/date.h"
#include "common/num.h"
#include "lmdb-schema/pack.h"
#include "tools/gridctl/import/import_priv.h"

/* --- the files, one line each ------------------------------------------- */

static enum err take_supplier(struct import_reading *reading);
static enum err take_store(struct import_reading *reading);
static enum err take_class(struct import_reading *reading);
static enum err take_article(struct import_reading *reading);
static enum err take_sales(struct import_reading *reading);
static enum err take_stock(struct import_reading *reading);
static enum err take_receptions(struct import_reading *reading);
static enum err take_position(struct import_reading *reading);
static enum err take_network(struct import_reading *reading);
static enum err take_gamme(struct import_reading *reading);

const struct import_row import_rows[IMPORT_FILES] = {
    {"suppliers.csv", take_supplier, 2, {"code", "nom"}},
    {"stores.csv", take_store, 2, {"magasin", "nom"}},
    {"nomenclature.csv", take_class, 2, {"code", "libelle"}},
    {"articles.csv", take_article, 14,
	{"fournisseur", "codein", "libelle1", "libelle2", "marque", "gtin",
	    "reference", "codeCentrale", "code3", "pcb", "prixAchat",
	    "prixVente", "tva", "gamme"}},
    {"sales.csv", take_sales, 7,
	{"fournisseur", "codein", "magasin", "mois", "quantite", "ca",
	    "marge"}},
    {"stock.csv", take_stock, 5,
	{"fournisseur", "codein", "magasin", "mois", "stock"}},
    {"receptions.csv", take_receptions, 5,
	{"fournisseur", "codein", "magasin", "mois", "quantite"}},
    {"positions.csv", take_position, 7,
	{"fournisseur", "codein", "magasin", "stock", "premiereVente",
	    "derniereVente", "derniereReception"}},
    {"network.csv", take_network, 6,
	{"codeCentrale", "caReseau", "qteReseau", "nbMagasinsReseau",
	    "margePctReseau", "fetchedAt"}},
    {"gammes.csv", take_gamme, 3, {"fournisseur", "codein", "gamme"}},
};

/* Adds the fault of a line that repeats another one. */
static enum err
twice(struct import_reading *reading, unsigned column, const char *what)
{
	csv_fault(reading->field.csv, column,
	    "comes twice in this file: %s \"%.*s\"", what,
	    SPAN_ARG(reading->field.record->fields[column]));
	return ERR_OK;
}

/* A line to which others may refer cannot be taken in, after a fault. */
static enum err
leave_out(struct import_reading *reading)
{
	reading->import->partial[reading->file] = true;
	return ERR_OK;
}

/* --- suppliers, stores, classification, articles ------------------------ */

static enum err
take_supplier(struct import_reading *reading)
{
	struct span code, name;
	enum err err;

	if (!field_text(&name, &reading->field, 1))
		name = SPAN("");
	if (!field_code(&code, &reading->field, 0))
		return leave_out(reading);
	err = intake_supplier(reading->import->intake, code, name);
	return err == ERR_EXISTS ? twice(reading, 0, "supplier") : err;
}

static enum err
take_store(struct import_reading *reading)
{
	struct span code, name;
	enum err err;

	if (!field_text(&name, &reading->field, 1))
		name = SPAN("");
	if (!field_code(&code, &reading->field, 0))
		return leave_out(reading);
	err = intake_store(reading->import->intake, code, name);
	if (err == ERR_TOO_LARGE) {
		csv_fault(reading->field.csv, 0,
		    "is one store too many: %d "
		    "are the most",
		    SCHEMA_STORES_MAX);
		return leave_out(reading);
	}
	return err == ERR_EXISTS ? twice(reading, 0, "store") : err;
}

static bool
all_digits(struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.ptr[i] < '0' || text.ptr[i] > '9')
			return false;
	return true;
}

static enum err
take_class(struct import_reading *reading)
{
	struct span code = reading->field.record->fields[0], label;
	bool fine = field_text(&label, &reading->field, 1);
	enum err err;

	if ((code.len != 2 && code.len != 4 && code.len != 6) ||
	    !all_digits(code)) {
		csv_fault(reading->field.csv, 0,
		    "is no classification code of 2, 4 or 6 digits: "
		    "\"%.*s\"",
		    SPAN_ARG(code));
		return ERR_OK;
	}
	if (!fine)
		return ERR_OK;
	err = intake_class(reading->import->intake, code, label);
	return err == ERR_EXISTS ? twice(reading, 0, "code") : err;
}

static enum err
take_article(struct import_reading *reading)
{
	const struct import_field *field = &reading->field;
	struct source_article article = {0};
	struct span supplier;
	uint8_t gamme;
	bool has_codes = field_code(&supplier, field, 0), fine = true;
	enum err err;

	has_codes &= field_code(&article.codein, field, 1);
	fine &= field_text(&article.libelle1, field, 2);
	fine &= field_text(&article.libelle2, field, 3);
	fine &= field_text(&article.marque, field, 4);
	fine &= field_text(&article.gtin, field, 5);
	fine &= field_text(&article.reference, field, 6);
	fine &= field_central(&article.code_centrale, field, 7, false);
	fine &= field_code3(&article.code3, field, 8);
	fine &= field_decimal(&article.pcb, field, 9);
	fine &= field_decimal(&article.prix_achat, field, 10);
	fine &= field_decimal(&article.prix_vente, field, 11);
	fine &= field_decimal(&article.tva, field, 12);
	fine &= field_gamme(&gamme, field, 13);
	if (!has_codes)
		return leave_out(reading);
	if (!fine) /* known, so that its facts are looked at */
		article = (struct source_article){.codein = article.codein};
	err = intake_article(
	    reading->import->intake, supplier, &article, field->record->line);
	if (err == ERR_NOT_FOUND) {
		if (!reading->import->partial[IMPORT_SUPPLIERS])
			csv_fault(field->csv, 0,
			    "is a supplier that suppliers.csv does not have: "
			    "\"%.*s\"",
			    SPAN_ARG(supplier));
		return leave_out(reading);
	}
	return err == ERR_OK && fine ? import_put_gamme(reading->import,
					   supplier, article.codein, gamme, 0)
				     : err;
}

/* --- monthly facts ------------------------------------------------------ */

static bool
is_last(const struct import_reading *reading)
{
	const struct span *fields = reading->field.record->fields;

	return reading->last.codein_len > 0 &&
	    span_eq(fields[1],
		span_make(reading->last.codein, reading->last.codein_len)) &&
	    span_eq(fields[0],
		span_make(reading->last.supplier, reading->last.supplier_len));
}

/* Both are codes, which have a greatest length. */
static void
keep_last(struct import_reading *reading, struct span supplier,
    struct span codein, uint32_t article)
{
	memcpy(reading->last.supplier, supplier.ptr, supplier.len);
	memcpy(reading->last.codein, codein.ptr, codein.len);
	reading->last.supplier_len = supplier.len;
	reading->last.codein_len = codein.len;
	reading->last.article = article;
}

/* The article of columns 0 and 1; INTAKE_NONE after a fault. */
static uint32_t
find_article(struct import_reading *reading)
{
	struct span supplier, codein;
	uint32_t article;
	bool fine;

	if (is_last(reading))
		return reading->last.article;
	fine = field_code(&supplier, &reading->field, 0);
	fine &= field_code(&codein, &reading->field, 1);
	if (!fine)
		return INTAKE_NONE;
	article =
	    intake_find_article(reading->import->intake, supplier, codein);
	if (article != INTAKE_NONE) {
		keep_last(reading, supplier, codein, article);
		return article;
	}
	if (intake_failed(reading->import->intake) != ERR_OK ||
	    reading->import->partial[IMPORT_SUPPLIERS] ||
	    reading->import->partial[IMPORT_ARTICLES])
		return INTAKE_NONE; /* writing fails; or that is told there */
	if (!intake_has_supplier(reading->import->intake, supplier))
		csv_fault(reading->field.csv, 0,
		    "is an unknown supplier: \"%.*s\"", SPAN_ARG(supplier));
	else
		csv_fault(reading->field.csv, 1,
		    "is no article of supplier %.*s: \"%.*s\"",
		    SPAN_ARG(supplier), SPAN_ARG(codein));
	return INTAKE_NONE;
}

static bool
find_store(struct import_reading *reading, uint16_t *store)
{
	struct span code = reading->field.record->fields[2];
	uint32_t number;

	if (code.len > 0 &&
	    span_eq(code,
		span_make(reading->last_store.code, reading->last_store.len))) {
		*store = reading->last_store.store;
		return true;
	}
	number = intake_find_store(reading->import->intake, code);
	if (number == INTAKE_NONE && code.len == 0) {
		csv_fault(reading->field.csv, 2, "is empty, but is needed");
		return false;
	}
	if (number == INTAKE_NONE) {
		if (!reading->import->partial[IMPORT_STORES])
			csv_fault(reading->field.csv, 2,
			    "is a store that stores.csv does not have: "
			    "\"%.*s\"",
			    SPAN_ARG(code));
		return false;
	}
	*store = (uint16_t)number;
	memcpy(reading->last_store.code, code.ptr, code.len);
	reading->last_store.len = code.len;
	reading->last_store.store = *store;
	return true;
}

/* Takes a monthly line: article, store, month, then `values` decimals. */
static enum err
take_month(
    struct import_reading *reading, enum series_kind kind, unsigned values)
{
	struct series_record record;
	uint32_t article = find_article(reading);
	bool fine = find_store(reading, &record.store);

	fine &= field_month(&record.month, &reading->field, 3);
	for (unsigned i = 0; i < values; i++)
		fine &= field_decimal(&record.value[i], &reading->field, 4 + i);
	if (article == INTAKE_NONE || !fine)
		return intake_failed(reading->import->intake);
	return intake_put(reading->import->intake, kind, article, &record);
}

static enum err
take_sales(struct import_reading *reading)
{
	return take_month(reading, SERIES_SALES, 3);
}

static enum err
take_stock(struct import_reading *reading)
{
	return take_month(reading, SERIES_STOCK, 1);
}

static enum err
take_receptions(struct import_reading *reading)
{
	return take_month(reading, SERIES_RECEPTIONS, 1);
}

static enum err
take_position(struct import_reading *reading)
{
	struct series_record record = {.month = 0};
	uint32_t article = find_article(reading);
	bool fine = find_store(reading, &record.store);

	fine &=
	    field_decimal(&record.value[POSITION_STOCK], &reading->field, 3);
	for (unsigned i = POSITION_FIRST_SALE; i < SERIES_VALUES_MAX; i++)
		fine &= field_day(&record.value[i], &reading->field, 3 + i);
	if (article == INTAKE_NONE || !fine)
		return intake_failed(reading->import->intake);
	return intake_put(
	    reading->import->intake, SERIES_POSITIONS, article, &record);
}

/* --- live values -------------------------------------------------------- */

bool
import_is_month(struct span name)
{
	int32_t month;

	return date_month_dashed(&month, name);
}

enum err
import_read_months(struct import_reading *reading)
{
	struct csv *csv = reading->field.csv;

	assert(reading->file == IMPORT_NETWORK);
	reading->month_count = csv_extra_count(csv);
	if (reading->month_count > LIVE_MONTHS_MAX) {
		csv_faults_add(&reading->import->faults[reading->file],
		    import_rows[reading->file].name, 1, NULL,
		    "has %u month columns, %d are the most",
		    reading->month_count, LIVE_MONTHS_MAX);
		return ERR_BAD_INPUT;
	}
	for (unsigned i = 0; i < reading->month_count; i++)
		date_month_dashed(&reading->months[i], csv_extra_name(csv, i));
	return ERR_OK;
}

/* Sorts the months, because the columns may be in any order. */
static bool
take_series(struct import_reading *reading, struct network *network)
{
	bool fine = true;

	network->months = 0;
	for (unsigned i = 0; i < reading->month_count; i++) {
		int64_t quantity;
		unsigned at = network->months;

		fine &= field_decimal(&quantity, &reading->field,
		    import_rows[IMPORT_NETWORK].count + i);
		if (quantity == NUM_NULL || !fine)
			continue;
		for (; at > 0 && network->month[at - 1] > reading->months[i];
		     at--) {
			network->month[at] = network->month[at - 1];
			network->month_qte[at] = network->month_qte[at - 1];
		}
		network->month[at] = reading->months[i];
		network->month_qte[at] = quantity;
		network->months++;
	}
	return fine;
}

/* The mean turnover of the stores that sell the product. */
static int64_t
per_store(int64_t ca, int64_t stores)
{
	int64_t mean = NUM_NULL;

	if (ca != NUM_NULL && stores != NUM_NULL)
		mean = num_ratio(ca, (__int128)stores * NUM_MICRO);
	return pack_fits(mean) ? mean : NUM_NULL;
}

static enum err
take_network(struct import_reading *reading)
{
	const struct import_field *field = &reading->field;
	struct network network;
	struct span code;
	bool fine = field_central(&code, field, 0, true);

	fine &= field_decimal(&network.ca, field, 1);
	fine &= field_decimal(&network.qte, field, 2);
	fine &= field_count(&network.stores, field, 3);
	fine &= field_decimal(&network.margin, field, 4);
	fine &= field_instant(&network.fetched_ms, field, 5);
	fine &= take_series(reading, &network);
	if (!fine)
		return ERR_OK;
	network.ca_per_store = per_store(network.ca, network.stores);
	return import_put_network(
	    reading->import, code, &network, field->record->line);
}

/* Without an intake, the current facts have the known codes. */
static enum err
look_up(bool *known, struct import_reading *reading, struct span *supplier,
    struct span *codein)
{
	struct source *source = reading->import->source;
	enum err err = ERR_OK;

	*known = false;
	*supplier = reading->field.record->fields[0];
	*codein = reading->field.record->fields[1];
	if (reading->import->intake != NULL) {
		*known = find_article(reading) != INTAKE_NONE;
		return ERR_OK;
	}
	if (!field_code(supplier, &reading->field, 0) ||
	    !field_code(codein, &reading->field, 1))
		return ERR_OK;
	if (source != NULL)
		err = source_lists(known, source, *supplier, *codein);
	if (err == ERR_OK && !*known)
		csv_fault(reading->field.csv, 1,
		    "is no article of supplier %.*s: \"%.*s\"",
		    SPAN_ARG(*supplier), SPAN_ARG(*codein));
	return err;
}

static enum err
take_gamme(struct import_reading *reading)
{
	struct span supplier, codein;
	uint8_t gamme;
	bool fine = field_gamme(&gamme, &reading->field, 2), known;
	enum err err = look_up(&known, reading, &supplier, &codein);

	if (err != ERR_OK || !fine || !known)
		return err;
	return import_put_gamme(reading->import, supplier, codein, gamme,
	    reading->field.record->line);
}
