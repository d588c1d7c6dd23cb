/*
 * csv_quoted: one record with quotes in it, which may go over several lines.
 * The door to libcsv.
 */
#pragma once

#include <stdbool.h>

#include "common/span.h"

struct csv_quoted;

enum csv_quoted_state {
	CSV_QUOTED_MORE, /* a field in quotes goes on in the next line */
	CSV_QUOTED_DONE,
	CSV_QUOTED_STRAY, /* a quote stands where none may be */
	CSV_QUOTED_RETURN, /* so does a carriage return */
	CSV_QUOTED_OPEN, /* the file ends in the middle of a field */
	CSV_QUOTED_FAILED /* no memory */
};

/* NULL: no memory. */
struct csv_quoted *csv_quoted_new(void);
void csv_quoted_free(struct csv_quoted *quoted);

/* A new record; the fields of the last one are gone. */
void csv_quoted_begin(struct csv_quoted *quoted);

/* Its next line, without the newline; `ends`: there was one. */
enum csv_quoted_state csv_quoted_line(
    struct csv_quoted *quoted, struct span line, bool ends);

/* Fields so far; those beyond CSV_COLUMNS_MAX are counted, and not kept. */
unsigned csv_quoted_count(const struct csv_quoted *quoted);

/* Valid until csv_quoted_begin(). */
struct span csv_quoted_field(const struct csv_quoted *quoted, unsigned i);
