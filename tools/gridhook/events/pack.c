#include "tools/gridhook/events/pack.h"

#include <assert.h>
#include <endian.h>
#include <stdint.h>

#define HEAD 13
#define WORTH 64 /* bytes saved */

/*
 * The characters between the quotes of the member "text". A quote inside a
 * string is escaped, so these bytes are the member and nothing else.
 */
static struct span
text_of(struct span record)
{
	static const char name[] = ",\"text\":\"";
	const char *at = memmem(record.ptr, record.len, name, sizeof(name) - 1);
	struct span text;
	size_t i;

	if (at == NULL)
		return SPAN("");
	text = span_from(record, (size_t)(at - record.ptr) + sizeof(name) - 1);
	for (i = 0; i < text.len && text.ptr[i] != '"'; i++)
		i += text.ptr[i] == '\\';
	return span_sub(text, 0, i);
}

void
pack_record(struct buf *to, struct span record)
{
	struct span text = text_of(record);
	const char *behind = text.ptr + text.len;
	size_t at = (size_t)(text.ptr - record.ptr);
	const char *again = NULL;

	assert(record.ptr != NULL || record.len == 0);
	if (text.len > HEAD + WORTH)
		again = memmem(
		    behind, record.len - at - text.len, text.ptr, text.len);
	if (again == NULL) {
		buf_add_char(to, 'r');
		buf_add_span(to, record);
		return;
	}
	buf_add_char(to, 'c');
	buf_add_u32(to, (uint32_t)at);
	buf_add_u32(to, (uint32_t)text.len);
	buf_add_u32(to, (uint32_t)((size_t)(again - record.ptr) - text.len));
	buf_add(to, record.ptr, at);
	buf_add(to, behind, record.len - at - text.len);
}

static size_t
number_at(struct span packed, size_t at)
{
	uint32_t number;

	memcpy(&number, packed.ptr + at, sizeof(number));
	return le32toh(number);
}

enum err
unpack_record(struct buf *to, struct span packed)
{
	size_t at, len, from;
	struct span rest;

	assert(packed.ptr != NULL || packed.len == 0);
	if (packed.len > 0 && packed.ptr[0] == 'r') {
		buf_add_span(to, span_from(packed, 1));
		return buf_end(to);
	}
	if (packed.len < HEAD || packed.ptr[0] != 'c')
		return ERR_DAMAGED;
	at = number_at(packed, 1);
	len = number_at(packed, 5);
	from = number_at(packed, 9);
	rest = span_from(packed, HEAD);
	if (at > rest.len || from > rest.len || len > rest.len - from)
		return ERR_DAMAGED;
	buf_add_span(to, span_sub(rest, 0, at));
	buf_add_span(to, span_sub(rest, from, len));
	buf_add_span(to, span_from(rest, at));
	return buf_end(to);
}
