/*
 * asked: the filters and the sort of a request as a query of rows, for every
 * endpoint that has them; and its words, for the lists of what has a name.
 */
#pragma once

#include "common/err.h"
#include "fcgi/call.h"
#include "fcgi/rows/rowset.h"

/*
 * `text` is the searched text of the request, not yet folded. The query borrows
 * from the call and is valid until the thread's next call_fold().
 */
enum err asked_rows(
    struct rowset_query *query, struct call *call, struct span text);

/*
 * Whether each of the folded words is in the name or in the code. `folded` is
 * room that the caller keeps from one name to the next; its buf_end() tells
 * whether a name that did not match could be folded.
 */
bool asked_named(
    struct buf *folded, struct span words, struct span code, struct span name);
