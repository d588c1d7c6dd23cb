/* import_priv: the state of reading one file. For import*.c only. */
#pragma once

#include "lmdb-schema/key.h"
#include "tools/gridctl/csv/csv.h"
#include "tools/gridctl/import/import.h"
#include "tools/gridctl/import/import_fields.h"

#define IMPORT_COLUMNS_MAX 14

/* Marks a range that gammes.csv gave, because it may give each only once. */
#define GAMME_GIVEN 0x80

struct import_reading {
	struct import *import;
	enum import_file file;
	const char *name; /* the file's own, as faults have it */
	struct import_field field;
	/* The article of the line before: most lines repeat it. */
	char last[KEY_MAX];
	size_t last_len;
	uint32_t article;
	int32_t months[LIVE_MONTHS_MAX]; /* of network.csv's extra columns */
	unsigned month_count;
};

/* A kind of file: its name, its columns, and the function for its lines. */
struct import_row {
	const char *name;
	enum err (*take)(struct import_reading *reading);
	unsigned count;
	const char *columns[IMPORT_COLUMNS_MAX];
};

extern const struct import_row import_rows[IMPORT_FILES];

/* The extra columns of network.csv, one per month. */
bool import_is_month(struct span name);
enum err import_read_months(struct import_reading *reading);
