#include "tools/gridhook/net/utf8.h"

/* What the first byte says: how many follow, and the range of the second. */
struct lead {
	unsigned char first, last;
	unsigned char more;
	unsigned char low, high;
};

static const struct lead leads[] = {
    {0xC2, 0xDF, 1, 0x80, 0xBF},
    {0xE0, 0xE0, 2, 0xA0, 0xBF},
    {0xE1, 0xEC, 2, 0x80, 0xBF},
    {0xED, 0xED, 2, 0x80, 0x9F}, /* no surrogates */
    {0xEE, 0xEF, 2, 0x80, 0xBF},
    {0xF0, 0xF0, 3, 0x90, 0xBF},
    {0xF1, 0xF3, 3, 0x80, 0xBF},
    {0xF4, 0xF4, 3, 0x80, 0x8F},
};

static const struct lead *
find_lead(unsigned char byte)
{
	size_t i;

	for (i = 0; i < sizeof(leads) / sizeof(leads[0]); i++) {
		if (byte >= leads[i].first && byte <= leads[i].last)
			return &leads[i];
	}
	return NULL;
}

bool
utf8_next(uint32_t *code, struct span *rest)
{
	const unsigned char *bytes = (const unsigned char *)rest->ptr;
	const struct lead *lead;
	unsigned char low, high;
	size_t i;

	if (bytes[0] < 0x80) {
		*code = bytes[0];
		*rest = span_from(*rest, 1);
		return true;
	}
	lead = find_lead(bytes[0]);
	i = 1;
	if (lead != NULL) {
		*code = bytes[0] & (0x3Fu >> lead->more);
		low = lead->low;
		high = lead->high;
		for (; i <= lead->more && i < rest->len; i++) {
			if (bytes[i] < low || bytes[i] > high)
				break;
			*code = *code << 6 | (bytes[i] & 0x3Fu);
			low = 0x80;
			high = 0xBF;
		}
		if (i == lead->more + 1u) {
			*rest = span_from(*rest, i);
			return true;
		}
	}
	*code = UTF8_REPLACEMENT;
	*rest = span_from(*rest, i);
	return false;
}

bool
utf8_is_valid(struct span text)
{
	uint32_t code;

	while (text.len > 0) {
		if (!utf8_next(&code, &text))
			return false;
	}
	return true;
}

size_t
utf8_count(struct span text)
{
	uint32_t code;
	size_t count = 0;

	while (text.len > 0) {
		utf8_next(&code, &text);
		count++;
	}
	return count;
}

void
utf8_add(struct buf *buf, uint32_t code)
{
	char bytes[4];
	size_t len = 0;

	if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
		code = UTF8_REPLACEMENT;
	if (code < 0x80) {
		bytes[len++] = (char)code;
	} else if (code < 0x800) {
		bytes[len++] = (char)(0xC0 | code >> 6);
		bytes[len++] = (char)(0x80 | (code & 0x3F));
	} else if (code < 0x10000) {
		bytes[len++] = (char)(0xE0 | code >> 12);
		bytes[len++] = (char)(0x80 | (code >> 6 & 0x3F));
		bytes[len++] = (char)(0x80 | (code & 0x3F));
	} else {
		bytes[len++] = (char)(0xF0 | code >> 18);
		bytes[len++] = (char)(0x80 | (code >> 12 & 0x3F));
		bytes[len++] = (char)(0x80 | (code >> 6 & 0x3F));
		bytes[len++] = (char)(0x80 | (code & 0x3F));
	}
	buf_add(buf, bytes, len);
}

void
utf8_mend(struct buf *buf, struct span text)
{
	struct span rest = text;
	const char *good = text.ptr;
	const char *before;
	uint32_t code;

	while (rest.len > 0) {
		before = rest.ptr;
		if (utf8_next(&code, &rest))
			continue;
		buf_add(buf, good, (size_t)(before - good));
		utf8_add(buf, UTF8_REPLACEMENT);
		good = rest.ptr;
	}
	if (text.len > 0)
		buf_add(buf, good, (size_t)(text.ptr + text.len - good));
}

struct span
utf8_cut(struct span text, size_t max)
{
	if (text.len <= max)
		return text;
	while (max > 0 && ((unsigned char)text.ptr[max] & 0xC0) == 0x80)
		max--;
	return span_sub(text, 0, max);
}

/* Left-to-right marks, embeddings, overrides, isolates; zero-width joins stay:
 * emoji need them. */
static bool
is_reordering(uint32_t code)
{
	return code == 0x061C || code == 0x200E || code == 0x200F ||
	    (code >= 0x202A && code <= 0x202E) ||
	    (code >= 0x2066 && code <= 0x2069);
}

static bool
is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7F && code < 0xA0);
}

void
utf8_show(struct buf *buf, struct span text)
{
	uint32_t code;

	while (text.len > 0) {
		utf8_next(&code, &text);
		if (code == '\r') {
			if (text.len > 0 && text.ptr[0] == '\n')
				continue;
			code = '\n';
		}
		if (code != '\n' && code != '\t' && is_control(code))
			continue;
		if (!is_reordering(code))
			utf8_add(buf, code);
	}
}
