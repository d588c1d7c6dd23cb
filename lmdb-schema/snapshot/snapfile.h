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
 *	               GRAMS_ROWS_MIN rows, nor in version 1
 *	SNAP_SUMS      u32[]: the CRC-32 of each block of BLOCKS_BYTES of all
 *	               sections but the head and this one, in the order of
 *	               their numbers; the last block of a section is what is
 *	               left of it
 *	SNAP_NUMBER+i  i64[rows]: number column i (row_number_index)
 *	SNAP_ASC+c     u32[rows]: rows sorted by column c, nulls last, ties by
 *	               codein
 *	SNAP_DESC+c    u32[rows]: the same, descending; ties by codein, nulls
 *	               last
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
 *
 * A snapshot of another version counts as not computed, and is computed again.
 */
#define SNAP_VERSION 4

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
	SNAP_SLICE = 256
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
