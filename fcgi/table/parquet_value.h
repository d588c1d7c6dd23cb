/* parquet_value: a cell's JSON as a plain value of Apache Parquet. */
#pragma once

#include <stdbool.h>

#include "common/buf.h"
#include "common/span.h"
#include "lmdb-schema/row.h"

/* A decimal is a number of so many bytes, in millionths. */
#define PARQUET_DECIMAL_BYTES 16
#define PARQUET_DECIMAL_DIGITS 38
#define PARQUET_DECIMAL_SCALE 6

/*
 * Appends the value, which is not null: a decimal in big-endian two's
 * complement, an integer as i64, a day as i32 days since 1970, a text behind
 * its u32 length. False where the JSON is none of the type, or too large.
 */
bool parquet_value(struct buf *to, enum row_type type, struct span json);
