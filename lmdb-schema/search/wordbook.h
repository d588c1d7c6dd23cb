/*
 * wordbook: the words of all suppliers in one file, so that a search across
 * them looks in one place and not in a thousand.
 *
 * A word is what stands between blanks, and between the columns, in a row's
 * folded search text (SNAP_TEXT). What somebody looks for has no blank in it,
 * so it lies within a word: the rows that hold it are those of all the words
 * that do. Unlike a list of grams this needs no look at the rows' texts.
 *
 * Rows of all suppliers are numbered here in the order in which a search gives
 * them when no other is asked for: by turnover descending, nulls last, then by
 * codein, then by supplier. That number is a row's rank. A set of rows is one
 * bit for each rank, and its first hundred bits are the first page.
 *
 * It is never needed, and says nothing by itself: for each supplier it names
 * the generation that it was made of, and only while that is the current one
 * may it be asked about that supplier. `gridctl index` makes it, by hand or
 * because gridapi found that too much has changed. The file DATA/words.idx is
 * written aside, synced and renamed; readers keep the one they have open.
 *
 *	struct wordbook_head, then the sections, each at a multiple of 64:
 *	WORDBOOK_SUPPLIERS  struct wordbook_supplier[suppliers], by code
 *	WORDBOOK_ROWS       struct wordbook_row[rows], by rank
 *	WORDBOOK_TEXT       the words, each ended by SNAP_TEXT_END
 *	WORDBOOK_TEXT_AT    u32[words + 1]: where a word begins
 *	WORDBOOK_LISTS      u32[]: for each word the ranks of its rows, ascending
 *	WORDBOOK_LIST_AT    u32[words + 1]: where a word's list begins
 *	WORDBOOK_GRAMS      u32[]: for each gram the words that have it, ascending
 *	WORDBOOK_GRAM_AT    u32[WORDBOOK_GRAM_LISTS + 1]: where its list begins
 *
 * All integers are little-endian. A gram is three bytes that follow one
 * another in a word; its list is the upper bits of grams_hash(), so that some
 * share one.
 *
 * Example: "lait" is word 7 and "laitue" word 9, nobody else has "ait". Who
 * looks for "ait" finds 7 and 9 in its gram's list; when LIST_AT[7] is 20 and
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

#define WORDBOOK_MAGIC "GRIDWORD"
#define WORDBOOK_VERSION 1
#define WORDBOOK_GRAM_BITS 18
#define WORDBOOK_GRAM_LISTS (UINT32_C(1) << WORDBOOK_GRAM_BITS)

enum wordbook_section_number {
	WORDBOOK_SUPPLIERS,
	WORDBOOK_ROWS,
	WORDBOOK_TEXT,
	WORDBOOK_TEXT_AT,
	WORDBOOK_LISTS,
	WORDBOOK_LIST_AT,
	WORDBOOK_GRAMS,
	WORDBOOK_GRAM_AT,
	WORDBOOK_SECTIONS
};

struct wordbook_section {
	uint64_t at, bytes;
	uint32_t crc; /* of the bytes */
	uint32_t reserved;
};

struct wordbook_head {
	char magic[8];
	uint32_t version;
	uint32_t crc; /* of the head, itself as 0, and of the suppliers */
	uint64_t generation;
	int64_t made_ms;
	uint64_t bytes; /* the whole file */
	uint32_t suppliers, rows, words;
	uint32_t reserved;
	struct wordbook_section section[WORDBOOK_SECTIONS];
};

struct wordbook_supplier {
	uint64_t generation; /* of its snapshot */
	uint32_t rows;
	uint32_t code_len;
	char code[SCHEMA_CODE_MAX];
};

struct wordbook_row {
	uint32_t supplier; /* which of the file's */
	uint32_t row; /* in its snapshot */
};

struct store;
struct wordbook; /* an open file; any number of threads may read it */

/*
 *   ERR_NOT_FOUND  there is none
 *   ERR_DAMAGED    it is not whole; the log says so
 *   ERR_VERSION    of another version
 *
 * On failure *out is NULL. Pair with wordbook_close(), which takes NULL.
 */
enum err wordbook_open(struct wordbook **out, struct store *store);

/* One user more; each closes it. */
struct wordbook *wordbook_share(struct wordbook *book);
void wordbook_close(struct wordbook *book);

/*
 * Has all of it at hand, which may take as long as to read it from the disk:
 * a search touches it in ten thousand places, and each page that is met for
 * the first time costs a microsecond.
 */
void wordbook_warm(const struct wordbook *book);

const struct wordbook_head *wordbook_head(const struct wordbook *book);
const struct wordbook_supplier *wordbook_supplier(
    const struct wordbook *book, uint32_t number);
struct span wordbook_code(const struct wordbook *book, uint32_t number);

/*
 * For a walk over suppliers in the order of their codes: whether the book is
 * of this one's generation. *number, 0 at first, goes on to where he is in it.
 */
bool wordbook_has(const struct wordbook *book, uint32_t *number,
    struct span supplier, uint64_t generation);

/* By rank. What it says of a damaged file's row may be out of all bounds. */
const struct wordbook_row *wordbook_rows(const struct wordbook *book);

/* How many uint64_t hold one bit for each rank. */
static inline size_t
wordbook_set(uint32_t rows)
{
	return ((size_t)rows + 63) / 64;
}

/* How many of the bits are set. */
uint32_t wordbook_count(const uint64_t *set, uint32_t rows);

/*
 * Sets the bits of the rows that hold all the words, and clears the others:
 * rank r is bit r % 64 of set[r / 64]; *count is how many are set. There is a
 * word. ERR_DAMAGED: the set is not to be used.
 */
enum err wordbook_find(uint64_t *set, uint32_t *count,
    const struct wordbook *book, const struct words *words);

/*
 * Compares all of it with its checksums, as whoever asks it does first: at 10
 * GB/s. ERR_DAMAGED: the log says where.
 */
enum err wordbook_compare(const struct wordbook *book);

/*
 * Whether somebody has touched the file since it was opened, or may have: what
 * was compared is to be opened and compared again. It costs one fstat().
 */
bool wordbook_is_touched(const struct wordbook *book);

/* Reads all of it: checksums, places, orders. ERR_DAMAGED: the log says what. */
enum err wordbook_verify(const struct wordbook *book);

struct wordbook_options {
	/* Rows done so far; NULL: nobody looks. */
	void (*at)(void *context, uint64_t done, uint64_t rows);
	void *context;
};

struct wordbook_result {
	uint64_t suppliers, rows, words, bytes;
	uint64_t left_out; /* suppliers whose snapshot cannot be read */
	bool made; /* false: what is there is of all current generations */
};

/* Makes the file of all current snapshots; waits while another makes one. */
enum err wordbook_make(struct wordbook_result *result, struct store *store,
    const struct wordbook_options *options);

/* Where it is; `suffix` is "" or ".tmp". */
enum err wordbook_path(
    char path[FS_PATH_MAX], const struct store *store, const char *suffix);

/* Removes one that is damaged, so that it is made anew. */
void wordbook_discard(struct store *store);
