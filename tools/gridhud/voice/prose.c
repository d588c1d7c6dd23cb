#include "tools/gridhud/voice/prose.h"

#include <assert.h>

#include "common/utf8.h"
#include "tools/gridhud/text.h"

#define PROSE_MAX ((size_t)64 << 10)

/* --- lines ---------------------------------------------------------------- */

static bool
is_fence(struct span line)
{
	return span_starts(line, SPAN("```")) || span_starts(line, SPAN("~~~"));
}

/* A table's line, or a rule: "| a | b |", "---", "=====". */
static bool
is_drawn(struct span line)
{
	if (line.len > 1 && line.ptr[0] == '|')
		return true;
	for (size_t i = 0; i < line.len; i++)
		if (strchr("-=_*|:+ \t", line.ptr[i]) == NULL)
			return false;
	return line.len >= 3;
}

/* The length of "## ", "- ", "12. ", "> " at the front. */
static size_t
mark_length(struct span line)
{
	size_t at = 0;

	while (at < line.len && line.ptr[at] == '#')
		at++;
	if (at == 0 && line.len > 0 && strchr("-*+>", line.ptr[0]) != NULL)
		at = 1;
	if (at == 0) {
		while (at < line.len && at < 3 && line.ptr[at] >= '0' &&
		    line.ptr[at] <= '9')
			at++;
		if (at > 0 && at < line.len &&
		    (line.ptr[at] == '.' || line.ptr[at] == ')'))
			at++;
		else
			at = 0;
	}
	return at > 0 && at < line.len && line.ptr[at] == ' ' ? at + 1 : 0;
}

/* --- inside a line -------------------------------------------------------- */

static const struct {
	uint32_t first, last;
} pictures[] = {
    {0x200D, 0x200D},
    {0x20E3, 0x20E3},
    {0x2190, 0x21FF},
    {0x2300, 0x23FF},
    {0x2460, 0x27BF},
    {0x2900, 0x297F},
    {0x2B00, 0x2BFF},
    {0xE000, 0xF8FF},
    {0xFE00, 0xFE0F},
    {0x1F000, 0x1FBFF},
};

static bool
is_picture(uint32_t point)
{
	for (size_t i = 0; i < sizeof(pictures) / sizeof(pictures[0]); i++)
		if (point >= pictures[i].first && point <= pictures[i].last)
			return true;
	return false;
}

static size_t
link_length(struct span text)
{
	static const struct span starts[] = {
	    {"http://", 7}, {"https://", 8}, {"www.", 4}, {"mailto:", 7}};
	size_t end;

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		if (!span_starts(text, starts[i]))
			continue;
		for (end = 0; end < text.len; end++)
			if (strchr(" \t\n<>\"", text.ptr[end]) != NULL)
				break;
		/*
		 * Punctuation that closes the sentence is not part of the link.
		 */
		while (end > starts[i].len &&
		    strchr(".,;:!?)]'", text.ptr[end - 1]) != NULL)
			end--;
		return end;
	}
	return 0;
}

/* "[text](target)": the text, and how long it all is; or 0. */
static size_t
named_link(struct span *name, struct span text)
{
	size_t close = span_find(text, ']');
	struct span after = span_from(text, close + 1);
	size_t end = span_find(after, ')');

	if (text.ptr[0] != '[' || close >= text.len || after.len == 0 ||
	    after.ptr[0] != '(' || end >= after.len)
		return 0;
	*name = span_sub(text, 1, close - 1);
	return close + 1 + end + 1;
}

/* Adds one character, never two blanks in a row. */
static void
put(struct buf *buf, size_t start, uint32_t point)
{
	if (text_is_blank(point)) {
		if (buf->len > start && buf->data[buf->len - 1] != ' ')
			buf_add_char(buf, ' ');
		return;
	}
	utf8_add(buf, point);
}

