/*
 * word_index: the words of all suppliers in one file, so that a search across
 * them reads one index instead of a thousand snapshots.
 *
 * A word is a run of a row's folded search text (SNAP_TEXT) between blanks or
 * column ends. A word of a search contains no blank, so it lies within a word
 * of the index: the rows that hold it are those of every index word that
 * contains it. Unlike the grams of a snapshot, this index is exact: the rows'
 * texts need not be read.
 *
 * Rows of all suppliers are numbered in a search's default order: by turnover
 * descending, nulls last, then by codein, then by supplier. That number is a
 * row's rank. A set of rows is one bit for each rank, and its first hundred set
 * bits are the first page.
 *
 * The index is optional. For each supplier it names the generation it was made
 * from, and it answers for that supplier only while that generation is current.
 * `gridctl index` makes it, run by an operator or by gridapi once too much has
 * changed. The file DATA/words.idx is written aside, synced and renamed;
 * readers keep the old file open.
 *
 *	struct word_index_head, then the sections, each at a multiple of 64, in
 *	any order, with holes between them that take no room on the disk:
 *	WORD_INDEX_SUPPLIERS  struct word_index_supplier[suppliers], by code
 *	WORD_INDEX_ROWS       struct word_index_row[rows], by rank
 *	WORD_INDEX_TEXT       the words, bytewise ascending, each ended by
 *	                      SNAP_TEXT_END
 *	WORD_INDEX_TEXT_AT    u32[words + 1]: where a word begins
 *	WORD_INDEX_LISTS      u32[]: for each word the ranks of its rows, ascending
 *	WORD_INDEX_LIST_AT    u32[words + 1]: where a word's list begins
 *	WORD_INDEX_GRAMS      u32[]: for each gram the words that have it, ascending
 *	WORD_INDEX_GRAM_AT    u32[WORD_INDEX_GRAM_LISTS + 1]: where its list begins
 *
 * and three that no search reads: what the rows are ordered by. With them a new
 * index takes over the rows of unchanged suppliers from the old one.
 *
 *	WORD_INDEX_TURNOVERS  i64[rows] by rank, NUM_NULL: none
 *	WORD_INDEX_CODES      the rows' codeins by rank, one behind the other
 *	WORD_INDEX_CODE_AT    u32[rows + 1]: where a row's codein begins
 *
 * and checksums:
 *
 *	WORD_INDEX_SUMS       u32[]: the CRC-32 of each 32 KB of the sections
 *	                      before, one section behind the other (blocks.h)
 *
 * The head has a checksum of itself and of these. A block is compared when it is
 * first read: what a search finds comes from bytes that were written so, and it
 * reads no others. Version 2, whose sections had one checksum each, is made anew.
 *
 * All integers are little-endian. A gram is three consecutive bytes of a word;
 * the upper bits of grams_hash() number its list, so that several grams may
 * share one.
 *
 * Example: "lait" is word 7 and "laitue" word 9, and no other word contains
 * "ait". The list of the gram "ait" holds 7 and 9; when LIST_AT[7] is 20 and
 * LIST_AT[8] is 23, LISTS[20..22] are the ranks of the rows that have "lait".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/span.h"
#include "common/words.h"
#include "lmdb-schema/schema.h"

#define WORD_INDEX_MAGIC "GRIDWORD"
#define WORD_INDEX_VERSION 3
#define WORD_INDEX_GRAM_BITS 18
#define WORD_INDEX_GRAM_LISTS (UINT32_C(1) << WORD_INDEX_GRAM_BITS)

enum word_index_section_number {
	WORD_INDEX_SUPPLIERS,
	WORD_INDEX_ROWS,
	WORD_INDEX_TEXT,
	WORD_INDEX_TEXT_AT,
	WORD_INDEX_LISTS,
	WORD_INDEX_LIST_AT,
	WORD_INDEX_GRAMS,
	WORD_INDEX_GRAM_AT,
	WORD_INDEX_TURNOVERS,
	WORD_INDEX_CODES,
	WORD_INDEX_CODE_AT,
	WORD_INDEX_SUMMED, /* sections with sums */
	WORD_INDEX_SUMS = WORD_INDEX_SUMMED,
	WORD_INDEX_SECTIONS
};

struct word_index_section {
	uint64_t at, bytes;
};

struct word_index_head {
	char magic[8];
	uint32_t version;
	uint32_t crc; /* of the head (this being 0) and the sums */
	uint64_t generation;
	int64_t made_ms;
	uint64_t bytes; /* the whole file */
	uint32_t suppliers, rows, words;
	uint32_t reserved;
	struct word_index_section section[WORD_INDEX_SECTIONS];
};

