/*
 * Merges the words of all inputs: each once, with the new ranks of its rows. A
 * word none of whose rows is left is left out.
 */
#include <assert.h>
#include <stdlib.h>

#include "lmdb-schema/search/word_index_priv.h"

/* A word's list in an input. */
struct part {
	const uint32_t *ranks, *map; /* map NULL: they are the new ones */
	uint32_t count;
};

struct wording {
	struct word_index_merge *merge;
	struct word_index_stream text, text_at, lists, list_at;
	struct part *parts; /* of the current word */
	unsigned part_count;
	struct word_index_ranks ranks;
	uint32_t *grams, *last; /* by gram: how many words; the last one + 1 */
	uint64_t done, text_bytes, list_entries;
};

static bool
word_is_before(
    const struct word_index_input *a, const struct word_index_input *b)
{
	return span_cmp(a->word, b->word) < 0;
}

/*
 * Gets the input's next word, without its end. ERR_NOT_FOUND: there is none.
 */
static enum err
load_word(struct word_index_input *input)
{
	struct span text;

	if (input->at == input->index->head->words)
		return ERR_NOT_FOUND;
	if (!word_index_text(&text, input->index, input->at) || text.len < 2 ||
	    text.ptr[text.len - 1] != SNAP_TEXT_END)
		return ERR_DAMAGED;
	text.len--;
	if (input->at > 0 && span_cmp(input->word, text) >= 0)
		return ERR_DAMAGED;
	input->word = text;
	return ERR_OK;
}

/* --- a word's list ---------------------------------------------------------- */

static enum err
add_part(struct wording *wording, const struct word_index_input *input)
{
	const struct word_index *index = input->index;
	uint32_t from = index->list_at[input->at],
		 to = index->list_at[input->at + 1];

	if (from > to || to > index->list_count)
		return ERR_DAMAGED;
	wording->parts[wording->part_count++] =
	    (struct part){index->lists + from, input->rank, to - from};
	for (uint32_t i = from; i < to; i++)
		if (index->lists[i] >= index->head->rows)
			return ERR_DAMAGED;
	word_index_merge_read(
	    wording->merge, input->word.len + (to - from) * sizeof(uint32_t));
	return ERR_OK;
}

static uint32_t
new_rank(const struct part *part, uint32_t i)
{
	return part->map == NULL ? part->ranks[i] : part->map[part->ranks[i]];
}

static enum err
put_rank(struct wording *wording, uint32_t rank)
{
	if (wording->list_entries == UINT32_MAX)
		return ERR_TOO_LARGE;
	wording->list_entries++;
	return word_index_stream_put(&wording->lists, &rank, sizeof(rank));
}

/* The rows of an input keep their order. */
static enum err
put_part(struct wording *wording, const struct part *part)
{
	enum err err = ERR_OK;

	for (uint32_t i = 0; i < part->count && err == ERR_OK; i++) {
		uint32_t rank = new_rank(part, i);

		if (rank != WORD_INDEX_NOWHERE)
			err = put_rank(wording, rank);
	}
	return err;
}

static enum err
put_parts(struct wording *wording)
{
	uint32_t rank;
	enum err err = ERR_OK;

	if (wording->part_count == 1)
		return put_part(wording, &wording->parts[0]);
	for (unsigned k = 0; k < wording->part_count; k++) {
		const struct part *part = &wording->parts[k];

		for (uint32_t i = 0; i < part->count; i++) {
			rank = new_rank(part, i);
			if (rank != WORD_INDEX_NOWHERE)
				word_index_ranks_add(&wording->ranks, rank);
		}
	}
	while (err == ERR_OK && word_index_ranks_take(&wording->ranks, &rank))
		err = put_rank(wording, rank);
	return err;
}

/* --- words ------------------------------------------------------------------ */

static void
count_grams(struct wording *wording, struct span word)
{
	for (size_t i = 0; i + 3 <= word.len; i++) {
		uint32_t gram = word_index_gram(word.ptr + i);

		wording->grams[gram] += word_index_gram_is_new(
		    wording->last, gram, (uint32_t)wording->done);
	}
}

static enum err
put_word(struct wording *wording, struct span word)
{
	static const char end = SNAP_TEXT_END;
	uint64_t before = wording->list_entries;
	enum err err = put_parts(wording);

	if (err != ERR_OK || wording->list_entries == before)
		return err;
	/* Without a number for the one behind it, no word can be put. */
	if (wording->done == UINT32_MAX - 1)
		return ERR_TOO_LARGE;
	err = word_index_put_u32(&wording->list_at, before);
	if (err == ERR_OK)
		err =
		    word_index_put_u32(&wording->text_at, wording->text_bytes);
	if (err == ERR_OK)
		err = word_index_stream_put(&wording->text, word.ptr, word.len);
	if (err == ERR_OK)
		err = word_index_stream_put(&wording->text, &end, 1);
	count_grams(wording, word);
	wording->text_bytes += word.len + 1;
	wording->done++;
	return err;
}

