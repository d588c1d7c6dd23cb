#include "tools/gridctl/import.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/date.h"
#include "common/fs.h"
#include "common/num.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/row.h"
#include "tools/gridctl/csv.h"
#include "tools/gridctl/import_fields.h"

#define COLUMNS_MAX 14

/* --- the files, one line each ------------------------------------------- */

struct reading {
	struct import *import;
	enum import_file file;
	struct field field;
	/* The article of the line before: most lines repeat it. */
	char last[KEY_MAX];
	size_t last_len;
	uint32_t article;
	int32_t months[LIVE_MONTHS_MAX]; /* of network.csv's extra columns */
	unsigned month_count;
};

static enum err take_supplier(struct reading *reading);
static enum err take_store(struct reading *reading);
static enum err take_class(struct reading *reading);
static enum err take_article(struct reading *reading);
static enum err take_sales(struct reading *reading);
static enum err take_stock(struct reading *reading);
static enum err take_receptions(struct reading *reading);
static enum err take_position(struct reading *reading);
static enum err take_network(struct reading *reading);
static enum err take_gamme(struct reading *reading);
static bool is_month(struct span name);

static const struct file {
	const char *name;
	enum err (*take)(struct reading *reading);
	unsigned count;
	const char *columns[COLUMNS_MAX];
} files[IMPORT_FILES] = {
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

const char *
import_file_name(enum import_file file)
{
	return files[file].name;
}

/* Says that a line repeats another one. */
static enum err
twice(struct reading *reading, unsigned column, const char *what)
{
	csv_fault(reading->field.csv, column,
	    "comes twice in this file: %s \"%.*s\"", what,
	    SPAN_ARG(reading->field.record->fields[column]));
	return ERR_OK;
}

/* --- suppliers, stores, classification, articles ------------------------ */

static enum err
take_supplier(struct reading *reading)
{
	struct span code, name;
	enum err err;

	if (!field_code(&code, &reading->field, 0) ||
	    !field_text(&name, &reading->field, 1))
		return ERR_OK;
	err = intake_supplier(reading->import->intake, code, name);
	return err == ERR_EXISTS ? twice(reading, 0, "supplier") : err;
}

static enum err
take_store(struct reading *reading)
{
	struct span code, name;
	enum err err;

	if (!field_code(&code, &reading->field, 0) ||
	    !field_text(&name, &reading->field, 1))
		return ERR_OK;
	err = intake_store(reading->import->intake, code, name);
	if (err == ERR_TOO_LARGE) {
		csv_fault(reading->field.csv, 0,
		    "is one store too many: %d "
		    "are the most",
		    SCHEMA_STORES_MAX);
		return ERR_OK;
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
take_class(struct reading *reading)
{
	struct span code = reading->field.record->fields[0], label;
	enum err err;

	if ((code.len != 2 && code.len != 4 && code.len != 6) ||
	    !all_digits(code)) {
		csv_fault(reading->field.csv, 0,
		    "is no classification code of 2, 4 or 6 digits: "
		    "\"%.*s\"",
		    SPAN_ARG(code));
		return ERR_OK;
	}
	if (!field_text(&label, &reading->field, 1))
		return ERR_OK;
	err = intake_class(reading->import->intake, code, label);
	return err == ERR_EXISTS ? twice(reading, 0, "code") : err;
}

/* Marks a range that gammes.csv gave: it may give each but once. */
#define GAMME_GIVEN 0x80

/* The later file has the last word; the same file may not repeat itself. */
static enum err
put_gamme(struct import *import, struct span supplier, struct span codein,
    uint8_t gamme)
{
	struct key key = key_pair(supplier, codein);
	uint32_t number;
	enum err err = codemap_add(import->gammes, key_span(&key), &number);

	if (err == ERR_EXISTS && (gamme & GAMME_GIVEN) != 0 &&
	    (import->gamme_values[number] & GAMME_GIVEN) != 0)
		return ERR_EXISTS;
	if (err != ERR_OK && err != ERR_EXISTS)
		return err;
	if (number >= import->gamme_room) {
		uint32_t room = number < 512 ? 1024 : number * 2;
		uint8_t *values = realloc(import->gamme_values, room);

		if (values == NULL)
			return ERR_NO_MEMORY;
		import->gamme_values = values;
		import->gamme_room = room;
	}
	import->gamme_values[number] = gamme;
	return ERR_OK;
}

static enum err
take_article(struct reading *reading)
{
	const struct field *field = &reading->field;
	struct source_article article = {0};
	struct span supplier;
	uint8_t gamme;
	enum err err;

	if (!field_code(&supplier, field, 0) ||
	    !field_code(&article.codein, field, 1) ||
	    !field_text(&article.libelle1, field, 2) ||
	    !field_text(&article.libelle2, field, 3) ||
	    !field_text(&article.marque, field, 4) ||
	    !field_text(&article.gtin, field, 5) ||
	    !field_text(&article.reference, field, 6) ||
	    !field_central(&article.code_centrale, field, 7, false) ||
	    !field_code3(&article.code3, field, 8) ||
	    !field_decimal(&article.pcb, field, 9) ||
	    !field_decimal(&article.prix_achat, field, 10) ||
	    !field_decimal(&article.prix_vente, field, 11) ||
	    !field_decimal(&article.tva, field, 12) ||
	    !field_gamme(&gamme, field, 13))
		return ERR_OK;
	err = intake_article(reading->import->intake, supplier, &article);
	if (err == ERR_NOT_FOUND) {
		csv_fault(field->csv, 0,
		    "is a supplier that suppliers.csv does not have: "
		    "\"%.*s\"",
		    SPAN_ARG(supplier));
		return ERR_OK;
	}
	if (err == ERR_EXISTS)
		return twice(reading, 1, "this supplier's article");
	if (err != ERR_OK)
		return err;
	return put_gamme(reading->import, supplier, article.codein, gamme);
}

/* --- monthly facts ------------------------------------------------------ */

/* The article of columns 0 and 1; INTAKE_NONE after a fault. */
static uint32_t
find_article(struct reading *reading)
{
	struct span supplier, codein;
	struct key key;

	if (!field_code(&supplier, &reading->field, 0) ||
	    !field_code(&codein, &reading->field, 1))
		return INTAKE_NONE;
	key = key_pair(supplier, codein);
	if (span_eq(
		key_span(&key), span_make(reading->last, reading->last_len)))
		return reading->article;
	reading->article =
	    intake_find_article(reading->import->intake, supplier, codein);
	if (reading->article != INTAKE_NONE) {
		memcpy(reading->last, key.bytes, key.len);
		reading->last_len = key.len;
		return reading->article;
	}
	reading->last_len = 0;
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
find_store(struct reading *reading, uint16_t *store)
{
	struct span code = reading->field.record->fields[2];
	uint32_t number = intake_find_store(reading->import->intake, code);

	if (number == INTAKE_NONE) {
		csv_fault(reading->field.csv, 2,
		    "is a store that stores.csv does not have: \"%.*s\"",
		    SPAN_ARG(code));
		return false;
	}
	*store = (uint16_t)number;
	return true;
}

/* A monthly line: article, store, month, then `values` decimals. */
static enum err
take_month(struct reading *reading, enum series_kind kind, unsigned values)
{
	struct series_record record;
	uint32_t article = find_article(reading);

	if (article == INTAKE_NONE || !find_store(reading, &record.store) ||
	    !field_month(&record.month, &reading->field, 3))
		return ERR_OK;
	for (unsigned i = 0; i < values; i++)
		if (!field_decimal(&record.value[i], &reading->field, 4 + i))
			return ERR_OK;
	return intake_put(reading->import->intake, kind, article, &record);
}

static enum err
take_sales(struct reading *reading)
{
	return take_month(reading, SERIES_SALES, 3);
}

static enum err
take_stock(struct reading *reading)
{
	return take_month(reading, SERIES_STOCK, 1);
}

static enum err
take_receptions(struct reading *reading)
{
	return take_month(reading, SERIES_RECEPTIONS, 1);
}

static enum err
take_position(struct reading *reading)
{
	struct series_record record = {.month = 0};
	uint32_t article = find_article(reading);

	if (article == INTAKE_NONE || !find_store(reading, &record.store) ||
	    !field_decimal(&record.value[POSITION_STOCK], &reading->field, 3))
		return ERR_OK;
	for (unsigned i = POSITION_FIRST_SALE; i < SERIES_VALUES_MAX; i++)
		if (!field_day(&record.value[i], &reading->field, 3 + i))
			return ERR_OK;
	return intake_put(
	    reading->import->intake, SERIES_POSITIONS, article, &record);
}

/* --- live values -------------------------------------------------------- */

static bool
is_month(struct span name)
{
	int32_t month;

	return date_month_dashed(&month, name);
}

static enum err
read_months(struct reading *reading)
{
	struct csv *csv = reading->field.csv;

	reading->month_count = csv_extra_count(csv);
	if (reading->month_count > LIVE_MONTHS_MAX) {
		csv_faults_add(&reading->import->faults[reading->file],
		    files[reading->file].name, 1, NULL,
		    "has %u month columns, %d are the most",
		    reading->month_count, LIVE_MONTHS_MAX);
		return ERR_BAD_INPUT;
	}
	for (unsigned i = 0; i < reading->month_count; i++)
		date_month_dashed(&reading->months[i], csv_extra_name(csv, i));
	return ERR_OK;
}

/* The months in order, whatever the order of the columns. */
static bool
take_series(struct reading *reading, struct network *network)
{
	network->months = 0;
	for (unsigned i = 0; i < reading->month_count; i++) {
		int64_t quantity;
		unsigned at = network->months;

		if (!field_decimal(&quantity, &reading->field,
			files[IMPORT_NETWORK].count + i))
			return false;
		if (quantity == NUM_NULL)
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
	return true;
}

static enum err
keep_network(
    struct import *import, uint32_t number, const struct network *network)
{
	size_t start = import->network_bytes.len;

	if (number >= import->network_room) {
		uint32_t room = number < 512 ? 1024 : number * 2;
		struct span *values =
		    reallocarray(import->network_values, room, sizeof(*values));

		if (values == NULL)
			return ERR_NO_MEMORY;
		import->network_values = values;
		import->network_room = room;
	}
	network_write(&import->network_bytes, network);
	import->network_values[number].ptr = (const char *)start;
	import->network_values[number].len = import->network_bytes.len - start;
	return buf_end(&import->network_bytes);
}

/* The mean turnover of the stores that sell it. */
static int64_t
per_store(int64_t ca, int64_t stores)
{
	int64_t mean = NUM_NULL;

	if (ca != NUM_NULL && stores != NUM_NULL)
		mean = num_ratio(ca, (__int128)stores * NUM_MICRO);
	return pack_fits(mean) ? mean : NUM_NULL;
}

static enum err
take_network(struct reading *reading)
{
	const struct field *field = &reading->field;
	struct network network;
	struct span code;
	uint32_t number;
	enum err err;

	if (!field_central(&code, field, 0, true) ||
	    !field_decimal(&network.ca, field, 1) ||
	    !field_decimal(&network.qte, field, 2) ||
	    !field_count(&network.stores, field, 3) ||
	    !field_decimal(&network.margin, field, 4) ||
	    !field_instant(&network.fetched_ms, field, 5) ||
	    !take_series(reading, &network))
		return ERR_OK;
	network.ca_per_store = per_store(network.ca, network.stores);
	err = codemap_add(reading->import->networks, code, &number);
	if (err == ERR_EXISTS)
		return twice(reading, 0, "central code");
	return err == ERR_OK ? keep_network(reading->import, number, &network)
			     : err;
}

/* Without an intake, the facts that are current say what there is. */
static bool
is_known(struct reading *reading, struct span supplier, struct span codein)
{
	struct source *source = reading->import->source;

	if (reading->import->intake != NULL)
		return find_article(reading) != INTAKE_NONE;
	if (source != NULL && source_lists(source, supplier, codein))
		return true;
	csv_fault(reading->field.csv, 1,
	    "is no article of supplier %.*s: \"%.*s\"", SPAN_ARG(supplier),
	    SPAN_ARG(codein));
	return false;
}

static enum err
take_gamme(struct reading *reading)
{
	struct span supplier, codein;
	uint8_t gamme;
	enum err err;

	if (!field_code(&supplier, &reading->field, 0) ||
	    !field_code(&codein, &reading->field, 1) ||
	    !field_gamme(&gamme, &reading->field, 2) ||
	    !is_known(reading, supplier, codein))
		return ERR_OK;
	err = put_gamme(reading->import, supplier, codein, gamme | GAMME_GIVEN);
	return err == ERR_EXISTS ? twice(reading, 1, "this supplier's article")
				 : err;
}

/* --- one file ----------------------------------------------------------- */

enum err
import_init(struct import *import, const char *dir)
{
	memset(import, 0, sizeof(*import));
	import->dir = dir;
	import->networks = codemap_new();
	import->gammes = codemap_new();
	buf_init(&import->network_bytes, (size_t)4 << 30);
	return import->networks == NULL || import->gammes == NULL
	    ? ERR_NO_MEMORY
	    : ERR_OK;
}

void
import_fini(struct import *import)
{
	codemap_free(import->networks);
	codemap_free(import->gammes);
	buf_fini(&import->network_bytes);
	free(import->network_values);
	free(import->gamme_values);
}

static enum err
file_path(
    char path[FS_PATH_MAX], const struct import *import, enum import_file file)
{
	return fs_path(path, "%s/%s", import->dir, files[file].name);
}

bool
import_has(const struct import *import, enum import_file file)
{
	char path[FS_PATH_MAX];

	return file_path(path, import, file) == ERR_OK &&
	    access(path, F_OK) == 0;
}

uint64_t
import_file_bytes(const struct import *import, enum import_file file)
{
	char path[FS_PATH_MAX];
	uint64_t bytes = 0, on_disk;

	if (file_path(path, import, file) == ERR_OK)
		fs_size(path, &bytes, &on_disk);
	return bytes;
}

/* A file that could not be read to its end has a fault, too. */
static enum err
end_reading(struct reading *reading)
{
	enum err err = csv_end(reading->field.csv);

	if (err == ERR_OK || err == ERR_BAD_INPUT)
		return err;
	csv_faults_add(&reading->import->faults[reading->file],
	    files[reading->file].name, 0, NULL, "cannot be read: %s",
	    err_text(err));
	return ERR_BAD_INPUT;
}

static enum err
read_records(struct reading *reading)
{
	struct import *import = reading->import;
	struct csv *csv = reading->field.csv;
	struct csv_record record;
	uint64_t told = 0;
	enum err err = ERR_OK;

	reading->field.record = &record;
	while (err == ERR_OK && csv_next(csv, &record)) {
		err = files[reading->file].take(reading);
		if (++import->records[reading->file] % 4096 == 0) {
			import->bytes_done += csv_offset(csv) - told;
			import->lines_done += 4096;
			told = csv_offset(csv);
		}
	}
	import->bytes_done += csv_offset(csv) - told;
	return err == ERR_OK ? end_reading(reading) : err;
}

static enum series_kind
kind_of(enum import_file file)
{
	switch (file) {
	case IMPORT_SALES:
		return SERIES_SALES;
	case IMPORT_STOCK:
		return SERIES_STOCK;
	case IMPORT_RECEPTIONS:
		return SERIES_RECEPTIONS;
	case IMPORT_POSITIONS:
		return SERIES_POSITIONS;
	default:
		return SERIES_KINDS;
	}
}

enum err
import_read_path(struct import *import, enum import_file file, const char *path)
{
	struct csv_spec spec = {.columns = files[file].columns,
	    .count = files[file].count,
	    .extra = file == IMPORT_NETWORK ? is_month : NULL};
	struct reading reading = {.import = import, .file = file};
	const char *name = strrchr(path, '/');
	enum err err;

	import->there[file] = true;
	err = csv_open(&reading.field.csv, path, name == NULL ? path : name + 1,
	    &spec, &import->faults[file]);
	if (err == ERR_SYSTEM && import->faults[file].count == 0)
		csv_faults_add(&import->faults[file], files[file].name, 0, NULL,
		    "cannot be read: %s", err_text(err));
	if (err == ERR_OK && file == IMPORT_NETWORK)
		err = read_months(&reading);
	if (err == ERR_OK)
		err = read_records(&reading);
	csv_close(reading.field.csv);
	return err;
}

enum err
import_read(struct import *import, enum import_file file)
{
	enum series_kind kind = kind_of(file);
	char path[FS_PATH_MAX];
	enum err err = file_path(path, import, file);

	if (err == ERR_OK && import_has(import, file))
		err = import_read_path(import, file, path);
	if (err == ERR_OK && kind != SERIES_KINDS)
		err = intake_end_series(import->intake, kind);
	return err;
}

/* --- handing over ------------------------------------------------------- */

enum err
import_live(struct import *import, struct live_change *change)
{
	enum err err = ERR_OK;

	for (uint32_t i = 0;
	     i < codemap_count(import->networks) && err == ERR_OK; i++) {
		struct span value = import->network_values[i];
		struct network network;

		value.ptr = import->network_bytes.data + (uintptr_t)value.ptr;
		err = network_read(&network, value);
		if (err == ERR_OK)
			err = live_put_network(change,
			    codemap_code(import->networks, i), &network);
	}
	for (uint32_t i = 0; i < codemap_count(import->gammes) && err == ERR_OK;
	     i++) {
		struct span code = codemap_code(import->gammes, i);

		uint8_t gamme = import->gamme_values[i];

		err = live_put_gamme(change, key_first(code), key_second(code),
		    gamme & (uint8_t)~GAMME_GIVEN);
	}
	return err;
}

static bool
is_the_same(const struct csv_record *record, const struct intake_twice *twice,
    bool monthly)
{
	int32_t month;

	return span_eq(record->fields[0], twice->supplier) &&
	    span_eq(record->fields[1], twice->codein) &&
	    span_eq(record->fields[2], twice->store) &&
	    (!monthly ||
		(date_month(&month, record->fields[3]) &&
		    month == twice->month));
}

enum err
import_find_twice(struct import *import, const struct intake_twice *twice)
{
	static const enum import_file of[SERIES_KINDS] = {
	    IMPORT_POSITIONS, IMPORT_SALES, IMPORT_STOCK, IMPORT_RECEPTIONS};
	enum import_file file = of[twice->kind];
	struct csv_faults *faults = &import->faults[file];
	struct csv_spec spec = {
	    .columns = files[file].columns, .count = files[file].count};
	struct csv_record record;
	struct csv *csv;
	char path[FS_PATH_MAX];
	uint64_t first = 0;
	enum err err = file_path(path, import, file);

	if (err == ERR_OK)
		err = csv_open(&csv, path, files[file].name, &spec, faults);
	if (err != ERR_OK)
		return err;
	while (csv_next(csv, &record)) {
		if (!is_the_same(
			&record, twice, twice->kind != SERIES_POSITIONS))
			continue;
		if (first == 0)
			first = record.line;
		else
			csv_fault(csv, 2,
			    "comes twice for article %.*s of supplier "
			    "%.*s%s: line %llu has it too",
			    SPAN_ARG(twice->codein), SPAN_ARG(twice->supplier),
			    twice->kind == SERIES_POSITIONS ? ""
							    : " and this "
							      "month",
			    (unsigned long long)first);
	}
	csv_close(csv);
	return ERR_BAD_INPUT;
}

uint64_t
import_print_faults(const struct import *import)
{
	struct csv_faults all = {0};

	for (unsigned i = 0; i < IMPORT_FILES; i++)
		csv_faults_join(&all, &import->faults[i]);
	csv_faults_print(&all, stderr);
	return all.count;
}
