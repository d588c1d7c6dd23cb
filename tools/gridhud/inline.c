#include "tools/gridhud/inline.h"

#include <assert.h>
#include <string.h>

#define LOOK_AHEAD 4096

/* --- links ---------------------------------------------------------------- */

static bool
is_url(struct span text)
{
	return span_starts(text, SPAN("https://")) ||
	    span_starts(text, SPAN("http://"));
}

/* The address at the front of a text, without what ends a sentence. */
static struct span
url_at(struct span text)
{
	size_t len = 0, opened = 0, closed = 0;

	while (len < text.len && (unsigned char)text.ptr[len] > 0x20 &&
	    text.ptr[len] != 0x7f && strchr("<>\"`|", text.ptr[len]) == NULL)
		len++;
	for (size_t i = 0; i < len; i++) {
		opened += text.ptr[i] == '(';
		closed += text.ptr[i] == ')';
	}
	while (len > 0 &&
	    (strchr(".,;:!?'*_]", text.ptr[len - 1]) != NULL ||
		(text.ptr[len - 1] == ')' && closed > opened)))
		closed -= text.ptr[--len] == ')';
	return span_sub(text, 0, len);
}

/* <url> or <url|text>; bytes that it takes, 0 for another thing. */
static size_t
slack_link(struct span text, struct inline_piece *piece)
{
	struct span inside;
	size_t end, bar;

	if (text.ptr[0] != '<' || !is_url(span_from(text, 1)))
		return 0;
	end = span_find(text, '>');
	if (end == text.len)
		return 0;
	inside = span_sub(text, 1, end - 1);
	bar = span_find(inside, '|');
	piece->url = url_at(span_sub(inside, 0, bar));
	if (piece->url.len != bar)
		return 0;
	piece->text =
	    bar + 1 < inside.len ? span_from(inside, bar + 1) : piece->url;
	return end + 1;
}

/* [text](url "title"), perhaps with ! in front. */
static size_t
markdown_link(struct span text, struct inline_piece *piece)
{
	size_t from = text.ptr[0] == '!';
	size_t bracket, end;
	struct span rest;

	if (from >= text.len || text.ptr[from] != '[')
		return 0;
	bracket = span_find(text, ']');
	rest = span_from(text, bracket);
	if (!span_starts(rest, SPAN("](")) || !is_url(span_from(rest, 2)))
		return 0;
	rest = span_from(rest, 2);
	piece->url = url_at(rest);
	end = piece->url.len;
	end += span_find(span_from(rest, end), ')');
	if (end == rest.len)
		return 0;
	piece->text = span_sub(text, from + 1, bracket - from - 1);
	if (piece->text.len == 0)
		piece->text = piece->url;
	return bracket + 2 + end + 1;
}

static size_t
link_at(const struct inline_reader *reader, struct inline_piece *piece)
{
	/* A mark that ends far off ends nothing; time stays bounded. */
	struct span text = span_sub(reader->rest, 0, LOOK_AHEAD);
	struct inline_piece link = *piece;
	size_t len = slack_link(text, &link);

	if (len == 0 && reader->markdown)
		len = markdown_link(text, &link);
	if (len == 0 && is_url(text)) {
		link.url = link.text = url_at(text);
		len = link.url.len > strlen("https://") ? link.url.len : 0;
	}
	if (len > 0)
		*piece = link;
	return len;
}

/* --- marks ---------------------------------------------------------------- */

static bool
is_blank(struct span text, size_t at)
{
	return at >= text.len || text.ptr[at] == ' ' || text.ptr[at] == '\t';
}

static bool
is_word(struct span text, size_t at)
{
	unsigned char c = at < text.len ? (unsigned char)text.ptr[at] : 0;

	return c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	    (c >= 'A' && c <= 'Z');
}

/* `code`: bytes of it all. */
static size_t
code_at(struct span text, struct inline_piece *piece)
{
	size_t end;

	if (text.ptr[0] != '`')
		return 0;
	end = 1 + span_find(span_from(text, 1), '`');
	if (end >= text.len || end == 1)
		return 0;
	piece->text = span_sub(text, 1, end - 1);
	piece->code = true;
	return end + 1;
}

