/*
 * row: the columns of a grid row. row.def lists them; this header turns the
 * list into numbers, names and tables.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/span.h"

enum row_type {
	ROW_TEXT,
	ROW_GAMME,
	ROW_DECIMAL,
	ROW_INTEGER,
	ROW_DATE,
	ROW_OBJECT
};

enum row_part { ROW_FLAT, ROW_MAPS };

enum row_flag {
	ROW_SEARCH = 1,
	ROW_LIVE = 2,
	ROW_STATE = 4,
	ROW_NEVER_NULL = 8
};

/* COL_codein, COL_codeFournisseur, … in the order of a row. */
enum row_column {
#define COLUMN(name, ...) COL_##name,
#include "lmdb-schema/row.def"
#undef COLUMN
	ROW_COLUMNS
};

/* The scalars come first; the maps are the rest. */
#define ROW_FLATS ((unsigned)COL_network)
#define ROW_MAPCOUNT ((unsigned)ROW_COLUMNS - ROW_FLATS)

struct row_info {
	struct span name;
	enum row_type type;
	enum row_part part;
	unsigned flags;
	const char *label_fr;
	const char *label_en;
	const char *meaning;
	const char *unit; /* empty: none */
};

extern const struct row_info row_info[ROW_COLUMNS];

/* The column of that name, or -1. */
int row_column(struct span name);

/* Every scalar column is a sort key: these are the columns 0 .. ROW_FLATS-1. */
static inline bool
row_sortable(unsigned column)
{
	return column < ROW_FLATS;
}

/* True for the types that sort by a number (dates are day counts). */
static inline bool
row_is_number(unsigned column)
{
	enum row_type type = row_info[column].type;

	return type == ROW_DECIMAL || type == ROW_INTEGER || type == ROW_DATE;
}

static inline bool
row_is_gamme(unsigned column)
{
	return row_info[column].type == ROW_GAMME;
}

/*
 * The place of a number column among the number columns, in row order; -1 for
 * the others. row_numbers() is how many there are.
 */
int row_number_index(unsigned column);
unsigned row_numbers(void);

/* Range codes: A B C Y Z as 1..5, none as 0. */
#define ROW_GAMME_NONE 0
#define ROW_GAMMES 5
#define ROW_GAMME_BAD 255

uint8_t row_gamme(struct span text); /* "" is none */
struct span row_gamme_text(uint8_t gamme); /* empty for none */
struct span row_gamme_json(uint8_t gamme); /* "\"A\"" or "null" */
