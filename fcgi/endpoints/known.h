/*
 * known: whether a supplier has an article, by the current facts: for writes at a
 * node that does not keep the supplier's snapshot (rows/holder.h).
 */
#pragma once

#include "common/err.h"
#include "common/span.h"

struct call;
struct shared_source;

struct known {
	struct shared_source *source;
	struct span supplier, name; /* until known_close() */
};

/* ERR_ANSWERED: the caller may see no such supplier with articles: 404. */
enum err known_open(
    struct known *known, struct call *call, struct span supplier);
void known_close(struct known *known);

/* ERR_NOT_FOUND: the supplier has no such article. */
enum err known_find(const struct known *known, struct span codein);
