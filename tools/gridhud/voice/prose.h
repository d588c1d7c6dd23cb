/*
 * prose: of a text what can be read aloud: no marks of Markdown, no blocks of
 * code, no tables, no links, no little pictures. And its sentences.
 */
#pragma once

#include <stdbool.h>

#include "common/buf.h"
#include "common/span.h"

/*
 * Appends it on one line. Where a heading, a list's item or a paragraph ends
 * without a mark, a full stop is put.
 */
void prose_add(struct buf *buf, struct span text);

/*
 * Takes the first sentence off the front of *rest, blanks around it removed.
 * It ends with . ! ? or their like, but not inside a number, behind an initial
 * or an abbreviation (English and French). False when nothing is left.
 */
bool prose_sentence(struct span *sentence, struct span *rest);

/*
 * Appends the first sentences of `text` (as it came), at most so many and so
 * many characters. A first sentence that is longer is cut between words.
 */
void prose_summary(
    struct buf *buf, struct span text, unsigned sentences, size_t chars);
