/* csv_priv: an open file; shared by csv.c and csv_header.c only. */
#pragma once

#include <stddef.h>

#include "tools/gridctl/csv/csv.h"
#include "tools/gridctl/csv/csv_block.h"

struct arena;
struct csv_quoted;

struct csv {
	const struct csv_spec *spec;
	struct csv_faults *faults;
	const char *name;
	struct csv_block block;
	enum err err;
	bool refused; /* a fault was found in this file */

	uint64_t line; /* where the record begins */
	size_t len; /* bytes of the record in the block */
	unsigned count; /* fields found in it */
	bool has_nul, has_high; /* may hold NUL, may hold non-ASCII */
	struct span fields[CSV_COLUMNS_MAX + 1];
	bool skipped; /* a record was */

	/*
	 * The header: place[i] is where the file's field i goes, the last place
	 * that of columns nobody knows.
	 */
	unsigned columns, extras;
	unsigned short place[CSV_COLUMNS_MAX];
	struct span names[CSV_COLUMNS_MAX]; /* by place */
	const char *titles[CSV_COLUMNS_MAX]; /* as they stand in the file */
	struct arena *arena;

	struct csv_quoted *quoted;
	char separator; /* a comma, or the fault that another one is */
};

#define CSV_UNKNOWN CSV_COLUMNS_MAX /* a place */

/* A field of which a fault was told: of no length, here. */
extern const char csv_lost[];

/* The name of the file's field `i`, for a message. */
const char *csv_column_name(const struct csv *csv, unsigned i);

/* Adds a fault to the record at csv->line. */
#define csv_refuse(csv, i, ...) \
	do { \
		(csv)->refused = true; \
		csv_faults_add((csv)->faults, (csv)->name, (csv)->line, \
		    csv_column_name((csv), (i)), __VA_ARGS__); \
	} while (0)

/* Reads a record by either parser; false when it was refused and skipped. */
bool csv_cut_record(struct csv *csv);

/* False after a fault: a field that is too long, or has a NUL or no UTF-8. */
bool csv_all_sound(struct csv *csv);

/* A packed file that cannot be unpacked gets one fault of its own. */
void csv_tell_packed(struct csv *csv);

/* Reads the header and gives each column its place. */
enum err csv_read_header(struct csv *csv);
