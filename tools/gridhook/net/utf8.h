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

/*
 * Takes one character off the front of *rest (which is not empty). False when
 * the bytes were ill-formed; *code is then U+FFFD and they are skipped.
 */
bool utf8_next(uint32_t *code, struct span *rest);

bool utf8_is_valid(struct span text);

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
