/*
 * trail_part: entries of the audit trail in a file of their own, trail/NAME.part
 * in the data directory, where NAME is "2026-03-" and the first entry's number in
 * 16 hex digits. A part has successive entries, of one month as a rule, and is
 * immutable: trail_parts.h says when one is made.
 *
 *	head      struct trail_part_head
 *	entries   blocks of entries, each a zstd frame with a checksum
 *	blocks    for each block: struct trail_part_block
 *	articles  the entries about articles once more, by article: runs of them,
 *	          each a zstd frame; then for each run: struct trail_part_run.
 *	          Entries are in the order of trail_part_key(), and those of an
 *	          article at a supplier, which have the same key, in the order of
 *	          their places
 *	names     for each name: u32 where its text begins in the section, u32
 *	          length; for each name a bit map of groups of TRAIL_PART_GROUP
 *	          successive blocks, in u64; then the texts: 's' and a supplier, or
 *	          'a' and the name of one who proposed or decided. A bit is set when
 *	          an entry of the group has the name
 *	sums      the CRC-32 of each 32 KB of the four sections before
 *
 * Sections begin at multiples of 64 bytes; all numbers are little-endian.
 * Unpacked, a block is a list of
 *
 *	unsigned length, and a value as the table audit has it (state.h)
 *
 * and a run is a list of the same, each behind the entry's place: unsigned, 0 for
 * the first of the part.
 *
 *	Example: an entry of 18 bytes at the time 1 ms, event "rejected", actor
 *	"a", supplier "S", codein "1", range B, no range before:
 *	  12 | 01 | 08 72 65 6A 65 63 74 65 64 | 01 61 | 01 53 | 01 31 | 01 42 | 00
 *
 * The head has a checksum of itself and one of the sums, each run and its row one
 * of its own: an article's history reads no more than these. Every byte is
 * compared with a checksum before it is used.
 *
 * Versions 1 and 2, which are read too, have an index in place of the runs:
 * trail_part_pairs.c. Version 1 has blocks of 16 KB, and a bit of a map is for
 * one block.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"
#include "lmdb-schema/state/audit.h"

#define TRAIL_PART_MAGIC "GRIDPART"
#define TRAIL_PART_VERSION 3
#define TRAIL_PART_VERSION_PAIRS 2 /* an index in place of the runs */
#define TRAIL_PART_VERSION_BARE 1 /* and that without suppliers */
#define TRAIL_PART_ALIGN 64

/* Entries of a part at most: making one sorts all of them. */
#define TRAIL_PART_ENTRIES_MAX (UINT32_C(1) << 21)

/* Plain bytes of a block or a run: it ends with the entry that reaches them. */
#define TRAIL_PART_BLOCK ((size_t)4 << 10)
#define TRAIL_PART_RUN ((size_t)2 << 10)

/* Blocks for which a name has one bit. */
#define TRAIL_PART_GROUP 4

/* Bytes of a name in the names, with its kind; longer ones are not there. */
#define TRAIL_PART_NAME_MAX ((size_t)16 << 10)

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
	uint32_t crc; /* sealed_head_crc() of the head */
	uint64_t bytes; /* of the file */
	uint64_t first, last; /* numbers of entries */
	int64_t oldest_ms, newest_ms;
	uint32_t month; /* of the first entry: date.h */
	uint32_t blocks, names;
	union {
		uint32_t runs;
		uint32_t article_bits; /* before version 3 */
	};
	struct {
		uint64_t at, bytes;
	} section[TRAIL_PART_SECTIONS];
	/* From version 3 on; before, `crc` is of the sums, too. */
	uint32_t sums_crc, zero;
};

struct trail_part_block {
	uint64_t at; /* of its frame, in the entries */
	uint32_t packed, plain; /* bytes */
	uint32_t place; /* of its first entry */
	uint32_t zero;
	int64_t oldest_ms, newest_ms;
};

/* A run of the articles. */
struct trail_part_run {
	uint64_t first, last; /* keys */
	uint64_t at; /* of its frame, in the section */
	uint32_t packed, plain; /* bytes */
	uint32_t frame_crc;
	uint32_t crc; /* of the run's number, u32, and of the row before this */
};

uint64_t trail_part_hash(struct span code);

/* The code's hash decides, then the supplier's: each has 32 bits of the key. */
uint64_t trail_part_key(struct span supplier, struct span codein);

/* --- reading -------------------------------------------------------------- */

struct trail_parts_row; /* trail_parts.h */

/*
 * For a reader that shows what there is: reading goes on behind a file that
 * cannot be read, and behind one in an archive, and `tell` is called for each;
 * `err` is trail_parts_open()'s, or ERR_DAMAGED for a file whose sound entries
 * are read. Before, `lacks` is called for the entries that were not read: those of
 * the file, or of damaged blocks, as far as they were asked for. The reader's `each`
 * returns none of the errors of files.
 */
struct trail_left_out {
	void (*tell)(
	    void *context, const struct trail_parts_row *row, enum err err);
	void (*lacks)(void *context, uint64_t first, uint64_t last);
	void *context;
};

/* A reader's filter: blocks without a match are skipped. Zeros: everything. */
struct trail_wanted {
	struct span supplier, author;
	int64_t from_ms, until_ms; /* up to before until_ms; 0: no end */
	const struct trail_left_out *left_out; /* NULL: damage ends a reading */
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
 * the call returns. With wanted->left_out the blocks behind a damaged one are read
 * too, before ERR_DAMAGED is returned.
 */
enum err trail_part_each(struct trail_part *part,
    const struct trail_wanted *wanted, uint64_t from, uint64_t to, bool back,
    enum err (*each)(void *context, const struct audit_entry *entry),
    void *context);

/*
 * Calls `each` for the entries about an article of that code, at `supplier` alone
 * where it is not empty; those of an article at a supplier oldest first. Each is
 * borrowed until the call returns.
 */
enum err trail_part_of(struct trail_part *part, struct span supplier,
    struct span codein,
    enum err (*each)(
	void *context, const struct audit_entry *entry, struct span value),
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
