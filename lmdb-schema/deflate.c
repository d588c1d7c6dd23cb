/*
 * libdeflate makes whole streams. To turn one into a piece, the "last block"
 * bit is cleared and an empty stored block pads the end to a whole byte. zlib's
 * inflate stops at each block's beginning, which is where that bit stands
 * (zlib's own gzjoin finds it so); inflating also verifies the piece.
 */
#include "lmdb-schema/deflate.h"

#include <assert.h>
#include <libdeflate.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

struct deflate {
	struct libdeflate_compressor *packer;
	z_stream unpacker;
	char *unpacked;
	size_t room;
};

struct deflate *
deflate_new(int level)
{
	struct deflate *deflate = calloc(1, sizeof(*deflate));

	assert(level >= 1 && level <= 12);
	if (deflate == NULL)
		return NULL;
	deflate->packer = libdeflate_alloc_compressor(level);
	if (deflate->packer == NULL ||
	    inflateInit2(&deflate->unpacker, -15) != Z_OK) {
		libdeflate_free_compressor(deflate->packer);
		free(deflate);
		return NULL;
	}
	return deflate;
}

void
deflate_free(struct deflate *deflate)
{
	if (deflate == NULL)
		return;
	inflateEnd(&deflate->unpacker);
	libdeflate_free_compressor(deflate->packer);
	free(deflate->unpacked);
	free(deflate);
}

void
deflate_stored(unsigned char head[DEFLATE_STORED_LEN], size_t len)
{
	assert(len <= UINT16_MAX);
	head[0] = 0;
	head[1] = (unsigned char)len;
	head[2] = (unsigned char)(len >> 8);
	head[3] = (unsigned char)~head[1];
	head[4] = (unsigned char)~head[2];
}

static bool
make_room(struct deflate *deflate, size_t len)
{
	char *more;

	if (deflate->room >= len)
		return true;
	more = malloc(len);
	if (more == NULL)
		return false;
	free(deflate->unpacked);
	deflate->unpacked = more;
	deflate->room = len;
	return true;
}

/*
 * Called where a block begins: its first bit is the lowest of the `unused` high
 * bits of the byte before `at`, or, when `unused` is 0, the first bit of `at`.
 * Clears that "last block" bit when it is set.
 */
static bool
clear_last(unsigned char *at, unsigned unused)
{
	unsigned char bit = 1;

	if (unused > 0) {
		bit = (unsigned char)(0x100u >> unused);
		at--;
	}
	if ((*at & bit) == 0)
		return false;
	*at &= (unsigned char)~bit;
	return true;
}

/* Inflates the whole stream, clearing the bit of the last block on the way. */
static enum err
go_through(struct deflate *deflate, unsigned char *packed, size_t len,
    struct span text)
{
	z_stream *z = &deflate->unpacker;
	bool last;
	int code = inflateReset(z);

	z->next_in = packed;
	z->avail_in = (uInt)len;
	z->next_out = (Bytef *)deflate->unpacked;
	z->avail_out = (uInt)deflate->room;
	last = clear_last(packed, 0);
	while (code == Z_OK) {
		code = inflate(z, Z_BLOCK);
		if ((z->data_type & 128) == 0)
			continue;
		if (last)
			break;
		last = clear_last(z->next_in, (unsigned)z->data_type & 7);
	}
	if ((code != Z_OK && code != Z_STREAM_END) || z->avail_in > 0 ||
	    z->total_out != text.len ||
	    memcmp(deflate->unpacked, text.ptr, text.len) != 0)
		return ERR_INTERNAL;
	return ERR_OK;
}

/*
 * The unused bits of the last byte are zeros, which begin the head of an empty
 * stored block.
 */
static void
end_on_byte(struct deflate *deflate, struct buf *out)
{
	unsigned unused = (unsigned)deflate->unpacker.data_type & 7;

	if (unused == 0)
		return;
	if (unused < 3)
		buf_add_char(out, '\0');
	buf_add(out, "\0\0\xff\xff", 4);
}

