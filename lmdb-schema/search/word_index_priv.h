/* Internals of the word index, shared by word_index*.c only. */
#pragma once

#include <stdatomic.h>

#include "lmdb-schema/codemap.h"
#include "lmdb-schema/search/word_index.h"
#include "lmdb-schema/snapshot/snapshot.h"
#include "lmdb-schema/snapshot/snapshot_columns.h"
#include "lmdb-schema/store/blocks.h"
#include "lmdb-schema/store/sealed.h"

#define WORD_INDEX_ALIGN 64

/*
 * An open file, and its sections in the map. Only who has compared the file as a
 * whole, or the suppliers, reads their bytes from here; others ask
 * word_index_bytes().
 */
struct word_index {
	struct sealed file;
	atomic_uint users;
	const struct word_index_head *head;
	struct blocks_file sums;
	struct blocks *blocks; /* [WORD_INDEX_SUMMED] */
	atomic_ushort *seen;
	const struct word_index_supplier *suppliers;
	const struct word_index_row *rows;
	struct span text, codes;
	const uint32_t *text_at, *lists, *list_at, *grams, *gram_at, *code_at;
	const int64_t *turnovers;
	uint64_t list_count, gram_count;
};

/* As word_index_open(), of any path, and without a word to the log. */
enum err word_index_open_file(struct word_index **out, const char *path);

/*
 * Takes the pages of a map out of this process; they stay in the kernel's cache,
 * and come back when they are read.
 */
void word_index_forget(const void *map, uint64_t bytes);

/* Bytes of a section; NULL when they are beyond it, or damaged. */
static inline const void *
word_index_bytes(
    const struct word_index *index, unsigned section, uint64_t at, uint64_t len)
{
	struct blocks *blocks = &index->blocks[section];

	return at <= blocks->bytes && len <= blocks->bytes - at &&
		(len == 0 || blocks_sound(blocks, at, len))
	    ? blocks->base + at
	    : NULL;
}

/* A word's text with its end. False: the file is damaged. */
bool word_index_text(
    struct span *text, const struct word_index *index, uint32_t number);

/* The checksum of the head with the sums. */
uint32_t word_index_head_crc(
    const struct word_index_head *head, struct span sums);

/* A gram contains no byte that ends a word. */
static inline uint32_t
word_index_gram(const char *bytes)
{
	return grams_hash(bytes) >> (32 - WORD_INDEX_GRAM_BITS);
}

/* Of two rows of different suppliers: which has the lower rank. */
static inline int
word_index_compare_rows(int64_t turnover_a, struct span code_a,
    int64_t turnover_b, struct span code_b)
{
	/* NUM_NULL is the smallest number, and comes last. */
	if (turnover_a != turnover_b)
		return turnover_a > turnover_b ? -1 : 1;
	return span_cmp(code_a, code_b);
}

/* --- rows in memory --------------------------------------------------------- */

/*
 * Rows of suppliers in the order of their codes, and the words of each row. A
 * row's number here is not its rank yet.
 */
struct word_index_rowset {
	struct word_index_supplier *suppliers; /* `rows`: how many are here */
	uint32_t *first; /* by supplier: its first row's number */
	uint32_t *from; /* by supplier: that row's number in its snapshot */
	uint32_t supplier_count, supplier_room;
	uint32_t rows;
	struct codemap *words;
	uint64_t word_bytes;
	uint32_t *uses; /* each row's words, once each, row by row */
	uint32_t *use_at; /* [rows + 1] */
	uint64_t use_count, use_room, row_room, last_room;
	uint32_t *last; /* by word: the last row that contains it, + 1 */
	int64_t *turnovers; /* [rows] */
	struct span *codes; /* [rows]: codein as it was given */
	struct arena *arena; /* holds the bytes of the codes */
	uint64_t order_room;
};

enum err word_index_rowset_init(struct word_index_rowset *set);
void word_index_rowset_fini(struct word_index_rowset *set);

/* Bytes that the set uses at most, until it is written as a run. */
uint64_t word_index_weight(const struct word_index_rowset *set);

/* The parts of an open snapshot that are taken; borrowed from it. */
struct word_index_source {
	uint32_t rows;
	const int64_t *turnovers;
	struct snapshot_terms codes;
	struct span text;
	const uint32_t *at;
};

/* ERR_DAMAGED: something in it, or the order of its rows. */
enum err word_index_source_init(
    struct word_index_source *source, struct snapshot *snap);

/*
 * Adds rows from *row on, one at least, until the set weighs `most`; *row
 * advances.
 */
enum err word_index_take(struct word_index_rowset *set,
    const struct word_index_supplier *supplier,
    const struct word_index_source *source, uint32_t *row, uint64_t most);

/* The row at each rank, from 0 on; the caller frees it. */
enum err word_index_rank(
    uint32_t **by_rank, const struct word_index_rowset *set);

/* Writes the rows as an index without grams, not synced. */
enum err word_index_write_run(
    const char *path, const struct word_index_rowset *set);

/* --- writing ---------------------------------------------------------------- */

struct word_index_file {
	int fd; /* < 0: none */
	uint64_t end; /* of the bytes that have a use */
	struct word_index_head head;
};

