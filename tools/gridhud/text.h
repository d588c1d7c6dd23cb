/*
 * text: UTF-8 from strangers, character by character: made fit to be shown,
 * measured in columns, searched without regard to case and accents.
 *
 * Widths and word characters are those of the process's LC_CTYPE, which is a
 * UTF-8 one (main sees to it).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/span.h"

/* Takes one character off the front; U+FFFD for a byte that begins none. */
uint32_t text_next(struct span *rest);

/*
 * Appends what is fit to be shown: valid UTF-8, no control character but
 * newline and tab, nothing that reorders text or hides in it. CR LF and CR
 * become LF.
 */
void text_show(struct buf *buf, struct span text);

/* The same on one line: newlines and tabs become spaces. */
void text_show_line(struct buf *buf, struct span text);

/* Columns that a character or a text takes on a terminal. */
int text_point_width(uint32_t point);
int text_width(struct span text);

/* The longest start that takes at most `columns`, or `count` characters. */
struct span text_cut_width(struct span text, int columns);
struct span text_cut_count(struct span text, size_t count);

/* A letter or a digit of any script. */
bool text_is_word(uint32_t point);

/* A space of any kind. */
bool text_is_blank(uint32_t point);

/*
 * Finds `folded` (made by fold_add()) in `text`, from byte `from` on: where it
 * stands as the text writes it, or a zero span. `whole`: only where no letter
 * or digit touches it.
 */
struct span text_find(
    struct span text, struct span folded, size_t from, bool whole);
