/*
 * rowtext: the text of a row's columns that are no numbers. The row's JSON, its
 * sorted orders and its search text all take it from here.
 */
#pragma once

#include <stdint.h>

#include "common/span.h"
#include "lmdb-schema/facts/source.h"

#define ROWTEXT_LEVELS 3 /* of the classification */
#define ROWTEXT_CODE_MAX 8

/* The data of a row's texts; borrowed. */
struct rowtext {
	const struct source_article *article;
	struct span supplier, name; /* the supplier's code and name */
	struct span *const *labels; /* [level - 1][code of that level] */
	uint8_t gamme;
	char abc; /* 'A', 'B', 'C', or 0 */
};

/* The code of `level`, 1 to 3, above a code3: 12, 1203, 120305. */
uint32_t rowtext_code(uint32_t code3, unsigned level);

/*
 * The text of a column of type TEXT or GAMME, unfolded and unquoted; empty for
 * null. It may stand in `code`, and never in `row` itself.
 */
struct span rowtext_of(
    const struct rowtext *row, unsigned column, char code[ROWTEXT_CODE_MAX]);
