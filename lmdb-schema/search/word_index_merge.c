/*
 * Merges inputs, each in order, into one file: first the rows, by which each row
 * of each input gets its new rank; then the words, whose lists have these ranks;
 * then the grams of the words.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lmdb-schema/search/word_index_priv.h"

/* Pages of inputs are forgotten whenever that much was read. */
#define FORGET_BYTES (UINT64_C(16) << 20)

/* --- the least input -------------------------------------------------------- */

void
word_index_heap_add(
    struct word_index_heap *heap, struct word_index_input *input)
{
	heap->input[heap->count++] = input;
}

static void
sift(struct word_index_heap *heap, unsigned at)
{
	struct word_index_input **input = heap->input, *moved;

	if (at >= heap->count)
		return;
	moved = input[at];
	for (;;) {
		unsigned child = 2 * at + 1;

		if (child >= heap->count)
			break;
		if (child + 1 < heap->count &&
		    heap->before(input[child + 1], input[child]))
			child++;
		if (!heap->before(input[child], moved))
			break;
		input[at] = input[child];
		at = child;
	}
	input[at] = moved;
}

void
word_index_heap_order(struct word_index_heap *heap)
{
	assert(heap->before != NULL);
	for (unsigned i = heap->count / 2; i > 0; i--)
		sift(heap, i - 1);
}

void
word_index_heap_step(struct word_index_heap *heap, bool ended)
{
	assert(heap->count > 0);
	if (ended)
		heap->input[0] = heap->input[--heap->count];
	sift(heap, 0);
}

void
word_index_merge_read(struct word_index_merge *merge, uint64_t bytes)
{
	if (merge->unread > bytes) {
		merge->unread -= bytes;
		return;
	}
	merge->unread = FORGET_BYTES;
	for (unsigned i = 0; i < merge->count; i++) {
		struct sealed *file = &merge->inputs[i].index->file;

		word_index_forget(file->bytes, file->len);
	}
	if (merge->map != NULL)
		word_index_forget(merge->map, merge->ranks.end);
}

/* --- rows ------------------------------------------------------------------- */

struct rows {
	struct word_index_merge *merge;
	struct word_index_stream rows, turnovers, codes, code_at;
	uint32_t done; /* rows */
	uint64_t code_bytes;
};

static bool
row_is_before(
    const struct word_index_input *a, const struct word_index_input *b)
{
	int way =
	    word_index_compare_rows(a->turnover, a->code, b->turnover, b->code);

	return way != 0 ? way < 0 : a->place < b->place;
}

static enum err
note_rank(struct word_index_input *input, uint32_t rank)
{
	return input->ranks.buffer == NULL
	    ? ERR_OK
	    : word_index_stream_put(&input->ranks, &rank, sizeof(rank));
}

/*
 * Gets the input's next row that the new index has. ERR_NOT_FOUND: there is none.
 */
static enum err
load_row(struct word_index_input *input)
{
	const struct word_index *index = input->index;
	enum err err = ERR_OK;

	for (; input->at < index->head->rows && err == ERR_OK; input->at++) {
		uint32_t number = index->rows[input->at].supplier,
			 from = index->code_at[input->at],
			 to = index->code_at[input->at + 1];

		if (number >= index->head->suppliers || from > to ||
		    to > index->codes.len)
			return ERR_DAMAGED;
		input->place = input->supplier[number];
		if (input->place != WORD_INDEX_NOWHERE) {
			input->turnover = index->turnovers[input->at];
			input->code = span_sub(index->codes, from, to - from);
			return ERR_OK;
		}
		err = note_rank(input, WORD_INDEX_NOWHERE);
	}
	return err == ERR_OK ? ERR_NOT_FOUND : err;
}

