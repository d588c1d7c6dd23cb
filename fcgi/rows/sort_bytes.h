/*
 * sort_bytes: values of a sort as bytes, so that rows of several nodes are in the
 * order of span_cmp() over what each was given, one value behind the other:
 *
 *	00, 8 bytes    a number, the most significant byte first, 2^63 added
 *	00, text       its bytes, a NUL as 00 FF, then 00 00
 *	01             null, which is last whichever way
 *
 * Descending, all bytes but the first are inverted.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/span.h"

/* NUM_NULL is null. */
void sort_bytes_number(struct buf *out, int64_t number, bool descending);
void sort_bytes_text(struct buf *out, struct span text, bool descending);
void sort_bytes_null(struct buf *out);
