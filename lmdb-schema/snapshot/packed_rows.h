/*
 * packed_rows: a snapshot's rows packed, in files beside it, so that an answer
 * can be sent compressed without compressing it.
 *
 * snapshots/S/G.rows is for whole dumps, G.pages for pages of whole rows, G.zstd
 * for whole dumps to clients that name zstd. Each is made after the snapshot is
 * published, when a client first asks for such an answer compressed or an
 * operator runs `gridctl pack`, and is removed together with G.mdb; G.zstd is
 * made by operators alone. The files are optional: without them, answers are
 * packed on the way.
 *
 *	struct packed_rows_head, struct packed_rows_segment[segments], then the
 *	segments
 *
 * A segment is a piece of a deflate stream (deflate.h). For dumps it has 64 rows
 * as in the snapshot, each followed by a comma except the very last; with zstd it
 * has 256, as pieces of a zstd frame (zstd_pieces.h). For pages it
 * has one row, behind a comma in a stored block of its own (PACKED_ROWS_COMMA),
 * which the first row of a page leaves out; its length and checksum of the rows
 * do not count that comma.
 *
 * All integers are little-endian. The head's checksum covers the head, with
 * itself as 0, and the table; each segment has a checksum of its packed bytes
 * and one of its rows. `snapshot` is the head checksum of the snapshot it was
 * made from, which covers the checksums of all its sections: the file of
 * another snapshot is refused.
 */
#pragma once

#include <stdint.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/span.h"
#include "lmdb-schema/snapshot/snapshot.h"

#define PACKED_ROWS_VERSION 1

/* A stored block that is a comma. */
#define PACKED_ROWS_COMMA "\0\1\0\xfe\xff,"
#define PACKED_ROWS_COMMA_LEN 6

/* Below this number of rows no file is made: they are packed on the way. */
#define PACKED_ROWS_ROWS_MIN 512

enum packed_kind { PACKED_DUMPS, PACKED_PAGES, PACKED_ZSTD, PACKED_KINDS };

struct packed_kind_info {
	const char *name; /* as `gridctl pack --for` takes it */
	const char *suffix; /* of the file */
	const char *magic; /* eight bytes */
	uint32_t rows; /* of a segment */
	int usual_level, most_level;
};

extern const struct packed_kind_info packed_kinds[PACKED_KINDS];

struct packed_rows_head {
	char magic[8];
	uint32_t version;
	uint32_t crc;
	uint32_t snapshot;
	uint32_t rows;
	uint32_t segments;
	uint32_t level; /* 1 to most_level */
	uint64_t generation;
	uint64_t bytes; /* the whole file */
};

struct packed_rows_segment {
	uint64_t at;
	uint32_t len; /* packed */
	uint32_t packed_crc;
	uint32_t raw_len;
	uint32_t crc; /* of the rows */
};

struct packed_rows; /* an open file; any number of threads may read it */

/*
 *   ERR_NOT_FOUND  the file does not exist
 *   ERR_DAMAGED    damaged, or of another snapshot; the log says which
 *   ERR_VERSION    of another version
 */
enum err packed_rows_open(struct packed_rows **out, struct store *store,
    struct snapshot *snap, enum packed_kind kind);
void packed_rows_close(struct packed_rows *packed);

/*
 * Whether the file was touched since it was opened: it may be shorter than its
 * map, and must be opened again. Costs one fstat().
 */
bool packed_rows_is_touched(const struct packed_rows *packed);

enum packed_kind packed_rows_kind(const struct packed_rows *packed);
const struct packed_rows_head *packed_rows_head(
    const struct packed_rows *packed);
const struct packed_rows_segment *packed_rows_segment(
    const struct packed_rows *packed, uint32_t i);

/* A segment's packed bytes; empty when they are damaged, which is logged. */
struct span packed_rows_bytes(const struct packed_rows *packed, uint32_t i);

/*
 * Compares the whole file with its checksums. ERR_DAMAGED: the log says where.
 */
enum err packed_rows_verify(const struct packed_rows *packed);

struct packed_rows_options {
	enum packed_kind kind;
	unsigned threads; /* 0 or 1: the calling thread alone */
	int level; /* 1 to most_level, 0 the default */
	/*
	 * Called with the rows done so far, by one thread at a time; may be
	 * NULL.
	 */
	void (*at)(void *context, uint64_t done, uint64_t rows);
	void *context;
};

struct packed_rows_result {
	uint64_t rows; /* 0: too few to be packed */
	uint64_t raw_bytes, bytes; /* of the rows, and of the file */
	bool made; /* false: a file of this or a higher level existed */
};

/*
 * Makes the file for a supplier's current snapshot: written aside, synced,
 * renamed. Waits while another process makes one.
 *
 *   ERR_NOT_FOUND  the supplier was never computed
 */
enum err packed_rows_make(struct packed_rows_result *result,
    struct store *store, struct span supplier,
    const struct packed_rows_options *options);

/* The path of the file; `suffix` is "" or ".tmp". */
enum err packed_rows_path(char path[FS_PATH_MAX], const struct store *store,
    struct span supplier, uint64_t generation, enum packed_kind kind,
    const char *suffix);

/* Removes a damaged file, so that the next request makes it anew. */
void packed_rows_discard(
    struct store *store, const struct snapshot *snap, enum packed_kind kind);
