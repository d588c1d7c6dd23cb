/*
 * page: whole rows in any order as one gzip member, put together of rows that were
 * packed one by one beforehand (packed.h, gzip_dump.h).
 */
#pragma once

#include <stdbool.h>

#include "common/err.h"
#include "common/span.h"

struct call;
struct snapview;
struct rowset;

/*
 * Puts the page into the reply's body, between `start` and `tail`, and gives true
 * with its outcome: the rows are whole and as JSON, the client takes gzip, and the
 * rows are packed. ERR_DAMAGED: the view's snapshot is.
 *
 * False: the reply has no body yet, and is to be made and packed on the way. The
 * first such request for rows that are not packed has that done; packed rows that
 * are damaged are discarded.
 */
bool page_put(enum err *out, struct call *call, const struct snapview *view,
    const struct rowset *set, struct span start, struct span tail);
