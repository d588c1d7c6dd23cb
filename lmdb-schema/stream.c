#include "config.h"

#include "lmdb-schema/stream.h"

#include <stdint.h>
#include <stdlib.h>

#if HAVE_ISAL

#include <isa-l/igzip_lib.h>

#define LEVEL 1
#define ROOM ((size_t)16 << 10) /* at least, in the buffer that it fills */

struct stream {
	struct isal_zstream z;
	uint8_t level_room[ISAL_DEF_LVL1_DEFAULT];
};

struct stream *
stream_new(void)
{
	return malloc(sizeof(struct stream));
}

void
stream_free(struct stream *stream)
{
	free(stream);
}

void
stream_begin(struct stream *stream)
{
	struct isal_zstream *z = &stream->z;

	isal_deflate_init(z);
	z->level = LEVEL;
	z->level_buf = stream->level_room;
	z->level_buf_size = sizeof(stream->level_room);
	z->flush = NO_FLUSH;
}

static bool
is_done(const struct isal_zstream *z, bool last)
{
	return last ? z->internal_state.state == ZSTATE_END
		    : z->avail_in == 0 && z->avail_out > 0;
}

enum err
stream_add(struct stream *stream, struct buf *out, struct span text, bool last)
{
	struct isal_zstream *z = &stream->z;

	z->next_in = (uint8_t *)(uintptr_t)text.ptr;
	z->avail_in = (uint32_t)text.len;
	z->end_of_stream = last;
	do {
		size_t room = text.len / 2 + ROOM;
		char *to = buf_room(out, room);

		if (to == NULL)
			return buf_end(out);
		z->next_out = (uint8_t *)to;
		z->avail_out = (uint32_t)room;
		if (isal_deflate(z) != COMP_OK)
			return ERR_INTERNAL;
		buf_grown(out, room - z->avail_out);
	} while (!is_done(z, last));
	return ERR_OK;
}

#else

#include "lmdb-schema/deflate.h"

#define LEVEL 1

/* A struct deflate, by the name that this header has for it. */
struct stream *
stream_new(void)
{
	return (struct stream *)deflate_new(LEVEL);
}

void
stream_free(struct stream *stream)
{
	deflate_free((struct deflate *)stream);
}

void
stream_begin(struct stream *stream)
{
	(void)stream; /* a piece refers to nothing before it */
}

enum err
stream_add(struct stream *stream, struct buf *out, struct span text, bool last)
{
	struct deflate *deflate = (struct deflate *)stream;

	if (text.len == 0) {
		if (last)
			buf_add(out, DEFLATE_END, DEFLATE_END_LEN);
		return buf_end(out);
	}
	return last ? deflate_last(deflate, out, text)
		    : deflate_add(deflate, out, text);
}

#endif
