#include "common/span.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

int
span_cmp(struct span a, struct span b)
{
	size_t len = a.len < b.len ? a.len : b.len;
	int order = len == 0 ? 0 : memcmp(a.ptr, b.ptr, len);

	if (order != 0)
		return order;
	return (a.len > b.len) - (a.len < b.len);
}

static inline unsigned char
lower(char byte)
{
	unsigned char c = (unsigned char)byte;

	return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

bool
span_eq_nocase(struct span a, struct span b)
{
	if (a.len != b.len)
		return false;
	for (size_t i = 0; i < a.len; i++)
		if (lower(a.ptr[i]) != lower(b.ptr[i]))
			return false;
	return true;
}

bool
span_starts(struct span text, struct span prefix)
{
	return text.len >= prefix.len &&
	    span_eq(span_make(text.ptr, prefix.len), prefix);
}

bool
span_ends(struct span text, struct span suffix)
{
	return text.len >= suffix.len &&
	    span_eq(span_from(text, text.len - suffix.len), suffix);
}

size_t
span_find(struct span text, char byte)
{
	const char *at = NULL;

	if (text.len > 0)
		at = memchr(text.ptr, byte, text.len);
	return at == NULL ? text.len : (size_t)(at - text.ptr);
}

struct span
span_from(struct span text, size_t start)
{
	if (start == 0 || text.len == 0)
		return text;
	if (start > text.len)
		start = text.len;
	return span_make(text.ptr + start, text.len - start);
}

struct span
span_sub(struct span text, size_t start, size_t len)
{
	struct span rest = span_from(text, start);

	if (rest.len > len)
		rest.len = len;
	return rest;
}

static inline bool
is_blank(char byte)
{
	return byte == ' ' || byte == '\t';
}

struct span
span_trim(struct span text)
{
	while (text.len > 0 && is_blank(text.ptr[0]))
		text = span_from(text, 1);
	while (text.len > 0 && is_blank(text.ptr[text.len - 1]))
		text.len--;
	return text;
}

bool
span_cut(struct span *piece, struct span *rest, char separator)
{
	size_t at;

	if (rest->ptr == NULL)
		return false;
	at = span_find(*rest, separator);
	*piece = span_make(rest->ptr, at);
	if (at < rest->len)
		*rest = span_from(*rest, at + 1);
	else
		*rest = span_make(NULL, 0);
	return true;
}

char *
span_dup(struct span text)
{
	char *copy;

	if (text.len == SIZE_MAX)
		return NULL;
	copy = malloc(text.len + 1);
	if (copy == NULL)
		return NULL;
	if (text.len > 0)
		memcpy(copy, text.ptr, text.len);
	copy[text.len] = '\0';
	return copy;
}

bool
span_copy(char *to, size_t size, struct span text)
{
	assert(size > 0);
	to[0] = '\0';
	if (text.len >= size || span_find(text, '\0') < text.len)
		return false;
	if (text.len > 0)
		memcpy(to, text.ptr, text.len);
	to[text.len] = '\0';
	return true;
}
