/*
 * memmem() builds a table on each call, too expensive for a row's text, and
 * scans two bytes one place at a time. The search here compares 16 places at
 * once by two bytes each, the first and the last of the word. It may read past
 * a text's end up to a given limit, so that the last bytes need no slow path.
 */
#include "common/words.h"

#include <stdint.h>

typedef unsigned char bytes16 __attribute__((vector_size(16)));

void
words_split(struct words *words, struct span folded)
{
	struct span word, rest = folded;

	words->all = folded;
	words->longest = SPAN("");
	words->count = 0;
	words->rest = SPAN("");
	while (span_cut(&word, &rest, ' ')) {
		if (word.len > words->longest.len)
			words->longest = word;
		if (word.len == 0)
			continue;
		if (words->count == WORDS_APART) {
			words->rest =
			    span_from(folded, (size_t)(word.ptr - folded.ptr));
			break;
		}
		words->word[words->count++] = word;
	}
	while (span_cut(&word, &rest, ' '))
		if (word.len > words->longest.len)
			words->longest = word;
}

/* The first place where the word's first and last byte both match. */
static inline const char *
find_ends(
    const char *from, const char *stop, const char *limit, struct span word)
{
	size_t gap = word.len - 1;
	bytes16 first = (bytes16){0} + (unsigned char)word.ptr[0];
	bytes16 last = (bytes16){0} + (unsigned char)word.ptr[gap];

	for (; from < stop && (size_t)(limit - from) >= gap + 16; from += 16) {
		bytes16 here, there;
		uint64_t both[2];
		const char *hit;

		memcpy(&here, from, sizeof(here));
		memcpy(&there, from + gap, sizeof(there));
		here = (bytes16)((here == first) & (there == last));
		memcpy(both, &here, sizeof(both));
		if ((both[0] | both[1]) == 0)
			continue;
		hit = both[0] != 0 ? from + __builtin_ctzll(both[0]) / 8
				   : from + 8 + __builtin_ctzll(both[1]) / 8;
		return hit < stop ? hit : NULL;
	}
	for (; from < stop; from++)
		if (from[0] == word.ptr[0] && from[gap] == word.ptr[gap])
			return from;
	return NULL;
}

/*
 * As memcmp() == 0, inlined: words are so short that the call would dominate.
 */
static inline bool
same(const char *a, const char *b, size_t len)
{
	uint64_t x, y;

	for (; len > 8; a += 8, b += 8, len -= 8) {
		memcpy(&x, a, 8);
		memcpy(&y, b, 8);
		if (x != y)
			return false;
	}
	while (len > 0 && *a == *b) {
		a++;
		b++;
		len--;
	}
	return len == 0;
}

static inline const char *
find(struct span text, const char *limit, struct span word)
{
	const char *from = text.ptr;
	const char *stop; /* the word cannot begin here or later */

	if (word.len == 1)
		return memchr(from, word.ptr[0], text.len);
	if (text.len < word.len)
		return NULL;
	stop = text.ptr + text.len - word.len + 1;
	for (; (from = find_ends(from, stop, limit, word)) != NULL; from++)
		if (same(from + 1, word.ptr + 1, word.len - 2))
			return from;
	return NULL;
}

const char *
words_find(struct span text, const char *limit, struct span word)
{
	return find(text, limit, word);
}

uint32_t
words_which(const uint32_t *at, uint32_t low, uint32_t count, size_t place)
{
	uint32_t high = low + 1, step = 1;

	while (high < count && at[high] <= place) {
		low = high;
		high = count - low > step ? low + step : count;
		step *= 2;
	}
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (at[middle] <= place)
			low = middle;
		else
			high = middle;
	}
	return low;
}

bool
words_in(struct span text, const char *limit, const struct words *words)
{
	struct span word, rest = words->rest;

	for (unsigned i = 0; i < words->count; i++)
		if (find(text, limit, words->word[i]) == NULL)
			return false;
	if (rest.len == 0)
		return true;
	while (span_cut(&word, &rest, ' '))
		if (word.len > 0 && find(text, limit, word) == NULL)
			return false;
	return true;
}
