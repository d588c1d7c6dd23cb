/*
 * csv: strict RFC 4180 files with a header line, record by record.
 *
 * UTF-8, with or without a byte order mark; lines end with LF or CRLF; a field
 * in quotes may hold commas, newlines and doubled quotes. The header names the
 * columns in any order; the fields are handed out in the order of the table
 * that the caller gave. Each error is added to a `struct csv_faults`, and the
 * reading goes on, so that one reading finds all errors: a record with too few
 * fields or a stray quote is skipped; a field that is no text, or whose column
 * the header lacks, is handed out empty, and takes no second fault. Also where
 * another byte separates the fields, which is a fault.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"
#include "tools/gridctl/csv/csv_fault.h"

#define CSV_FIELD_MAX 65536 /* bytes in one field */
#define CSV_COLUMNS_MAX 256
/* A record may have 1 MiB: CSV_LINE_MAX in csv_block.h. */

struct csv; /* one open file */

struct csv_spec {
	const char *const *columns; /* each must be in the header, once */
	unsigned count;
	/*
	 * Accepts further names; NULL: none. Their fields follow the table's,
	 * in the order of the header.
	 */
	bool (*extra)(struct span name);
	/* Parse every record by libcsv, for tests to compare both parsers. */
	bool slow;
};

struct csv_record {
	const struct span *fields; /* valid until the next csv_next() */
	uint64_t line; /* the record's first line; the header is line 1 */
};

/*
 * Opens `path` and reads its header; a file named *.gz or *.zst is unpacked on the way.
 * `name` stands for the file in faults; `name`, the spec and `faults` must stay
 * valid until csv_close().
 *
 *   ERR_NOT_FOUND  no such file, which has been added to the faults
 *   ERR_BAD_INPUT  the header has none of the columns, as the faults say
 *
 * *out is NULL on any failure.
 */
enum err csv_open(struct csv **out, const char *path, const char *name,
    const struct csv_spec *spec, struct csv_faults *faults);

/* NULL is fine. */
void csv_close(struct csv *csv);

/* The number of extra columns, and their names. */
unsigned csv_extra_count(const struct csv *csv);
struct span csv_extra_name(const struct csv *csv, unsigned extra);

/*
 * Reads the next valid record; false at the end or after a failure: csv_end().
 */
bool csv_next(struct csv *csv, struct csv_record *record);

/*
 * Adds a fault to the record that was read last, unless the field has one;
 * `column` counts as in the caller's table.
 */
void csv_fault(struct csv *csv, unsigned column, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether a record was skipped. */
bool csv_has_skipped(const struct csv *csv);

/*
 * The result: ERR_OK, ERR_BAD_INPUT when this file has any fault, or the reason
 * why it could not be read to its end.
 */
enum err csv_end(const struct csv *csv);

/* Bytes read so far and in all (0 when that is not known), for progress. */
uint64_t csv_offset(const struct csv *csv);
uint64_t csv_size(const struct csv *csv);
