/*
 * scope: all suppliers that a search across them asks, and what it looks at.
 *
 * Most are in the word index (lmdb-schema/search/word_index.h), which answers for
 * all of
 * them at once; their snapshots are opened when a row of theirs is shown. The
 * others, whose snapshot is newer, are open, with what a search looks at in an
 * array.
 *
 * To find each in the catalogue, in the cache and in its own file is most of
 * a search. So the scope of one is kept for the next, and shared by threads,
 * as long as nobody has written to the catalogue, to what is imported or to
 * the proposals; it is then made anew, which costs what it saved.
 *
 * It keeps as many snapshots open as the cache may have. With more suppliers
 * than those it comes in parts, each made for one use, and without the book.
 */
#pragma once

#include <stdint.h>

#include "fcgi/rows/match.h"
#include "lmdb-schema/search/word_index.h"

#define SCOPE_NOWHERE UINT32_MAX

struct call;
struct snapview;

struct scope {
	unsigned count; /* suppliers; in the order of their codes */
	struct snapview *views; /* of each; get at one by scope_view() */
	/* Suppliers that the book does not answer for; their places above. */
	struct haystack *hays;
	unsigned *loose;
	unsigned loose_count;
	struct word_index *book; /* NULL: there is none, all are loose */
	uint32_t *place; /* by the book's number: above, or SCOPE_NOWHERE */
	uint64_t *there; /* by rank: whose supplier has a place; NULL: all */
	uint64_t tag; /* of all that they show */
	unsigned next; /* where the part after it begins; 0: it was the last */
	int64_t absent; /* suppliers with articles that are not on it */
};

struct scope_slot; /* where the last one is kept */

struct scope_slot *scope_slot_new(void);
void scope_slot_free(struct scope_slot *slot);

/* Lets go of one that nobody has used for `seconds`. */
void scope_slot_tick(struct scope_slot *slot, int64_t seconds);

/*
 * All suppliers that were computed, from the part `from` on, which is 0 or a
 * scope's `next`. Those whose file or ranges cannot be used are left out, and
 * counted as absent; so are, in the first part, those that were never
 * computed. Pair with scope_release() or scope_hold().
 *
 * Has the book made anew when too many are not in it.
 */
enum err scope_all(struct scope **out, struct call *call, unsigned from);

/*
 * The same without the book, when a supplier that is in it could not be opened
 * or the book is `damaged`, which removes it; kept for those who come next.
 */
enum err scope_plain(struct scope **out, struct call *call, bool damaged);

/* Of one supplier; empty when it was never computed. */
enum err scope_one(struct scope **out, struct call *call, struct span supplier);

/* The view at a place, opened when it was not; good as long as the scope. */
enum err scope_view(const struct snapview **out, struct scope *scope,
    struct call *call, unsigned place);

void scope_release(struct scope *scope); /* NULL is fine */

/*
 * The same when the answer is put: rows of it are in that. ERR_NO_MEMORY: it
 * was released at once, and must not be used any more.
 */
enum err scope_hold(struct scope *scope, struct call *call);
