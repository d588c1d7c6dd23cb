/* Internals of trail_part*.c. */
#pragma once

#include <stddef.h>

#include "common/buf.h"
#include "common/fs.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/state/trail_part.h"
#include "lmdb-schema/store/blocks.h"
#include "lmdb-schema/store/sealed.h"

#define TRAIL_PART_SUMMED TRAIL_PART_SUMS /* sections with sums */

/* A name in the section of names. */
struct trail_part_name {
	uint32_t at, len;
};

/* Kinds of names. */
#define TRAIL_PART_SUPPLIER 's'
#define TRAIL_PART_AUTHOR 'a'

/* Blocks for which a bit map of names has one bit. */
static inline uint32_t
trail_part_group(uint32_t version)
{
	return version == TRAIL_PART_VERSION_BARE ? 1 : TRAIL_PART_GROUP;
}

/* Words of a bit map. */
static inline uint64_t
trail_part_words(const struct trail_part_head *head)
{
	uint64_t blocks = UINT64_C(64) * trail_part_group(head->version);

	return (head->blocks + blocks - 1) / blocks;
}

static inline bool
trail_part_has(
    const struct trail_part_head *head, const uint64_t *map, uint32_t block)
{
	uint32_t bit = block / trail_part_group(head->version);

	return (map[bit / 64] >> bit % 64 & 1) != 0;
}

/* Whether an entry is among the articles. */
static inline bool
trail_part_is_about(const struct audit_entry *entry)
{
	return entry->supplier.len > 0 && entry->codein.len > 0;
}

#define TRAIL_PART_ROWS 100 /* of runs are read at once: 4 KB */

struct trail_part {
	struct sealed file;
	struct trail_part_head head;
	char path[FS_PATH_MAX];
	struct blocks_file sums;
	struct blocks sections[TRAIL_PART_SUMMED];
	atomic_ushort *seen;
	uint32_t count; /* entries */
	/* The block that is unpacked */
	uint32_t loaded, place, loaded_count;
	uint64_t loads; /* blocks unpacked so far, for tests */
	struct buf plain;
	/* Rows of runs that were read together, and a run as it is packed */
	struct trail_part_run rows[TRAIL_PART_ROWS];
	uint32_t rows_first, rows_count;
	struct buf packed;
	struct buf values; /* struct span of each entry's value */
};

/* Logs the damage; ERR_DAMAGED. */
enum err trail_part_damaged(const struct trail_part *part, unsigned section,
    uint64_t at, const char *what);

/* Bytes of the head before version 3. */
#define TRAIL_PART_HEAD_OLD offsetof(struct trail_part_head, sums_crc)

/* Call before any other section than the articles is read. */
enum err trail_part_map(struct trail_part *part);

/* Bytes of a section; NULL when they are beyond it, or damaged. */
const void *trail_part_bytes(
    struct trail_part *part, unsigned section, uint64_t at, uint64_t len);
const struct trail_part_block *trail_part_row(
    struct trail_part *part, uint32_t block);

/* Finds the block that has the entry at a place. */
enum err trail_part_block_of(
    uint32_t *block, struct trail_part *part, uint32_t place);

/* No block is unpacked any more, and `plain` is empty. */
void trail_part_unload(struct trail_part *part);

/* Unpacks a block; then gets the value of its entry i. */
enum err trail_part_load(struct trail_part *part, uint32_t block);
struct span trail_part_value(const struct trail_part *part, uint32_t i);

/* The bit map of a name's blocks; NULL where the part does not have the name. */
enum err trail_part_find_name(
    const uint64_t **map, struct trail_part *part, char kind, struct span name);

/* Whether a block has its bit; NULL: all blocks do. */
static inline bool
trail_part_may_have(
    const struct trail_part *part, const uint64_t *map, uint32_t block)
{
	return map == NULL || trail_part_has(&part->head, map, block);
}

/* --- runs: trail_part_runs.c ---------------------------------------------- */

/* Where the rows of the runs are, in the articles. */
static inline uint64_t
trail_part_runs_at(const struct trail_part_head *head)
{
	return head->section[TRAIL_PART_ARTICLES].bytes -
	    (uint64_t)head->runs * sizeof(struct trail_part_run);
}

/* A row of the runs, read from the file and compared with its checksum. */
enum err trail_part_run(
    struct trail_part_run *row, struct trail_part *part, uint32_t run);
uint32_t trail_part_run_crc(const struct trail_part_run *row, uint32_t run);

/* Reads and unpacks a run into `plain`: trail_part_item() reads its items. */
enum err trail_part_load_run(
    struct trail_part *part, const struct trail_part_run *run);

/* ERR_NOT_FOUND at the end. */
enum err trail_part_item(uint32_t *place, struct span *value,
    struct unpack *from, struct trail_part *part);

/* --- files before version 3: trail_part_pairs.c --------------------------- */

/* Whether the index of the articles fits in the head. */
bool trail_part_pairs_fit(const struct trail_part_head *head);

/* As trail_part_of(), of such a file. */
enum err trail_part_pairs_of(struct trail_part *part, struct span supplier,
    struct span codein,
    enum err (*each)(
	void *context, const struct audit_entry *entry, struct span value),
    void *context);

/* The upper bits of a key tell its bucket, the lower 32 are its print. */
uint64_t trail_part_pairs_key(
    uint32_t version, struct span supplier, struct span codein);

#define TRAIL_PART_NO_ARTICLE UINT64_MAX /* is no such key */

/*
 * Compares the index with the keys of all entries; `about` of them are about
 * articles.
 */
enum err trail_part_pairs_verify(
    struct trail_part *part, const uint64_t *keys, uint64_t about);
