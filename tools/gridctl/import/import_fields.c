#include "tools/gridctl/import/import_fields.h"

#include <assert.h>

#include "common/date.h"
#include "common/num.h"
#include "lmdb-schema/facts/live.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/row.h"
#include "lmdb-schema/schema.h"

static struct span
text_of(const struct import_field *field, unsigned column)
{
	assert(column < CSV_COLUMNS_MAX);
	return field->record->fields[column];
}

/* Every fault quotes the field, cut to a readable length. */
static bool
refuse(const struct import_field *field, unsigned column, const char *what)
{
	struct span text = text_of(field, column);
	int len = text.len > 60 ? 60 : (int)text.len;

	csv_fault(field->csv, column, "%s: \"%.*s%s\"", what, len, text.ptr,
	    text.len > 60 ? "..." : "");
	return false;
}

static bool
missing(const struct import_field *field, unsigned column)
{
	csv_fault(field->csv, column, "is empty, but is needed");
	return false;
}

bool
field_code(struct span *out, const struct import_field *field, unsigned column)
{
	assert(out != NULL);
	*out = text_of(field, column);
	if (out->len == 0)
		return missing(field, column);
	if (!key_code_ok(*out))
		return refuse(field, column,
		    "is no code (1 to 64 bytes, no control character)");
	return true;
}

bool
field_text(struct span *out, const struct import_field *field, unsigned column)
{
	assert(out != NULL);
	*out = text_of(field, column);
	if (out->len > SCHEMA_TEXT_MAX)
		return refuse(field, column, "is longer than 1024 bytes");
	for (size_t i = 0; i < out->len; i++) {
		unsigned char byte = (unsigned char)out->ptr[i];

		if ((byte < 0x20 && byte != '\n' && byte != '\t' &&
			byte != '\r') ||
		    byte == 0x7f)
			return refuse(field, column, "has a control character");
	}
	return true;
}

/*
 * A number that only its size makes invalid: with the whole part cut to its
 * last digit, the rest is a valid number.
 */
static bool
is_too_large(struct span text)
{
	size_t first = text.len > 0 && text.ptr[0] == '-';
	size_t end = first;
	int64_t rest;

	while (end < text.len && text.ptr[end] >= '0' && text.ptr[end] <= '9')
		end++;
	return end > first && num_decimal(&rest, span_from(text, end - 1));
}

/* "12,5": a number but for its comma. */
static bool
has_comma(struct span text)
{
	size_t at = span_find(text, ',');
	int64_t whole, rest;

	return at > 0 && at + 1 < text.len &&
	    num_decimal(&whole, span_sub(text, 0, at)) &&
	    num_int(&rest, span_from(text, at + 1), 0, 999999999);
}

bool
field_decimal(int64_t *out, const struct import_field *field, unsigned column)
{
	struct span text = text_of(field, column);
	bool is_read;

	assert(out != NULL);
	*out = NUM_NULL;
	if (text.len == 0)
		return true;
	is_read = num_decimal(out, text);
	if (!is_read && has_comma(text))
		return refuse(field, column,
		    "has a comma before its decimals, where a point is "
		    "needed");
	if (!is_read && !is_too_large(text))
		return refuse(field, column,
		    "is not a number (digits, a point before at most six "
		    "decimals)");
	if (!is_read || !pack_fits(*out))
		return refuse(field, column,
		    "is too large a number (576460752303 is the most)");
	return true;
}

bool
field_count(int64_t *out, const struct import_field *field, unsigned column)
{
	assert(out != NULL);
	*out = NUM_NULL;
	if (text_of(field, column).len == 0)
		return true;
	if (!num_int(out, text_of(field, column), 0, 1000000000))
		return refuse(field, column, "is not a whole number");
	return true;
}

bool
field_month(int32_t *out, const struct import_field *field, unsigned column)
{
	assert(out != NULL);
	if (!date_month(out, text_of(field, column)))
		return refuse(
		    field, column, "is not a month like 202501 (YYYYMM)");
	if (*out < SCHEMA_MONTH_MIN || *out > SCHEMA_MONTH_MAX)
		return refuse(
		    field, column, "is not a month of 199001 to 210012");
	return true;
}

bool
field_day(int64_t *out, const struct import_field *field, unsigned column)
{
	struct span text = text_of(field, column);
	int32_t day;

	assert(out != NULL);
	*out = DATE_NULL;
	if (text.len == 0)
		return true;
	if (!date_day(&day, text))
		return refuse(field, column,
		    "is not a date like 2025-12-31 (YYYY-MM-DD)");
	*out = day;
	return true;
}

bool
field_instant(int64_t *out, const struct import_field *field, unsigned column)
{
	struct span text = text_of(field, column);
	int32_t day;

	assert(out != NULL);
	*out = -1;
	if (text.len == 0)
		return true;
	if (date_day(&day, text))
		*out = (int64_t)day * 86400000;
	else if (!date_instant(out, text))
		return refuse(field, column,
		    "is not an instant like 2025-12-31T08:30:00Z");
	if (*out < 0)
		return refuse(field, column, "lies before 1970");
	return true;
}

bool
field_gamme(uint8_t *out, const struct import_field *field, unsigned column)
{
	assert(out != NULL);
	*out = row_gamme(text_of(field, column));
	if (*out == ROW_GAMME_BAD)
		return refuse(
		    field, column, "is no range code (A, B, C, Y, Z or empty)");
	return true;
}

bool
field_code3(uint32_t *out, const struct import_field *field, unsigned column)
{
	struct span text = text_of(field, column);
	uint32_t code = 0;

	assert(out != NULL);
	*out = UINT32_MAX;
	if (text.len == 0)
		return true;
	for (size_t i = 0; i < text.len && text.len == 6; i++) {
		if (text.ptr[i] < '0' || text.ptr[i] > '9')
			break;
		code = code * 10 + (uint32_t)(text.ptr[i] - '0');
		if (i == 5) {
			*out = code;
			return true;
		}
	}
	return refuse(field, column, "is no classification code of 6 digits");
}

bool
field_central(struct span *out, const struct import_field *field,
    unsigned column, bool needed)
{
	assert(out != NULL);
	*out = text_of(field, column);
	if (out->len == 0)
		return needed ? missing(field, column) : true;
	if (!network_code_ok(*out))
		return refuse(field, column,
		    "is no central code (10000 followed by digits)");
	return true;
}
