/*
 * packer: a body as one gzip member or one zstd frame, packed while it is made.
 *
 * Bytes are gathered into a block, as libraries want them in one place, and
 * each full block is packed (lmdb-schema/stream.h, zstd.h) as soon as more
 * bytes follow. What fits into one block is packed at once, as a whole.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/sink.h"
#include "fcgi/http/coding.h"
#include "fcgi/http/iovbuf.h"

struct stream;
struct zstd;

/* A body of fewer bytes is hardly smaller packed. */
#define PACKER_LEAST 1024

/*
 * The most bytes that are packed as a whole, so that the length is known: a thread takes no more than twice that for the time.
 */
#define PACKER_WHOLE ((size_t)1 << 20)

/* Bytes of a block where a longer body is packed as it grows. */
#define PACKER_BLOCK ((size_t)128 << 10)

struct packer {
	enum coding coding; /* not CODING_PLAIN */
	struct stream *stream; /* NULL until the first of that coding */
	struct zstd *zstd;
	struct sink *out; /* NULL: all of it stays in `packed` */
	size_t block;
	struct buf raw, packed;
	uint32_t crc;
	uint64_t len; /* of what was packed so far */
	uint64_t sent; /* bytes that `out` has taken */
};

void packer_init(struct packer *packer);
void packer_fini(struct packer *packer);

/* Gives the memory back that is beyond `keep`, of zstd's some more. */
void packer_give_back(struct packer *packer, size_t keep);

/* Begins one, in blocks of `block` bytes; ERR_NO_MEMORY. */
enum err packer_begin(
    struct packer *packer, enum coding coding, struct sink *out, size_t block);

/* Adds the bytes; `out` gets what is packed, when that is worth a call. */
enum err packer_add(struct packer *packer, const struct iovbuf *body);

/* Packs what is left, and the end; `out` gets it. */
enum err packer_end(struct packer *packer);
