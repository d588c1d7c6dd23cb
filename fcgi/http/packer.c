#include "fcgi/http/packer.h"

#include <assert.h>
#include <string.h>

#include "lmdb-schema/deflate.h"
#include "lmdb-schema/stream.h"
#include "lmdb-schema/zstd.h"

#define RAW_MAX (2 * PACKER_WHOLE)
#define PACKED_MAX (4 * PACKER_WHOLE)
/* The memory of libzstd for a usual page; making it anew costs a fifth more. */
#define ZSTD_KEEP ((size_t)256 << 10)
#define PUT_LEAST ((size_t)32 << 10)

void
packer_init(struct packer *packer)
{
	memset(packer, 0, sizeof(*packer));
	buf_init(&packer->raw, RAW_MAX);
	buf_init(&packer->packed, PACKED_MAX);
}

void
packer_fini(struct packer *packer)
{
	stream_free(packer->stream);
	packer->stream = NULL;
	zstd_free(packer->zstd);
	packer->zstd = NULL;
	buf_fini(&packer->raw);
	buf_fini(&packer->packed);
}

void
packer_give_back(struct packer *packer, size_t keep)
{
	if (packer->raw.cap > keep)
		buf_fini(&packer->raw);
	if (packer->packed.cap > keep)
		buf_fini(&packer->packed);
	if (packer->zstd != NULL)
		zstd_give_back(
		    packer->zstd, keep > ZSTD_KEEP ? keep : ZSTD_KEEP);
}

static enum err
begin_gzip(struct packer *packer)
{
	if (packer->stream == NULL)
		packer->stream = stream_new();
	if (packer->stream == NULL)
		return ERR_NO_MEMORY;
	stream_begin(packer->stream);
	buf_add(&packer->packed, DEFLATE_GZIP_HEAD, DEFLATE_GZIP_HEAD_LEN);
	return buf_end(&packer->packed);
}

static enum err
begin_zstd(struct packer *packer)
{
	if (packer->zstd == NULL)
		packer->zstd = zstd_new();
	return packer->zstd == NULL ? ERR_NO_MEMORY : zstd_begin(packer->zstd);
}

enum err
packer_begin(
    struct packer *packer, enum coding coding, struct sink *out, size_t block)
{
	assert(coding == CODING_GZIP || coding == CODING_ZSTD);
	packer->coding = coding;
	packer->out = out;
	packer->block = block;
	packer->crc = 0;
	packer->len = 0;
	packer->sent = 0;
	buf_clear(&packer->raw);
	buf_clear(&packer->packed);
	return coding == CODING_ZSTD ? begin_zstd(packer) : begin_gzip(packer);
}

/* The text of a block, which are its bytes in their order. */
static enum err
pack(struct packer *packer, bool last)
{
	struct span raw = buf_span(&packer->raw);
	enum err err = buf_end(&packer->raw);

	if (err != ERR_OK)
		return err;
	if (packer->coding == CODING_ZSTD)
		return zstd_add(packer->zstd, &packer->packed, raw, last);
	err = stream_add(packer->stream, &packer->packed, raw, last);
	packer->crc = deflate_crc(packer->crc, raw.ptr, raw.len);
	packer->len += raw.len;
	return err;
}

static enum err
put(struct packer *packer)
{
	struct iovec iov = {packer->packed.data, packer->packed.len};
	enum err err = buf_end(&packer->packed);

	if (err != ERR_OK || packer->out == NULL)
		return err;
	packer->sent += iov.iov_len;
	err = packer->out->put(packer->out, &iov, 1);
	buf_clear(&packer->packed);
	return err;
}

/* The block is full, and more follows. */
static enum err
pack_block(struct packer *packer)
{
	enum err err = pack(packer, false);

	if (err != ERR_OK)
		return err;
	buf_clear(&packer->raw);
	return packer->packed.len < PUT_LEAST ? ERR_OK : put(packer);
}

static enum err
add(struct packer *packer, const char *bytes, size_t len)
{
	enum err err = ERR_OK;

	while (len > 0 && err == ERR_OK) {
		size_t room = packer->block - packer->raw.len;
		size_t part = len < room ? len : room;

		buf_add(&packer->raw, bytes, part);
		bytes += part;
		len -= part;
		if (part == 0)
			err = pack_block(packer);
	}
	return err;
}

enum err
packer_add(struct packer *packer, const struct iovbuf *body)
{
	size_t room = packer->block - packer->raw.len;
	enum err err = body->err;

	assert(packer->coding != CODING_PLAIN);
	/* At once, rather than twice as much as before again and again. */
	buf_room(&packer->raw, body->total < room ? body->total : room);
	for (unsigned i = 1; i < body->count && err == ERR_OK; i++)
		err = add(packer, body->iov[i].iov_base, body->iov[i].iov_len);
	return err == ERR_OK ? buf_end(&packer->raw) : err;
}

enum err
packer_end(struct packer *packer)
{
	enum err err = pack(packer, true);

	assert(packer->coding != CODING_PLAIN);
	if (err != ERR_OK)
		return err;
	if (packer->coding == CODING_GZIP) {
		buf_add_u32(&packer->packed, packer->crc);
		buf_add_u32(&packer->packed, (uint32_t)packer->len);
	}
	return put(packer);
}
