/*
 * CRC-32 is linear: that of two texts one behind the other follows from theirs
 * and the second's length, so no byte of a ready segment is looked at but for
 * the check that the disk has not spoilt it.
 */
#include "fcgi/dump/stitch.h"

#include <assert.h>
#include <string.h>

/* A segment has 64 rows; a row's maps end below 4 GB, usual ones at 10 KB. */
#define RAW_MAX ((size_t)1 << 30)
#define LEVEL 1
#define STORED_MAX 65535u
#define TRAILER_LEN 8

void
stitch_init(struct stitch *stitch)
{
	memset(stitch, 0, sizeof(*stitch));
	pieces_init(&stitch->rows);
	buf_init(&stitch->raw, RAW_MAX);
	buf_init(&stitch->packed, RAW_MAX);
}

void
stitch_fini(struct stitch *stitch)
{
	deflate_free(stitch->deflate);
	pieces_fini(&stitch->rows);
	buf_fini(&stitch->raw);
	buf_fini(&stitch->packed);
}

static size_t
stored_length(size_t len)
{
	return len + (len + STORED_MAX - 1) / STORED_MAX * DEFLATE_STORED_LEN;
}

int64_t
stitch_length(const struct zip *zip, size_t start, size_t tail)
{
	size_t len = DEFLATE_GZIP_HEAD_LEN + stored_length(start) +
	    stored_length(tail) + DEFLATE_END_LEN + TRAILER_LEN;

	for (uint32_t i = 0; i < zip_head(zip)->segments; i++)
		len += zip_segment(zip, i)->len;
	return (int64_t)len;
}

static void
count(struct stitch *stitch, uint32_t crc, uint64_t len)
{
	stitch->crc = deflate_crc_both(stitch->crc, crc, len);
	stitch->len += len;
}

static void
add_stored(struct stitch *stitch, struct pieces *body, struct span text)
{
	unsigned char head[DEFLATE_STORED_LEN];

	count(stitch, deflate_crc(0, text.ptr, text.len), text.len);
	while (text.len > 0) {
		size_t len = text.len < STORED_MAX ? text.len : STORED_MAX;

		deflate_stored(head, len);
		pieces_copy(body, head, sizeof(head));
		pieces_copy(body, text.ptr, len);
		text = span_from(text, len);
	}
}

/* Collects the pieces' bytes, which a packer wants in one place. */
static struct span
gather(struct buf *raw, const struct pieces *pieces)
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
pack_anew(struct stitch *stitch, struct splice *splice, uint32_t from,
    uint32_t to, bool last)
{
	struct span raw;
	enum err err = ERR_OK;

	if (stitch->deflate == NULL)
		stitch->deflate = deflate_new(LEVEL);
	if (stitch->deflate == NULL)
		return ERR_NO_MEMORY;
	pieces_clear(&stitch->rows);
	for (uint32_t row = from; row < to && err == ERR_OK; row++)
		err = splice_row(splice, row, &stitch->rows);
	if (last)
		pieces_drop_last(&stitch->rows);
	raw = gather(&stitch->raw, &stitch->rows);
	if (err == ERR_OK)
		err = buf_end(&stitch->raw);
	buf_clear(&stitch->packed);
	if (err == ERR_OK)
		err = deflate_add(stitch->deflate, &stitch->packed, raw);
	if (err == ERR_OK)
		count(stitch, deflate_crc(0, raw.ptr, raw.len), raw.len);
	return err;
}

static enum err
add_segment(struct stitch *stitch, struct pieces *body, struct splice *splice,
    const struct zip *zip, uint32_t i)
{
	const struct zip_segment *segment = zip_segment(zip, i);
	uint32_t rows = zip_head(zip)->rows;
	uint32_t from = i * ZIP_ROWS, to = from + ZIP_ROWS;
	struct span packed;
	bool anew;
	enum err err;

	if (to > rows)
		to = rows;
	err = differs(&anew, splice, from, to);
	if (err == ERR_OK && anew) {
		err = pack_anew(stitch, splice, from, to, to == rows);
		pieces_add(body, buf_span(&stitch->packed));
	} else if (err == ERR_OK) {
		packed = zip_bytes(zip, i);
		if (packed.len == 0)
			return ERR_DAMAGED;
		pieces_refer(body, packed.ptr, packed.len);
		count(stitch, segment->crc, segment->raw_len);
	}
	return err;
}

static void
add_end(struct stitch *stitch, struct pieces *body)
{
	unsigned char trailer[TRAILER_LEN];

	for (unsigned i = 0; i < 4; i++) {
		trailer[i] = (unsigned char)(stitch->crc >> 8 * i);
		trailer[4 + i] = (unsigned char)(stitch->len >> 8 * i);
	}
	pieces_text(body, DEFLATE_END);
	pieces_copy(body, trailer, sizeof(trailer));
}

enum err
stitch_dump(struct stitch *stitch, struct reply *reply, struct splice *splice,
    const struct zip *zip, struct span start, const struct pieces *tail)
{
	struct pieces *body = &reply->body;
	enum err err = ERR_OK;

	assert(reply->streaming && start.len > 0);
	stitch->crc = 0;
	stitch->len = 0;
	pieces_copy(body, DEFLATE_GZIP_HEAD, DEFLATE_GZIP_HEAD_LEN);
	add_stored(stitch, body, start);
	for (uint32_t i = 0; i < zip_head(zip)->segments; i++) {
		err = add_segment(stitch, body, splice, zip, i);
		if (err != ERR_OK)
			return err;
		reply_flush_some(reply);
		if (reply->err != ERR_OK)
			return ERR_OK; /* it has kept the failure */
	}
	add_stored(stitch, body, gather(&stitch->raw, tail));
	add_end(stitch, body);
	return buf_end(&stitch->raw);
}
