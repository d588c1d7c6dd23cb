/*
 * book: stores of a few chosen rows with a word index, and the results of a
 * plain scan of the snapshots to compare it with.
 */
#pragma once

#include <stdint.h>

#include "lmdb-schema/search/word_index.h"

struct book_row {
	const char *supplier, *codein, *label;
	int64_t turnover; /* NUM_NULL: never sold */
};

/* Makes these the facts, and computes each of their suppliers. */
void book_import(const struct book_row *rows, unsigned count);

/* Makes the index, asserting success. */
struct word_index_result book_make(void);

/* The generation noted in the catalogue. */
uint64_t book_noted(void);

/* The path of the index. */
const char *book_path(const char *suffix);

/*
 * Opens the index, asserting that it is sound: its ranks are those of a plain
 * sort of all its snapshots' rows. Pair with book_close().
 */
struct word_index *book_open(void);

/*
 * Asserts that a search for these folded words finds the rows that a scan of
 * the rows' texts finds; returns their number.
 */
unsigned book_find(const struct word_index *book, struct span question);

/* Row number `rank` of the order, as "SUPPLIER/CODEIN", quoted as in JSON. */
const char *book_at(const struct word_index *book, uint32_t rank);

/* The folded search text of one of its rows. */
struct span book_text(const struct word_index *book, uint32_t rank);

/*
 * Closes the index and the snapshots read; sets *book to NULL, which it may be
 * before.
 */
void book_close(struct word_index **book);
