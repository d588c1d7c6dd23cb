/*
 * page: whole rows in any order as one gzip member, assembled from rows that
 * were packed one by one beforehand (packed.h, gzip_dump.h).
 */
#pragma once

#include <stdbool.h>

#include "common/err.h"
#include "common/span.h"

struct call;
struct snapview;
struct rowset;

/*
 * Puts the page into the reply's body, between `start` and `tail`, and returns
 * true with the outcome, if the rows are whole and JSON, the client accepts
 * gzip, and the rows are packed. ERR_DAMAGED: the view's snapshot is.
 *
 * False: the reply has no body yet; the caller makes it, to be compressed on
 * the way. For rows that are not packed, the first such request has them
 * packed; damaged packed rows are discarded.
 */
bool page_put(enum err *out, struct call *call, const struct snapview *view,
    const struct rowset *set, struct span start, struct span tail);
