/*
 * demo_write: the demo data as CSV text, into buffers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "tools/gridctl/demo/demo_plan.h"

enum demo_file {
	DEMO_SUPPLIERS_CSV,
	DEMO_STORES_CSV,
	DEMO_NOMENCLATURE_CSV,
	DEMO_ARTICLES_CSV,
	DEMO_SALES_CSV,
	DEMO_STOCK_CSV,
	DEMO_RECEPTIONS_CSV,
	DEMO_POSITIONS_CSV,
	DEMO_NETWORK_CSV,
	DEMO_GAMMES_CSV,
	DEMO_FILES
};

extern const char *const demo_file_names[DEMO_FILES]; /* "suppliers.csv" */

#define DEMO_TEXT_MAX ((size_t)1 << 30) /* bytes in a piece */

/* A piece of each file. */
struct demo_texts {
	struct buf text[DEMO_FILES];
	uint64_t rows[DEMO_FILES]; /* header lines not counted */
};

void demo_texts_init(struct demo_texts *texts);
void demo_texts_fini(struct demo_texts *texts);
void demo_texts_clear(struct demo_texts *texts);

/* ERR_OK unless one of the buffers has failed. */
enum err demo_texts_end(const struct demo_texts *texts);

/* The header lines, and the whole of the three short files. */
void demo_write_head(struct demo_texts *texts, const struct demo_plan *plan);

/* Writes all lines of one listing. */
void demo_write_listing(struct demo_texts *texts, const struct demo_plan *plan,
    const struct demo_listing *listing);
