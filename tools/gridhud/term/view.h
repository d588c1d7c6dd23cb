/*
 * view: one message as the lines that a screen of some width shows, each byte
 * with its style. No screen is needed to lay it out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/span.h"
#include "tools/gridhud/message.h"
#include "tools/gridhud/words.h"

enum style {
	STYLE_TEXT,
	STYLE_DIM, /* times, rules, what matters less */
	STYLE_SOURCE,
	STYLE_TITLE,
	STYLE_BOLD,
	STYLE_ITALIC,
	STYLE_CODE,
	STYLE_LINK,
	STYLE_MARK, /* a link's colour, for small signs */
	STYLE_GOOD,
	STYLE_BAD,
	STYLE_WARN,
	STYLE_USER,
	STYLE_ASSISTANT,
	STYLE_WORD, /* a priority word */
	STYLE_FOUND, /* what was searched for */
	STYLE_COUNT
};

struct view_options {
	int width;
	unsigned lines_max; /* of the text; 0: all of it */
	const struct hud_words *words; /* to be highlighted; may be NULL */
	struct span search; /* folded; empty: none */
	bool muted; /* its source is */
	bool day_line; /* a line with its day stands above it */
};

struct view_line {
	size_t start, len; /* bytes of view.text */
	bool is_day;
};

struct view {
	struct buf text, styles; /* a style for each byte of text */
	struct view_line *lines;
	unsigned count, cap;
	enum err err;
};

void view_init(struct view *view);
void view_fini(struct view *view);

/* Lays it out anew. ERR_NO_MEMORY leaves what was made until then. */
enum err view_message(struct view *view, const struct message *message,
    const struct view_options *options);

/* Lays out any text, as it stands, for windows of help and settings. */
enum err view_plain(struct view *view, struct span text, int width);
