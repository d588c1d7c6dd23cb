/*
 * dump: all rows of a supplier as one gzip member or one zstd frame, assembled
 * from rows that were packed beforehand (packed.h, gzip_dump.h).
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
 * True when the answer can be a dump: every row, whole and in the snapshot's
 * order, for a client that accepts gzip or zstd, and the rows are packed so.
 * They are then held until the answer is put. False for rows that are not
 * packed; the first such request has them packed as gzip.
 */
bool dump_get(struct packed **out, struct call *call,
    const struct snapview *view, const struct rowset *set);

/*
 * Sends the dump, between `start` and `tail`. ERR_DAMAGED: the view's snapshot
 * is; damaged packed rows are discarded here, with ERR_DAMAGED_BESIDE.
 */
enum err dump_send(struct call *call, const struct snapview *view,
    struct packed *packed, struct span start, struct span tail);
