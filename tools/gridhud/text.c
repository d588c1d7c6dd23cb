#include "tools/gridhud/text.h"

#include <assert.h>
#include <wchar.h>
#include <wctype.h>

#include "common/fold.h"
#include "common/utf8.h"

#define FOLD_MAX 64 /* bytes that one character may fold to */

uint32_t
text_next(struct span *rest)
{
	struct span text = *rest;
	uint32_t point;

	assert(rest->len > 0);
	/* Each byte of an ill-formed part is shown by itself. */
	if (!utf8_next(&point, rest))
		*rest = span_from(text, 1);
	return point;
}

/* --- what is fit to be shown ---------------------------------------------- */

/* First and last of the omitted characters. */
static const struct {
	uint32_t first, last;
} hidden[] = {
    {0x00, 0x08}, {0x0B, 0x1F}, {0x7F, 0x9F}, /* C1 with DEL */
    {0xAD, 0xAD}, /* soft hyphen */
    {0x061C, 0x061C}, /* Arabic letter mark */
    {0x180E, 0x180E}, {0x200B, 0x200B}, /* zero width space */
    {0x200E, 0x200F}, /* marks of direction */
    {0x202A, 0x202E}, /* embeddings and overrides */
    {0x2060, 0x206F}, /* joiners, isolates */
    {0xFE00, 0xFE0F}, /* variants: terminals differ in their width */
    {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB},
    {0xE0000, 0xE0FFF}, /* tags, more variants */
};

static bool
is_hidden(uint32_t point, uint32_t before)
{
	/* U+200D joins pictures, of a width that terminals do not agree on. */
	if (point == 0x200D)
		return before >= 0x2300;
	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (point >= hidden[i].first && point <= hidden[i].last)
			return true;
	return false;
}

static void
show(struct buf *buf, struct span text, bool one_line)
{
	uint32_t before = 0;
	uint32_t point;

	while (text.len > 0) {
		point = text_next(&text);
		if (point == '\r') {
			if (text.len > 0 && text.ptr[0] == '\n')
				continue;
			point = '\n';
		} else if (point == 0x2028 || point == 0x2029)
			point = '\n';
		if (is_hidden(point, before))
			continue;
		before = point;
		if (one_line && (point == '\n' || point == '\t'))
			point = ' ';
		utf8_add(buf, point);
	}
}

void
text_show(struct buf *buf, struct span text)
{
	show(buf, text, false);
}

void
text_show_line(struct buf *buf, struct span text)
{
	show(buf, span_trim(text), true);
}

/* --- widths --------------------------------------------------------------- */

int
text_point_width(uint32_t point)
{
	int width;

	if (point >= 0x20 && point < 0x7f)
		return 1;
	width = wcwidth((wchar_t)point);
	return width < 0 ? 1 : width; /* it is drawn as U+FFFD */
}

int
text_width(struct span text)
{
	int width = 0;

	while (text.len > 0)
		width += text_point_width(text_next(&text));
	return width;
}

struct span
text_cut_width(struct span text, int columns)
{
	struct span rest = text;
	size_t end = 0;
	int width = 0;

	while (rest.len > 0) {
		width += text_point_width(text_next(&rest));
		if (width > columns)
			break;
		end = text.len - rest.len;
	}
	return span_sub(text, 0, end);
}

struct span
text_cut_count(struct span text, size_t count)
{
	struct span rest = text;

	while (rest.len > 0 && count-- > 0)
		text_next(&rest);
	return span_sub(text, 0, text.len - rest.len);
}

/* --- finding -------------------------------------------------------------- */

bool
text_is_word(uint32_t point)
{
	if (point < 0x80)
		return (point >= '0' && point <= '9') ||
		    ((point | 0x20) >= 'a' && (point | 0x20) <= 'z');
	return iswalnum((wint_t)point) != 0;
}

bool
text_is_blank(uint32_t point)
{
	return point <= 0x20 || point == 0xA0 ||
	    (point >= 0x2000 && point <= 0x200A) || point == 0x2028 ||
	    point == 0x2029 || point == 0x202F || point == 0x3000;
}

/* Folds a character into `to`; blanks of any kind are one space. */
static size_t
fold_one(char to[FOLD_MAX], uint32_t point, struct span raw)
{
	struct buf buf = {.data = to, .cap = FOLD_MAX, .max = FOLD_MAX};

	if (text_is_blank(point)) {
		to[0] = ' ';
		return 1;
	}
	if (point < 0x80) {
		to[0] =
		    (char)(point >= 'A' && point <= 'Z' ? point + 32 : point);
		return 1;
	}
	fold_add(&buf, raw);
	return buf_end(&buf) == ERR_OK ? buf.len : 0;
}

/* The length of what matches at the front of `text`, or 0. */
static size_t
match_front(struct span text, struct span folded)
{
	char to[FOLD_MAX];
	struct span rest = text;
	char last = 0;
	size_t done = 0;

	while (rest.len > 0) {
		struct span at = rest;
		uint32_t point = text_next(&rest);
		size_t len =
		    fold_one(to, point, span_sub(at, 0, at.len - rest.len));

		/* An accent of its own belongs to what came before it. */
		if (done == folded.len && len > 0)
			return text.len - at.len;
		if (len == 1 && to[0] == ' ' && last == ' ')
			continue;
		if (len > folded.len - done ||
		    (len > 0 && memcmp(to, folded.ptr + done, len) != 0))
			return 0;
		if (len > 0)
			last = to[len - 1];
		done += len;
	}
	return done == folded.len ? text.len : 0;
}

static bool
starts_word(struct span text)
{
	return text.len > 0 && text_is_word(text_next(&text));
}

struct span
text_find(struct span text, struct span folded, size_t from, bool whole)
{
	struct span rest = span_from(text, from);
	bool inside = false; /* right behind a letter or digit */
	size_t len;

	assert(from <= text.len);
	if (folded.len == 0)
		return (struct span){NULL, 0};
	while (rest.len > 0) {
		struct span at = rest;
		uint32_t point = text_next(&rest);

		/* The plain case first: most characters do not begin it. */
		if ((point < 0x80 && (unsigned char)folded.ptr[0] < 0x80 &&
			(point | 0x20) !=
			    ((unsigned char)folded.ptr[0] | 0x20)) ||
		    (whole && inside)) {
			inside = whole && text_is_word(point);
			continue;
		}
		len = match_front(at, folded);
		if (len > 0 && (!whole || !starts_word(span_from(at, len))))
			return span_sub(at, 0, len);
		inside = whole && text_is_word(point);
	}
	return (struct span){NULL, 0};
}
