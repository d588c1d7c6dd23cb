#include "common/hex.h"

#include <assert.h>

void
hex_text(char *text, const uint8_t *bytes, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	assert(text != NULL && (bytes != NULL || len == 0));
	for (size_t i = 0; i < len; i++) {
		*text++ = digits[bytes[i] >> 4];
		*text++ = digits[bytes[i] & 15];
	}
	*text = '\0';
}

bool
hex_bytes(uint8_t *bytes, size_t len, struct span text)
{
	if (text.len / 2 != len || text.len % 2 != 0)
		return false;
	for (size_t i = 0; i < len; i++) {
		int high = hex_digit(text.ptr[2 * i]);
		int low = hex_digit(text.ptr[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		bytes[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

bool
hex_percent(char *byte, struct span *rest)
{
	uint8_t escaped;

	assert(rest->len > 0);
	*byte = rest->ptr[0];
	if (*byte != '%') {
		*rest = span_from(*rest, 1);
		return true;
	}
	if (!hex_bytes(&escaped, 1, span_sub(*rest, 1, 2))) {
		*rest = span_from(*rest, 1);
		return false;
	}
	*byte = (char)escaped;
	*rest = span_from(*rest, 3);
	return true;
}
