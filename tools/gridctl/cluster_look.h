/*
 * cluster_look: what gridctl cluster status prints of the nodes and their log, and
 * what of it is not well: for gridctl doctor, too. It is done within seconds, as each
 * question to the log is (engine_pause.h), but for the bucket; a log that is away is
 * asked again for five.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "lmdb-schema/upkeep/lacks.h"

struct store;

#define CLUSTER_LOOK_BEHIND 1000
#define CLUSTER_LOOK_MAX ((size_t)1 << 24)

struct cluster_look_options {
	bool json;
	bool bucket; /* is asked for all that it has */
	int64_t nodes; /* that are to be alive */
	int64_t behind; /* entries that a node may lack */
	/*
	 * Called for each that is not well, or NULL; `here`: it is of this node or
	 * of the whole, and not of another node alone.
	 */
	void (*unwell)(
	    void *context, bool here, const char *todo, const char *text);
	void *context;
};

struct cluster_looked {
	unsigned faults; /* that are not well */
	unsigned alive; /* nodes */
	uint64_t entries,
	    behind; /* of the log, and those that this node lacks */
	struct lacks lacks; /* of this node, now */
};

/* Adds to the text. The store is one of a node. */
enum err cluster_look(struct cluster_looked *out, struct buf *text,
    struct store *store, const struct cluster_look_options *options,
    struct fault *fault);
