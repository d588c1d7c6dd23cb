/*
 * namematch: whether a file's name is one that is looked for. Case and accents
 * do not count. A query with '*' or '?' is a glob over the whole name; else it
 * is a part of the name.
 */
#pragma once

#include <stdbool.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/span.h"

struct namematch {
	struct buf query; /* folded */
	struct buf name; /* scratch */
	bool glob;
};

/* ERR_BAD_INPUT when the query is empty, or is so once folded. */
enum err namematch_init(struct namematch *match, struct span query);
void namematch_fini(struct namematch *match);

/* `name` may be any bytes; those that are no UTF-8 match by ASCII case. */
bool namematch_fits(struct namematch *match, const char *name);
