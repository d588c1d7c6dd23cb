/*
 * A search word -> its rarest grams -> the index words that have all of these
 * grams -> those that really contain the search word -> the rows of each, as
 * bits.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lmdb-schema/search/word_index_priv.h"
#include "lmdb-schema/snapshot/snapfile.h"

/* Further grams exclude few more words, and each costs another random read. */
#define GRAMS_CROSSED 4

/* A list is worth intersecting up to this many times the candidates left. */
#define WORTH 16

/* How many words ahead the offsets, and then the texts, are prefetched. */
#define AHEAD 16

struct finding {
	const struct word_index *index;
	uint64_t *set;
	uint32_t count; /* of set bits */
	struct span word;
	bool whole; /* words and lists have been compared as a whole */
	enum err err;
};

/* --- a word's rows -------------------------------------------------------- */

/*
 * Finds the bytes that a section has of a number: from its place, which is in another section,
 * up to the next one's, in units of that many bytes. NULL: it is damaged.
 */
static const void *
piece(uint32_t *count, const struct word_index *index, unsigned section,
    unsigned places, uint32_t number, size_t unit)
{
	const uint32_t *at = word_index_bytes(
	    index, places, (uint64_t)number * sizeof(*at), 2 * sizeof(*at));

	if (at == NULL || at[0] > at[1])
		return NULL;
	*count = at[1] - at[0];
	return word_index_bytes(
	    index, section, at[0] * unit, (uint64_t)*count * unit);
}

/* The same of a word's list, without a look at blocks where all were compared. */
static const uint32_t *
list_of(uint32_t *count, const struct finding *finding, uint32_t number)
{
	const struct word_index *index = finding->index;
	uint32_t from, to;

	if (!finding->whole)
		return piece(count, index, WORD_INDEX_LISTS, WORD_INDEX_LIST_AT,
		    number, sizeof(*index->lists));
	from = index->list_at[number];
	to = index->list_at[number + 1];
	*count = to - from;
	return from <= to && to <= index->list_count ? index->lists + from
						     : NULL;
}

static void
add_rows(struct finding *finding, uint32_t number)
{
	uint32_t rows = finding->index->head->rows, count;
	const uint32_t *list = list_of(&count, finding, number);
	uint64_t *set = finding->set;

	if (list == NULL) {
		finding->err = ERR_DAMAGED;
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t rank = list[i];

		if (rank >= rows) {
			finding->err = ERR_DAMAGED;
			return;
		}
		finding->count += !(set[rank / 64] >> rank % 64 & 1);
		set[rank / 64] |= UINT64_C(1) << rank % 64;
	}
}

bool
word_index_text(
    struct span *text, const struct word_index *index, uint32_t number)
{
	const char *bytes;
	uint32_t len;

	if (number >= index->head->words)
		return false;
	bytes =
	    piece(&len, index, WORD_INDEX_TEXT, WORD_INDEX_TEXT_AT, number, 1);
	if (bytes == NULL)
		return false;
	*text = span_make(bytes, len);
	return true;
}

/* The same, without a look at blocks where all were compared. */
static bool
text_of(struct span *text, const struct finding *finding, uint32_t number)
{
	const struct word_index *index = finding->index;
	uint32_t from, to;

	if (!finding->whole || number >= index->head->words)
		return word_index_text(text, index, number);
	from = index->text_at[number];
	to = index->text_at[number + 1];
	*text = span_make(index->text.ptr + from, to - from);
	return from <= to && to <= index->text.len;
}

/* --- by all the words' text ----------------------------------------------- */

/* Words too short for a gram are looked for in the whole text. */
static void
by_scan(struct finding *finding)
{
	const struct word_index *index = finding->index;
	const char *from = index->text.ptr, *end = from + index->text.len;
	uint32_t number = 0;

	if (!blocks_all(&index->blocks[WORD_INDEX_TEXT]) ||
	    !blocks_all(&index->blocks[WORD_INDEX_TEXT_AT]))
		finding->err = ERR_DAMAGED;
	while (finding->err == ERR_OK && number < index->head->words) {
		const char *hit = words_find(
		    span_make(from, (size_t)(end - from)), end, finding->word);
		struct span text;

		if (hit == NULL)
			return;
		number = words_which(index->text_at, number, index->head->words,
		    (size_t)(hit - index->text.ptr));
		if (!word_index_text(&text, index, number) ||
		    text.ptr + text.len <= hit) {
			finding->err = ERR_DAMAGED;
			return;
		}
		add_rows(finding, number++);
		from = text.ptr + text.len;
	}
}