static enum err
begin_rows(struct rows *rows)
{
	struct word_index_merge *merge = rows->merge;
	uint64_t count = merge->file.head.rows, codes = 0;
	enum err err;

	for (unsigned i = 0; i < merge->count; i++)
		codes += merge->inputs[i].index->codes.len;
	err = word_index_stream_begin(
	    &rows->rows, &merge->file, count * sizeof(struct word_index_row));
	if (err == ERR_OK)
		err = word_index_stream_begin(
		    &rows->turnovers, &merge->file, count * sizeof(int64_t));
	if (err == ERR_OK)
		err =
		    word_index_stream_begin(&rows->codes, &merge->file, codes);
	if (err == ERR_OK)
		err = word_index_stream_begin(&rows->code_at, &merge->file,
		    (count + 1) * sizeof(uint32_t));
	return err;
}

static enum err
put_row(struct rows *rows, struct word_index_input *input)
{
	struct word_index_row row = {
	    input->place, input->index->rows[input->at].row};
	enum err err;

	if (rows->done == rows->merge->file.head.rows)
		return ERR_DAMAGED; /* more than its suppliers have */
	err = word_index_stream_put(&rows->rows, &row, sizeof(row));
	if (err == ERR_OK)
		err = word_index_stream_put(&rows->turnovers, &input->turnover,
		    sizeof(input->turnover));
	if (err == ERR_OK)
		err = word_index_put_u32(&rows->code_at, rows->code_bytes);
	if (err == ERR_OK)
		err = word_index_stream_put(
		    &rows->codes, input->code.ptr, input->code.len);
	if (err == ERR_OK)
		err = note_rank(input, rows->done++);
	rows->code_bytes += input->code.len;
	word_index_merge_read(
	    rows->merge, sizeof(row) + sizeof(int64_t) + input->code.len);
	return err;
}

/* One row after the other, each from the input where the least is. */
static enum err
put_rows(struct rows *rows)
{
	struct word_index_heap *heap = &rows->merge->heap;
	enum err err = ERR_OK;

	heap->count = 0;
	heap->before = row_is_before;
	for (unsigned i = 0; i < rows->merge->count; i++) {
		err = load_row(&rows->merge->inputs[i]);
		if (err == ERR_OK)
			word_index_heap_add(heap, &rows->merge->inputs[i]);
		else if (err != ERR_NOT_FOUND)
			return err;
	}
	word_index_heap_order(heap);
	for (err = ERR_OK; heap->count > 0 && err == ERR_OK;) {
		struct word_index_input *input = heap->input[0];

		err = put_row(rows, input);
		input->at++;
		if (err == ERR_OK)
			err = load_row(input);
		word_index_heap_step(heap, err == ERR_NOT_FOUND);
		if (err == ERR_NOT_FOUND)
			err = ERR_OK;
	}
	return err;
}

static enum err
end_rows(struct rows *rows)
{
	struct word_index_file *file = &rows->merge->file;
	enum err err = rows->done == file->head.rows
	    ? word_index_put_u32(&rows->code_at, rows->code_bytes)
	    : ERR_DAMAGED;

	if (err == ERR_OK)
		err = word_index_stream_end(&rows->rows, file, WORD_INDEX_ROWS);
	if (err == ERR_OK)
		err = word_index_stream_end(
		    &rows->turnovers, file, WORD_INDEX_TURNOVERS);
	if (err == ERR_OK)
		err =
		    word_index_stream_end(&rows->codes, file, WORD_INDEX_CODES);
	return err == ERR_OK
	    ? word_index_stream_end(&rows->code_at, file, WORD_INDEX_CODE_AT)
	    : err;
}

static enum err
merge_rows(struct word_index_merge *merge)
{
	struct rows rows = {.merge = merge};
	enum err err = begin_rows(&rows);

	if (err == ERR_OK)
		err = put_rows(&rows);
	if (err == ERR_OK)
		err = end_rows(&rows);
	word_index_stream_fini(&rows.rows);
	word_index_stream_fini(&rows.turnovers);
	word_index_stream_fini(&rows.codes);
	word_index_stream_fini(&rows.code_at);
	return err;
}

