/*
 * ranges: today's range codes of a snapshot's rows: the server's present
 * ranges, validated changes and pending proposals.
 *
 * Computed once for each change, kept beside the open snapshot, and shared by
 * threads. When no range has changed since the computation there is no
 * struct ranges, and rows are served as stored.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "common/err.h"
#include "lmdb-schema/facts/live.h"
#include "lmdb-schema/snapshot/snapshot.h"
#include "lmdb-schema/state/state.h"

struct ranges_slot; /* where the current ranges are kept */

struct ranges {
	atomic_uint users;
	uint64_t gamme, state; /* generations it was made from */
	uint32_t rows;
	const uint8_t *server; /* by row: 0..5 */
	const uint8_t *shown; /* codeGamme */
	const uint8_t *raw; /* codeGamme with enrich=0: over the snapshot's */
	const uint8_t *pending; /* gammeAValider */
	const uint8_t *differs; /* 1: differs from the snapshot */
	uint32_t pending_count;
};

struct ranges_slot *ranges_slot_new(void);
void ranges_slot_free(struct ranges_slot *slot);

/*
 * Gets today's ranges; *out is NULL when they equal the snapshot's. Pair with
 * ranges_release(), which takes NULL.
 */
enum err ranges_get(struct ranges **out, struct ranges_slot *slot,
    struct snapshot *snap, struct live_view *live, struct state_view *state);
void ranges_release(struct ranges *ranges);
