#include "fcgi/table/parquet_value.h"

#include "common/date.h"
#include "common/jsonw.h"

/* "-12.5" in millionths, and a whole number as it is; beyond 38 digits: no. */
static bool
read_number(__int128 *out, struct span text, unsigned decimals)
{
	bool minus = text.len > 0 && text.ptr[0] == '-', point = false;
	unsigned digits = 0, behind = 0;
	__int128 value = 0;

	for (size_t i = minus; i < text.len; i++) {
		if (text.ptr[i] == '.' && !point) {
			point = true;
			continue;
		}
		if (text.ptr[i] < '0' || text.ptr[i] > '9' ||
		    digits++ == PARQUET_DECIMAL_DIGITS - PARQUET_DECIMAL_SCALE)
			return false;
		value = value * 10 + (text.ptr[i] - '0');
		behind += point;
	}
	if (digits == 0 || behind > decimals)
		return false;
	for (; behind < decimals; behind++)
		value *= 10;
	*out = minus ? -value : value;
	return true;
}

/* Two's complement, the most significant byte first. */
static bool
add_decimal(struct buf *to, struct span json)
{
	unsigned char bytes[PARQUET_DECIMAL_BYTES];
	__int128 value;

	if (!read_number(&value, json, PARQUET_DECIMAL_SCALE))
		return false;
	for (unsigned i = PARQUET_DECIMAL_BYTES; i-- > 0; value >>= 8)
		bytes[i] = (unsigned char)value;
	buf_add(to, bytes, sizeof(bytes));
	return true;
}

static bool
add_integer(struct buf *to, struct span json)
{
	__int128 value;

	if (!read_number(&value, json, 0) || value > INT64_MAX ||
	    value < INT64_MIN)
		return false;
	buf_add_u64(to, (uint64_t)value);
	return true;
}

static bool
add_day(struct buf *to, struct span json)
{
	int32_t day;

	if (!date_day(&day, jsonw_inside(json)))
		return false;
	buf_add_u32(to, (uint32_t)day);
	return true;
}

/* The length first, which of an escaped text is known behind it. */
static bool
add_text(struct buf *to, struct span json)
{
	size_t start = to->len;
	uint32_t len;

	buf_add_u32(to, (uint32_t)json.len);
	if (json.ptr[0] != '"') {
		buf_add_span(to, json);
		return true;
	}
	jsonw_unquote(to, json);
	if (buf_end(to) != ERR_OK)
		return true; /* the buffer keeps the failure */
	len = (uint32_t)(to->len - start - 4);
	for (unsigned i = 0; i < 4; i++)
		to->data[start + i] = (char)(len >> 8 * i);
	return true;
}

bool
parquet_value(struct buf *to, enum row_type type, struct span json)
{
	switch (type) {
	case ROW_DECIMAL:
		return add_decimal(to, json);
	case ROW_INTEGER:
		return add_integer(to, json);
	case ROW_DATE:
		return add_day(to, json);
	default:
		return add_text(to, json);
	}
}
