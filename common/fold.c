/*
 * Every character folds independently of its neighbours: decomposition, case
 * folding and the removal of marks look at one code point only, and without
 * marks no canonical reordering is needed. So one pass folds a text. ASCII uses
 * a table of bytes, the accented letters of Western and Central Europe a table
 * of short texts, and all other characters go through utf8proc.
 */
#include "common/fold.h"
#include "common/utf8.h"

#include <stdint.h>
#include <utf8proc.h>

#define POINT_MAX 32 /* code points that one decomposes to (U+FDFA: 18) */
#define CHUNK 512 /* bytes collected before they go to the buffer */

#define LATIN_FIRST 0x80
#define LATIN_END 0x180

/* The folded form of each ASCII byte; 0 for bytes that are not ASCII. */
static const unsigned char ascii[256] = "                                "
					" !\"#$%&'()*+,-./0123456789:;<=>?"
					"@abcdefghijklmnopqrstuvwxyz[\\]^_"
					"`abcdefghijklmnopqrstuvwxyz{|}~ ";

/*
 * The folded forms of U+0080 to U+017F. "" means that utf8proc folds the
 * character, because its form is longer than three bytes or empty.
 */
/* clang-format off */
static const char latin[LATIN_END - LATIN_FIRST][4] = {
    " ", " ", " ", " ", " ", " ", " ", " ", /* U+0080 */
    " ", " ", " ", " ", " ", " ", " ", " ", /* U+0088 */
    " ", " ", " ", " ", " ", " ", " ", " ", /* U+0090 */
    " ", " ", " ", " ", " ", " ", " ", " ", /* U+0098 */
    " ", "¡", "¢", "£", "¤", "¥", "¦", "§", /* U+00A0 */
    " ", "©", "a", "«", "¬", "", "®", " ", /* U+00A8 */
    "°", "±", "2", "3", " ", "μ", "¶", "·", /* U+00B0 */
    " ", "1", "o", "»", "", "", "", "¿", /* U+00B8 */
    "a", "a", "a", "a", "a", "a", "ae", "c", /* U+00C0 */
    "e", "e", "e", "e", "i", "i", "i", "i", /* U+00C8 */
    "ð", "n", "o", "o", "o", "o", "o", "×", /* U+00D0 */
    "ø", "u", "u", "u", "u", "y", "þ", "ss", /* U+00D8 */
    "a", "a", "a", "a", "a", "a", "ae", "c", /* U+00E0 */
    "e", "e", "e", "e", "i", "i", "i", "i", /* U+00E8 */
    "ð", "n", "o", "o", "o", "o", "o", "÷", /* U+00F0 */
    "ø", "u", "u", "u", "u", "y", "þ", "y", /* U+00F8 */
    "a", "a", "a", "a", "a", "a", "c", "c", /* U+0100 */
    "c", "c", "c", "c", "c", "c", "d", "d", /* U+0108 */
    "đ", "đ", "e", "e", "e", "e", "e", "e", /* U+0110 */
    "e", "e", "e", "e", "g", "g", "g", "g", /* U+0118 */
    "g", "g", "g", "g", "h", "h", "ħ", "ħ", /* U+0120 */
    "i", "i", "i", "i", "i", "i", "i", "i", /* U+0128 */
    "i", "ı", "ij", "ij", "j", "j", "k", "k", /* U+0130 */
    "ĸ", "l", "l", "l", "l", "l", "l", "l·", /* U+0138 */
    "l·", "ł", "ł", "n", "n", "n", "n", "n", /* U+0140 */
    "n", "ʼn", "ŋ", "ŋ", "o", "o", "o", "o", /* U+0148 */
    "o", "o", "oe", "oe", "r", "r", "r", "r", /* U+0150 */
    "r", "r", "s", "s", "s", "s", "s", "s", /* U+0158 */
    "s", "s", "t", "t", "t", "t", "ŧ", "ŧ", /* U+0160 */
    "u", "u", "u", "u", "u", "u", "u", "u", /* U+0168 */
    "u", "u", "u", "u", "w", "w", "y", "y", /* U+0170 */
    "y", "z", "z", "z", "z", "z", "z", "s", /* U+0178 */
};
/* clang-format on */

/* The state of one fold. */
struct walk {
	struct buf *buf;
	size_t used;
	char last; /* what was put last; a space to begin with */
	char out[CHUNK];
};

