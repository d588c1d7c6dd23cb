#include "lmdb-schema/row.h"

#include <assert.h>

#define TEXT ROW_TEXT
#define GAMME ROW_GAMME
#define DECIMAL ROW_DECIMAL
#define INTEGER ROW_INTEGER
#define DATE ROW_DATE
#define OBJECT ROW_OBJECT
#define FLAT ROW_FLAT
#define MAPS ROW_MAPS
#define SEARCH ROW_SEARCH
#define LIVE ROW_LIVE
#define STATE ROW_STATE
#define NEVER_NULL ROW_NEVER_NULL

const struct row_info row_info[ROW_COLUMNS] = {
#define COLUMN(name, type, part, flags, fr, en, meaning, unit) \
	{{#name, sizeof(#name) - 1}, type, part, flags, fr, en, meaning, unit},
#include "lmdb-schema/row.def"
#undef COLUMN
};

int
row_column(struct span name)
{
	for (int i = 0; i < ROW_COLUMNS; i++)
		if (span_eq(row_info[i].name, name))
			return i;
	return -1;
}

int
row_number_index(unsigned column)
{
	int index = 0;

	assert(column < ROW_COLUMNS);
	if (!row_is_number(column))
		return -1;
	for (unsigned i = 0; i < column; i++)
		index += row_is_number(i);
	return index;
}

unsigned
row_numbers(void)
{
	unsigned count = 0;

	for (unsigned i = 0; i < ROW_COLUMNS; i++)
		count += row_is_number(i);
	return count;
}

/* The letters of the range codes, by number. */
static const char letters[] = "-ABCYZ";

uint8_t
row_gamme(struct span text)
{
	if (text.len == 0)
		return ROW_GAMME_NONE;
	for (uint8_t i = 1; i <= ROW_GAMMES; i++)
		if (text.len == 1 && text.ptr[0] == letters[i])
			return i;
	return ROW_GAMME_BAD;
}

struct span
row_gamme_text(uint8_t gamme)
{
	if (gamme == ROW_GAMME_NONE || gamme > ROW_GAMMES)
		return SPAN("");
	return span_make(letters + gamme, 1);
}

struct span
row_gamme_json(uint8_t gamme)
{
	static const char quoted[][4] = {
	    "", "\"A\"", "\"B\"", "\"C\"", "\"Y\"", "\"Z\""};

	if (gamme == ROW_GAMME_NONE || gamme > ROW_GAMMES)
		return SPAN("null");
	return span_make(quoted[gamme], 3);
}
