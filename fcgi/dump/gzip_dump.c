/*
 * CRC-32 is linear: the CRC of two concatenated texts follows from their CRCs
 * and the second's length. So the bytes of a packed segment are read only to
 * compare them with their checksum.
 */
#include "fcgi/dump/gzip_dump.h"

#include <assert.h>
#include <string.h>

#include "fcgi/rows/rowset.h"
#include "lmdb-schema/zstd_pieces.h"

/* A segment has some rows; a row's maps end below 4 GB, usual ones at 10 KB. */
#define RAW_MAX ((size_t)1 << 30)
#define LEVEL 1
#define STORED_MAX 65535u
#define PIECE_LOG 17
#define TRAILER_LEN 8
#define ANEW_SHARE 8 /* a page with more rows to pack is packed as a whole */

void
gzip_dump_init(struct gzip_dump *gzip_dump)
{
	memset(gzip_dump, 0, sizeof(*gzip_dump));
	iovbuf_init(&gzip_dump->rows);
	buf_init(&gzip_dump->raw, RAW_MAX);
	buf_init(&gzip_dump->packed, RAW_MAX);
}

void
gzip_dump_fini(struct gzip_dump *gzip_dump)
{
	assert(gzip_dump != NULL);
	deflate_free(gzip_dump->deflate);
	zstd_pieces_free(gzip_dump->zstd);
	iovbuf_fini(&gzip_dump->rows);
	buf_fini(&gzip_dump->raw);
	buf_fini(&gzip_dump->packed);
}

void
gzip_dump_give_back(struct gzip_dump *gzip_dump, size_t keep)
{
	zstd_pieces_free(gzip_dump->zstd);
	gzip_dump->zstd = NULL;
	if (gzip_dump->raw.cap > keep)
		buf_fini(&gzip_dump->raw);
	if (gzip_dump->packed.cap > keep)
		buf_fini(&gzip_dump->packed);
	iovbuf_give_back(&gzip_dump->rows);
}

static size_t
stored_length(size_t len, bool zstd)
{
	size_t head = zstd ? ZSTD_STORED_LEN : DEFLATE_STORED_LEN;

	return len + (len + STORED_MAX - 1) / STORED_MAX * head;
}

int64_t
gzip_dump_length(
    const struct packed_rows *packed_rows, size_t start, size_t tail)
{
	bool zstd = packed_rows_kind(packed_rows) == PACKED_ZSTD;
	size_t len = stored_length(start, zstd) + stored_length(tail, zstd) +
	    (zstd ? ZSTD_PIECES_HEAD_LEN + ZSTD_PIECES_END_LEN
		  : DEFLATE_GZIP_HEAD_LEN + DEFLATE_END_LEN + TRAILER_LEN);

	assert(start > 0 && tail > 0);
	for (uint32_t i = 0; i < packed_rows_head(packed_rows)->segments; i++)
		len += packed_rows_segment(packed_rows, i)->len;
	return (int64_t)len;
}

static void
count(struct gzip_dump *gzip_dump, uint32_t crc, uint64_t len)
{
	gzip_dump->crc = deflate_crc_both(gzip_dump->crc, crc, len);
	gzip_dump->len += len;
}

static void
begin(struct gzip_dump *gzip_dump, struct iovbuf *body,
    const struct packed_rows *packed_rows)
{
	gzip_dump->as_zstd = packed_rows_kind(packed_rows) == PACKED_ZSTD;
	gzip_dump->crc = 0;
	gzip_dump->len = 0;
	if (gzip_dump->as_zstd)
		iovbuf_copy(body, ZSTD_PIECES_HEAD, ZSTD_PIECES_HEAD_LEN);
	else
		iovbuf_copy(body, DEFLATE_GZIP_HEAD, DEFLATE_GZIP_HEAD_LEN);
}

static void
add_stored(struct gzip_dump *gzip_dump, struct iovbuf *body, struct span text)
{
	unsigned char head[DEFLATE_STORED_LEN];

	count(gzip_dump, deflate_crc(0, text.ptr, text.len), text.len);
	while (text.len > 0) {
		size_t len = text.len < STORED_MAX ? text.len : STORED_MAX;

		if (gzip_dump->as_zstd)
			zstd_stored(head, len);
		else
			deflate_stored(head, len);
		iovbuf_copy(body, head,
		    gzip_dump->as_zstd ? ZSTD_STORED_LEN : DEFLATE_STORED_LEN);
		iovbuf_copy(body, text.ptr, len);
		text = span_from(text, len);
	}
}

