/*
 * snapfile: the bytes of a snapshot file.
 *
 * One LMDB file, one unnamed table, a few hundred large values, used in place
 * through the map. The key is a section's number, u16 big-endian; all values
 * are little-endian arrays. "row" is a row's number: rows stand by turnover
 * descending, then codein.
 *
 *	SNAP_HEAD      struct snap_head, then the supplier's name, then a
 *	               struct snap_section for each section number
 *	SNAP_CODEIN    u32[rows]: rows in the bytewise order of codein
 *	SNAP_GAMME     u8[rows]: the server range at the computation, 0..5
 *	SNAP_CODE3     u32[rows]: classification code as a number, or
 *	               SNAP_NO_CODE
 *	SNAP_FLATS     struct snap_flat[rows]: where the scalars' JSON stands
 *	SNAP_MAPS      struct snap_maps[rows]: where the maps' JSON stands
 *	SNAP_TEXT      folded search text: for each row the columns flagged
 *	               SEARCH, each ended by SNAP_TEXT_END
 *	SNAP_TEXT_AT   u32[rows + 1]: where a row's text begins
 *	SNAP_TREE      u32 count[3], u32 articles without code, then struct
 *	               snap_class for levels 1, 2, 3 by code, then their labels
 *	SNAP_GRAM_AT, SNAP_GRAMS
 *	               which rows may hold a text: grams.h. Not there below
 *	               GRAMS_ROWS_MIN rows
 *	SNAP_SUMS      u32[]: the CRC-32 of each block of BLOCKS_BYTES of all
 *	               sections but the head and this one, in the order of
 *	               their numbers; the last block of a section is what is
 *	               left of it
 *	SNAP_NUMBER+i  i64[rows]: number column i (row_number_index)
 *	SNAP_ASC+c     u32[rows]: rows sorted by column c, nulls behind all
 *	               values; equal values by codein
 *	SNAP_DESC+c    u32[rows]: the same, values descending; nulls behind all
 *	               values, equal values by codein ascending
 *	SNAP_TERM+c    u32[rows]: which of the column's texts a row has, or
 *	               SNAP_NO_TERM; empty when all rows have its only text
 *	SNAP_TERMS+c   the texts of a column, each once, in the order of their
 *	               folded forms, then bytewise: u32 count, u32 folded_at
 *	               [count + 1], u32 text_at[count + 1], the folded forms,
 *	               each ended by SNAP_TEXT_END, the texts. No text of
 *	               ranges, which change
 *	SNAP_MONTHS+k  the sums over all stores of sales, stock, receptions, and
 *	               sales of the year before: struct snap_narrow, then a
 *	               value for each of the 12 months and in it each row
 *	SNAP_STORES+k  the same of the first three for each store: the sum of its sales or
 *	               receptions, or its newest stock. Not there above
 *	               SNAP_STORES_MAX values
 *	SNAP_STORE_CODES
 *	               u32 count, u32 at[count + 1], the codes
 *	SNAP_TREND     u8[rows]: the direction of the trend (trend.h), or 0
 *	SNAP_SLICE+2k  the scalars' JSON of rows k*slice_rows ...
 *	SNAP_SLICE+2k+1  the maps' JSON of the same rows
 *
 * A row's JSON, with n scalars and m maps, and | where the parts meet:
 *
 *	{"codein":"1","codeFournisseur":"7",...,|"network":null,...}|,
 *	^0,1            ^off[1]                 ^off[n]; in maps off[0] = 0
 *
 * So column i without its separator is [off[i], off[i + 1] - 1), a run i..j is
 * [off[i], off[j + 1] - 1), and the whole row is the flat bytes [0, off[n])
 * and the map bytes [0, off[m]), which a comma follows.
 */
#pragma once

#include <stdint.h>

#include "lmdb-schema/row.h"
#include "lmdb-schema/schema.h"

#define SNAP_MAGIC "GRIDSNAP"

