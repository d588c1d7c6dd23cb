/*
 * listed: the suppliers that list an article, by the current facts.
 */
#pragma once

#include "common/jsonw.h"
#include "fcgi/call.h"
#include "lmdb-schema/codemap.h"

#define LISTED_MAX 1024

struct listed {
	struct call *call;
	unsigned count;
	unsigned room;
	struct span *codes; /* in order, borrowed from the call */
};

/* The suppliers of call->path[0]. None when nothing was imported yet. */
enum err listed_find(struct listed **out, struct call *call);

bool listed_has(const struct listed *listed, struct span supplier);

/*
 * How many of `codeins` `supplier` lists by the current facts. 0 too when
 * these cannot be read: it only chooses the words of an answer.
 */
unsigned listed_count(
    struct call *call, struct span supplier, const struct codemap *codeins);

/*
 * "`what` came with an import that the snapshot of supplier 12345 does not
 * have yet: ...", and what to do about it.
 */
#define LISTED_TEXT_MAX 512
struct span listed_not_yet(char text[LISTED_TEXT_MAX],
    const struct reply *reply, const char *what, struct span supplier);

/* The member "fournisseurs": their codes. */
void listed_write(struct jsonw *json, const struct listed *listed);
