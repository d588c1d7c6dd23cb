/*
 * known: whether a supplier has an article, for writes: by its snapshot, or by the
 * current facts at a node that does not keep it (rows/holder.h).
 */
#pragma once

#include "common/err.h"
#include "common/span.h"

struct call;
struct shared_source;
struct snapshot;

struct known {
	struct snapshot *snap; /* NULL: the facts are asked */
	struct shared_source *source;
	struct span supplier, name; /* until known_close() */
};

/* By a snapshot, which the caller holds; nothing is to be closed. */
void known_by_snapshot(struct known *known, struct snapshot *snap);

/* By the facts. ERR_ANSWERED: the caller may see no such supplier with articles: 404. */
enum err known_open(
    struct known *known, struct call *call, struct span supplier);
void known_close(struct known *known);

/* ERR_NOT_FOUND: the supplier has no such article. */
enum err known_find(const struct known *known, struct span codein);