/*
 * The version of the file format. It grows when an older program would misread
 * or miss something in a new file, or when rows computed before would now be
 * wrong:
 *
 *	1  without grams: searches scan all the text
 *	2  with grams
 *	3  the network's curve and its trend are of a year, no longer
 *	4  with checksums of blocks
 *	5  with columns of texts, months, stores and trends
 *	6  with the sales of the year before
 *
 * A snapshot of another version counts as not computed, and is computed again.
 */
#define SNAP_VERSION 6

#define SNAP_NO_CODE UINT32_MAX
#define SNAP_TEXT_END '\x1f'

enum snap_section_number {
	SNAP_HEAD,
	SNAP_CODEIN,
	SNAP_GAMME,
	SNAP_CODE3,
	SNAP_FLATS,
	SNAP_MAPS,
	SNAP_TEXT,
	SNAP_TEXT_AT,
	SNAP_TREE,
	SNAP_GRAM_AT,
	SNAP_GRAMS,
	SNAP_SUMS,
	SNAP_NUMBER = 16,
	SNAP_ASC = 96,
	SNAP_DESC = 176,
	SNAP_TERM = 256,
	SNAP_TERMS = 336,
	SNAP_MONTHS = 416,
	SNAP_STORES = 420,
	SNAP_STORE_CODES = 424,
	SNAP_TREND = 425,
	SNAP_SLICE = 512
};

_Static_assert(ROW_COLUMNS <= 80, "section numbers leave room for 80");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
    "snapshots are used in place: this needs a little-endian machine");

struct snap_head {
	char magic[8];
	uint32_t version; /* SNAP_VERSION */
	uint32_t crc; /* of all of the head's bytes, this being 0 */
	uint32_t rows;
	uint32_t slice_rows;
	uint32_t sections; /* how many snap_section follow */
	uint32_t name_len;
	uint64_t generation;
	uint64_t facts, network, gamme; /* generations it was made from */
	int64_t computed_ms;
	int32_t as_of_day;
	int32_t last_month; /* the newest of the 12 */
	uint32_t code_len;
	char code[SCHEMA_CODE_MAX];
	uint32_t columns; /* ROW_COLUMNS */
	int32_t oldest_sales; /* month of the facts; 0: not known */
	uint32_t reserved;
};

/*
 * The table has one entry per section. In entry SNAP_HEAD, the head's own, only
 * `reserved` is used.
 */
struct snap_section {
	uint64_t bytes;
	uint32_t crc; /* CRC-32, as zlib's */
	uint32_t reserved; /* SNAP_HEAD: articles left out; else 0 */
};

struct snap_flat {
	uint32_t at; /* in the slice */
	uint16_t off[COL_network + 1];
};

struct snap_maps {
	uint32_t at;
	uint32_t off[ROW_COLUMNS - COL_network + 1];
};

struct snap_class {
	uint32_t code; /* 12, 1203 or 120305 as a number */
	uint32_t articles;
	int64_t ca, qte;
	uint32_t label_at, label_len; /* 0 long: none */
};

#define SNAP_TREE_HEAD 16

#define SNAP_NO_TERM UINT32_MAX

/* The monthly maps, in the order of SNAP_MONTHS and SNAP_STORES. */
enum snap_measure {
	SNAP_SALES,
	SNAP_STOCK,
	SNAP_RECEPTIONS,
	SNAP_MEASURES,
	SNAP_SALES_N1 = SNAP_MEASURES, /* without stores */
	SNAP_MONTHLY
};

/*
 * Decimals in few bytes: i32 units of a power of ten when all are whole numbers
 * of those, else i64 millionths.
 * The smallest number of the width is no value.
 */
struct snap_narrow {
	uint32_t width; /* 4 or 8 */
	uint32_t reserved;
	int64_t unit; /* millionths: 1000000, 100000, … 1 */
};

/* Values of a measure by store; a larger supplier has none. */
#define SNAP_STORES_MAX (UINT64_C(1) << 24)
