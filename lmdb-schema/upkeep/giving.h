/*
 * giving: whether each node's nginx gives the node's files to the others. It is asked
 * for the last byte of the last import's text, as another node would ask it, where the
 * node says that it has the files of that import. A node that is not reached is passed
 * over, and so is what is left after some seconds.
 */
#pragma once

#include <stdbool.h>

#include "common/err.h"
#include "common/web/ask.h"
#include "lmdb-schema/store/engine.h"

struct store;

struct giving_refusal {
	char node[ENGINE_NODE_NAME_MAX];
	char address[ENGINE_NODE_TEXT_MAX];
	bool own; /* this node */
	char answer[ASK_ERROR_MAX]; /* "it answered 403" */
};

/*
 * Calls `each` for nodes whose nginx refuses, this one among them. None where nodes
 * give each other no files, nothing has been imported, or this one has no secret.
 * ERR_AWAY.
 */
enum err giving_look(struct store *store,
    enum err (*each)(void *context, const struct giving_refusal *refusal),
    void *context);
