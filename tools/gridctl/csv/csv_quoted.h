/*
 * csv_quoted: a record with quotes, which may span several lines. The door to
 * libcsv.
 */
#pragma once

#include <stdbool.h>

#include "common/span.h"

struct csv_quoted;

enum csv_quoted_state {
	CSV_QUOTED_MORE, /* a field in quotes goes on in the next line */
	CSV_QUOTED_DONE,
	CSV_QUOTED_STRAY, /* a quote in a wrong place */
	CSV_QUOTED_RETURN, /* a carriage return in a wrong place */
	CSV_QUOTED_OPEN, /* the file ends in the middle of a field */
	CSV_QUOTED_FAILED /* no memory */
};

/* NULL: no memory. */
struct csv_quoted *csv_quoted_new(void);
void csv_quoted_free(struct csv_quoted *quoted);

/* Fields end at `separator`, which is a comma at first. */
void csv_quoted_separate(struct csv_quoted *quoted, char separator);

/* Begins a record; drops the fields of the last one. */
void csv_quoted_begin(struct csv_quoted *quoted);

/*
 * Adds the record's next line, without the newline; `ends`: there was a
 * newline.
 */
enum csv_quoted_state csv_quoted_line(
    struct csv_quoted *quoted, struct span line, bool ends);

/*
 * The number of fields so far; fields beyond CSV_COLUMNS_MAX are counted, but
 * not kept.
 */
unsigned csv_quoted_count(const struct csv_quoted *quoted);

/* Valid until csv_quoted_begin(). */
struct span csv_quoted_field(const struct csv_quoted *quoted, unsigned i);