enum err
deflate_add(struct deflate *deflate, struct buf *out, struct span text)
{
	size_t most =
	    libdeflate_deflate_compress_bound(deflate->packer, text.len);
	char *packed = buf_room(out, most);
	size_t len;
	enum err err;

	assert(text.len > 0);
	if (packed == NULL || !make_room(deflate, text.len + 1))
		return buf_end(out) != ERR_OK ? buf_end(out) : ERR_NO_MEMORY;
	len = libdeflate_deflate_compress(
	    deflate->packer, text.ptr, text.len, packed, most);
	err = go_through(deflate, (unsigned char *)packed, len, text);
	if (err != ERR_OK)
		return err;
	buf_grown(out, len);
	end_on_byte(deflate, out);
	return buf_end(out);
}

enum err
deflate_last(struct deflate *deflate, struct buf *out, struct span text)
{
	size_t most =
	    libdeflate_deflate_compress_bound(deflate->packer, text.len);
	char *packed = buf_room(out, most);
	size_t len;

	if (packed == NULL)
		return buf_end(out);
	len = libdeflate_deflate_compress(
	    deflate->packer, text.ptr, text.len, packed, most);
	if (len == 0)
		return ERR_INTERNAL;
	buf_grown(out, len);
	return ERR_OK;
}

uint32_t
deflate_crc(uint32_t crc, const void *data, size_t len)
{
	assert(data != NULL || (len == 0 && crc == 0));
	return libdeflate_crc32(crc, data, len);
}

/*
 * CRC-32 as polynomials over GF(2), the highest bit the lowest power: bytes added
 * behind a text multiply its CRC by x^8 each. The powers of lengths up to a
 * megabyte are products of two that stand in tables, so that joining a page's
 * rows takes no longer than copying them.
 */
#define CRC_POLYNOMIAL UINT32_C(0xedb88320)
#define CRC_ONE (UINT32_C(1) << 31)
#define CRC_BYTE (UINT32_C(1) << 23) /* x^8 */
#define POWERS 1024

static struct {
	pthread_once_t once;
	uint32_t reduced[16]; /* of four bits that a shift by four pushes out */
	uint32_t low[POWERS], high[POWERS]; /* of 1 and of 1,024 bytes */
	uint32_t next; /* of 1,048,576 bytes */
} powers = {.once = PTHREAD_ONCE_INIT};

static uint32_t
crc_times_x(uint32_t a)
{
	return a >> 1 ^ (CRC_POLYNOMIAL & -(a & 1));
}

/* Four bits of `a` at a time, those of the highest powers first. */
static uint32_t
crc_times(uint32_t a, uint32_t b)
{
	uint32_t times[16], product = 0;

	times[0] = 0;
	times[8] = b;
	times[4] = crc_times_x(times[8]);
	times[2] = crc_times_x(times[4]);
	times[1] = crc_times_x(times[2]);
	for (unsigned bit = 2; bit < 16; bit *= 2)
		for (unsigned i = 1; i < bit; i++)
			times[bit + i] = times[bit] ^ times[i];
	for (unsigned i = 0; i < 8; i++, a >>= 4)
		product =
		    product >> 4 ^ powers.reduced[product & 15] ^ times[a & 15];
	return product;
}

static void
fill_reduced(void)
{
	for (uint32_t bits = 0; bits < 16; bits++) {
		uint32_t value = bits;

		for (unsigned i = 0; i < 4; i++)
			value = crc_times_x(value);
		powers.reduced[bits] = value;
	}
}

/* Each the one before times `step`; the next after the last comes back. */
static uint32_t
fill_powers(uint32_t power[POWERS], uint32_t step)
{
	uint32_t next = CRC_ONE;

	for (unsigned i = 0; i < POWERS; i++) {
		power[i] = next;
		next = crc_times(next, step);
	}
	return next;
}

static void
make_powers(void)
{
	uint32_t kilobyte;

	fill_reduced();
	kilobyte = fill_powers(powers.low, CRC_BYTE);
	powers.next = fill_powers(powers.high, kilobyte);
}

/* x to the power of 8 x len. */
static uint32_t
crc_power(uint64_t len)
{
	uint32_t low = powers.low[len % POWERS];
	uint32_t power = crc_times(low, powers.high[len / POWERS % POWERS]);
	uint32_t next = powers.next;

	for (len /= (uint64_t)POWERS * POWERS; len > 0; len /= 2) {
		if (len % 2 == 1)
			power = crc_times(power, next);
		next = crc_times(next, next);
	}
	return power;
}

uint32_t
deflate_crc_both(uint32_t first, uint32_t second, uint64_t len)
{
	pthread_once(&powers.once, make_powers);
	return crc_times(crc_power(len), first) ^ second;
}
