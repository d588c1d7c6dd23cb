/*
 * trail_part: entries of the audit trail in a file of their own, trail/NAME.part
 * in the data directory, where NAME is "2026-03-" and the first entry's number in
 * 16 hex digits. A part has successive entries, of one month as a rule, and is
 * immutable: trail_parts.h says when one is made.
 *
 *	head      struct trail_part_head
 *	entries   blocks of entries, each a zstd frame with a checksum
 *	blocks    for each block: struct trail_part_block
 *	articles  u32 starts[2^bits + 1], then pairs of u32: of an entry about an
 *	          article its print, and its place, 0 for the first of the part.
 *	          The upper half of a print is the lower 16 bits of the hash of the
 *	          article's code, the lower half those of its supplier's. The pairs
 *	          of bucket b, the upper `bits` bits of the hash of the article's
 *	          code, are starts[b] to starts[b + 1] of them, in the order of
 *	          their places
 *	names     for each name: u32 where its text begins in the section, u32
 *	          length; for each name a bit map of groups of TRAIL_PART_GROUP
 *	          successive blocks, in u64; then the texts: 's' and a supplier, or
 *	          'a' and the name of one who proposed or decided. A bit is set when
 *	          an entry of the group has the name
 *	sums      the CRC-32 of each 32 KB of the four sections before
 *
 * The hash is trail_part_hash(). Sections begin at multiples of 64 bytes; all
 * numbers are little-endian. Unpacked, a block is a list of
 *
 *	unsigned length, and a value as the table audit has it (state.h)
 *
 *	Example: an entry of 18 bytes at the time 1 ms, event "rejected", actor
 *	"a", supplier "S", codein "1", range B, no range before:
 *	  12 | 01 | 08 72 65 6A 65 63 74 65 64 | 01 61 | 01 53 | 01 31 | 01 42 | 00
 *
 * The head has a checksum of itself and of the sums. Every byte is compared with
 * its checksum before it is used.
 *
 * Version 1, which is read too, has blocks of 16 KB; a print is the lower 32 bits
 * of the hash of the article's code, and a bit of a map is for one block.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"
#include "lmdb-schema/state/audit.h"

#define TRAIL_PART_MAGIC "GRIDPART"
#define TRAIL_PART_VERSION 2
#define TRAIL_PART_VERSION_BARE 1 /* without suppliers in the prints */
#define TRAIL_PART_ALIGN 64

/* Entries of a part at most: making one takes some 40 bytes of memory each. */
#define TRAIL_PART_ENTRIES_MAX (UINT32_C(1) << 21)

/*
 * Plain bytes of a block: it ends with the entry that reaches them. An article's
 * history unpacks a block for most of its entries: docs/decisions.md.
 */
#define TRAIL_PART_BLOCK ((size_t)4 << 10)

/* Blocks for which a name has one bit. */
#define TRAIL_PART_GROUP 4

/* Bytes of a name in the names, with its kind; longer ones are not there. */
#define TRAIL_PART_NAME_MAX ((size_t)16 << 10)

#define TRAIL_PART_BITS_MAX 21

enum {
	TRAIL_PART_ENTRIES,
	TRAIL_PART_BLOCKS,
	TRAIL_PART_ARTICLES,
	TRAIL_PART_NAMES,
	TRAIL_PART_SUMS,
	TRAIL_PART_SECTIONS
};

struct trail_part_head {
	char magic[8];
	uint32_t version;
	uint32_t crc; /* sealed_head_crc() of the head and the sums */
	uint64_t bytes; /* of the file */
	uint64_t first, last; /* numbers of entries */
	int64_t oldest_ms, newest_ms;
	uint32_t month; /* of the first entry: date.h */
	uint32_t blocks, names, article_bits;
	struct {
		uint64_t at, bytes;
	} section[TRAIL_PART_SECTIONS];
};

struct trail_part_block {
	uint64_t at; /* of its frame, in the entries */
	uint32_t packed, plain; /* bytes */
	uint32_t place; /* of its first entry */
	uint32_t zero;
	int64_t oldest_ms, newest_ms;
};

uint64_t trail_part_hash(struct span code);

/* --- reading -------------------------------------------------------------- */

/* A reader's filter: blocks without a match are skipped. Zeros: everything. */
struct trail_wanted {
	struct span supplier, author;
	int64_t from_ms, until_ms; /* up to before until_ms; 0: no end */
};

struct trail_part; /* an open file; one thread at a time */

/*
 *   ERR_NOT_FOUND  there is no such file
 *   ERR_DAMAGED    it is not as it was written; the log says where
 *   ERR_VERSION    a later version wrote it
 */
enum err trail_part_open(struct trail_part **out, const char *path);
void trail_part_close(struct trail_part *part);

const struct trail_part_head *trail_part_head(const struct trail_part *part);

/*
 * Gets an entry's value, borrowed until the next call with the part.
 * ERR_NOT_FOUND when the part does not have it.
 */
enum err trail_part_get(
    struct trail_part *part, uint64_t number, struct span *value);

/*
 * Calls `each` for the entries with numbers from `from` to `to` in blocks that
 * may have what is wanted, backwards with `back`. Each entry is borrowed until
 * the call returns.
 */
enum err trail_part_each(struct trail_part *part,
    const struct trail_wanted *wanted, uint64_t from, uint64_t to, bool back,
    enum err (*each)(void *context, const struct audit_entry *entry),
    void *context);

/*
 * Calls `each` with the numbers of the entries about an article of that code,
 * oldest first; rarely also with another entry's number. Where `supplier` is not
 * empty, those of other suppliers are left out, of a file of version 1 as far as
 * blocks without the supplier have them.
 */
enum err trail_part_of(struct trail_part *part, struct span supplier,
    struct span codein, enum err (*each)(void *context, uint64_t number),
    void *context);

/* Compares all bytes with their checksums. */
enum err trail_part_compare(struct trail_part *part);

/* Compares everything: checksums, each entry, and the index with the entries. */
enum err trail_part_verify(struct trail_part *part);

/* --- writing -------------------------------------------------------------- */

struct trail_making;

/*
 * Begins a file, or begins it again. The first entry gets the number `first`.
 * Pair with trail_making_end() in any case.
 */
enum err trail_making_begin(
    struct trail_making **out, const char *path, uint64_t first);

/*
 * Adds the next entry, with its value; at most TRAIL_PART_ENTRIES_MAX of them.
 * `entry` has been read from it.
 */
enum err trail_making_add(struct trail_making *making, struct span value,
    const struct audit_entry *entry);

/*
 * With ERR_OK so far, and one entry at least, writes the rest and syncs the file.
 * A failure, `err` or a new one, is returned, and the file is removed.
 */
enum err trail_making_end(struct trail_making *making, enum err err);
