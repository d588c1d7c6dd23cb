/*
 * packed_rows: a snapshot's rows packed, in a file beside it, so that a whole dump can
 * be sent compressed without compressing it.
 *
 * snapshots/S/G.rows is made after the snapshot is published, when a client first
 * asks for a compressed dump or an operator runs `gridctl gzip`, and is removed
 * together with G.mdb. The file is optional: without it, dumps are sent
 * uncompressed.
 *
 *	struct packed_rows_head, struct packed_rows_segment[segments], then the segments: 64
 *	rows each, as in the snapshot, each row followed by a comma
 *	except the very last, as a piece of a deflate stream (deflate.h)
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

#define PACKED_ROWS_MAGIC "GRIDGZIP"
#define PACKED_ROWS_VERSION 1
#define PACKED_ROWS_ROWS 64

/* Below this number of rows no file is made: nginx compresses such dumps. */
#define PACKED_ROWS_ROWS_MIN 512

struct packed_rows_head {
	char magic[8];
	uint32_t version;
	uint32_t crc;
	uint32_t snapshot;
	uint32_t rows;
	uint32_t segments;
	uint32_t level; /* 1 to 12 */
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
enum err packed_rows_open(
    struct packed_rows **out, struct store *store, struct snapshot *snap);
void packed_rows_close(struct packed_rows *packed);

/*
 * Whether the file was touched since it was opened: it may be shorter than its
 * map, and must be opened again. Costs one fstat().
 */
bool packed_rows_is_touched(const struct packed_rows *packed);

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
	unsigned threads; /* 0 or 1: the calling thread alone */
	int level; /* 1 to 12, 0 the default */
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
    struct span supplier, uint64_t generation, const char *suffix);

/* Removes a damaged file, so that the next request makes it anew. */
void packed_rows_discard(struct store *store, const struct snapshot *snap);
