/*
 * holders: the nodes that are asked for a file (store/files.h), and the bucket:
 * their addresses, and what they are shown.
 */
#pragma once

#include <stdbool.h>

#include "common/err.h"
#include "lmdb-schema/store/bucket.h"
#include "lmdb-schema/store/cluster.h"
#include "lmdb-schema/store/engine.h"
#include "lmdb-schema/store/files.h"

struct holders {
	struct engine_node own;
	struct cluster_peers peers;
	struct bucket bucket;
	struct files_from from; /* for files_fetch(): into this struct */
	char addresses[FILES_HOLDERS_MAX][ENGINE_NODE_TEXT_MAX];
};

/* Reads cluster.conf; the list is empty then. */
enum err holders_begin(
    struct holders *holders, const char *dir, struct fault *fault);

/* Asks that node behind the ones before: another one than this, and once. */
void holders_add(
    struct holders *holders, const char *node, const char *address);

/* Asks the node of that address, where it is in the list, before the others. */
void holders_prefer(struct holders *holders, const char *address);

/*
 * Adds the nodes that are alive, or those of them for which `wanted` is true,
 * which may be NULL. ERR_AWAY.
 */
enum err holders_add_alive(struct holders *holders, struct engine *engine,
    bool (*wanted)(void *context, const char *node), void *context);
