/*
 * intake_priv: the state that intake.c gathers and intake_write.c writes. For
 * intake*.c only.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lmdb-schema/codemap.h"
#include "lmdb-schema/facts/intake.h"
#include "lmdb-schema/facts/source.h"
#include "lmdb-schema/facts/spool.h"

/*
 * A map from codes to packed values; `fresh` is set for values that did not
 * come from the base.
 */
struct intake_table {
	struct codemap *codes;
	struct span *values;
	bool *fresh;
	uint32_t room;
};

struct arena;
struct store;

struct intake {
	struct store *store;
	struct source *base;
	struct arena *arena;
	struct intake_table suppliers, stores, classes, articles;
	uint32_t *article_order; /* bytewise order of supplier 00 codein */
	uint32_t *store_order;
	uint16_t *store_number; /* by number in `stores` */
	uint16_t *base_store; /* the base's number -> the new one */
	struct spool *spools[SERIES_KINDS];
	int32_t newest[SERIES_KINDS]; /* put now; 0: none */
	uint64_t *supplier_articles; /* by number in `suppliers` */
	struct source_header header;
	bool sealed;
};
