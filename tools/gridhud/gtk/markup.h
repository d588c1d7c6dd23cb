/*
 * markup: a message's parts as Pango's markup, for labels. Nothing that a
 * sender writes is markup by itself.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"
#include "tools/gridhud/message.h"
#include "tools/gridhud/words.h"

struct markup_options {
	const struct hud_words *words; /* to be highlighted; may be NULL */
	struct span search; /* folded; empty: none */
	size_t bytes_max; /* of the text; 0: all of it */
};

void markup_escape(struct buf *buf, struct span text);

/* Adds one line, with what is to be highlighted. */
void markup_line(
    struct buf *buf, struct span text, const struct markup_options *options);

/* The text and, where it says more, the error. */
void markup_body(struct buf *buf, const struct message *message,
    const struct markup_options *options);
