/*
 * The lists of the grams: as many at a time as fit into the memory, each time from
 * all words. How long each list is has been counted. A list that is too long
 * alone is written as it comes.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lmdb-schema/search/word_index_priv.h"

/* Pages of the words are forgotten whenever that many words were read. */
#define FORGET_WORDS (UINT32_C(1) << 20)

struct gramming {
	const uint32_t *counts;
	const char *map; /* the file, as far as it is written */
	uint64_t map_bytes;
	struct span text;
	uint32_t words;
	uint32_t *last; /* by gram: the last word that has it, + 1 */
	struct word_index_stream lists;
	uint32_t from, to; /* the grams whose lists are made now */
	uint32_t *items, *next; /* their lists; where the next entry goes */
};

/* Writes the word into the list of each of its grams that is made now. */
static enum err
take_word(struct gramming *grams, uint32_t number, const char *word, size_t len)
{
	enum err err = ERR_OK;

	for (size_t i = 0; i + 3 <= len && err == ERR_OK; i++) {
		uint32_t gram = word_index_gram(word + i);

		if (gram < grams->from || gram >= grams->to ||
		    !word_index_gram_is_new(grams->last, gram, number))
			continue;
		if (grams->items == NULL)
			err = word_index_stream_put(
			    &grams->lists, &number, sizeof(number));
		else
			grams->items[grams->next[gram]++] = number;
	}
	return err;
}

static enum err
take_words(struct gramming *grams)
{
	const char *at = grams->text.ptr, *limit = at + grams->text.len;
	enum err err = ERR_OK;

	for (uint32_t i = 0; i < grams->words && err == ERR_OK; i++) {
		const char *word_end =
		    memchr(at, SNAP_TEXT_END, (size_t)(limit - at));

		assert(word_end != NULL);
		err = take_word(grams, i, at, (size_t)(word_end - at));
		at = word_end + 1;
		if (i % FORGET_WORDS == FORGET_WORDS - 1)
			word_index_forget(grams->map, grams->map_bytes);
	}
	return err;
}

/* Lists whose entries are `room` at most, or one. */
static uint64_t
choose(struct gramming *grams, uint64_t room)
{
	uint64_t entries = grams->counts[grams->from];

	for (grams->to = grams->from + 1; grams->to < WORD_INDEX_GRAM_LISTS &&
	     entries + grams->counts[grams->to] <= room;
	     grams->to++)
		entries += grams->counts[grams->to];
	return entries;
}

static enum err
make_lists(struct gramming *grams, uint64_t room)
{
	uint64_t entries = choose(grams, room);
	uint32_t sum = 0;
	enum err err;

	if (entries > room) /* one that is too long */
		return take_words(grams);
	grams->items = malloc((entries + 1) * sizeof(*grams->items));
	if (grams->items == NULL)
		return ERR_NO_MEMORY;
	for (uint32_t i = grams->from; i < grams->to; i++) {
		grams->next[i] = sum;
		sum += grams->counts[i];
	}
	err = take_words(grams);
	if (err == ERR_OK)
		err = word_index_stream_put(&grams->lists, grams->items,
		    entries * sizeof(*grams->items));
	free(grams->items);
	grams->items = NULL;
	return err;
}

static enum err
put_lists(struct gramming *grams, struct word_index_merge *merge)
{
	uint64_t entries = 0;
	enum err err;

	for (uint32_t i = 0; i < WORD_INDEX_GRAM_LISTS; i++)
		entries += grams->counts[i];
	if (entries > UINT32_MAX)
		return ERR_TOO_LARGE;
	err = word_index_stream_begin(
	    &grams->lists, &merge->file, entries * sizeof(uint32_t));
	for (grams->from = 0;
	     grams->from < WORD_INDEX_GRAM_LISTS && err == ERR_OK;
	     grams->from = grams->to)
		err = make_lists(grams, merge->memory / sizeof(uint32_t));
	return err == ERR_OK ? word_index_stream_end(&grams->lists,
				   &merge->file, WORD_INDEX_GRAMS)
			     : err;
}

/* Where each list begins. */
static enum err
put_places(struct gramming *grams, struct word_index_merge *merge)
{
	uint32_t *at = grams->last; /* which has one more, for the end */

	at[0] = 0;
	for (uint32_t i = 0; i < WORD_INDEX_GRAM_LISTS; i++)
		at[i + 1] = at[i] + grams->counts[i];
	return word_index_put(&merge->file, WORD_INDEX_GRAM_AT, at,
	    (WORD_INDEX_GRAM_LISTS + UINT64_C(1)) * sizeof(*at));
}

/* The words are read from the file: they are in the kernel's cache. */
static enum err
map_words(struct gramming *grams, const struct word_index_merge *merge)
{
	const struct word_index_section *text =
	    &merge->file.head.section[WORD_INDEX_TEXT];
	void *map;

	grams->words = merge->file.head.words;
	if (text->bytes == 0)
		return ERR_OK;
	map = mmap(NULL, text->at + text->bytes, PROT_READ, MAP_SHARED,
	    merge->file.fd, 0);
	if (map == MAP_FAILED)
		return ERR_NO_MEMORY;
	grams->map = map;
	grams->map_bytes = text->at + text->bytes;
	grams->text = span_make(grams->map + text->at, text->bytes);
	return ERR_OK;
}

enum err
word_index_merge_grams(
    struct word_index_merge *merge, uint32_t counts[WORD_INDEX_GRAM_LISTS])
{
	struct gramming grams = {.counts = counts, .text = SPAN("")};
	enum err err = ERR_NO_MEMORY;

	assert(merge->memory > 0);
	grams.last = calloc(WORD_INDEX_GRAM_LISTS + 1u, sizeof(*grams.last));
	grams.next = calloc(WORD_INDEX_GRAM_LISTS, sizeof(*grams.next));
	if (grams.last != NULL && grams.next != NULL)
		err = map_words(&grams, merge);
	if (err == ERR_OK)
		err = put_lists(&grams, merge);
	if (err == ERR_OK)
		err = put_places(&grams, merge);
	if (grams.map != NULL)
		munmap((void *)(uintptr_t)grams.map, grams.map_bytes);
	word_index_stream_fini(&grams.lists);
	free(grams.last);
	free(grams.next);
	return err;
}
