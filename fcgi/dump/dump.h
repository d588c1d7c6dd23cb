/*
 * dump: all rows of a supplier as one gzip member or one zstd frame, put together
 * of rows that were packed beforehand (packed.h, gzip_dump.h).
 */
#pragma once

#include <stdbool.h>

#include "common/err.h"
#include "common/span.h"

struct call;
struct packed;
struct snapview;
struct rowset;

/*
 * True when the answer can be a dump: every row, as a whole, in the snapshot's
 * order, for a client that takes gzip or zstd, and the rows are packed so. They are
 * then held until the answer is put. The first such request for rows that are not
 * packed has that done for gzip, and gets false.
 */
bool dump_get(struct packed **out, struct call *call,
    const struct snapview *view, const struct rowset *set);

/*
 * Sends it, between `start` and `tail`. ERR_DAMAGED: the view's snapshot is;
 * packed rows that are damaged are discarded here, and give
 * ERR_DAMAGED_BESIDE.
 */
enum err dump_send(struct call *call, const struct snapview *view,
    struct packed *packed, struct span start, struct span tail);
