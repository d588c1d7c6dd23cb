/* Internals of the word index, shared by word_index*.c only. */
#pragma once

#include <stdatomic.h>

#include "lmdb-schema/codemap.h"
#include "lmdb-schema/search/word_index.h"
#include "lmdb-schema/snapshot/snapshot.h"
#include "lmdb-schema/store/sealed.h"

#define WORD_INDEX_ALIGN 64

/* An open file, and its sections in the map. */
struct word_index {
	struct sealed file;
	atomic_uint users;
	const struct word_index_head *head;
	const struct word_index_supplier *suppliers;
	const struct word_index_row *rows;
	struct span text;
	const uint32_t *text_at, *lists, *list_at, *grams, *gram_at;
	uint64_t list_count, gram_count;
};

/* The checksum of the head with the suppliers. */
uint32_t word_index_head_crc(const struct word_index_head *head,
    const struct word_index_supplier *suppliers);

/* A gram contains no byte that ends a word. */
static inline uint32_t
word_index_gram(const char *bytes)
{
	return grams_hash(bytes) >> (32 - WORD_INDEX_GRAM_BITS);
}

/*
 * All suppliers' rows, supplier after supplier in the order of the catalogue,
 * and the words of each row. A row's number here is not its rank yet.
 */
struct word_index_rowset {
	struct word_index_supplier *suppliers;
	uint32_t *first; /* by supplier: its first row's number */
	uint32_t supplier_count;
	uint32_t rows;
	struct codemap *words;
	uint32_t *uses; /* each row's words, once each, row by row */
	uint32_t *use_at; /* [rows + 1] */
	uint64_t use_count, use_room, row_room, last_room;
	uint32_t *last; /* by word: the last row that contains it, + 1 */
	int64_t *turnovers; /* [rows] */
	struct span *codes; /* [rows]: codein as it was given */
	struct arena *arena; /* holds the bytes of the codes */
	uint64_t order_room;
};

/*
 * Copy a supplier's sort keys, then its words; only after the second call does
 * the set contain its rows. ERR_DAMAGED from either: the set is without them.
 * The snapshot may be closed afterwards: there may be more suppliers than
 * descriptors.
 */
enum err word_index_take_order(
    struct word_index_rowset *set, struct snapshot *snap);
enum err word_index_take_words(
    struct word_index_rowset *set, struct snapshot *snap);

/* The row at each rank, from 0 on; the caller frees it. */
enum err word_index_rank(
    uint32_t **by_rank, const struct word_index_rowset *set);

/* Lists, concatenated. */
struct word_index_lists {
	uint32_t *at; /* [count + 1] */
	uint32_t *items;
};

/* The contents of a file. */
struct word_index_content {
	const struct word_index_rowset *set;
	uint32_t *by_rank; /* the row at each rank */
	struct word_index_lists words; /* ranks, by word */
	struct word_index_lists grams; /* words, by gram */
};

/* Writes and syncs a file; the caller sets only the head's generation. */
enum err word_index_write(const char *path, struct word_index_head *head,
    const struct word_index_content *content);
