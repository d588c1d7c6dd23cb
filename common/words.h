/*
 * words: a question's words, taken apart once for all the texts that they are
 * looked for in.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/span.h"

#define WORDS_APART 64

struct words {
	struct span all; /* folded, with blanks between them */
	struct span longest;
	unsigned count; /* of those that are apart: the first ones */
	struct span word[WORDS_APART];
	struct span rest; /* what follows them; mostly empty */
};

void words_split(struct words *words, struct span folded);

/* True when there is but the longest. */
static inline bool
words_single(const struct words *words)
{
	return words->count == 1 && words->rest.len == 0;
}

/*
 * The first place in `text` where `word`, which is not empty, begins; or NULL.
 * `limit` is as far as may be read: the end of `text`, or behind it.
 */
const char *words_find(struct span text, const char *limit, struct span word);

/*
 * Of `count` texts behind one another, which begin at at[], the one that holds
 * the place; `low` is one that begins at or before it. Quickest when they are
 * near one another.
 */
uint32_t words_which(
    const uint32_t *at, uint32_t low, uint32_t count, size_t place);

/* Whether `text` holds each of them. */
bool words_in(struct span text, const char *limit, const struct words *words);
