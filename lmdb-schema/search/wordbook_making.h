/* What the wordbook*.c share and nobody else needs. */
#pragma once

#include <stdatomic.h>

#include "common/fs.h"
#include "lmdb-schema/codemap.h"
#include "lmdb-schema/search/wordbook.h"
#include "lmdb-schema/snapshot/snapshot.h"

#define WORDBOOK_ALIGN 64

/* An open file, and where its sections are in the map. */
struct wordbook {
	const char *map;
	size_t bytes;
	atomic_uint users;
	int fd;
	struct fs_stamp stamp; /* before it was read */
	const struct wordbook_head *head;
	const struct wordbook_supplier *suppliers;
	const struct wordbook_row *rows;
	struct span text;
	const uint32_t *text_at, *lists, *list_at, *grams, *gram_at;
	uint64_t list_count, gram_count;
};

/* The checksum of sections, and that of the head with the suppliers. */
uint32_t wordbook_crc(const void *bytes, size_t len);
uint32_t wordbook_head_crc(const struct wordbook_head *head,
    const struct wordbook_supplier *suppliers);

/* A gram is not made of what ends a word. */
static inline uint32_t
wordbook_gram(const char *bytes)
{
	return grams_hash(bytes) >> (32 - WORDBOOK_GRAM_BITS);
}

/*
 * All suppliers' rows, one supplier behind the other as the catalogue has
 * them, and the words of each. A row's number here is not its rank yet.
 */
struct wordbook_rowset {
	struct wordbook_supplier *suppliers;
	uint32_t *first; /* of the same: its first row's number */
	uint32_t supplier_count;
	uint32_t rows;
	struct codemap *words;
	uint32_t *uses; /* each row's words, once each, row by row */
	uint32_t *use_at; /* [rows + 1] */
	uint64_t use_count, use_room, row_room, last_room;
	uint32_t *last; /* by word: the row that was seen last in it, + 1 */
	int64_t *turnovers; /* [rows] */
	struct span *codes; /* [rows]: codein as it was given */
	struct arena *arena; /* has their bytes */
	uint64_t order_room;
};

/*
 * Take what the order of a supplier's rows goes by, and then its words, after
 * which the set has its rows. ERR_DAMAGED, of either: it has them not. Nothing
 * is kept of the snapshot: there may be more suppliers than open files.
 */
enum err wordbook_take_order(
    struct wordbook_rowset *set, struct snapshot *snap);
enum err wordbook_take_words(
    struct wordbook_rowset *set, struct snapshot *snap);

/* Which row has which rank, from 0 on; the caller's to free. */
enum err wordbook_rank(uint32_t **by_rank, const struct wordbook_rowset *set);

/* Lists behind one another. */
struct wordbook_lists {
	uint32_t *at; /* [count + 1] */
	uint32_t *items;
};

/* All that a file is made of. */
struct wordbook_content {
	const struct wordbook_rowset *set;
	uint32_t *by_rank; /* which of its rows has the rank */
	struct wordbook_lists words; /* ranks, by word */
	struct wordbook_lists grams; /* words, by gram */
};

/* Writes and syncs a file; of the head only the generation is given. */
enum err wordbook_write(const char *path, struct wordbook_head *head,
    const struct wordbook_content *content);
