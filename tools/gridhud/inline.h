/*
 * inline: a line of a message's text, taken apart into pieces of one look:
 * links of the text, of Markdown "[text](url)" and of Slack "<url|text>", and,
 * where the message is Markdown, **bold**, *italic*, _italic_ and `code`. Marks
 * without an end stay as they are. No piece holds a mark.
 */
#pragma once

#include <stdbool.h>

#include "common/span.h"

#define INLINE_LINKS_MAX 32

struct inline_piece {
	struct span text;
	struct span url; /* http or https; empty: no link */
	bool bold, italic, code;
};

struct inline_reader {
	struct span line, rest;
	bool markdown, bold, italic;
};

void inline_begin(
    struct inline_reader *reader, struct span line, bool markdown);

/* False at the end of the line. */
bool inline_next(struct inline_reader *reader, struct inline_piece *piece);

/*
 * The different links of a text, in their order, behind `first` where that is
 * one; their number.
 */
unsigned inline_links(struct span links[INLINE_LINKS_MAX], struct span first,
    struct span text, bool markdown);
