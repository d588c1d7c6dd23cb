/* import_priv: the state of reading one file. For import*.c only. */
#pragma once

#include "lmdb-schema/key.h"
#include "tools/gridctl/csv/csv.h"
#include "tools/gridctl/import/import.h"
#include "tools/gridctl/import/import_fields.h"

#define IMPORT_COLUMNS_MAX 14

struct import_reading {
	struct import *import;
	enum import_file file;
	const char *name; /* the file's own, as faults have it */
	struct import_field field;
	/* Article and store of the line before: most lines repeat them. */
	struct {
		char supplier[SCHEMA_CODE_MAX], codein[SCHEMA_CODE_MAX];
		size_t supplier_len, codein_len; /* 0: none yet */
		uint32_t article;
	} last;
	struct {
		char code[SCHEMA_CODE_MAX];
		size_t len; /* 0: none yet */
		uint16_t store;
	} last_store;
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

/*
 * import_values.c: `line` 0 is for a range of articles.csv. import_end_values()
 * is called behind the last line of network.csv or gammes.csv: ERR_BAD_INPUT
 * when a code comes twice.
 */
enum err import_put_gamme(struct import *import, struct span supplier,
    struct span codein, uint8_t gamme, uint64_t line);
enum err import_put_network(struct import *import, struct span code,
    const struct network *network, uint64_t line);
enum err import_end_values(struct import *import, enum import_file file);

/* The fault of a line that repeats another one, found behind the file's end. */
void import_tell_twice(struct import *import, enum import_file file,
    unsigned column, const char *what, struct span code, uint64_t line);
