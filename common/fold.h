/*
 * fold: text as a searcher types it. Case and accents are folded away, so that
 * "Crème BRÛLÉE" and "creme brulee" meet. The door to utf8proc.
 */
#pragma once

#include "common/buf.h"
#include "common/span.h"

/*
 * Appends the folded form: compatibility decomposition, case folded, marks
 * and invisible characters (a soft hyphen) removed, ligatures spelt out ("œ"
 * gives "oe"), control characters and runs of blanks as one space, none at the
 * ends. Folding twice changes nothing.
 * Bytes that are not UTF-8 fail the buffer with ERR_BAD_INPUT.
 */
void fold_add(struct buf *buf, struct span text);
