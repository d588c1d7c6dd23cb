/*
 * snapwrite: a snapshot file in the making. Sections come in any order; the
 * file counts as written when snapwrite_end() has synced and renamed it.
 *
 * Sticky: after the first failure nothing is written, and the end tells it.
 * Calls of several threads are put one after the other.
 */
#pragma once

#include "common/err.h"
#include "common/span.h"
#include "lmdb-schema/snapshot/snapfile.h"

struct snapwrite;
struct store;

/* `head` needs rows, slice_rows, generations, days; the rest is filled in. */
enum err snapwrite_begin(struct snapwrite **out, struct store *store,
    struct span supplier, struct span name, const struct snap_head *head);

void snapwrite_put(
    struct snapwrite *write, unsigned section, const void *data, size_t len);

/* How many articles of the supplier have no row, as their sums do not fit. */
void snapwrite_left_out(struct snapwrite *write, uint32_t count);

/*
 * Puts the head, syncs, renames it to its place. The catalogue does not know
 * it yet. *bytes is the file's size.
 */
enum err snapwrite_end(struct snapwrite *write, uint64_t *bytes);

/* Removes what was written. NULL is fine. */
void snapwrite_abort(struct snapwrite *write);
