/*
 * utf8: text from strangers. Bytes that are not UTF-8 become U+FFFD, as every
 * decoder of the web does it (one for each maximal ill-formed part).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/span.h"

#define UTF8_REPLACEMENT 0xFFFDu

/* Strict: no overlong form, no surrogate, nothing above U+10FFFF. */
bool utf8_is_valid(struct span text);

/*
 * Whether `second` may stand behind `lead`, 0xc2 to 0xf4: it rules out overlong
 * forms, surrogates and characters above U+10FFFF.
 */
static inline bool
utf8_second(unsigned char lead, unsigned char second)
{
	return (second & 0xc0) == 0x80 && (lead != 0xe0 || second >= 0xa0) &&
	    (lead != 0xed || second <= 0x9f) &&
	    (lead != 0xf0 || second >= 0x90) &&
	    (lead != 0xf4 || second <= 0x8f);
}

/*
 * The length of the first character, 1 to 4 bytes; 0 when the text does not
 * begin with a valid one.
 */
static inline size_t
utf8_step(const char *text, size_t len)
{
	const unsigned char *at = (const unsigned char *)text;
	unsigned char lead = len == 0 ? 0xff : at[0];
	size_t step = lead < 0x80 ? 1
	    : lead < 0xc2         ? 0
	    : lead < 0xe0         ? 2
	    : lead < 0xf0         ? 3
	    : lead < 0xf5         ? 4
				  : 0;

	if (step > len || (step > 1 && !utf8_second(lead, at[1])))
		return 0;
	for (size_t i = 2; i < step; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	return step;
}

/*
 * Takes one character off the front of *rest (which is not empty). False when
 * the bytes were ill-formed; *code is then U+FFFD and they are skipped.
 */
bool utf8_next(uint32_t *code, struct span *rest);

/* How many characters; an ill-formed part counts as one. */
size_t utf8_count(struct span text);

/* Appends the character; what is no scalar value becomes U+FFFD. */
void utf8_add(struct buf *buf, uint32_t code);

/* Appends all of it, mended. */
void utf8_mend(struct buf *buf, struct span text);

/* The longest start of `text` that has at most `max` bytes and is whole. */
struct span utf8_cut(struct span text, size_t max);

/*
 * Appends what is fit to be shown: control characters (but newline and tab)
 * and those that reorder text are left out, CR LF and CR become LF.
 */
void utf8_show(struct buf *buf, struct span text);
