/*
 * snapwrite: writes a snapshot file. Sections come in any order; the file is
 * complete once snapwrite_end() has synced and renamed it.
 *
 * Sticky: after the first failure nothing more is written, and snapwrite_end()
 * returns that failure. Calls from several threads are serialised.
 */
#pragma once

#include "common/err.h"
#include "common/span.h"
#include "lmdb-schema/snapshot/snapfile.h"

struct snapwrite;
struct store;

/*
 * The caller fills rows, slice_rows, generations and days of `head`; the rest
 * is filled in here.
 */
enum err snapwrite_begin(struct snapwrite **out, struct store *store,
    struct span supplier, struct span name, const struct snap_head *head);

void snapwrite_put(
    struct snapwrite *write, unsigned section, const void *data, size_t len);

/*
 * Sets how many articles of the supplier have no row because their sums do not
 * fit.
 */
void snapwrite_left_out(struct snapwrite *write, uint32_t count);

/*
 * Puts the head, syncs, and renames the file to its place. The catalogue does
 * not name it yet. *bytes is the file's size.
 */
enum err snapwrite_end(struct snapwrite *write, uint64_t *bytes);

/* Removes the unfinished file. NULL is fine. */
void snapwrite_abort(struct snapwrite *write);
