/*
 * zip: a snapshot's rows packed, in a file beside it, so that a whole dump can
 * be sent compressed without compressing it.
 *
 * snapshots/S/G.gz, which goes when G.mdb goes, is made after the snapshot is
 * published, when somebody first asks for such a dump or an operator says
 * `gridctl gzip`. It is never needed: without it, dumps are as they lie.
 *
 *	struct zip_head, struct zip_segment[segments], then the segments: 64
 *	rows each as the snapshot has them, each row with the comma behind it
 *	but the very last, as a piece of a deflate stream (deflate.h)
 *
 * All integers are little-endian. The head's checksum counts the head, itself
 * as 0, and the table; each segment has one of its packed bytes and one of its
 * rows. `snapshot` is the head checksum of the snapshot it was made of, which
 * covers the checksums of all its sections: a file of another one is refused.
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

/* With fewer rows no file is made: nginx packs those on the way. */
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
 *   ERR_NOT_FOUND  there is none
 *   ERR_DAMAGED    it is not whole, or not this snapshot's; the log says so
 *   ERR_VERSION    of another version
 */
enum err zip_open(struct zip **out, struct store *store, struct snapshot *snap);
void zip_close(struct zip *zip);

/*
 * Whether somebody has touched the file since it was opened: it may be shorter
 * than its map, and is to be opened again. It costs one fstat().
 */
bool zip_is_touched(const struct zip *zip);

const struct zip_head *zip_head(const struct zip *zip);
const struct zip_segment *zip_segment(const struct zip *zip, uint32_t i);

/* A segment's packed bytes; empty when they are damaged, which is logged. */
struct span zip_bytes(const struct zip *zip, uint32_t i);

/* Reads all of it, and compares the checksums. ERR_DAMAGED: told in the log. */
enum err zip_verify(const struct zip *zip);

struct zip_options {
	unsigned threads; /* 0 or 1: the caller's alone */
	int level; /* 1 to 12, 0 the usual one */
	/* Rows done so far, by one thread at a time; NULL: nobody looks. */
	void (*at)(void *context, uint64_t done, uint64_t rows);
	void *context;
};

struct zip_result {
	uint64_t rows; /* 0: so few that none is wanted */
	uint64_t raw_bytes, bytes; /* of the rows, and of the file */
	bool made; /* false: it was there, of this level or a higher one */
};

/*
 * Makes the file for a supplier's current snapshot: aside, synced, renamed. It
 * waits while another process makes one.
 *
 *   ERR_NOT_FOUND  the supplier was never computed
 */
enum err zip_make(struct zip_result *result, struct store *store,
    struct span supplier, const struct zip_options *options);

/* Where it is; `suffix` is "" or ".tmp". */
enum err zip_path(char path[FS_PATH_MAX], const struct store *store,
    struct span supplier, uint64_t generation, const char *suffix);

/* Removes a damaged one, so that the next demand makes it anew. */
void zip_discard(struct store *store, const struct snapshot *snap);
