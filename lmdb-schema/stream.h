/*
 * stream: a deflate stream that is packed while it is made, for a reader that
 * waits. The door to ISA-L's igzip, which packs nearly twice as fast as
 * libdeflate; where that is missing, the pieces of deflate.h take its place.
 *
 * Nothing is unpacked again for comparison: what is kept in a file is packed by
 * deflate.h alone.
 */
#pragma once

#include <stdbool.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/span.h"

/* The most that is added at once. */
#define STREAM_MAX ((size_t)1 << 30)

struct stream; /* one thread's */

struct stream *stream_new(void); /* NULL: no memory */
void stream_free(struct stream *stream);

/* Begins a stream; the one before may have been left without its end. */
void stream_begin(struct stream *stream);

/*
 * Packs `text` and appends what is ready: with `last` all of it, and the end of
 * the stream.
 */
enum err stream_add(
    struct stream *stream, struct buf *out, struct span text, bool last);
