/* csv_kit: a CSV file of three columns, read and written down for comparison. */
#pragma once

#include <stdbool.h>

#include "common/buf.h"
#include "common/span.h"

extern const char *const csv_kit_columns[3]; /* a, b, c */

/* True for the name of an extra column such as "2026-01". */
bool csv_kit_is_month(struct span name);

/*
 * Reads the file and writes down the results: "line:field|field|...;" for a
 * record, "!place: message;" for a fault, and how it ended.
 */
void csv_kit_read(struct buf *out, const char *name, bool slow, bool months);

/* Reads the file by both parsers, and compares the results with `expected`. */
void csv_kit_check(const char *name, bool months, const char *expected);
