#include "lmdb-schema/pack.h"

#include <assert.h>

#include "common/num.h"

static const int64_t places_unit[] = {1000000, 100000, 10000, 1000, 100, 10, 1};

uint8_t *
pack_unsigned(uint8_t *to, uint64_t value)
{
	while (value >= 0x80) {
		*to++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*to++ = (uint8_t)value;
	return to;
}

static uint64_t
zigzag(int64_t value)
{
	return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

static int64_t
unzigzag(uint64_t value)
{
	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

uint8_t *
pack_signed(uint8_t *to, int64_t value)
{
	return pack_unsigned(to, zigzag(value));
}

bool
pack_fits(int64_t micro)
{
	const int64_t most = INT64_MAX / 16;

	return micro == NUM_NULL || (micro >= -most && micro <= most);
}

/* Try whole units and cents first: nearly all values are one of them. */
static unsigned
fewest_places(int64_t micro)
{
	if (micro % 1000000 == 0)
		return 0;
	if (micro % 10000 == 0)
		return micro % 100000 == 0 ? 1 : 2;
	for (unsigned places = 3; places < 6; places++)
		if (micro % places_unit[places] == 0)
			return places;
	return 6;
}

uint8_t *
pack_decimal(uint8_t *to, int64_t micro)
{
	unsigned places;

	assert(pack_fits(micro));
	if (micro == NUM_NULL) {
		*to++ = 0;
		return to;
	}
	places = fewest_places(micro);
	return pack_unsigned(
	    to, 1 + zigzag(micro / places_unit[places]) * 7 + places);
}

void
pack_add_unsigned(struct buf *buf, uint64_t value)
{
	uint8_t bytes[PACK_NUMBER_MAX];

	buf_add(buf, bytes, (size_t)(pack_unsigned(bytes, value) - bytes));
}

void
pack_add_signed(struct buf *buf, int64_t value)
{
	pack_add_unsigned(buf, zigzag(value));
}

void
pack_add_decimal(struct buf *buf, int64_t micro)
{
	uint8_t bytes[PACK_NUMBER_MAX];

	buf_add(buf, bytes, (size_t)(pack_decimal(bytes, micro) - bytes));
}

void
pack_add_text(struct buf *buf, struct span text)
{
	pack_add_unsigned(buf, text.len);
	buf_add_span(buf, text);
}

void
unpack_init(struct unpack *from, struct span bytes)
{
	assert(bytes.ptr != NULL || bytes.len == 0);
	from->at = (const uint8_t *)bytes.ptr;
	from->end = bytes.len > 0 ? from->at + bytes.len : from->at;
	from->bad = false;
}

static uint64_t
spoil(struct unpack *from)
{
	from->at = from->end;
	from->bad = true;
	return 0;
}

uint64_t
unpack_unsigned_slow(struct unpack *from)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64 && from->at < from->end;
	     shift += 7) {
		uint8_t byte = *from->at++;

		if (shift == 63 && byte > 1)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	return spoil(from);
}

int64_t
unpack_signed(struct unpack *from)
{
	return unzigzag(unpack_unsigned(from));
}

int64_t
unpack_decimal(struct unpack *from)
{
	uint64_t code = unpack_unsigned(from);
	int64_t digits, micro;

	if (code == 0)
		return NUM_NULL;
	code -= 1;
	digits = unzigzag(code / 7);
	if (__builtin_mul_overflow(digits, places_unit[code % 7], &micro))
		return (int64_t)spoil(from);
	return micro;
}

struct span
unpack_text(struct unpack *from)
{
	uint64_t len = unpack_unsigned(from);
	struct span text = SPAN("");

	if (len > (size_t)(from->end - from->at)) {
		spoil(from);
		return text;
	}
	if (len > 0)
		text = span_make(from->at, (size_t)len);
	from->at += len;
	return text;
}

bool
unpack_done(const struct unpack *from)
{
	return !from->bad && from->at == from->end;
}