struct word_index_supplier {
	uint64_t generation; /* of its snapshot */
	uint32_t rows;
	uint32_t code_len;
	char code[SCHEMA_CODE_MAX];
};

struct word_index_row {
	uint32_t supplier; /* index into the file's suppliers */
	uint32_t row; /* in its snapshot */
};

struct store;
struct word_index; /* an open file; any number of threads may read it */

/*
 *   ERR_NOT_FOUND  there is none
 *   ERR_DAMAGED    it is not whole, or its suppliers are not what was written;
 *                  the log says so
 *   ERR_VERSION    of another version
 *
 * On failure *out is NULL. Pair with word_index_close(), which takes NULL.
 */
enum err word_index_open(struct word_index **out, struct store *store);

/* Adds a reference; each holder calls word_index_close(). */
struct word_index *word_index_share(struct word_index *index);
void word_index_close(struct word_index *index);

const struct word_index_head *word_index_head(const struct word_index *index);
const struct word_index_supplier *word_index_supplier(
    const struct word_index *index, uint32_t number);
struct span word_index_code(const struct word_index *index, uint32_t number);

/*
 * For a walk over suppliers in the order of their codes: whether the index was
 * made from this generation of the supplier. *number, 0 at first, advances to
 * the supplier's number in the index.
 */
bool word_index_has(const struct word_index *index, uint32_t *number,
    struct span supplier, uint64_t generation);

/*
 * Gets the row of a rank that there is. False: it is damaged, and the log says
 * so, or its supplier is none of the index. The caller compares the row's number
 * with its snapshot.
 */
bool word_index_row(
    struct word_index_row *row, const struct word_index *index, uint32_t rank);

/* The number of uint64_t that hold one bit for each rank. */
static inline size_t
word_index_set(uint32_t rows)
{
	return ((size_t)rows + 63) / 64;
}

/* The number of set bits. */
uint32_t word_index_count(const uint64_t *set, uint32_t rows);

/*
 * Sets the bits of the rows that hold all the words, and clears the others:
 * rank r is bit r % 64 of set[r / 64]; *count is how many are set. There must
 * be at least one word. ERR_DAMAGED: the set must not be used, and the log says
 * which bytes are damaged.
 */
enum err word_index_find(uint64_t *set, uint32_t *count,
    const struct word_index *index, const struct words *words);

/*
 * Compares the whole file with its checksums, at 10 GB/s. ERR_DAMAGED: the log
 * says where.
 */
enum err word_index_compare(const struct word_index *index);

/*
 * Whether the file was, or may have been, touched since it was opened: then
 * open it again. Costs one fstat().
 */
bool word_index_is_touched(const struct word_index *index);

/*
 * Verifies every checksum, offset and order. ERR_DAMAGED: the log says where.
 */
enum err word_index_verify(const struct word_index *index);

struct word_index_options {
	/* Called with the rows done so far; may be NULL. */
	void (*at)(void *context, uint64_t done, uint64_t rows);
	void *context;
	/*
	 * Private memory for rows, in bytes; 0: WORD_INDEX_MEMORY. Besides, a
	 * few MB are used, and one byte for eight rows of the index.
	 */
	uint64_t memory;
};

#define WORD_INDEX_MEMORY (UINT64_C(256) << 20)

struct word_index_result {
	uint64_t suppliers, rows, words, bytes;
	uint64_t left_out; /* suppliers whose snapshot cannot be read */
	uint64_t taken_over; /* rows that the old index had */
	bool made; /* false: the file was up to date */
};

/*
 * Makes the file of all current snapshots; waits while another process makes
 * it. An old file keeps its rows of suppliers that have not changed: only the
 * others' snapshots are read.
 *
 * Rows are taken until `memory` is used up and written as a run, an index of
 * these rows alone without grams; then the runs and the old file are merged.
 * Runs have no name on the disk, so that nothing is left of them after a kill.
 */
enum err word_index_make(struct word_index_result *result, struct store *store,
    const struct word_index_options *options);

/* The path of the file; `suffix` is "" or ".tmp". */
enum err word_index_path(
    char path[FS_PATH_MAX], const struct store *store, const char *suffix);

/*
 * Whether the catalogue names an index whose file somebody has removed. Nothing
 * is lost, but searches are slower until 'gridctl index' makes it again.
 */
bool word_index_is_missing(struct store *store);

/* Removes a damaged file, so that it is made anew. */
void word_index_discard(struct store *store);
