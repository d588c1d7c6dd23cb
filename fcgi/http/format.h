/*
 * format: the formats that answers with rows have. One table, which the
 * parameter `format`, the negotiation by Accept, the refusal of others and the
 * interface description read.
 */
#pragma once

#include <stdbool.h>

#include "common/span.h"

enum format {
	FORMAT_JSON,
	FORMAT_NDJSON,
	FORMAT_CSV,
	FORMAT_CSV_FR,
	FORMAT_TSV,
	FORMAT_XLSX,
	FORMAT_PARQUET,
	FORMATS,
	FORMAT_OMITTED /* in parameters: Accept decides */
};

struct format_info {
	struct span name; /* in the address */
	struct span type; /* in Accept; of several formats, the first has it */
	const char *content; /* Content-Type */
	const char *suffix; /* of file names */
	bool flat; /* a row is cells, not an object */
	bool dense; /* hardly smaller packed */
	const char *meaning;
};

extern const struct format_info format_infos[FORMATS];

/* FORMATS when there is none of that name. */
enum format format_find(struct span name);

/* The one that Accept weighs most; JSON when it names none. */
enum format format_accepted(struct span accept);

/* The form of the maps by month where a row is cells. */
enum format_months {
	MONTHS_JSON, /* a map is one cell of JSON */
	MONTHS_COLUMNS, /* a column for each month, or store and month */
	MONTHS_LINES /* a line for each month, or store and month */
};

#define FORMAT_COLUMNS_NAME "colonnes"
#define FORMAT_LINES_NAME "lignes"
