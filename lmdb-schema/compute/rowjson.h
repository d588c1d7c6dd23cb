/*
 * rowjson: a row as ready JSON, and the offset of each column in it, in the
 * layout of snapfile.h.
 */
#pragma once

#include <stdint.h>

#include "common/buf.h"
#include "lmdb-schema/compute/rowcalc.h"
#include "lmdb-schema/snapshot/snapfile.h"

/* The data of a row; borrowed. */
struct rowjson_input {
	const struct source_article *article;
	const struct row_numbers *numbers;
	const struct network *network; /* NULL: none */
	struct span supplier_json, name_json; /* quoted; "null" for no name */
	struct span labels[3]; /* of code1, code2, code3; empty: none */
	uint8_t gamme;
	char abc; /* 'A', 'B', 'C', or 0 */
};

/* The data shared by all rows of a supplier. */
struct rowjson {
	struct rowcalc_places places;
	struct period period;
	unsigned stores;
	struct span *store_keys; /* "\"001\":{" */
	char month_keys[SCHEMA_MONTHS][10]; /* "\"202501\":" without NUL */
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
 * caller reuses from row to row.
 */
void rowjson_flat(const struct rowjson *json, struct buf *out,
    struct snap_flat *at, const struct rowjson_input *input);
void rowjson_maps(const struct rowjson *json, struct buf *out,
    struct buf *cells, struct snap_maps *at, const struct rowjson_input *input);

/* The two codes above a code3: "12" and "1203" of "120305". */
void rowjson_code_text(char text[8], uint32_t code3, unsigned level);
