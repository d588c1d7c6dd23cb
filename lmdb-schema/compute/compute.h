/*
 * compute: one supplier's facts, network metrics and server ranges -> a new
 * snapshot, published.
 *
 * Across processes, one computation per supplier runs at a time: a second
 * caller waits for it and takes its result. The number of suppliers computed at
 * once, over all processes, is capped.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"
#include "lmdb-schema/snapshot/catalog.h"

struct store;
struct source;

/*
 * Of nodes that share their snapshots (upkeep/computed.h): which one that is not
 * stale, and that another node may have made, does as well as a computation.
 */
enum compute_take {
	COMPUTE_TAKE_NEWER, /* than what this node shows */
	COMPUTE_TAKE_OTHERS, /* and any that another node has made */
	COMPUTE_TAKE_ANY
};

struct compute_options {
	unsigned threads; /* within this computation; at least 1 */
	unsigned slots; /* computations at once, over all processes */
	bool wait; /* for a free slot; else ERR_BUSY at once */
	int32_t as_of_day; /* DATE_NULL: the end of the newest month */
	void (*at)(void *context, uint64_t done, uint64_t total); /* or NULL */
	void *context;
	enum compute_take take;
	bool pass_over; /* ERR_BUSY and `elsewhere`: another node is at it */
};

struct compute_result {
	struct catalog_entry entry; /* the current snapshot's */
	bool shared; /* another process had computed it by then */
	bool elsewhere; /* another node, which has made it or which is at it */
	bool noted; /* hooks are told of a failure: begun.h */
	int64_t ms; /* spent on this computation */
};

/*
 * An article whose sums do not fit is left out: the log names it, and the
 * snapshot counts it. When the sums of the whole supplier do not fit, the
 * largest articles are left out until they do.
 *
 *   ERR_NOT_READY  nothing was imported yet
 *   ERR_NOT_FOUND  no such supplier
 *   ERR_EXISTS     the supplier is known but has no article
 *   ERR_BUSY       all slots are taken
 *   ERR_TOO_LARGE  no article's sums fit
 *   ERR_NO_SPACE … as the storage said; the old snapshot stays current
 */
enum err compute_supplier(struct compute_result *result, struct store *store,
    struct span supplier, const struct compute_options *options);

/*
 * The steps of compute_supplier(), for a caller that has the lock of the supplier:
 * whether it can be computed at all; whether the current snapshot is newer than
 * generation `before`, and not stale; and a computation, in a slot, as a snapshot
 * of a generation behind `before`. `publish` makes its finished file the current
 * one; with a failure of it the file is removed.
 */
struct compute_publisher {
	enum err (*publish)(void *context, const struct catalog_entry *entry);
	void *context;
};
enum err compute_known(struct store *store, struct span supplier);
bool compute_was_done(
    struct store *store, struct span supplier, uint64_t before);
enum err compute_locked(struct compute_result *result, struct store *store,
    struct span supplier, const struct compute_options *options,
    uint64_t before, const struct compute_publisher *publisher);

/* The reason of a failure in words; whether it is only an answer to a call. */
const char *compute_why(enum err err);
bool compute_is_answer(enum err err);

/*
 * True when data that the entry was computed from have changed since: the
 * supplier's facts, figures of products that it lists, its ranges.
 */
enum err compute_is_stale(bool *stale, struct store *store,
    struct span supplier, const struct catalog_entry *entry);
