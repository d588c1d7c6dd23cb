/*
 * Collects the distinct words of each row; words are numbered in the order they
 * are first met.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lmdb-schema/search/word_index_priv.h"

static bool
ends(char byte)
{
	return byte == ' ' || byte == SNAP_TEXT_END;
}

/* Makes room for `more` entries in a growing array. */
static enum err
grow(void **array, uint64_t used, uint64_t more, uint64_t *room)
{
	uint64_t wanted = *room == 0 ? 1024 : *room;
	void *bigger;

	if (used + more > UINT32_MAX)
		return ERR_TOO_LARGE;
	if (used + more <= *room)
		return ERR_OK;
	while (wanted < used + more)
		wanted *= 2;
	bigger = reallocarray(*array, wanted, sizeof(uint32_t));
	if (bigger == NULL)
		return ERR_NO_MEMORY;
	*array = bigger;
	*room = wanted;
	return ERR_OK;
}

static enum err
take_word(struct word_index_rowset *set, struct span word)
{
	uint32_t number;
	enum err err = codemap_add(set->words, word, &number);

	if (err == ERR_OK) {
		err = grow((void **)&set->last, number, 1, &set->last_room);
		if (err == ERR_OK)
			set->last[number] = 0;
	} else if (err == ERR_EXISTS)
		err = ERR_OK;
	if (err != ERR_OK || set->last[number] == set->rows + 1)
		return err;
	set->last[number] = set->rows + 1;
	err = grow((void **)&set->uses, set->use_count, 1, &set->use_room);
	if (err == ERR_OK)
		set->uses[set->use_count++] = number;
	return err;
}

static enum err
take_row(struct word_index_rowset *set, struct span text)
{
	enum err err =
	    grow((void **)&set->use_at, set->rows, 2, &set->row_room);

	for (size_t i = 0; i < text.len && err == ERR_OK; i++) {
		size_t start = i;

		while (i < text.len && !ends(text.ptr[i]))
			i++;
		if (i > start)
			err = take_word(set, span_sub(text, start, i - start));
	}
	if (err != ERR_OK)
		return err;
	if (set->rows == 0)
		set->use_at[0] = 0;
	set->use_at[++set->rows] = (uint32_t)set->use_count;
	return ERR_OK;
}

enum err
word_index_take_words(struct word_index_rowset *set, struct snapshot *snap)
{
	const uint32_t *at;
	struct span text;
	enum err err = ERR_OK;

	assert(set->supplier_count > 0);
	if (!snapshot_text(snap, &text, &at))
		return ERR_DAMAGED;
	for (uint32_t i = 0; i < snapshot_rows(snap); i++)
		if (at[i] > at[i + 1] || at[i + 1] > text.len)
			return ERR_DAMAGED;
	for (uint32_t i = 0; i < snapshot_rows(snap) && err == ERR_OK; i++)
		err = take_row(set, span_sub(text, at[i], at[i + 1] - at[i]));
	return err;
}