/* --- ranks ------------------------------------------------------------------ */

/* The only input, with all its rows, keeps their ranks. */
static bool
keeps_ranks(const struct word_index_merge *merge)
{
	return merge->count == 1 &&
	    merge->inputs[0].rows == merge->inputs[0].index->head->rows;
}

/* The file loses its name at once: nothing is left of it after a kill. */
static enum err
begin_ranks(struct word_index_merge *merge, const char *path)
{
	enum err err;

	if (keeps_ranks(merge))
		return ERR_OK;
	err = word_index_file_begin(&merge->ranks, path);
	if (err == ERR_OK)
		err = fs_unlink(path);
	for (unsigned i = 0; i < merge->count && err == ERR_OK; i++) {
		struct word_index_input *input = &merge->inputs[i];

		err = word_index_stream_begin(&input->ranks, &merge->ranks,
		    (uint64_t)input->index->head->rows * sizeof(*input->rank));
	}
	return err;
}

/* From now on each input's `rank` is there. */
static enum err
end_ranks(struct word_index_merge *merge)
{
	enum err err = ERR_OK;
	void *map;

	if (keeps_ranks(merge) || merge->count == 0)
		return ERR_OK;
	for (unsigned i = 0; i < merge->count && err == ERR_OK; i++)
		err = word_index_stream_flush(&merge->inputs[i].ranks);
	if (err == ERR_OK &&
	    ftruncate(merge->ranks.fd, (off_t)merge->ranks.end) != 0)
		err = ERR_NO_SPACE;
	if (err != ERR_OK)
		return err;
	map = mmap(
	    NULL, merge->ranks.end, PROT_READ, MAP_SHARED, merge->ranks.fd, 0);
	if (map == MAP_FAILED)
		return ERR_NO_MEMORY;
	merge->map = map;
	for (unsigned i = 0; i < merge->count; i++)
		merge->inputs[i].rank =
		    (const uint32_t *)(const void *)(merge->map +
			merge->inputs[i].ranks.section.at);
	return ERR_OK;
}

static void
fini_ranks(struct word_index_merge *merge)
{
	for (unsigned i = 0; i < merge->count; i++)
		word_index_stream_fini(&merge->inputs[i].ranks);
	if (merge->map != NULL)
		munmap(merge->map, merge->ranks.end);
	word_index_file_end(&merge->ranks);
}

/* --- the file --------------------------------------------------------------- */

static enum err
merge_all(struct word_index_merge *merge, uint32_t *grams)
{
	struct word_index_file *file = &merge->file;
	enum err err = word_index_put(file, WORD_INDEX_SUPPLIERS,
	    merge->suppliers, file->head.suppliers * sizeof(*merge->suppliers));

	if (err == ERR_OK)
		err = merge_rows(merge);
	if (err == ERR_OK)
		err = end_ranks(merge);
	if (err == ERR_OK)
		err = word_index_merge_words(merge, grams);
	if (err == ERR_OK)
		err = word_index_merge_grams(merge, grams);
	return err == ERR_OK ? word_index_file_finish(file, true) : err;
}

enum err
word_index_merge(struct word_index_merge *merge, const char *path)
{
	uint32_t *grams = calloc(WORD_INDEX_GRAM_LISTS, sizeof(*grams));
	enum err err = ERR_NO_MEMORY;

	assert(merge->file.head.generation != 0);
	merge->file.fd = merge->ranks.fd = -1;
	merge->unread = FORGET_BYTES;
	merge->heap.input =
	    calloc(merge->count + 1u, sizeof(*merge->heap.input));
	if (grams != NULL && merge->heap.input != NULL)
		err = begin_ranks(merge, path);
	if (err == ERR_OK)
		err = word_index_file_begin(&merge->file, path);
	if (err == ERR_OK)
		err = merge_all(merge, grams);
	word_index_file_end(&merge->file);
	fini_ranks(merge);
	free(merge->heap.input);
	free(grams);
	return err;
}
