#include "common/utf8.h"

#include "common/word8.h"

bool
utf8_is_valid(struct span text)
{
	size_t at = 0;

	while (at < text.len) {
		size_t step;

		if (text.len - at >= 8 &&
		    !word8_marked(word8_load(text.ptr + at))) {
			at += 8;
			continue;
		}
		step = utf8_step(text.ptr + at, text.len - at);
		if (step == 0)
			return false;
		at += step;
	}
	return true;
}

/*
 * The length of the ill-formed part that the text begins with: the start of a
 * character that is cut off, or a byte that begins none.
 */
static size_t
ill_formed(const unsigned char *at, size_t len)
{
	size_t most = at[0] < 0xf0 ? 2 : 3, part = 2;

	if (at[0] < 0xe0 || at[0] > 0xf4 || len < 2 ||
	    !utf8_second(at[0], at[1]))
		return 1;
	while (part < most && part < len && (at[part] & 0xc0) == 0x80)
		part++;
	return part;
}

bool
utf8_next(uint32_t *code, struct span *rest)
{
	static const unsigned char bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	const unsigned char *at = (const unsigned char *)rest->ptr;
	size_t step = utf8_step(rest->ptr, rest->len);

	if (step == 0) {
		*code = UTF8_REPLACEMENT;
		*rest = span_from(*rest, ill_formed(at, rest->len));
		return false;
	}
	*code = at[0] & bits[step];
	for (size_t i = 1; i < step; i++)
		*code = *code << 6 | (at[i] & 0x3fu);
	*rest = span_from(*rest, step);
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
	if (code < 0x80)
		bytes[len++] = (char)code;
	else if (code < 0x800) {
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
