#include "fcgi/table/walk.h"

/* Behind the string that begins at `at`; beyond the text when it has no end. */
static size_t
skip_string(struct span text, size_t at)
{
	for (at++; at < text.len && text.ptr[at] != '"'; at++)
		at += text.ptr[at] == '\\';
	return at + 1;
}

static size_t
skip_nested(struct span text, size_t at)
{
	unsigned depth = 0;

	while (at < text.len) {
		char c = text.ptr[at];

		if (c == '"') {
			at = skip_string(text, at);
			continue;
		}
		depth += c == '{' || c == '[';
		if ((c == '}' || c == ']') && --depth == 0)
			return at + 1;
		at++;
	}
	return text.len + 1;
}

static size_t
skip_value(struct span text, size_t at)
{
	if (at >= text.len)
		return text.len + 1;
	if (text.ptr[at] == '"')
		return skip_string(text, at);
	if (text.ptr[at] == '{' || text.ptr[at] == '[')
		return skip_nested(text, at);
	while (at < text.len && text.ptr[at] != ',')
		at++;
	return at;
}

bool
walk_member(struct span *rest, struct span *name, struct span *value)
{
	struct span text = *rest;
	size_t colon, end;

	if (text.len == 0 || text.ptr[0] != '"')
		return false;
	colon = skip_string(text, 0);
	if (colon >= text.len || text.ptr[colon] != ':')
		return false;
	end = skip_value(text, colon + 1);
	if (end > text.len || end == colon + 1 ||
	    (end < text.len && text.ptr[end] != ','))
		return false;
	*name = span_sub(text, 1, colon - 2);
	*value = span_sub(text, colon + 1, end - colon - 1);
	*rest = span_from(text, end + 1);
	return true;
}

bool
walk_item(struct span *rest, struct span *value)
{
	struct span text = *rest;
	size_t end = skip_value(text, 0);

	if (end == 0 || end > text.len ||
	    (end < text.len && text.ptr[end] != ','))
		return false;
	*value = span_sub(text, 0, end);
	*rest = span_from(text, end + 1);
	return true;
}