/* Collects the bytes of the pieces, which a packer needs contiguous. */
static struct span
gather(struct buf *raw, const struct iovbuf *pieces)
{
	buf_clear(raw);
	for (unsigned i = 1; i < pieces->count; i++)
		buf_add(raw, pieces->iov[i].iov_base, pieces->iov[i].iov_len);
	if (pieces->err != ERR_OK)
		buf_fail(raw, pieces->err);
	return buf_span(raw);
}

static enum err
differs(bool *out, struct splice *splice, uint32_t from, uint32_t to)
{
	enum err err = ERR_OK;

	*out = false;
	for (uint32_t row = from; row < to && !*out && err == ERR_OK; row++)
		err = splice_row_differs(splice, row, out);
	return err;
}

static enum err
pack_text(struct gzip_dump *gzip_dump, struct span raw)
{
	if (gzip_dump->as_zstd) {
		if (gzip_dump->zstd == NULL)
			gzip_dump->zstd = zstd_pieces_new(LEVEL, PIECE_LOG);
		return gzip_dump->zstd == NULL
		    ? ERR_NO_MEMORY
		    : zstd_pieces_add(gzip_dump->zstd, &gzip_dump->packed, raw);
	}
	if (gzip_dump->deflate == NULL)
		gzip_dump->deflate = deflate_new(LEVEL);
	return gzip_dump->deflate == NULL
	    ? ERR_NO_MEMORY
	    : deflate_add(gzip_dump->deflate, &gzip_dump->packed, raw);
}

static enum err
pack_anew(struct gzip_dump *gzip_dump, struct splice *splice, uint32_t from,
    uint32_t to, bool last)
{
	struct span raw;
	enum err err = ERR_OK;

	iovbuf_clear(&gzip_dump->rows);
	for (uint32_t row = from; row < to && err == ERR_OK; row++)
		err = splice_row(splice, row, &gzip_dump->rows);
	if (last)
		iovbuf_drop_last(&gzip_dump->rows);
	raw = gather(&gzip_dump->raw, &gzip_dump->rows);
	if (err == ERR_OK)
		err = buf_end(&gzip_dump->raw);
	buf_clear(&gzip_dump->packed);
	if (err == ERR_OK)
		err = pack_text(gzip_dump, raw);
	if (err == ERR_OK)
		count(gzip_dump, deflate_crc(0, raw.ptr, raw.len), raw.len);
	return err;
}

static enum err
add_segment(struct gzip_dump *gzip_dump, struct iovbuf *body,
    struct splice *splice, const struct packed_rows *packed_rows, uint32_t i)
{
	const struct packed_rows_segment *segment =
	    packed_rows_segment(packed_rows, i);
	uint32_t rows = packed_rows_head(packed_rows)->rows;
	uint32_t each = packed_kinds[packed_rows_kind(packed_rows)].rows;
	uint32_t from = i * each, to = from + each;
	struct span packed;
	bool anew;
	enum err err;

	if (to > rows)
		to = rows;
	err = differs(&anew, splice, from, to);
	if (err == ERR_OK && anew) {
		err = pack_anew(gzip_dump, splice, from, to, to == rows);
		iovbuf_add(body, buf_span(&gzip_dump->packed));
	} else if (err == ERR_OK) {
		packed = packed_rows_bytes(packed_rows, i);
		if (packed.len == 0)
			return ERR_DAMAGED;
		iovbuf_refer(body, packed.ptr, packed.len);
		count(gzip_dump, segment->crc, segment->raw_len);
	}
	return err;
}