/* --- by grams ------------------------------------------------------------- */

struct list {
	const uint32_t *words;
	uint32_t count;
};

/* The rarest of the word's grams, the shortest list first. */
static enum err
get_lists(struct list *lists, unsigned *count, const struct finding *finding)
{
	struct span word = finding->word;

	*count = 0;
	for (size_t i = 0; i + 3 <= word.len; i++) {
		struct list list;
		unsigned at;

		list.words = piece(&list.count, finding->index,
		    WORD_INDEX_GRAMS, WORD_INDEX_GRAM_AT,
		    word_index_gram(word.ptr + i), sizeof(*list.words));
		if (list.words == NULL)
			return ERR_DAMAGED;
		at = *count < GRAMS_CROSSED ? (*count)++ : GRAMS_CROSSED;
		for (; at > 0 && lists[at - 1].count > list.count; at--)
			if (at < GRAMS_CROSSED)
				lists[at] = lists[at - 1];
		if (at < GRAMS_CROSSED)
			lists[at] = list;
	}
	return ERR_OK;
}

/* Keeps the words[] that are in the list too; returns their number. */
static uint32_t
cross(uint32_t *words, uint32_t count, struct list list)
{
	uint32_t kept = 0, i = 0, k = 0;

	/*
	 * Stores every step and advances only on a match: no branch to
	 * mispredict.
	 */
	while (i < count && k < list.count) {
		uint32_t a = words[i], b = list.words[k];

		words[kept] = a;
		kept += a == b;
		i += a <= b;
		k += b <= a;
	}
	return kept;
}

/*
 * Prefetch in two stages, for a word some steps ahead: first its offsets; once
 * those are cached, its text and its list. Nothing is read from these bytes but
 * where to look ahead, so that they need not be compared yet.
 */
static inline void
expect_places(const struct word_index *index, const uint32_t *words,
    uint32_t count, uint32_t i)
{
	if (i >= count || words[i] >= index->head->words)
		return;
	span_expect_line(index->text_at + words[i]);
	span_expect_line(index->list_at + words[i]);
}

static inline void
expect_text(const struct word_index *index, const uint32_t *words,
    uint32_t count, uint32_t i)
{
	if (i >= count || words[i] >= index->head->words)
		return;
	span_expect_line(index->text.ptr + index->text_at[words[i]]);
	span_expect_line(index->lists + index->list_at[words[i]]);
}

static void
look(struct finding *finding, const uint32_t *words, uint32_t count)
{
	const struct word_index *index = finding->index;
	const char *limit = index->text.ptr + index->text.len;

	for (uint32_t i = 0; i < 2 * AHEAD; i++)
		expect_places(index, words, count, i);
	for (uint32_t i = 0; i < AHEAD; i++)
		expect_text(index, words, count, i);
	for (uint32_t i = 0; i < count && finding->err == ERR_OK; i++) {
		struct span text;

		expect_places(index, words, count, i + 2 * AHEAD);
		expect_text(index, words, count, i + AHEAD);
		if (!text_of(&text, finding, words[i]))
			finding->err = ERR_DAMAGED;
		else if (words_find(text, limit, finding->word) != NULL)
			add_rows(finding, words[i]);
	}
}

/*
 * Compares words and lists as a whole when so many words are looked at that few
 * blocks would be left: then each of them costs no look at its blocks.
 */
