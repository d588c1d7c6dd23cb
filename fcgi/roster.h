/*
 * roster: the snapshots of all suppliers, open, with what a search through all
 * of them looks at, in arrays.
 *
 * To find each in the catalogue, in the cache and in its own file is most of
 * such a search. So the roster of one is kept for the next, and shared by
 * threads, as long as nobody has written to the catalogue, to what is imported
 * or to the proposals; it is then made anew, which costs what it saved.
 *
 * It keeps as many snapshots open as the cache may have. With more suppliers
 * than those it comes in parts, each made for one use.
 */
#pragma once

#include <stdint.h>

#include "fcgi/match.h"
#include "fcgi/rows.h"

struct roster {
	unsigned count;
	struct rows_view *views; /* in the order of the suppliers' codes */
	struct haystack *hays; /* of the same */
	uint64_t tag; /* of all that they show */
	unsigned next; /* where the part after it begins; 0: it was the last */
	int64_t absent; /* suppliers with articles that are not on it */
};

struct roster_slot; /* where the last one is kept */

struct roster_slot *roster_slot_new(void);
void roster_slot_free(struct roster_slot *slot);

/* Lets go of one that nobody has used for `seconds`. */
void roster_slot_tick(struct roster_slot *slot, int64_t seconds);

/*
 * All suppliers that were computed, from the part `from` on, which is 0 or a
 * roster's `next`. Those whose file or ranges cannot be used are left out, and
 * counted as absent; so are, in the first part, those that were never
 * computed. Pair with roster_release() or roster_hold().
 */
enum err roster_all(struct roster **out, struct call *call, unsigned from);

/* Of one supplier; empty when it was never computed. */
enum err roster_one(
    struct roster **out, struct call *call, struct span supplier);

void roster_release(struct roster *roster); /* NULL is fine */

/*
 * The same when the answer is put: rows of it are in that. ERR_NO_MEMORY: it
 * was released at once, and must not be used any more.
 */
enum err roster_hold(struct roster *roster, struct call *call);
