/*
 * rowjson: a row as ready JSON, and the offset of each column in it, in the
 * layout of snapfile.h.
 */
#pragma once

#include <stdint.h>

#include "common/buf.h"
#include "lmdb-schema/compute/rowcalc.h"
#include "lmdb-schema/compute/rowtext.h"
#include "lmdb-schema/snapshot/snapfile.h"

/* The data of a row; borrowed. */
struct rowjson_input {
	struct rowtext text;
	const struct row_numbers *numbers;
	const struct network *network; /* NULL: none */
};

/* The facts of a row, summed: NUM_NULL where there are none. */
struct rowjson_sums {
	int64_t month[SNAP_MONTHLY][SCHEMA_MONTHS]; /* over all stores */
	/*
	 * By store: the sum of its sales or receptions, its stock of the newest
	 * month. The caller's room for rowjson.stores each, or NULL.
	 */
	int64_t *store[SNAP_MEASURES];
};

/* The data shared by all rows of a supplier. */
struct rowjson {
	struct rowcalc_places places;
	struct period period;
	unsigned stores;
	struct span *store_keys; /* "\"001\":{" */
	/* "\"202501\":" without NUL: the year before, then the period. */
	char month_keys[2 * SCHEMA_MONTHS][10];
	struct buf store_text;
};

enum err rowjson_init(struct rowjson *json, const struct source *source,
    const struct period *period);
void rowjson_fini(struct rowjson *json);

/* Ceiling for the `cells` below: every store in every month, three times. */
#define ROWJSON_CELLS_MAX ((size_t)3 * 16 * SCHEMA_STORES_MAX * SCHEMA_MONTHS)

/*
 * Each appends its part of the row to `out` and fills the offsets; .at is where
 * the part begins. The buffer keeps a failure. `cells` is scratch that the
 * caller reuses from row to row. `sums` may be NULL.
 */
void rowjson_flat(const struct rowjson *json, struct buf *out,
    struct snap_flat *at, const struct rowjson_input *input);
void rowjson_maps(const struct rowjson *json, struct buf *out,
    struct buf *cells, struct snap_maps *at, const struct rowjson_input *input,
    struct rowjson_sums *sums);
