#include "fcgi/table/zip.h"

#include <assert.h>
#include <stdlib.h>

#include "common/buf.h"
#include "fcgi/http/iovbuf.h"
#include "lmdb-schema/deflate.h"
#include "lmdb-schema/stream.h"

#define FILES_MAX 65535
#define VERSION 20 /* of the format that a reader must know */
#define FLAGS (1 << 3 | 1 << 11) /* lengths come behind; names are UTF-8 */
#define METHOD_DEFLATE 8
#define DAY (1 << 5 | 1) /* 1980-01-01, the first that there is */
#define PIECE_MAX ((size_t)16 << 20)
#define LIST_MAX ((size_t)64 << 20)

struct zip {
	struct iovbuf *to;
	struct stream *stream;
	struct buf piece; /* packed, not yet passed on */
	struct buf list; /* the entries of the files so far */
	uint64_t out;
	unsigned files;
	/* The present file. */
	char name[64];
	size_t name_len;
	uint64_t at, plain, packed;
	uint32_t crc;
};

struct zip *
zip_open(struct iovbuf *to)
{
	struct zip *zip = calloc(1, sizeof(*zip));

	if (zip == NULL)
		return NULL;
	zip->to = to;
	buf_init(&zip->piece, PIECE_MAX);
	buf_init(&zip->list, LIST_MAX);
	zip->stream = stream_new();
	if (zip->stream != NULL)
		return zip;
	zip_close(zip);
	return NULL;
}

void
zip_close(struct zip *zip)
{
	if (zip == NULL)
		return;
	stream_free(zip->stream);
	buf_fini(&zip->piece);
	buf_fini(&zip->list);
	free(zip);
}

/* Passes on what has been gathered. */
static enum err
put(struct zip *zip)
{
	enum err err = buf_end(&zip->piece);

	if (err != ERR_OK)
		return err;
	iovbuf_add(zip->to, buf_span(&zip->piece));
	zip->out += zip->piece.len;
	buf_clear(&zip->piece);
	return zip->out > UINT32_MAX ? ERR_TOO_LARGE : zip->to->err;
}

/* Adds the part that the heads before a file and in the list share. */
static void
add_common(struct zip *zip, struct buf *to, bool listed)
{
	buf_add_u16(to, VERSION);
	buf_add_u16(to, FLAGS);
	buf_add_u16(to, METHOD_DEFLATE);
	buf_add_u16(to, 0);
	buf_add_u16(to, DAY);
	buf_add_u32(to, listed ? zip->crc : 0);
	buf_add_u32(to, listed ? (uint32_t)zip->packed : 0);
	buf_add_u32(to, listed ? (uint32_t)zip->plain : 0);
	buf_add_u16(to, (uint16_t)zip->name_len);
	buf_add_u16(to, 0);
}

enum err
zip_file(struct zip *zip, struct span name)
{
	assert(name.len > 0);
	if (zip->files++ == FILES_MAX ||
	    !span_copy(zip->name, sizeof(zip->name), name))
		return ERR_TOO_LARGE;
	zip->name_len = name.len;
	zip->at = zip->out;
	zip->plain = zip->packed = 0;
	zip->crc = 0;
	buf_add_text(&zip->piece, "PK\3\4");
	add_common(zip, &zip->piece, false);
	buf_add_span(&zip->piece, name);
	stream_begin(zip->stream);
	return put(zip);
}

static enum err
pack(struct zip *zip, struct span text, bool last)
{
	enum err err = stream_add(zip->stream, &zip->piece, text, last);

	zip->packed += zip->piece.len;
	return err == ERR_OK ? put(zip) : err;
}

enum err
zip_add(struct zip *zip, struct span text)
{
	assert(zip->files > 0);
	zip->crc = deflate_crc(zip->crc, text.ptr, text.len);
	zip->plain += text.len;
	if (zip->plain > UINT32_MAX)
		return ERR_TOO_LARGE;
	return pack(zip, text, false);
}

enum err
zip_file_end(struct zip *zip)
{
	enum err err = pack(zip, SPAN(""), true);

	assert(zip->files > 0);
	if (err != ERR_OK)
		return err;
	buf_add_text(&zip->piece, "PK\7\x08");
	buf_add_u32(&zip->piece, zip->crc);
	buf_add_u32(&zip->piece, (uint32_t)zip->packed);
	buf_add_u32(&zip->piece, (uint32_t)zip->plain);
	buf_add_text(&zip->list, "PK\1\2");
	buf_add_u16(&zip->list, VERSION);
	add_common(zip, &zip->list, true);
	buf_add_u16(&zip->list, 0); /* no comment */
	buf_add_u16(&zip->list, 0);
	buf_add_u16(&zip->list, 0);
	buf_add_u32(&zip->list, 0);
	buf_add_u32(&zip->list, (uint32_t)zip->at);
	buf_add(&zip->list, zip->name, zip->name_len);
	err = put(zip);
	return err == ERR_OK ? buf_end(&zip->list) : err;
}

enum err
zip_end(struct zip *zip)
{
	uint64_t at = zip->out;
	size_t len = zip->list.len;

	buf_add_span(&zip->piece, buf_span(&zip->list));
	buf_add_text(&zip->piece, "PK\5\6");
	buf_add_u32(&zip->piece, 0);
	buf_add_u16(&zip->piece, (uint16_t)zip->files);
	buf_add_u16(&zip->piece, (uint16_t)zip->files);
	buf_add_u32(&zip->piece, (uint32_t)len);
	buf_add_u32(&zip->piece, (uint32_t)at);
	buf_add_u16(&zip->piece, 0);
	return put(zip);
}
