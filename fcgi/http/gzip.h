/*
 * gzip: a body as one gzip member, packed while it is made.
 *
 * Bytes are gathered into a block, as the packer wants them in one place, and
 * each full block is packed (lmdb-schema/stream.h) as soon as more bytes
 * follow. What fits into one block is packed at once, as a whole.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/sink.h"
#include "fcgi/http/iovbuf.h"

struct stream;

/* A body of fewer bytes is hardly smaller packed. */
#define GZIP_LEAST 1024

/*
 * The most bytes that are packed as a whole, so that the length of the member
 * is known: a thread takes no more than twice that for the time.
 */
#define GZIP_WHOLE ((size_t)1 << 20)

/* Bytes of a block where a longer body is packed as it grows. */
#define GZIP_BLOCK ((size_t)128 << 10)

struct gzip {
	struct stream *stream; /* NULL until the first */
	struct sink *out; /* NULL: all of it stays in `packed` */
	size_t block;
	struct buf raw, packed;
	uint32_t crc;
	uint64_t len; /* of what was packed so far */
	uint64_t sent; /* bytes that `out` has taken */
};

void gzip_init(struct gzip *gzip);
void gzip_fini(struct gzip *gzip);

/* Gives the memory back that is beyond `keep` in each of its two buffers. */
void gzip_give_back(struct gzip *gzip, size_t keep);

/* Begins one, in blocks of `block` bytes; ERR_NO_MEMORY. */
enum err gzip_begin(struct gzip *gzip, struct sink *out, size_t block);

/* Adds the bytes; `out` gets what is packed, when that is worth a call. */
enum err gzip_add(struct gzip *gzip, const struct iovbuf *body);

/* Packs what is left, and ends the member; `out` gets it. */
enum err gzip_end(struct gzip *gzip);
