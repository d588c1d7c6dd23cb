/*
 * packed: the packed rows beside a snapshot (lmdb-schema/snapshot/packed_rows.h),
 * opened when an answer wants them, kept beside the open snapshot, shared by
 * threads.
 */
#pragma once

#include "common/err.h"
#include "lmdb-schema/snapshot/packed_rows.h"

struct packed_slot; /* where they are kept, one of each kind */
struct packed; /* one use of it */

struct packed_slot *packed_slot_new(void);
void packed_slot_free(struct packed_slot *slot);

/*
 * ERR_NOT_FOUND when there is none, or it cannot be used: it is then removed,
 * and the log says why. Pair with packed_release(), which takes NULL.
 */
enum err packed_get(struct packed **out, struct packed_slot *slot,
    struct store *store, struct snapshot *snap, enum packed_kind kind);
void packed_release(struct packed *packed);

const struct packed_rows *packed_rows_of(const struct packed *packed);

/* Gives damaged rows to nobody any more, and removes their file. */
void packed_discard(struct packed_slot *slot, struct packed *packed,
    struct store *store, const struct snapshot *snap);
