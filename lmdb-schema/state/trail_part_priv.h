/* Internals of trail_part*.c. */
#pragma once

#include "common/buf.h"
#include "common/fs.h"
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

struct trail_part_pair {
	uint32_t print, place;
};

/* A print's bits for the article's code; the others are for its supplier. */
#define TRAIL_PART_PRINT_CODE UINT32_C(0xffff0000)

/* An article's place in the index: the upper bits tell its bucket, the lower 32
 * are its print. */
static inline uint64_t
trail_part_key(uint32_t version, struct span supplier, struct span codein)
{
	uint64_t hash = trail_part_hash(codein);
	uint32_t print = version == TRAIL_PART_VERSION_BARE
	    ? (uint32_t)hash
	    : (uint32_t)hash << 16 | (uint16_t)trail_part_hash(supplier);

	/* No bucket needs the lowest of the upper bits. */
	return (hash & ~UINT64_C(0x1ffffffff)) | print;
}

#define TRAIL_PART_NO_ARTICLE UINT64_MAX /* is no key */

static inline uint32_t
trail_part_bucket(uint64_t key, unsigned bits)
{
	return bits == 0 ? 0 : (uint32_t)(key >> (64 - bits));
}

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
	struct buf values; /* struct span of each entry's value */
};

/* Logs the damage; ERR_DAMAGED. */
enum err trail_part_damaged(const struct trail_part *part, unsigned section,
    uint64_t at, const char *what);

/* Bytes of a section; NULL when they are beyond it, or damaged. */
const void *trail_part_bytes(
    struct trail_part *part, unsigned section, uint64_t at, uint64_t len);
const struct trail_part_block *trail_part_row(
    struct trail_part *part, uint32_t block);

/* Finds the block that has the entry at a place. */
enum err trail_part_block_of(
    uint32_t *block, struct trail_part *part, uint32_t place);

/* Unpacks a block; then gets the value of its entry i. */
enum err trail_part_load(struct trail_part *part, uint32_t block);
struct span trail_part_value(const struct trail_part *part, uint32_t i);
