/*
 * book: stores of a few chosen rows with all their words in a wordbook, and
 * what a plain look through the snapshots says of it.
 */
#pragma once

#include <stdint.h>

#include "lmdb-schema/search/wordbook.h"

struct book_row {
	const char *supplier, *codein, *label;
	int64_t turnover; /* NUM_NULL: never sold */
};

/* Makes these the facts, and computes each of their suppliers. */
void book_import(const struct book_row *rows, unsigned count);

/* Makes the wordbook, which must be possible. */
struct wordbook_result book_make(void);

/* The generation that the catalogue tells of. */
uint64_t book_noted(void);

/* Where it is. */
const char *book_path(const char *suffix);

/*
 * The one that is there, which must be whole: its ranks are those of a plain
 * sort of all its snapshots' rows. Pair with book_close().
 */
struct wordbook *book_open(void);

/*
 * What is found by these folded words is what a look through the rows' texts
 * finds; how many rows that is.
 */
unsigned book_find(const struct wordbook *book, struct span question);

/* Row number `rank` of the order, as "SUPPLIER/CODEIN", quoted as in JSON. */
const char *book_at(const struct wordbook *book, uint32_t rank);

/* The folded search text of one of its rows. */
struct span book_text(const struct wordbook *book, uint32_t rank);

/* Closes it, and the snapshots that were looked into; NULL then, and before. */
void book_close(struct wordbook **book);
