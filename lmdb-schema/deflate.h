/*
 * deflate: pieces of one deflate stream, each made alone. The door to
 * libdeflate, which packs twice as fast as zlib at the same size.
 *
 * A piece refers to nothing before it, ends on a byte, and is not the last:
 * whatever pieces are put one behind the other are one stream, which
 * DEFLATE_END ends. So a file keeps pieces, and an answer is stitched of them.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/span.h"

/* The ten bytes before the first piece of a gzip member. */
#define DEFLATE_GZIP_HEAD "\x1f\x8b\x08\0\0\0\0\0\0\x03"
#define DEFLATE_GZIP_HEAD_LEN 10

/* An empty last block; the member's CRC and length follow, each a u32. */
#define DEFLATE_END "\x01\0\0\xff\xff"
#define DEFLATE_END_LEN 5

/* What stands before `len` bytes, at most 65,535, that are not packed. */
#define DEFLATE_STORED_LEN 5
void deflate_stored(unsigned char head[DEFLATE_STORED_LEN], size_t len);

struct deflate; /* one thread's */

struct deflate *deflate_new(int level); /* 1 to 12; NULL: no memory */
void deflate_free(struct deflate *deflate);

/*
 * Appends `text`, not empty, as a piece. It is unpacked again and compared, so
 * that no fault here can reach a reader: ERR_INTERNAL if it differed.
 */
enum err deflate_add(
    struct deflate *deflate, struct buf *out, struct span text);

/*
 * Appends `text`, not empty, as the last piece: the stream ends with it. It is
 * packed as a whole and not unpacked again, for what is read at once and kept
 * nowhere.
 */
enum err deflate_last(
    struct deflate *deflate, struct buf *out, struct span text);

uint32_t deflate_crc(uint32_t crc, const void *data, size_t len);

/* The sum of two texts, one behind the other, of which the second is `len`. */
uint32_t deflate_crc_both(uint32_t first, uint32_t second, uint64_t len);
