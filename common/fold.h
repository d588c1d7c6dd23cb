/*
 * fold: text as a searcher types it. Case and accents are folded away, so that
 * "Crème BRÛLÉE" and "creme brulee" meet. The door to utf8proc.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"
#include "common/span.h"

/* Strict UTF-8: no overlong form, no surrogate, nothing above U+10FFFF. */
bool fold_is_utf8(struct span text);

/*
 * The length of the first character, 1 to 4 bytes; 0 when the text does not
 * begin with a valid one, by the rules of fold_is_utf8().
 */
static inline size_t
fold_step(const char *text, size_t len)
{
	const unsigned char *at = (const unsigned char *)text;
	unsigned char lead = len == 0 ? 0xff : at[0];
	size_t step = lead < 0x80 ? 1
	    : lead < 0xc2         ? 0
	    : lead < 0xe0         ? 2
	    : lead < 0xf0         ? 3
	    : lead < 0xf5         ? 4
				  : 0;
	size_t i;

	if (step > len)
		return 0;
	for (i = 1; i < step; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	/*
	 * The second byte rules out overlong forms, surrogates and characters
	 * above U+10FFFF.
	 */
	if ((lead == 0xe0 && at[1] < 0xa0) || (lead == 0xed && at[1] > 0x9f) ||
	    (lead == 0xf0 && at[1] < 0x90) || (lead == 0xf4 && at[1] > 0x8f))
		return 0;
	return step;
}

/* Code points in valid UTF-8. */
size_t fold_count(struct span text);

/*
 * Appends the folded form: compatibility decomposition, case folded, marks
 * and invisible characters (a soft hyphen) removed, ligatures spelt out ("œ"
 * gives "oe"), control characters and runs of blanks as one space, none at the
 * ends. Folding twice changes nothing.
 * Bytes that are not UTF-8 fail the buffer with ERR_BAD_INPUT.
 */
void fold_add(struct buf *buf, struct span text);
