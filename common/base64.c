#include "common/base64.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			     "abcdefghijklmnopqrstuvwxyz0123456789+/";

/* Three bytes, of which `count` are there, as four characters. */
static void
put_group(char out[4], const uint8_t *bytes, size_t count)
{
	uint32_t group = (uint32_t)bytes[0] << 16;

	if (count > 1)
		group |= (uint32_t)bytes[1] << 8;
	if (count > 2)
		group |= bytes[2];
	out[0] = digits[group >> 18];
	out[1] = digits[(group >> 12) & 63];
	out[2] = count > 1 ? digits[(group >> 6) & 63] : '=';
	out[3] = count > 2 ? digits[group & 63] : '=';
}

void
base64_add(struct buf *buf, struct span bytes)
{
	size_t room = (bytes.len / 3 + 1) * 4;
	char *to = buf_room(buf, room);
	size_t used = 0;

	assert(bytes.ptr != NULL || bytes.len == 0);
	if (to == NULL)
		return;
	for (size_t at = 0; at < bytes.len; at += 3) {
		size_t left = bytes.len - at;

		put_group(to + used, (const uint8_t *)bytes.ptr + at,
		    left < 3 ? left : 3);
		used += 4;
	}
	buf_grown(buf, used);
}

static int
digit_of(char byte)
{
	const char *at = byte == '\0' ? NULL : strchr(digits, byte);

	return at == NULL ? -1 : (int)(at - digits);
}

bool
base64_bytes(uint8_t *to, size_t size, size_t *len, struct span text)
{
	uint32_t group = 0;
	unsigned bits = 0;
	int digit;

	assert(to != NULL || size == 0);
	while (text.len > 0 && text.ptr[text.len - 1] == '=')
		text.len--;
	*len = 0;
	for (size_t i = 0; i < text.len; i++) {
		digit = digit_of(text.ptr[i]);
		if (digit < 0)
			return false;
		group = group << 6 | (uint32_t)digit;
		bits += 6;
		if (bits < 8)
			continue;
		bits -= 8;
		if (*len == size)
			return false;
		to[(*len)++] = (uint8_t)(group >> bits);
	}
	return true;
}
