/*
 * zip: a snapshot's rows packed, in a file beside it, so that a whole dump can
 * be sent compressed without compressing it.
 *
 * snapshots/S/G.gz is made after the snapshot is published, when a client first
 * asks for a compressed dump or an operator runs `gridctl gzip`, and is removed
 * together with G.mdb. The file is optional: without it, dumps are sent
 * uncompressed.
 *
 *	struct zip_head, struct zip_segment[segments], then the segments: 64
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

#define ZIP_MAGIC "GRIDGZIP"
#define ZIP_VERSION 1
#define ZIP_ROWS 64

/* Below this number of rows no file is made: nginx compresses such dumps. */
#define ZIP_ROWS_MIN 512

struct zip_head {
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

struct zip_segment {
	uint64_t at;
	uint32_t len; /* packed */
	uint32_t packed_crc;
	uint32_t raw_len;
	uint32_t crc; /* of the rows */
};

struct zip; /* an open file; any number of threads may read it */

/*
 *   ERR_NOT_FOUND  the file does not exist
 *   ERR_DAMAGED    damaged, or of another snapshot; the log says which
 *   ERR_VERSION    of another version
 */
enum err zip_open(struct zip **out, struct store *store, struct snapshot *snap);
void zip_close(struct zip *zip);

/*
 * Whether the file was touched since it was opened: it may be shorter than its
 * map, and must be opened again. Costs one fstat().
 */
bool zip_is_touched(const struct zip *zip);

const struct zip_head *zip_head(const struct zip *zip);
const struct zip_segment *zip_segment(const struct zip *zip, uint32_t i);

/* A segment's packed bytes; empty when they are damaged, which is logged. */
struct span zip_bytes(const struct zip *zip, uint32_t i);

/*
 * Compares the whole file with its checksums. ERR_DAMAGED: the log says where.
 */
enum err zip_verify(const struct zip *zip);

struct zip_options {
	unsigned threads; /* 0 or 1: the calling thread alone */
	int level; /* 1 to 12, 0 the default */
	/*
	 * Called with the rows done so far, by one thread at a time; may be
	 * NULL.
	 */
	void (*at)(void *context, uint64_t done, uint64_t rows);
	void *context;
};

struct zip_result {
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
enum err zip_make(struct zip_result *result, struct store *store,
    struct span supplier, const struct zip_options *options);

/* The path of the file; `suffix` is "" or ".tmp". */
enum err zip_path(char path[FS_PATH_MAX], const struct store *store,
    struct span supplier, uint64_t generation, const char *suffix);

/* Removes a damaged file, so that the next request makes it anew. */
void zip_discard(struct store *store, const struct snapshot *snap);
