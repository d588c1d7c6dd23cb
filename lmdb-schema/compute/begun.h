/*
 * begun: computations that have begun and gave no snapshot, for hooks. A process
 * that is killed cannot tell of it; its note stays behind, and shows by the
 * supplier's lock, which the kernel has dropped, that it is over.
 *
 * locks/begun/SUPPLIER holds a record of BEGUN_RECORD bytes for each, oldest
 * first; the file goes when the records were told. It is not synced: what a power
 * cut ended, may be forgotten.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/span.h"

#define BEGUN_RECORD 256
#define BEGUN_MAX 64 /* records of a supplier; no more are written */

struct store;

/* A note that cannot be written is logged, and missing. */
struct begun {
	int fd; /* -1: no note */
	uint64_t at; /* its place in the file */
	char path[FS_PATH_MAX];
};

/*
 * Under the supplier's lock, which is held until one of the other two. `before`
 * is the generation of its snapshot, 0: it has none.
 */
void begun_note(struct begun *begun, struct store *store, struct span supplier,
    uint64_t before);

/* Ends the note: takes it away, or writes why there is no snapshot. */
void begun_done(struct begun *begun);
void begun_failed(struct begun *begun, const char *why);

/* A supplier's failures; borrowed until the call returns. */
struct begun_ends {
	struct span supplier;
	unsigned count;
	uint64_t ids[BEGUN_MAX]; /* no two of a supplier are the same */
	struct span whys[BEGUN_MAX];
};

/*
 * Calls `each` for each supplier that has some, with its lock held, and forgets
 * them when that gives ERR_OK. Suppliers under way are passed over.
 */
enum err begun_each(struct store *store,
    enum err (*each)(void *context, const struct begun_ends *ends),
    void *context);
