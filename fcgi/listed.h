/*
 * listed: the suppliers that list an article, by the current facts.
 */
#pragma once

#include "fcgi/server.h"

#define LISTED_MAX 1024

struct listed {
	struct call *call;
	unsigned count;
	struct span codes[LISTED_MAX]; /* in order, borrowed from the call */
};

/* Those of call->path[0]. None when nothing was imported yet. */
enum err listed_find(struct listed **out, struct call *call);

/* ["00042","00107"] */
void listed_write(struct buf *json, const struct listed *listed);