/* Begins a file; pair with word_index_file_end() either way. */
enum err word_index_file_begin(struct word_index_file *file, const char *path);
void word_index_file_end(struct word_index_file *file);

/*
 * Writes the sums, and the head, whose generation and counts are set; with `sync`
 * syncs.
 */
enum err word_index_file_finish(struct word_index_file *file, bool sync);

/* A section that is written bit by bit. */
struct word_index_stream {
	struct word_index_section section; /* as far as it is written */
	uint64_t room;
	int fd;
	uint32_t len;
	char *buffer;
};

/* `room` is what it takes at most; pair with word_index_stream_fini(). */
enum err word_index_stream_begin(struct word_index_stream *stream,
    struct word_index_file *file, uint64_t room);
enum err word_index_stream_put(
    struct word_index_stream *stream, const void *bytes, uint64_t len);

/* Writes the buffered bytes to the file. */
enum err word_index_stream_flush(struct word_index_stream *stream);

/* The same, and the head has the section. */
enum err word_index_stream_end(struct word_index_stream *stream,
    struct word_index_file *file, unsigned number);
void word_index_stream_fini(struct word_index_stream *stream);

static inline enum err
word_index_put_u32(struct word_index_stream *stream, uint64_t number)
{
	uint32_t bytes = (uint32_t)number;

	return number > UINT32_MAX
	    ? ERR_TOO_LARGE
	    : word_index_stream_put(stream, &bytes, sizeof(bytes));
}

/* A section that is at hand. */
enum err word_index_put(struct word_index_file *file, unsigned number,
    const void *bytes, uint64_t len);

/* --- merging ------------------------------------------------------------------ */

#define WORD_INDEX_NOWHERE UINT32_MAX

/* A run, or the old index. */
struct word_index_input {
	struct word_index *index;
	uint32_t *supplier; /* by number: that in the new one, or _NOWHERE */
	uint32_t rows; /* that the new one gets */
	const uint32_t *rank; /* by rank here; NULL: the new one is the same */
	struct word_index_stream ranks; /* writes `rank` */
	uint32_t at; /* the row, and then the word, that comes next */
	int64_t turnover; /* of the row */
	struct span code;
	uint32_t place; /* its supplier in the new one */
	struct span word;
};

/* Inputs that have something left, the least one first. */
struct word_index_heap {
	struct word_index_input **input;
	unsigned count;
	bool (*before)(
	    const struct word_index_input *a, const struct word_index_input *b);
};

/* Adds an input at the end; when all are there, _order() makes it a heap. */
void word_index_heap_add(
    struct word_index_heap *heap, struct word_index_input *input);
void word_index_heap_order(struct word_index_heap *heap);

/* The first input has advanced, or with `ended` has nothing left. */
void word_index_heap_step(struct word_index_heap *heap, bool ended);

struct word_index_merge {
	struct word_index_input *inputs;
	unsigned count;
	const struct word_index_supplier *suppliers;
	uint64_t memory; /* for the grams */
	struct word_index_heap heap;
	struct word_index_file file;
	/* The new rank of each row of each input, in a file without a name. */
	struct word_index_file ranks;
	char *map;
	uint64_t unread; /* bytes until pages are forgotten */
};

/*
 * Writes and syncs the file at `path`. The caller sets inputs, suppliers, memory,
 * and of file.head the generation, suppliers and rows.
 */
enum err word_index_merge(struct word_index_merge *merge, const char *path);

/*
 * Call for bytes that were read of the inputs: now and then the pages are
 * forgotten.
 */
void word_index_merge_read(struct word_index_merge *merge, uint64_t bytes);

/*
 * Steps of word_index_merge(): the words, counting each gram's in grams[]; and
 * with these counts the grams' lists.
 */
enum err word_index_merge_words(
    struct word_index_merge *merge, uint32_t grams[WORD_INDEX_GRAM_LISTS]);
enum err word_index_merge_grams(
    struct word_index_merge *merge, uint32_t counts[WORD_INDEX_GRAM_LISTS]);

/* Of successive words: whether the word meets the gram for the first time. */
static inline bool
word_index_gram_is_new(uint32_t *last, uint32_t gram, uint32_t word)
{
	bool is_new = last[gram] != word + 1;

	last[gram] = word + 1;
	return is_new;
}

/* --- sets of ranks ------------------------------------------------------------ */

/*
 * Gives ranks back in their order: a bit for each, then a bit for each 64 bits
 * that are not 0, and so on up to one word. Adding and taking n ranks takes time
 * in proportion to n, however many rows there are.
 */
#define WORD_INDEX_LEVELS 6

struct word_index_ranks {
	uint64_t *level[WORD_INDEX_LEVELS];
	unsigned levels;
};

enum err word_index_ranks_init(struct word_index_ranks *ranks, uint32_t rows);
void word_index_ranks_fini(struct word_index_ranks *ranks);
void word_index_ranks_add(struct word_index_ranks *ranks, uint32_t rank);

/* Takes out the lowest one; false when there is none. */
bool word_index_ranks_take(struct word_index_ranks *ranks, uint32_t *rank);