/* Collapses blanks: a space after a space is overwritten by the next byte. */
static inline void
put(struct walk *walk, char byte)
{
	walk->out[walk->used] = byte;
	walk->used += byte != ' ' || walk->last != ' ';
	walk->last = byte;
}

/* Holds a trailing space back: the text may end here. */
static void
flush(struct walk *walk)
{
	bool spaced = walk->used > 0 && walk->out[walk->used - 1] == ' ';

	buf_add(walk->buf, walk->out, walk->used - spaced);
	walk->used = spaced;
	walk->out[0] = ' ';
}

static inline void
need(struct walk *walk, size_t len)
{
	if (CHUNK - walk->used < len)
		flush(walk);
}

/* Appends the ASCII prefix, and returns where it ends. */
static inline const char *
put_ascii(struct walk *walk, const char *at, const char *end)
{
	if ((size_t)(end - at) > CHUNK - walk->used)
		end = at + (CHUNK - walk->used);
	for (; at < end; at++) {
		unsigned char byte = ascii[(unsigned char)*at];

		if (byte == 0)
			break;
		put(walk, (char)byte);
	}
	return at;
}

/* True when the table has a form for the two bytes. */
static inline bool
put_latin(struct walk *walk, const char *at, const char *end)
{
	unsigned lead = (unsigned char)at[0];
	unsigned next = end - at < 2 ? 0 : (unsigned char)at[1];
	const char *text;

	if (lead < 0xc2 || lead > 0xc5 || (next & 0xc0) != 0x80)
		return false;
	text = latin[((lead & 0x1f) << 6 | (next & 0x3f)) - LATIN_FIRST];
	if (*text == '\0')
		return false;
	for (; *text != '\0'; text++)
		put(walk, *text);
	return true;
}

static bool
is_blank(int32_t point)
{
	switch (utf8proc_category(point)) {
	case UTF8PROC_CATEGORY_CC:
	case UTF8PROC_CATEGORY_ZS:
	case UTF8PROC_CATEGORY_ZL:
	case UTF8PROC_CATEGORY_ZP:
		return true;
	default:
		return false;
	}
}

static void
put_point(struct walk *walk, int32_t point)
{
	utf8proc_uint8_t bytes[4];
	utf8proc_ssize_t len;

	need(walk, sizeof(bytes));
	if (point == 0xe6 || point == 0x153) { /* ae, oe: no decomposition */
		put(walk, point == 0xe6 ? 'a' : 'o');
		put(walk, 'e');
	} else if (is_blank(point))
		put(walk, ' ');
	else {
		len = utf8proc_encode_char(point, bytes);
		for (utf8proc_ssize_t i = 0; i < len; i++)
			put(walk, (char)bytes[i]);
	}
}

/*
 * Folds one character by utf8proc; returns its length, or 0 when the bytes are
 * not UTF-8.
 */
static size_t
put_any(struct walk *walk, const char *at, const char *end)
{
	size_t step = utf8_step(at, (size_t)(end - at));
	utf8proc_int32_t point;
	utf8proc_int32_t points[POINT_MAX];
	utf8proc_ssize_t count;
	int boundary = 0;

	if (step == 0 ||
	    utf8proc_iterate((const utf8proc_uint8_t *)at,
		(utf8proc_ssize_t)step, &point) < 0)
		return 0;
	count = utf8proc_decompose_char(point, points, POINT_MAX,
	    UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD |
		UTF8PROC_STRIPMARK | UTF8PROC_IGNORE,
	    &boundary);
	if (count < 0 || count > POINT_MAX)
		return 0;
	for (utf8proc_ssize_t i = 0; i < count; i++)
		put_point(walk, points[i]);
	return step;
}

void
fold_add(struct buf *buf, struct span text)
{
	const char *at = text.ptr;
	const char *end = NULL;
	struct walk walk;

	if (text.len == 0)
		return;
	end = at + text.len;
	walk.buf = buf;
	walk.used = 0;
	walk.last = ' ';
	while (at < end) {
		size_t step = 2;

		need(&walk, sizeof(latin[0]));
		at = put_ascii(&walk, at, end);
		if (at == end || (unsigned char)*at < 0x80)
			continue;
		need(&walk, sizeof(latin[0]));
		if (!put_latin(&walk, at, end))
			step = put_any(&walk, at, end);
		if (step == 0) {
			buf_fail(buf, ERR_BAD_INPUT);
			return;
		}
		at += step;
	}
	flush(&walk);
}
