/*
 * push: the body of a push, taken apart and put into the journal.
 */
#pragma once

#include "common/err.h"
#include "common/span.h"
#include "tools/gridhook/events/journal.h"
#include "tools/gridhook/events/normalise.h"

/*
 * Bytes to events: a byte order mark is passed over, bytes that are not UTF-8
 * become U+FFFD, an empty or blank body is an empty object.
 *
 *	ERR_BAD_INPUT	not JSON
 *	other		nothing can be stored now
 *
 * The events wait for journal_commit(). `id` names the push.
 */
enum err push_take(struct journal *journal, struct span body,
    const struct hints *hints, const char *id, unsigned *count);

/* "source=a%20b&title=x" into the hints; the texts live in the arena. */
void push_read_query(
    struct hints *hints, struct span query, struct arena *arena);
