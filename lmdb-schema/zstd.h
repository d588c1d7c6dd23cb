/*
 * zstd: a text as one zstd frame (RFC 8878), packed at once or while it is
 * made. The door to libzstd.
 *
 * One frame, since readers stop behind the first; and a window of 8 MB at most,
 * which is what every reader of the web has room for (RFC 9659). At level 1 it
 * is 512 KB.
 */
#pragma once

#include <stdbool.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/span.h"

struct zstd; /* one thread's */

struct zstd *zstd_new(void); /* NULL: no memory */
void zstd_free(struct zstd *zstd);

/* Gives back what is beyond `keep` bytes; between two frames. */
void zstd_give_back(struct zstd *zstd, size_t keep);

/* Begins a frame; the one before may have been left without its end. */
enum err zstd_begin(struct zstd *zstd);

/*
 * Packs `text` and appends what is ready: with `last` all of it, and the end of
 * the frame, which has a checksum of all the text.
 */
enum err zstd_add(
    struct zstd *zstd, struct buf *out, struct span text, bool last);

/*
 * Appends `text` as a frame without a checksum. `zstd` keeps its memory for the
 * next one; NULL is fine.
 */
void zstd_pack(struct zstd *zstd, struct buf *out, struct span text);

/*
 * Appends the text, of `len` bytes, whose frame is `packed`. ERR_BAD_INPUT when
 * `packed` is anything else. Each thread keeps a context of 96 KB for the next one.
 */
enum err zstd_unpack(struct buf *out, struct span packed, size_t len);