static void
put_line(struct buf *buf, size_t start, struct span line)
{
	bool in_word = false;
	struct span name;
	size_t skip;

	while (line.len > 0 && buf->err == ERR_OK) {
		struct span at = line;
		uint32_t point = text_next(&line);

		if (point == '!' && line.len > 0 && line.ptr[0] == '[' &&
		    named_link(&name, line) > 0)
			continue;
		if (point == '[' && (skip = named_link(&name, at)) > 0) {
			put_line(buf, start, name);
			line = span_from(at, skip);
			continue;
		}
		if (!in_word && (skip = link_length(at)) > 0) {
			line = span_from(at, skip);
			continue;
		}
		/* Inside a word it is part of a name: my_file. */
		if (point == '*' || point == '`' || point == '~' ||
		    (point == '_' &&
			!(in_word && line.len > 0 &&
			    text_is_word((unsigned char)line.ptr[0]))))
			continue;
		if (is_picture(point) || point == '<' || point == '>')
			point = ' ';
		in_word = text_is_word(point);
		put(buf, start, point);
	}
}

/* --- the whole ------------------------------------------------------------ */

static bool
ends_sentence(struct span text)
{
	static const struct span ends[] = {{".", 1}, {"!", 1}, {"?", 1},
	    {":", 1}, {";", 1}, {",", 1}, {"\xE2\x80\xA6", 3},
	    {"\xE3\x80\x82", 3}, {"\xEF\xBC\x81", 3}, {"\xEF\xBC\x9F", 3}};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (span_ends(text, ends[i]))
			return true;
	return false;
}

static void
drop_blank(struct buf *buf, size_t start)
{
	while (buf->len > start && buf->data[buf->len - 1] == ' ')
		buf->len--;
}

/* Ends what was written so far as a sentence. */
static void
stop(struct buf *buf, size_t start)
{
	drop_blank(buf, start);
	if (buf->len > start && !ends_sentence(buf_span(buf)))
		buf_add_char(buf, '.');
	put(buf, start, ' ');
}

void
prose_add(struct buf *buf, struct span text)
{
	size_t start = buf->len;
	bool in_code = false, was_marked = false;
	struct span line;
	size_t mark;

	while (span_cut(&line, &text, '\n')) {
		line = span_trim(line);
		if (is_fence(line)) {
			in_code = !in_code;
			stop(buf, start);
			continue;
		}
		if (in_code)
			continue;
		if (line.len == 0 || is_drawn(line)) {
			stop(buf, start);
			was_marked = false;
			continue;
		}
		mark = mark_length(line);
		if (mark > 0 || was_marked)
			stop(buf, start);
		was_marked = mark > 0;
		put_line(buf, start, span_from(line, mark));
		put(buf, start, ' ');
	}
	if (was_marked)
		stop(buf, start);
	drop_blank(buf, start);
}

/* --- the summary ---------------------------------------------------------- */

static size_t
count(struct span text)
{
	size_t n = 0;

	while (text.len > 0) {
		text_next(&text);
		n++;
	}
	return n;
}

/* Cut between words where there is one within reach. */
static void
add_cut(struct buf *buf, struct span sentence, size_t chars)
{
	struct span cut = text_cut_count(sentence, chars - 1);
	size_t end = cut.len;

	while (end > cut.len / 2 && cut.ptr[end - 1] != ' ')
		end--;
	if (end > cut.len / 2)
		cut = span_sub(cut, 0, end);
	buf_add_span(buf, span_trim(cut));
	buf_add_text(buf, "\xE2\x80\xA6");
}

void
prose_summary(
    struct buf *buf, struct span text, unsigned sentences, size_t chars)
{
	struct span sentence, rest;
	size_t used = 0;
	struct buf prose;

	assert(sentences > 0 && chars > 0);
	buf_init(&prose, PROSE_MAX);
	prose_add(&prose, text_cut_count(text, PROSE_MAX / 8));
	rest = buf_span(&prose);
	for (unsigned i = 0; i < sentences && prose_sentence(&sentence, &rest);
	     i++) {
		size_t len = count(sentence);

		if (used + (i > 0) + len > chars) {
			if (i == 0)
				add_cut(buf, sentence, chars);
			break;
		}
		if (i > 0)
			buf_add_char(buf, ' ');
		buf_add_span(buf, sentence);
		used += (i > 0) + len;
	}
	if (buf_end(&prose) != ERR_OK)
		buf_fail(buf, buf_end(&prose));
	buf_fini(&prose);
}
