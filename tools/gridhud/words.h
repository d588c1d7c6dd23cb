/*
 * words: the priority words. They are folded once; a message's texts are then
 * searched for them, and the view finds them again to highlight them.
 */
#pragma once

#include <stdbool.h>

#include "common/err.h"
#include "common/span.h"

struct hud_words;

/* A list with commas between; an empty one matches nothing. */
enum err words_new(struct hud_words **out, const char *list);
void words_free(struct hud_words *words);

/*
 * The first place in `text`, from byte `from` on, where one stands as a whole
 * word or phrase, as the text writes it; or a zero span. NULL words are none.
 */
struct span words_find(
    const struct hud_words *words, struct span text, size_t from);
