#include "fcgi/http/gzip.h"

#include <string.h>

#include "lmdb-schema/deflate.h"
#include "lmdb-schema/stream.h"

#define RAW_MAX (2 * GZIP_WHOLE)
#define PACKED_MAX (4 * GZIP_WHOLE)
#define PUT_LEAST ((size_t)32 << 10)

void
gzip_init(struct gzip *gzip)
{
	memset(gzip, 0, sizeof(*gzip));
	buf_init(&gzip->raw, RAW_MAX);
	buf_init(&gzip->packed, PACKED_MAX);
}

void
gzip_fini(struct gzip *gzip)
{
	stream_free(gzip->stream);
	gzip->stream = NULL;
	buf_fini(&gzip->raw);
	buf_fini(&gzip->packed);
}

void
gzip_give_back(struct gzip *gzip, size_t keep)
{
	if (gzip->raw.cap > keep)
		buf_fini(&gzip->raw);
	if (gzip->packed.cap > keep)
		buf_fini(&gzip->packed);
}

enum err
gzip_begin(struct gzip *gzip, struct sink *out, size_t block)
{
	if (gzip->stream == NULL)
		gzip->stream = stream_new();
	if (gzip->stream == NULL)
		return ERR_NO_MEMORY;
	stream_begin(gzip->stream);
	gzip->out = out;
	gzip->block = block;
	gzip->crc = 0;
	gzip->len = 0;
	gzip->sent = 0;
	buf_clear(&gzip->raw);
	buf_clear(&gzip->packed);
	buf_add(&gzip->packed, DEFLATE_GZIP_HEAD, DEFLATE_GZIP_HEAD_LEN);
	return buf_end(&gzip->packed);
}

/* Of one text, in the order of its bytes. */
static void
count(struct gzip *gzip, struct span text)
{
	gzip->crc = deflate_crc(gzip->crc, text.ptr, text.len);
	gzip->len += text.len;
}

static enum err
put(struct gzip *gzip)
{
	struct iovec iov = {gzip->packed.data, gzip->packed.len};
	enum err err = buf_end(&gzip->packed);

	if (err != ERR_OK || gzip->out == NULL)
		return err;
	gzip->sent += iov.iov_len;
	err = gzip->out->put(gzip->out, &iov, 1);
	buf_clear(&gzip->packed);
	return err;
}

/* The block is full, and more follows. */
static enum err
pack_block(struct gzip *gzip)
{
	struct span raw = buf_span(&gzip->raw);
	enum err err = stream_add(gzip->stream, &gzip->packed, raw, false);

	if (err != ERR_OK)
		return err;
	count(gzip, raw);
	buf_clear(&gzip->raw);
	return gzip->packed.len < PUT_LEAST ? ERR_OK : put(gzip);
}

static enum err
add(struct gzip *gzip, const char *bytes, size_t len)
{
	enum err err = ERR_OK;

	while (len > 0 && err == ERR_OK) {
		size_t room = gzip->block - gzip->raw.len;
		size_t part = len < room ? len : room;

		buf_add(&gzip->raw, bytes, part);
		bytes += part;
		len -= part;
		if (part == 0)
			err = pack_block(gzip);
	}
	return err;
}

enum err
gzip_add(struct gzip *gzip, const struct iovbuf *body)
{
	size_t room = gzip->block - gzip->raw.len;
	enum err err = body->err;

	/* At once, rather than twice as much as before again and again. */
	buf_room(&gzip->raw, body->total < room ? body->total : room);
	for (unsigned i = 1; i < body->count && err == ERR_OK; i++)
		err = add(gzip, body->iov[i].iov_base, body->iov[i].iov_len);
	return err == ERR_OK ? buf_end(&gzip->raw) : err;
}

enum err
gzip_end(struct gzip *gzip)
{
	struct span raw = buf_span(&gzip->raw);
	enum err err = buf_end(&gzip->raw);

	if (err == ERR_OK)
		err = stream_add(gzip->stream, &gzip->packed, raw, true);
	if (err != ERR_OK)
		return err;
	count(gzip, raw);
	buf_add_u32(&gzip->packed, gzip->crc);
	buf_add_u32(&gzip->packed, (uint32_t)gzip->len);
	return put(gzip);
}