static void
expect_many(struct finding *finding, uint32_t count)
{
	static const unsigned read[] = {WORD_INDEX_TEXT, WORD_INDEX_TEXT_AT,
	    WORD_INDEX_LISTS, WORD_INDEX_LIST_AT};
	struct blocks *blocks = finding->index->blocks;
	uint64_t all = 0;

	for (unsigned i = 0; i < sizeof(read) / sizeof(read[0]); i++)
		all += blocks_count(blocks[read[i]].bytes);
	finding->whole = count >= all;
	for (unsigned i = 0;
	     i < sizeof(read) / sizeof(read[0]) && finding->whole; i++)
		finding->whole = blocks_all(&blocks[read[i]]);
}

static void
by_grams(struct finding *finding)
{
	struct list lists[GRAMS_CROSSED];
	unsigned list_count;
	uint32_t *words, count;

	finding->err = get_lists(lists, &list_count, finding);
	if (finding->err != ERR_OK || lists[0].count == 0)
		return;
	count = lists[0].count;
	words = malloc(count * sizeof(*words));
	if (words == NULL) {
		finding->err = ERR_NO_MEMORY;
		return;
	}
	memcpy(words, lists[0].words, count * sizeof(*words));
	for (unsigned i = 1; i < list_count && lists[i].count / WORTH <= count;
	     i++)
		count = cross(words, count, lists[i]);
	expect_many(finding, count);
	look(finding, words, count);
	free(words);
}

/* --- all words ------------------------------------------------------------ */

/*
 * Not every target has a popcount instruction; the compiler vectorises this
 * loop instead.
 */
uint32_t
word_index_count(const uint64_t *set, uint32_t rows)
{
	uint64_t count = 0;

	assert(set != NULL || rows == 0);
	for (size_t i = 0; i < word_index_set(rows); i++) {
		uint64_t x = set[i];

		x -= x >> 1 & UINT64_C(0x5555555555555555);
		x = (x & UINT64_C(0x3333333333333333)) +
		    (x >> 2 & UINT64_C(0x3333333333333333));
		x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
		/*
		 * Each byte is 8 at most: the shifts add them up without
		 * overflow.
		 */
		x += x >> 8;
		x += x >> 16;
		x += x >> 32;
		count += x & 0xff;
	}
	return (uint32_t)count;
}

static enum err
find_word(uint64_t *set, uint32_t *count, const struct word_index *index,
    struct span word)
{
	struct finding finding = {.index = index, .set = set, .word = word};

	memset(set, 0, word_index_set(index->head->rows) * sizeof(*set));
	*count = 0;
	/* SNAP_TEXT_END separates words: no word contains it. */
	if (memchr(word.ptr, SNAP_TEXT_END, word.len) != NULL)
		return ERR_OK;
	if (word.len < 3)
		by_scan(&finding);
	else
		by_grams(&finding);
	*count = finding.count;
	return finding.err;
}

/*
 * Keeps only rows that also hold every other word; `done` is the word that was
 * found first.
 */
static enum err
narrow(uint64_t *set, uint64_t *other, const struct word_index *index,
    struct span word, struct span done)
{
	uint32_t count;
	enum err err;

	if (word.ptr == done.ptr)
		return ERR_OK;
	err = find_word(other, &count, index, word);
	for (size_t i = 0; i < word_index_set(index->head->rows); i++)
		set[i] &= other[i];
	return err;
}

enum err
word_index_find(uint64_t *set, uint32_t *count, const struct word_index *index,
    const struct words *words)
{
	uint32_t rows = index->head->rows;
	struct span word, rest = words->rest;
	uint64_t *other;
	enum err err = find_word(set, count, index, words->longest);

	assert(words->longest.len > 0);
	if (err != ERR_OK || *count == 0 || words_single(words))
		return err;
	other = malloc((word_index_set(rows) + 1) * sizeof(*other));
	if (other == NULL)
		return ERR_NO_MEMORY;
	for (unsigned i = 0; i < words->count && err == ERR_OK; i++)
		err = narrow(set, other, index, words->word[i], words->longest);
	while (err == ERR_OK && span_cut(&word, &rest, ' '))
		if (word.len > 0)
			err = narrow(set, other, index, word, words->longest);
	*count = word_index_count(set, rows);
	free(other);
	return err;
}
