/*
 * words: the words of a search, split once and then looked for in many texts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/span.h"

#define WORDS_APART 64

struct words {
	struct span all; /* the search, folded, words separated by blanks */
	struct span longest;
	unsigned count; /* of split words: the first ones */
	struct span word[WORDS_APART];
	struct span rest; /* the remaining words, unsplit; mostly empty */
};

void words_split(struct words *words, struct span folded);

/* True when the search has no word but the longest. */
static inline bool
words_single(const struct words *words)
{
	return words->count == 1 && words->rest.len == 0;
}

/*
 * The first occurrence of `word`, which is not empty, in `text`; or NULL. Bytes
 * up to `limit` may be read: the end of `text`, or beyond it.
 */
const char *words_find(struct span text, const char *limit, struct span word);

/*
 * Finds which of `count` consecutive texts, beginning at at[], holds the place;
 * the text `low` begins at or before it. Fastest when both are close together.
 */
uint32_t words_which(
    const uint32_t *at, uint32_t low, uint32_t count, size_t place);

/* Whether `text` holds every word. */
bool words_in(struct span text, const char *limit, const struct words *words);
