/*
 * Writes the rows of a set by rank, and its words in order, each with the list of
 * its rows.
 *
 * Lists are made in two passes: one counts the entries of each list, the other
 * writes them at the offsets that follow. Ranks are met in order, so the lists
 * come out sorted.
 */
#include <stdlib.h>
#include <string.h>

#include "lmdb-schema/order.h"
#include "lmdb-schema/search/word_index_priv.h"

struct run {
	const struct word_index_rowset *set;
	struct word_index_file file;
	uint32_t *by_rank; /* the row at each rank */
	uint32_t
	    *by_text; /* the word at each place in the order of the texts */
	uint32_t *place; /* by word: that place */
	uint32_t *at, *items; /* lists of ranks, by that place */
	uint32_t *supplier; /* by row */
};

/* --- rows ------------------------------------------------------------------- */

static enum err
put_rows(struct run *run, struct word_index_stream *stream)
{
	const struct word_index_rowset *set = run->set;
	enum err err = word_index_stream_begin(stream, &run->file,
	    (uint64_t)set->rows * sizeof(struct word_index_row));

	for (uint32_t rank = 0; rank < set->rows && err == ERR_OK; rank++) {
		uint32_t row = run->by_rank[rank],
			 supplier = run->supplier[row];
		struct word_index_row here = {
		    supplier, row - set->first[supplier] + set->from[supplier]};

		err = word_index_stream_put(stream, &here, sizeof(here));
	}
	return err == ERR_OK
	    ? word_index_stream_end(stream, &run->file, WORD_INDEX_ROWS)
	    : err;
}

static enum err
put_turnovers(struct run *run, struct word_index_stream *stream)
{
	const struct word_index_rowset *set = run->set;
	enum err err = word_index_stream_begin(
	    stream, &run->file, (uint64_t)set->rows * sizeof(*set->turnovers));

	for (uint32_t rank = 0; rank < set->rows && err == ERR_OK; rank++)
		err = word_index_stream_put(stream,
		    &set->turnovers[run->by_rank[rank]],
		    sizeof(*set->turnovers));
	return err == ERR_OK
	    ? word_index_stream_end(stream, &run->file, WORD_INDEX_TURNOVERS)
	    : err;
}

/* The texts at order[0..count), each with its end where there is one. */
static enum err
put_texts(struct run *run, unsigned section, const struct span *texts,
    const uint32_t *order, uint32_t count, struct span end)
{
	struct word_index_stream stream, at = {.buffer = NULL};
	uint64_t bytes = 0;
	enum err err;

	for (uint32_t i = 0; i < count; i++)
		bytes += texts[order[i]].len + end.len;
	err = word_index_stream_begin(&stream, &run->file, bytes);
	if (err == ERR_OK)
		err = word_index_stream_begin(
		    &at, &run->file, (count + UINT64_C(1)) * sizeof(uint32_t));
	bytes = 0;
	for (uint32_t i = 0; i < count && err == ERR_OK; i++) {
		struct span text = texts[order[i]];

		err = word_index_put_u32(&at, bytes);
		if (err == ERR_OK)
			err =
			    word_index_stream_put(&stream, text.ptr, text.len);
		if (err == ERR_OK)
			err = word_index_stream_put(&stream, end.ptr, end.len);
		bytes += text.len + end.len;
	}
	if (err == ERR_OK)
		err = word_index_put_u32(&at, bytes);
	if (err == ERR_OK)
		err = word_index_stream_end(&stream, &run->file, section);
	if (err == ERR_OK)
		err = word_index_stream_end(&at, &run->file, section + 1);
	word_index_stream_fini(&stream);
	word_index_stream_fini(&at);
	return err;
}

static enum err
put_all_rows(struct run *run)
{
	const struct word_index_rowset *set = run->set;
	struct word_index_stream stream = {.buffer = NULL};
	enum err err = ERR_NO_MEMORY;

	run->supplier = calloc(set->rows + 1u, sizeof(*run->supplier));
	if (run->supplier != NULL) {
		for (uint32_t i = 0; i < set->supplier_count; i++)
			for (uint32_t k = 0; k < set->suppliers[i].rows; k++)
				run->supplier[set->first[i] + k] = i;
		err = put_rows(run, &stream);
	}
	word_index_stream_fini(&stream);
	if (err == ERR_OK)
		err = put_turnovers(run, &stream);
	word_index_stream_fini(&stream);
	if (err == ERR_OK)
		err = put_texts(run, WORD_INDEX_CODES, set->codes, run->by_rank,
		    set->rows, SPAN(""));
	free(run->supplier);
	run->supplier = NULL;
	return err;
}

/* --- words ------------------------------------------------------------------ */