/* A mark may stand at `at` to end what it began: behind something. */
static bool
ends_at(struct span line, size_t at, size_t len)
{
	if (at == 0 || is_blank(line, at - 1))
		return false;
	return line.ptr[at] != '_' || !is_word(line, at + len);
}

static bool
has_end(struct span line, size_t from, size_t len)
{
	char mark = line.ptr[from];

	for (size_t at = from + len;
	     at + len <= line.len && at < from + LOOK_AHEAD; at++) {
		size_t run = 0;

		while (at + run < line.len && line.ptr[at + run] == mark)
			run++;
		if (run == len && at > from + len && ends_at(line, at, len))
			return true;
		if (run == len && is_blank(line, at - 1))
			return false; /* a later one begins */
		at += run;
	}
	return false;
}

/* A mark at the front that begins or ends a look; its bytes. */
static size_t
mark_at(struct inline_reader *reader)
{
	size_t at = (size_t)(reader->rest.ptr - reader->line.ptr);
	char mark = reader->rest.ptr[0];
	size_t len = 0;
	bool *look;

	if (mark != '*' && mark != '_')
		return 0;
	while (len < reader->rest.len && reader->rest.ptr[len] == mark)
		len++;
	if (len > 2)
		return 0;
	look = len == 2 ? &reader->bold : &reader->italic;
	if (*look && ends_at(reader->line, at, len)) {
		*look = false;
		return len;
	}
	if (*look || is_blank(reader->line, at + len) ||
	    (mark == '_' && at > 0 && is_word(reader->line, at - 1)) ||
	    !has_end(reader->line, at, len))
		return 0;
	*look = true;
	return len;
}

/* --- pieces --------------------------------------------------------------- */

void
inline_begin(struct inline_reader *reader, struct span line, bool markdown)
{
	*reader = (struct inline_reader){
	    .line = line, .rest = line, .markdown = markdown};
}

static size_t
special_at(struct inline_reader *reader, struct inline_piece *piece)
{
	size_t len = link_at(reader, piece);

	if (len == 0 && reader->markdown)
		len = code_at(reader->rest, piece);
	return len;
}

/* A run of the same mark that is none stays whole. */
static size_t
plain_at(struct span text)
{
	size_t len = 1;

	while (len < text.len && text.ptr[len] == text.ptr[0] &&
	    strchr("*_`", text.ptr[0]) != NULL)
		len++;
	return len;
}

bool
inline_next(struct inline_reader *reader, struct inline_piece *piece)
{
	struct inline_piece other;
	size_t len = 0, mark;

	assert(reader->rest.len <= reader->line.len);
	while (reader->rest.len > 0 && reader->markdown &&
	    (mark = mark_at(reader)) > 0)
		reader->rest = span_from(reader->rest, mark);
	if (reader->rest.len == 0)
		return false;
	*piece = (struct inline_piece){
	    .bold = reader->bold, .italic = reader->italic};
	len = special_at(reader, piece);
	if (len > 0) {
		reader->rest = span_from(reader->rest, len);
		return true;
	}
	piece->text = span_make(reader->rest.ptr, 0);
	do {
		len = plain_at(reader->rest);
		piece->text.len += len;
		reader->rest = span_from(reader->rest, len);
		other = (struct inline_piece){.bold = false};
	} while (reader->rest.len > 0 && special_at(reader, &other) == 0 &&
	    (!reader->markdown || strchr("*_", reader->rest.ptr[0]) == NULL));
	return true;
}

/* --- all links ------------------------------------------------------------ */

static unsigned
add_link(struct span links[INLINE_LINKS_MAX], unsigned count, struct span url)
{
	for (unsigned i = 0; i < count; i++)
		if (span_eq(links[i], url))
			return count;
	if (url.len == 0 || !is_url(url) || count == INLINE_LINKS_MAX)
		return count;
	links[count] = url;
	return count + 1;
}

unsigned
inline_links(struct span links[INLINE_LINKS_MAX], struct span first,
    struct span text, bool markdown)
{
	unsigned count = add_link(links, 0, first);
	struct inline_reader reader;
	struct inline_piece piece;
	struct span line;

	while (span_cut(&line, &text, '\n')) {
		inline_begin(&reader, line, markdown);
		while (inline_next(&reader, &piece))
			count = add_link(links, count, piece.url);
	}
	return count;
}
