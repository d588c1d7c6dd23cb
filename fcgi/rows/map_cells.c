/*
 * A large supplier has millions of figures, so each byte is looked at once,
 * eight at a time: a member is six digits of the month, '":', and a number.
 * Stores and months stand in the same order in each row: the next one of both
 * is compared first. Digits are counted and converted without a branch, since
 * no processor can guess how many the next number has.
 */
#include "fcgi/rows/map_cells.h"

#include <stdlib.h>
#include <string.h>

#include "common/date.h"
#include "common/jsonw.h"
#include "common/word8.h"

#define MEMBER_LEN 8 /* 202501": */
#define DECIMALS 6
/* A member, its units and its decimals, each read as eight bytes. */
#define AHEAD 32

enum err
map_cells_init(
    struct map_cells *reader, struct snapshot *snap, enum snap_measure measure)
{
	static const unsigned maps[] = {
	    COL_sales12mByStore, COL_stock12mByStore, COL_receptions12mByStore};
	int32_t first = snapshot_head(snap)->last_month - (SCHEMA_MONTHS - 1);

	memset(reader, 0, sizeof(*reader));
	reader->snap = snap;
	reader->column = maps[measure];
	buf_init(&reader->code, 1024);
	for (int32_t i = 0; i < SCHEMA_MONTHS; i++) {
		char text[DATE_TEXT_MAX + 2];
		size_t len = date_month_text(text, first + i);

		if (len + 2 != MEMBER_LEN)
			return ERR_DAMAGED;
		memcpy(text + len, "\":", 2);
		memcpy(&reader->months[i], text, MEMBER_LEN);
	}
	if (!snapshot_stores(snap, &reader->stores))
		return ERR_DAMAGED;
	reader->count = reader->stores.count * SCHEMA_MONTHS;
	reader->cells = malloc((reader->count + 1) * sizeof(*reader->cells));
	return reader->cells == NULL ? ERR_NO_MEMORY : ERR_OK;
}

void
map_cells_fini(struct map_cells *reader)
{
	buf_fini(&reader->code);
	free(reader->cells);
}

/* --- a store's months ----------------------------------------------------- */

/*
 * How many digits the bytes begin with, 8 at most: bytes that are no digits
 * get their high bit by the sum, and a carry alters later bytes only.
 */
static inline unsigned
count_digits(uint64_t bytes)
{
	uint64_t low = bytes ^ WORD8_EACH(0x30);
	uint64_t other = ((low + WORD8_EACH(0x76)) | low) & WORD8_EACH(0x80);

	return other == 0 ? 8 : (unsigned)__builtin_ctzll(other) / 8;
}

/* The number of the first 1 to 8 bytes, which are digits. */
static inline int64_t
digits_value(uint64_t bytes, unsigned count)
{
	uint64_t low = (bytes ^ WORD8_EACH(0x30)) << (64 - 8 * count);

	low = low * 10 + (low >> 8);
	return (int64_t)(((low & UINT64_C(0x000000FF000000FF)) *
				 UINT64_C(0x000F424000000064) +
			     (low >> 16 & UINT64_C(0x000000FF000000FF)) *
				 UINT64_C(0x0000271000000001)) >>
	    32);
}

/* Any number, up to what follows it. */
static const char *
take_other_number(int64_t *out, const char *at, const char *end)
{
	const char *start = at;

	while (at < end && *at != ',' && *at != '}')
		at++;
	return num_decimal(out, span_make(start, (size_t)(at - start))) ? at
									: NULL;
}

/* The text behind the number; NULL when no number is there. */
static inline const char *
take_number(int64_t *out, const char *at, const char *end)
{
	static const int64_t scales[] = {
	    0, 100000, 10000, 1000, 100, 10, 1, 0, 0};
	const char *start = at;
	uint64_t bytes;
	unsigned count;
	int64_t value;

	if (end - at < AHEAD)
		return take_other_number(out, at, end);
	bytes = word8_load(at);
	count = count_digits(bytes);
	if (count == 0 || count == 8)
		return take_other_number(out, start, end);
	value = digits_value(bytes, count) * NUM_MICRO;
	at += count;
	if (*at == '.') {
		bytes = word8_load(++at);
		count = count_digits(bytes);
		if (scales[count] == 0)
			return take_other_number(out, start, end);
		value += digits_value(bytes, count) * scales[count];
		at += count;
	}
	*out = value;
	return at;
}

/* The brace behind the months; NULL: they are damaged. */
static const char *
take_months(const struct map_cells *reader, int64_t *cells, const char *at,
    const char *end)
{
	unsigned month = 0;

	while (end - at > MEMBER_LEN && *at == '"') {
		uint64_t member = word8_load(at + 1);

		while (month < SCHEMA_MONTHS && member != reader->months[month])
			month++;
		if (month == SCHEMA_MONTHS)
			return NULL;
		at = take_number(&cells[month++], at + 1 + MEMBER_LEN, end);
		if (at == NULL || at >= end)
			return NULL;
		at += *at == ',';
	}
	return at < end && *at == '}' ? at : NULL;
}

/* --- stores --------------------------------------------------------------- */

/* A code that is not the expected one, up to its quote. */
static int
find_store(struct map_cells *reader, const char **at, const char *end)
{
	const char *start = *at;

	while (*at < end && **at != '"')
		*at += **at == '\\' ? 2 : 1;
	if (*at >= end)
		return -1;
	buf_clear(&reader->code);
	jsonw_unquote(
	    &reader->code, span_make(start - 1, (size_t)(*at - start) + 2));
	return snapshot_store_find(&reader->stores, buf_span(&reader->code));
}

static int
take_store(struct map_cells *reader, unsigned expected, const char **at,
    const char *end)
{
	if (expected < reader->stores.count) {
		struct span code =
		    snapshot_store_code(&reader->stores, expected);

		if (code.len < (size_t)(end - *at) && (*at)[code.len] == '"' &&
		    memcmp(*at, code.ptr, code.len) == 0) {
			*at += code.len;
			return (int)expected;
		}
	}
	return find_store(reader, at, end);
}

static enum err
read_map(struct map_cells *reader, const char *at, const char *end)
{
	unsigned expected = 0;

	if (at == end || *at++ != '{')
		return ERR_DAMAGED;
	while (at < end && *at == '"') {
		int store;

		at++;
		store = take_store(reader, expected, &at, end);
		if (store < 0 || end - at < 4 || memcmp(at, "\":{", 3) != 0)
			return ERR_DAMAGED;
		at = take_months(reader,
		    reader->cells + (unsigned)store * SCHEMA_MONTHS, at + 3,
		    end);
		if (at == NULL || ++at == end)
			return ERR_DAMAGED;
		at += *at == ',';
		expected = (unsigned)store + 1;
	}
	return end - at == 1 && *at == '}' ? ERR_OK : ERR_DAMAGED;
}

enum err
map_cells_read(struct map_cells *reader, uint32_t row)
{
	struct span map = snapshot_value(reader->snap, row, reader->column);

	for (unsigned i = 0; i < reader->count; i++)
		reader->cells[i] = NUM_NULL;
	return read_map(reader, map.ptr, map.ptr + map.len);
}
