/*
 * snapview: a supplier's snapshot as one request sees it: one pinned
 * generation, and the ranges of today over it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fcgi/call.h"
#include "fcgi/rows/ranges.h"
#include "fcgi/rows/snapcache.h"

struct snapview {
	struct pinned *pinned;
	struct ranges *ranges;
	bool damaged; /* ERR_NOT_READY: there is a file, but damage */
};

/*
 * Pins the current generation, or `generation` when it is not 0, without the
 * ranges of today: for endpoints that show no rows. Pair with snapview_close()
 * or snapview_drop().
 *
 *   ERR_NOT_READY  never computed, or its file or its entry in the catalogue is
 *                  damaged: compute it
 *   ERR_NOT_FOUND  that generation is not kept any more
 */
enum err snapview_pin(struct snapview *view, struct call *call,
    struct span supplier, uint64_t generation);

/* Adds the ranges of today; a failure has dropped the view. */
enum err snapview_add_ranges(struct snapview *view, struct call *call);

/* Both. */
enum err snapview_open(struct snapview *view, struct call *call,
    struct span supplier, uint64_t generation);

/* The same for a generation that the caller has just read in the catalogue. */
enum err snapview_open_known(struct snapview *view, struct call *call,
    struct span supplier, uint64_t generation);

/*
 * For a supplier whose entry in the catalogue is damaged: counts that, and
 * starts a computation, which writes a new entry.
 */
void snapview_heal(struct call *call, struct span supplier);

/*
 * Ends the view; the pin is held until the answer is put, since the body may
 * refer to rows. `err` is the outcome of reading the snapshot, which is
 * returned: with ERR_DAMAGED the snapshot is dropped, so that one answer fails
 * and the next request has the supplier computed again.
 */
enum err snapview_close(struct snapview *view, struct call *call, enum err err);

/* The same when the body does not refer to it: releases it at once. */
enum err snapview_drop(struct snapview *view, struct call *call, enum err err);

/* For snapview_blame() alone. */
void snapview_disown(struct call *call, const struct snapview *view);

/*
 * Passes `err` on; ERR_DAMAGED disowns the snapshot of a view, which stays
 * open.
 */
static inline enum err
snapview_blame(struct call *call, const struct snapview *view, enum err err)
{
	if (__builtin_expect(err == ERR_DAMAGED, 0))
		snapview_disown(call, view);
	return err;
}
