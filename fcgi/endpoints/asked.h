/*
 * asked: the filters and the sort of a request as a query of rows, for every
 * endpoint that has them.
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
