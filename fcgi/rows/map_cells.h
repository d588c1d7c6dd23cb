/*
 * map_cells: the figures of a row's map by store,
 * {"001":{"202501":1.5,"202502":2},...}, as a cell for each month of each store.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/num.h"
#include "lmdb-schema/snapshot/snapshot.h"
#include "lmdb-schema/snapshot/snapshot_columns.h"

struct map_cells {
	struct snapshot *snap;
	unsigned column; /* of the maps */
	struct snapshot_stores stores;
	uint64_t months[SCHEMA_MONTHS]; /* what a member begins with */
	struct buf code;
	unsigned count; /* cells: stores.count * SCHEMA_MONTHS */
	int64_t *cells; /* of the row read last, NUM_NULL: none */
};

/* Pair with map_cells_fini(), whatever comes of it. */
enum err map_cells_init(
    struct map_cells *reader, struct snapshot *snap, enum snap_measure measure);
void map_cells_fini(struct map_cells *reader);

/* Reads a row's cells. A store's months follow one another. */
enum err map_cells_read(struct map_cells *reader, uint32_t row);
