/*
 * csv_write: fields of CSV files as csv.h reads them.
 */
#pragma once

#include "common/buf.h"

/* In quotes where it must be; no line breaks are in what we store. */
void csv_write_field(struct buf *buf, struct span text);
