/*
 * zstd_pieces: independently packed pieces of one zstd frame (RFC 8878). With
 * zstd.h the door to libzstd.
 *
 * Any pieces and stored blocks between ZSTD_PIECES_HEAD and ZSTD_PIECES_END are one
 * frame. So a file stores pieces, and an answer is concatenated from them. The
 * frame has a window of 8 MB, which is what readers of the web have room for (RFC
 * 9659), and neither a length nor a checksum: that of the whole does not follow
 * from those of its pieces.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/span.h"

#define ZSTD_PIECES_HEAD "\x28\xb5\x2f\xfd\0\x68"
#define ZSTD_PIECES_HEAD_LEN 6

/* An empty last block. */
#define ZSTD_PIECES_END "\1\0\0"
#define ZSTD_PIECES_END_LEN 3

/* The head of a stored block. */
#define ZSTD_STORED_LEN 3
#define ZSTD_STORED_MAX ((size_t)128 << 10)
void zstd_stored(unsigned char head[ZSTD_STORED_LEN], size_t len);

#define ZSTD_LEVEL_MAX 19

struct zstd_pieces; /* used by one thread */

/*
 * `piece_log`: texts longer than 2 to that power are split, 17 to 22; 12 MB of
 * memory for 22. NULL: no memory.
 */
struct zstd_pieces *zstd_pieces_new(int level, unsigned piece_log);
void zstd_pieces_free(struct zstd_pieces *pieces);

/*
 * Appends `text`, which is not empty, as one or more pieces. Each is unpacked
 * after a prefix that reveals any use of earlier data, and compared:
 * ERR_INTERNAL if it differs.
 */
enum err zstd_pieces_add(
    struct zstd_pieces *pieces, struct buf *out, struct span text);
