/*
 * scope: all suppliers that a search across them reads, with the data that it
 * needs of each.
 *
 * Most are in the word index (lmdb-schema/search/word_index.h), which answers
 * for all of them at once; their snapshots are opened when an answer shows one
 * of their rows. The others, whose snapshot is newer, are open, with the data
 * that a search reads in an array.
 *
 * Finding each supplier in the catalogue, in the cache and in its own file
 * would be most of a search. Therefore a scope is kept for the next search and
 * shared by threads until there is a commit to the catalogue, the imports or
 * the proposals; then the next search makes a new one.
 *
 * A scope keeps at most as many snapshots open as the cache may have. With more
 * suppliers it comes in parts, each made for one use and without the word
 * index.
 */
#pragma once

#include <stdint.h>

#include "fcgi/rows/match.h"
#include "lmdb-schema/search/word_index.h"

#define SCOPE_NOWHERE UINT32_MAX

/* Suppliers that a search is for, where others are another node's: part.h. */
struct scope_wanted {
	const struct span *codes; /* ascending */
	unsigned count;
	uint64_t hash; /* of all codes; not 0 */
};

struct call;
struct snapview;

struct scope {
	unsigned count; /* suppliers; in the order of their codes */
	struct snapview *views; /* by place; use scope_view() to get one */
	/* Places above of the suppliers that are not in the word index. */
	struct haystack *hays;
	unsigned *loose;
	unsigned loose_count;
	struct word_index *index; /* NULL: there is none, all are loose */
	uint32_t *place; /* by number in the index: place, or SCOPE_NOWHERE */
	uint64_t *there; /* bits by rank: supplier has a place; NULL: all */
	uint64_t sum; /* of all that they show: the same in any order */
	uint64_t places; /* of the snapshots alone */
	unsigned next; /* where the next part begins; 0: this was the last */
	int64_t absent; /* suppliers with articles that are not in it */
};

struct scope_slot; /* where the last scope is kept */

struct scope_slot *scope_slot_new(void);
void scope_slot_free(struct scope_slot *slot);

/* Drops a scope that was not used for `seconds`. */
void scope_slot_tick(struct scope_slot *slot, int64_t seconds);

/*
 * Gets all computed suppliers, from the part `from` on, which is 0 or a scope's
 * `next`. Suppliers whose file or ranges cannot be used are left out and
 * counted as absent, and so, in the first part, are suppliers that were never
 * computed. Pair with scope_release() or scope_hold(). With `wanted`, which may
 * be NULL, only those, and none is counted as absent.
 *
 * Has the word index made again when too many suppliers are not in it.
 */
enum err scope_all(struct scope **out, struct call *call, unsigned from,
    const struct scope_wanted *wanted);

/*
 * The same without the word index, after a supplier in it could not be opened
 * or because the index is `damaged`, which removes it. The scope is kept for
 * the next searches.
 */
enum err scope_plain(struct scope **out, struct call *call,
    const struct scope_wanted *wanted, bool damaged);

/* Gets one supplier; empty when it was never computed. */
enum err scope_one(struct scope **out, struct call *call, struct span supplier);

/* The view at a place, opened if necessary; valid as long as the scope. */
enum err scope_view(const struct snapview **out, struct scope *scope,
    struct call *call, unsigned place);

/*
 * Whether a view is open already; and asks the kernel for what opening it will
 * read.
 */
bool scope_is_open(const struct scope *scope, unsigned place);
void scope_expect(const struct scope *scope, struct call *call, unsigned place);

void scope_release(struct scope *scope); /* NULL is fine */

/*
 * Releases the scope after the answer is put, when the answer refers to its
 * rows. ERR_NO_MEMORY: it was released at once, and must not be used any more.
 */
enum err scope_hold(struct scope *scope, struct call *call);