static enum err
sort_words(struct run *run, const struct span *texts, uint32_t words)
{
	uint32_t *spare = malloc((words + 1u) * sizeof(*spare));
	enum err err = ERR_NO_MEMORY;

	run->by_text = malloc((words + 1u) * sizeof(*run->by_text));
	run->place = malloc((words + 1u) * sizeof(*run->place));
	if (spare != NULL && run->by_text != NULL && run->place != NULL)
		err = order_texts(run->by_text, spare, texts, words);
	for (uint32_t i = 0; i < words && err == ERR_OK; i++)
		run->place[run->by_text[i]] = i;
	free(spare);
	return err;
}

static enum err
put_words(struct run *run)
{
	const struct codemap *map = run->set->words;
	static const char end = SNAP_TEXT_END;
	uint32_t words = codemap_count(map);
	struct span *texts = malloc((words + 1u) * sizeof(*texts));
	enum err err = ERR_NO_MEMORY;

	if (texts != NULL) {
		for (uint32_t i = 0; i < words; i++)
			texts[i] = codemap_code(map, i);
		err = sort_words(run, texts, words);
	}
	if (err == ERR_OK)
		err = put_texts(run, WORD_INDEX_TEXT, texts, run->by_text,
		    words, span_make(&end, 1));
	free(texts);
	return err;
}

/* at[i + 1] is where the next entry of list i goes, and in the end its end. */
static enum err
list_rows(struct run *run)
{
	const struct word_index_rowset *set = run->set;
	uint32_t words = codemap_count(set->words), sum = 0;

	run->at = calloc(words + 2u, sizeof(*run->at));
	run->items = malloc((set->use_count + 1) * sizeof(*run->items));
	if (run->at == NULL || run->items == NULL)
		return ERR_NO_MEMORY;
	for (uint64_t i = 0; i < set->use_count; i++)
		run->at[run->place[set->uses[i]] + 1]++;
	for (uint32_t i = 1; i <= words; i++) {
		uint32_t len = run->at[i];

		run->at[i] = sum;
		sum += len;
	}
	for (uint32_t rank = 0; rank < set->rows; rank++) {
		uint32_t row = run->by_rank[rank];

		for (uint32_t i = set->use_at[row]; i < set->use_at[row + 1];
		     i++)
			run->items[run->at[run->place[set->uses[i]] + 1]++] =
			    rank;
	}
	return ERR_OK;
}

static enum err
put_lists(struct run *run)
{
	uint32_t words = codemap_count(run->set->words);
	enum err err = list_rows(run);

	if (err == ERR_OK)
		err = word_index_put(&run->file, WORD_INDEX_LISTS, run->items,
		    run->set->use_count * sizeof(*run->items));
	return err == ERR_OK
	    ? word_index_put(&run->file, WORD_INDEX_LIST_AT, run->at,
		  (words + UINT64_C(1)) * sizeof(*run->at))
	    : err;
}

/* Without grams: all lists are empty. */
static enum err
put_no_grams(struct run *run)
{
	uint64_t count = WORD_INDEX_GRAM_LISTS + UINT64_C(1);
	uint32_t *at = calloc(count, sizeof(*at));
	enum err err = ERR_NO_MEMORY;

	if (at != NULL)
		err = word_index_put(&run->file, WORD_INDEX_GRAMS, at, 0);
	if (err == ERR_OK)
		err = word_index_put(
		    &run->file, WORD_INDEX_GRAM_AT, at, count * sizeof(*at));
	free(at);
	return err;
}

/* --- the file --------------------------------------------------------------- */

static enum err
put_all(struct run *run)
{
	const struct word_index_rowset *set = run->set;
	enum err err = word_index_put(&run->file, WORD_INDEX_SUPPLIERS,
	    set->suppliers, set->supplier_count * sizeof(*set->suppliers));

	if (err == ERR_OK)
		err = word_index_rank(&run->by_rank, set);
	if (err == ERR_OK)
		err = put_all_rows(run);
	if (err == ERR_OK)
		err = put_words(run);
	if (err == ERR_OK)
		err = put_lists(run);
	return err == ERR_OK ? put_no_grams(run) : err;
}

enum err
word_index_write_run(const char *path, const struct word_index_rowset *set)
{
	struct run run = {.set = set};
	enum err err = word_index_file_begin(&run.file, path);

	if (err == ERR_OK)
		err = put_all(&run);
	run.file.head.generation = 1; /* nobody asks for it */
	run.file.head.suppliers = set->supplier_count;
	run.file.head.rows = set->rows;
	run.file.head.words = codemap_count(set->words);
	if (err == ERR_OK)
		err = word_index_file_finish(&run.file, false);
	word_index_file_end(&run.file);
	free(run.by_rank);
	free(run.by_text);
	free(run.place);
	free(run.at);
	free(run.items);
	return err;
}
