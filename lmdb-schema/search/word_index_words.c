/*
 * Takes rows of snapshots into memory: what they are ordered by, and the distinct
 * words of each; words are numbered in the order they are first met.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/arena.h"
#include "lmdb-schema/search/word_index_priv.h"

#define CODES_MAX ((size_t)4 << 30)

enum err
word_index_rowset_init(struct word_index_rowset *set)
{
	*set = (struct word_index_rowset){.rows = 0};
	set->words = codemap_new();
	set->arena = arena_new(CODES_MAX);
	return set->words == NULL || set->arena == NULL ? ERR_NO_MEMORY
							: ERR_OK;
}

void
word_index_rowset_fini(struct word_index_rowset *set)
{
	arena_free(set->arena);
	codemap_free(set->words);
	free(set->suppliers);
	free(set->first);
	free(set->from);
	free(set->uses);
	free(set->use_at);
	free(set->last);
	free(set->turnovers);
	free(set->codes);
	*set = (struct word_index_rowset){.rows = 0};
}

/*
 * Arrays that grow by doubling are counted twice. A row: 28 bytes of arrays, its
 * code in the arena, and 60 while ranks are made. A use: its number, and its
 * entry in a list. A word: 4 bytes and the map's 64 to 80, and 60 while the words
 * are put in order.
 */
uint64_t
word_index_weight(const struct word_index_rowset *set)
{
	return set->rows * UINT64_C(160) + set->use_count * 12 +
	    codemap_count(set->words) * UINT64_C(192) + set->word_bytes;
}

/* --- snapshots -------------------------------------------------------------- */

static struct span
code_of(const struct word_index_source *source, uint32_t row)
{
	uint32_t term = snapshot_term_of(&source->codes, row);

	return term == SNAP_NO_TERM ? SPAN("")
				    : snapshot_term(&source->codes, term);
}

static bool
texts_fit(const struct word_index_source *source)
{
	for (uint32_t i = 0; i < source->rows; i++)
		if (source->at[i] > source->at[i + 1] ||
		    source->at[i + 1] > source->text.len)
			return false;
	return true;
}

/* Ranks are merged: each snapshot must be in their order. */
static bool
rows_fit(const struct word_index_source *source)
{
	struct span last = SPAN("");

	for (uint32_t i = 0; i < source->rows; i++) {
		struct span code = code_of(source, i);

		if (code.len == 0 || code.len > SCHEMA_CODE_MAX)
			return false;
		if (i > 0 &&
		    word_index_compare_rows(source->turnovers[i - 1], last,
			source->turnovers[i], code) >= 0)
			return false;
		last = code;
	}
	return true;
}

enum err
word_index_source_init(struct word_index_source *source, struct snapshot *snap)
{
	source->rows = snapshot_rows(snap);
	source->turnovers = snapshot_numbers(snap, COL_totalCa);
	return source->turnovers != NULL &&
		snapshot_terms(snap, COL_codein, &source->codes) &&
		snapshot_text(snap, &source->text, &source->at) &&
		texts_fit(source) && rows_fit(source)
	    ? ERR_OK
	    : ERR_DAMAGED;
}

/* --- words ------------------------------------------------------------------ */

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
		set->word_bytes += word.len;
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
take_text(struct word_index_rowset *set, struct span text)
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

/* --- rows ------------------------------------------------------------------- */

/* Makes room for one row. */
static enum err
reserve(struct word_index_rowset *set)
{
	uint64_t room = set->order_room == 0 ? 1024 : 2 * set->order_room;
	int64_t *turnovers;
	struct span *codes;

	if (set->rows < set->order_room)
		return ERR_OK;
	turnovers = reallocarray(set->turnovers, room, sizeof(*turnovers));
	if (turnovers != NULL)
		set->turnovers = turnovers;
	codes = reallocarray(set->codes, room, sizeof(*codes));
	if (codes != NULL)
		set->codes = codes;
	if (turnovers == NULL || codes == NULL)
		return ERR_NO_MEMORY;
	set->order_room = room;
	return ERR_OK;
}

static enum err
reserve_supplier(struct word_index_rowset *set)
{
	uint32_t room = set->supplier_room == 0 ? 64 : 2 * set->supplier_room;
	struct word_index_supplier *suppliers;
	uint32_t *first, *from;

	if (set->supplier_count < set->supplier_room)
		return ERR_OK;
	suppliers = reallocarray(set->suppliers, room, sizeof(*suppliers));
	if (suppliers != NULL)
		set->suppliers = suppliers;
	first = reallocarray(set->first, room, sizeof(*first));
	if (first != NULL)
		set->first = first;
	from = reallocarray(set->from, room, sizeof(*from));
	if (from != NULL)
		set->from = from;
	if (suppliers == NULL || first == NULL || from == NULL)
		return ERR_NO_MEMORY;
	set->supplier_room = room;
	return ERR_OK;
}

static enum err
take_row(struct word_index_rowset *set, const struct word_index_source *source,
    uint32_t row)
{
	struct span code;
	enum err err = reserve(set);

	if (err != ERR_OK)
		return err;
	code = arena_copy(set->arena, code_of(source, row));
	if (code.ptr == NULL)
		return ERR_NO_MEMORY;
	set->turnovers[set->rows] = source->turnovers[row];
	set->codes[set->rows] = code;
	return take_text(set,
	    span_sub(source->text, source->at[row],
		source->at[row + 1] - source->at[row]));
}

enum err
word_index_take(struct word_index_rowset *set,
    const struct word_index_supplier *supplier,
    const struct word_index_source *source, uint32_t *row, uint64_t most)
{
	uint32_t number = set->supplier_count;
	enum err err = reserve_supplier(set);

	assert(*row < source->rows);
	if (err != ERR_OK)
		return err;
	set->supplier_count++;
	set->suppliers[number] = *supplier;
	set->suppliers[number].rows = 0;
	set->first[number] = set->rows;
	set->from[number] = *row;
	do {
		err = take_row(set, source, *row);
		if (err != ERR_OK)
			return err;
		set->suppliers[number].rows++;
	} while (++*row < source->rows && word_index_weight(set) < most);
	return ERR_OK;
}
