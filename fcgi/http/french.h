/*
 * french: the sentences of errors in French, by their English. One table; a
 * sentence without a row stays English, and tests/tools/french.py finds it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/span.h"

/* A format of printf, or a text without one: the same text where no row is. */
const char *french_of(const char *english) __attribute__((format_arg(1)));

/* A whole text without a format. */
struct span french_span(struct span english);

/*
 * A text, or one that was made by a format of the table with one %s or %d,
 * which is passed on; in `text`, or the same text where no row made it.
 */
const char *french_made(char *text, size_t size, const char *english);

/* For the test: row `i`, false behind the last. */
bool french_row(unsigned i, const char **english, const char **french);
