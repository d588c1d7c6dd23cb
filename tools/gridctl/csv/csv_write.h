/*
 * csv_write: fields of CSV files as csv.h reads them.
 */
#pragma once

#include "common/buf.h"

/* Writes a field, in quotes where needed; stored values have no line breaks. */
void csv_write_field(struct buf *buf, struct span text);
