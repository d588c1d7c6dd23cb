#include "tools/gridhud/gtk/markup.h"

#include <assert.h>

#include "tools/gridhud/inline.h"
#include "tools/gridhud/text.h"

#define WORD "<span background='#f5c211' foreground='#1e1e1e'>"
#define FOUND "<span background='#f9f06b' foreground='#1e1e1e'>"

void
markup_escape(struct buf *buf, struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		switch (text.ptr[i]) {
		case '&':
			buf_add_text(buf, "&amp;");
			break;
		case '<':
			buf_add_text(buf, "&lt;");
			break;
		case '>':
			buf_add_text(buf, "&gt;");
			break;
		case '"':
			buf_add_text(buf, "&quot;");
			break;
		case '\'':
			buf_add_text(buf, "&#39;");
			break;
		default:
			buf_add_char(buf, text.ptr[i]);
		}
}

/* The first of what is looked for: a priority word, or the search. */
static struct span
next_hit(
    struct span text, const struct markup_options *options, const char **look)
{
	struct span word = words_find(options->words, text, 0);
	struct span found = {.ptr = NULL};

	*look = WORD;
	if (options->search.len > 0)
		found = text_find(text, options->search, 0, false);
	if (found.ptr == NULL || (word.ptr != NULL && word.ptr <= found.ptr))
		return word;
	*look = FOUND;
	return found;
}

void
markup_line(
    struct buf *buf, struct span text, const struct markup_options *options)
{
	const char *look;
	struct span hit;

	assert(options != NULL);
	while (
	    (hit = next_hit(text, options, &look)).ptr != NULL && hit.len > 0) {
		size_t before = (size_t)(hit.ptr - text.ptr);

		markup_escape(buf, span_sub(text, 0, before));
		buf_addf(buf, "%s", look);
		markup_escape(buf, hit);
		buf_add_text(buf, "</span>");
		text = span_from(text, before + hit.len);
	}
	markup_escape(buf, text);
}

static void
add_piece(struct buf *buf, const struct inline_piece *piece,
    const struct markup_options *options)
{
	if (piece->url.len > 0) {
		buf_add_text(buf, "<a href=\"");
		markup_escape(buf, piece->url);
		buf_add_text(buf, "\">");
	}
	buf_addf(buf, "%s%s%s", piece->bold ? "<b>" : "",
	    piece->italic ? "<i>" : "", piece->code ? "<tt>" : "");
	markup_line(buf, piece->text, options);
	buf_addf(buf, "%s%s%s", piece->code ? "</tt>" : "",
	    piece->italic ? "</i>" : "", piece->bold ? "</b>" : "");
	if (piece->url.len > 0)
		buf_add_text(buf, "</a>");
}

static void
add_pieces(struct buf *buf, struct span line, bool markdown,
    const struct markup_options *options)
{
	struct inline_reader reader;
	struct inline_piece piece;

	inline_begin(&reader, line, markdown);
	while (inline_next(&reader, &piece))
		add_piece(buf, &piece, options);
}

static void
add_markdown(struct buf *buf, struct span line, bool *in_code,
    const struct markup_options *options)
{
	size_t hashes = 0;

	while (hashes < line.len && line.ptr[hashes] == '#')
		hashes++;
	if (*in_code) {
		buf_add_text(buf, "<tt>");
		markup_line(buf, line, options);
		buf_add_text(buf, "</tt>");
	} else if (hashes > 0 && hashes <= 6 && hashes < line.len &&
	    line.ptr[hashes] == ' ') {
		buf_add_text(buf, "<b>");
		add_pieces(buf, span_from(line, hashes + 1), true, options);
		buf_add_text(buf, "</b>");
	} else if (span_starts(line, SPAN("- ")) ||
	    span_starts(line, SPAN("* "))) {
		buf_add_text(buf, "\xE2\x80\xA2 ");
		add_pieces(buf, span_from(line, 2), true, options);
	} else
		add_pieces(buf, line, true, options);
}

/* Whole characters of the text's beginning. */
static struct span
shortened(struct span text, size_t most)
{
	if (most == 0 || text.len <= most)
		return text;
	while (most > 0 && ((unsigned char)text.ptr[most] & 0xc0) == 0x80)
		most--;
	return span_sub(text, 0, most);
}

static void
add_text(struct buf *buf, const struct message *message,
    const struct markup_options *options)
{
	struct span rest = shortened(message->text, options->bytes_max);
	bool in_code = false, first = true;
	struct span line;

	while (span_cut(&line, &rest, '\n')) {
		if (message->markdown && span_starts(line, SPAN("```"))) {
			in_code = !in_code;
			continue;
		}
		if (!first)
			buf_add_char(buf, '\n');
		first = false;
		if (message->markdown)
			add_markdown(buf, line, &in_code, options);
		else
			add_pieces(buf, line, false, options);
	}
}

void
markup_body(struct buf *buf, const struct message *message,
    const struct markup_options *options)
{
	assert(message != NULL && options != NULL);
	if (!span_eq(message->text, message->title))
		add_text(buf, message, options);
	if (message->error.len == 0 || span_eq(message->error, message->text))
		return;
	if (buf->len > 0)
		buf_add_char(buf, '\n');
	markup_line(
	    buf, shortened(message->error, options->bytes_max), options);
}