/* Takes the least word from all inputs that have it, and puts it. */
static enum err
step(struct wording *wording)
{
	struct word_index_heap *heap = &wording->merge->heap;
	struct span word = heap->input[0]->word;
	enum err err = ERR_OK;

	wording->part_count = 0;
	while (heap->count > 0 && err == ERR_OK &&
	    span_eq(heap->input[0]->word, word)) {
		struct word_index_input *input = heap->input[0];

		err = add_part(wording, input);
		input->at++;
		if (err == ERR_OK)
			err = load_word(input);
		word_index_heap_step(heap, err == ERR_NOT_FOUND);
		if (err == ERR_NOT_FOUND)
			err = ERR_OK;
	}
	return err == ERR_OK ? put_word(wording, word) : err;
}

static enum err
put_words(struct wording *wording)
{
	struct word_index_heap *heap = &wording->merge->heap;
	enum err err = ERR_OK;

	heap->count = 0;
	heap->before = word_is_before;
	for (unsigned i = 0; i < wording->merge->count; i++) {
		wording->merge->inputs[i].at = 0;
		err = load_word(&wording->merge->inputs[i]);
		if (err == ERR_OK)
			word_index_heap_add(heap, &wording->merge->inputs[i]);
		else if (err != ERR_NOT_FOUND)
			return err;
	}
	word_index_heap_order(heap);
	for (err = ERR_OK; heap->count > 0 && err == ERR_OK;)
		err = step(wording);
	if (err == ERR_OK)
		err = word_index_put_u32(
		    &wording->list_at, wording->list_entries);
	return err == ERR_OK
	    ? word_index_put_u32(&wording->text_at, wording->text_bytes)
	    : err;
}

/* --- sections --------------------------------------------------------------- */

/* As much room as all words of all inputs need, if none is in two of them. */
static enum err
begin(struct wording *wording)
{
	struct word_index_merge *merge = wording->merge;
	uint64_t text = 0, entries = 0, places = 1;
	enum err err;

	for (unsigned i = 0; i < merge->count; i++) {
		const struct word_index *index = merge->inputs[i].index;

		text += index->text.len;
		entries += index->list_count;
		places += index->head->words;
	}
	wording->parts = calloc(merge->count + 1u, sizeof(*wording->parts));
	wording->last = calloc(WORD_INDEX_GRAM_LISTS, sizeof(*wording->last));
	err = wording->parts == NULL || wording->last == NULL
	    ? ERR_NO_MEMORY
	    : word_index_ranks_init(&wording->ranks, merge->file.head.rows);
	if (err == ERR_OK)
		err = word_index_stream_begin(
		    &wording->text_at, &merge->file, places * sizeof(uint32_t));
	if (err == ERR_OK)
		err = word_index_stream_begin(
		    &wording->list_at, &merge->file, places * sizeof(uint32_t));
	if (err == ERR_OK)
		err = word_index_stream_begin(
		    &wording->lists, &merge->file, entries * sizeof(uint32_t));
	return err == ERR_OK
	    ? word_index_stream_begin(&wording->text, &merge->file, text)
	    : err;
}

static enum err
end(struct wording *wording)
{
	struct word_index_file *file = &wording->merge->file;
	enum err err =
	    word_index_stream_end(&wording->text_at, file, WORD_INDEX_TEXT_AT);

	file->head.words = (uint32_t)wording->done;
	if (err == ERR_OK)
		err = word_index_stream_end(
		    &wording->list_at, file, WORD_INDEX_LIST_AT);
	if (err == ERR_OK)
		err = word_index_stream_end(
		    &wording->lists, file, WORD_INDEX_LISTS);
	return err == ERR_OK
	    ? word_index_stream_end(&wording->text, file, WORD_INDEX_TEXT)
	    : err;
}

enum err
word_index_merge_words(
    struct word_index_merge *merge, uint32_t grams[WORD_INDEX_GRAM_LISTS])
{
	struct wording wording = {.merge = merge, .grams = grams};
	enum err err = begin(&wording);

	if (err == ERR_OK)
		err = put_words(&wording);
	if (err == ERR_OK)
		err = end(&wording);
	word_index_stream_fini(&wording.text);
	word_index_stream_fini(&wording.text_at);
	word_index_stream_fini(&wording.lists);
	word_index_stream_fini(&wording.list_at);
	word_index_ranks_fini(&wording.ranks);
	free(wording.parts);
	free(wording.last);
	return err;
}
