/*
 * since: what a supplier's rows of one generation have that those of another,
 * older one have not, for a caller who has these.
 *
 * Rows are compared as the two computations made them, in the columns asked for:
 * ranges and network metrics of today have no say.
 */
#pragma once

#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/span.h"
#include "fcgi/http/params.h"
#include "fcgi/rows/snapcache.h"

/* The caller's, with since_fini(); all zeros are fine, too. */
struct since {
	uint32_t *rows; /* of the newer one, ascending: new, or otherwise now */
	uint32_t count;
	uint32_t gone_count;
	struct buf gone; /* the codes that are gone, each ended by a NUL */
};

/* ERR_DAMAGED: one of the two is; snapshot_is_damaged() says which. */
enum err since_find(struct since *since, struct pinned *now,
    struct pinned *then, const struct columns *columns);
void since_fini(struct since *since);