static void
add_end(struct gzip_dump *gzip_dump, struct iovbuf *body)
{
	unsigned char trailer[TRAILER_LEN];

	if (gzip_dump->as_zstd) {
		iovbuf_copy(body, ZSTD_PIECES_END, ZSTD_PIECES_END_LEN);
		return;
	}
	for (unsigned i = 0; i < 4; i++) {
		trailer[i] = (unsigned char)(gzip_dump->crc >> 8 * i);
		trailer[4 + i] = (unsigned char)(gzip_dump->len >> 8 * i);
	}
	iovbuf_text(body, DEFLATE_END);
	iovbuf_copy(body, trailer, sizeof(trailer));
}

/* A row from the file, without its comma if it is the first. */
static enum err
add_packed_row(struct gzip_dump *gzip_dump, struct iovbuf *body,
    const struct packed_rows *packed_rows, uint32_t row, bool first)
{
	const struct packed_rows_segment *segment =
	    packed_rows_segment(packed_rows, row);
	struct span packed = packed_rows_bytes(packed_rows, row);

	if (packed.len == 0)
		return ERR_DAMAGED;
	if (first)
		packed = span_from(packed, PACKED_ROWS_COMMA_LEN);
	else {
		gzip_dump->crc = deflate_crc(gzip_dump->crc, ",", 1);
		gzip_dump->len++;
	}
	iovbuf_refer(body, packed.ptr, packed.len);
	count(gzip_dump, segment->crc, segment->raw_len);
	return ERR_OK;
}

static enum err
add_row_anew(struct gzip_dump *gzip_dump, struct iovbuf *body,
    struct splice *splice, uint32_t row, bool first)
{
	enum err err;

	if (!first)
		add_stored(gzip_dump, body, SPAN(","));
	err = pack_anew(gzip_dump, splice, row, row + 1, true);
	iovbuf_add(body, buf_span(&gzip_dump->packed));
	return err;
}

static enum err
add_rows(struct gzip_dump *gzip_dump, struct iovbuf *body,
    struct splice *splice, const struct packed_rows *packed_rows,
    const struct rowset *set)
{
	bool unchanged = splice_is_unchanged(splice);
	uint32_t most = set->count / ANEW_SHARE + 1, anew = 0;
	enum err err = ERR_OK;

	for (uint32_t i = 0; i < set->count && err == ERR_OK; i++) {
		uint32_t at = set->first + i;
		uint32_t row = set->order == NULL ? at : set->order[at];
		bool differs = false;

		if (!unchanged)
			err = splice_row_differs(splice, row, &differs);
		if (err != ERR_OK)
			return err;
		if (differs && ++anew > most)
			return ERR_NOT_FOUND;
		err = differs
		    ? add_row_anew(gzip_dump, body, splice, row, i == 0)
		    : add_packed_row(gzip_dump, body, packed_rows, row, i == 0);
	}
	return err;
}

enum err
gzip_dump_page(struct gzip_dump *gzip_dump, struct iovbuf *body,
    struct splice *splice, const struct packed_rows *packed_rows,
    const struct rowset *set, struct span start, struct span tail)
{
	enum err err;

	assert(body->total == 0 && start.len > 0 && tail.len > 0);
	begin(gzip_dump, body, packed_rows);
	add_stored(gzip_dump, body, start);
	err = add_rows(gzip_dump, body, splice, packed_rows, set);
	if (err != ERR_OK)
		return err;
	add_stored(gzip_dump, body, tail);
	add_end(gzip_dump, body);
	return body->err;
}

enum err
gzip_dump_dump(struct gzip_dump *gzip_dump, struct reply *reply,
    struct splice *splice, const struct packed_rows *packed_rows,
    struct span start, struct span tail)
{
	struct iovbuf *body = &reply->body;
	enum err err = ERR_OK;

	assert(reply->streaming && start.len > 0 && tail.len > 0);
	begin(gzip_dump, body, packed_rows);
	add_stored(gzip_dump, body, start);
	for (uint32_t i = 0; i < packed_rows_head(packed_rows)->segments; i++) {
		err = add_segment(gzip_dump, body, splice, packed_rows, i);
		if (err != ERR_OK)
			return err;
		reply_flush_some(reply);
		if (reply->err != ERR_OK)
			return ERR_OK; /* the reply keeps the failure */
	}
	add_stored(gzip_dump, body, tail);
	add_end(gzip_dump, body);
	return ERR_OK;
}
