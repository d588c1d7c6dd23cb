/*
 * import_fields: converts a CSV field to a typed value, or adds a fault that
 * says what is wrong with it. Each returns false after a fault.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tools/gridctl/csv/csv.h"

struct import_field {
	struct csv *csv;
	const struct csv_record *record;
};

/* A code: 1 to SCHEMA_CODE_MAX bytes, no control character. */
bool field_code(
    struct span *out, const struct import_field *field, unsigned column);

/* Text, possibly empty: at most SCHEMA_TEXT_MAX bytes. */
bool field_text(
    struct span *out, const struct import_field *field, unsigned column);

/* A decimal; empty is NUM_NULL. */
bool field_decimal(
    int64_t *out, const struct import_field *field, unsigned column);

/* A whole number, not below 0; empty is NUM_NULL. */
bool field_count(
    int64_t *out, const struct import_field *field, unsigned column);

/* YYYYMM; must not be empty. */
bool field_month(
    int32_t *out, const struct import_field *field, unsigned column);

/* YYYY-MM-DD; empty is DATE_NULL. */
bool field_day(int64_t *out, const struct import_field *field, unsigned column);

/* A date or an instant; empty is -1. */
bool field_instant(
    int64_t *out, const struct import_field *field, unsigned column);

/* A, B, C, Y, Z or empty. */
bool field_gamme(
    uint8_t *out, const struct import_field *field, unsigned column);

/* Six digits, or empty: UINT32_MAX. */
bool field_code3(
    uint32_t *out, const struct import_field *field, unsigned column);

/* 10000 followed by digits; may be empty unless `needed`. */
bool field_central(struct span *out, const struct import_field *field,
    unsigned column, bool needed);
