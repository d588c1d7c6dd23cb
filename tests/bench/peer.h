/*
 * peer: what the programs that answer like gridapi from an SQL database have in
 * common: the request, its SQL, the answer's JSON. A database is one file with
 * one struct peer. tests/bench/serve_peers.py makes the tables:
 *
 *	rows       id, the scalar columns by their names, those in sorts also
 *	           folded as "libelle1_f"; ids are in the order of turnover
 *	docs       id, doc: the whole row as JSON
 *	search     id, fournisseur, text: the five searched columns, folded
 *	suppliers  code, total, first, last: how many rows, and their ids
 *
 * They do less than gridapi: no key is checked, nothing live is laid over the
 * rows, no ETag is made.
 */
#pragma once

#include <stdbool.h>

#include "common/arena.h"
#include "common/buf.h"
#include "common/err.h"
#include "common/span.h"

/* A row of the result; a cell of NULL is null. It is borrowed. */
typedef void peer_row(void *context, const struct span *cells);

#define PEER_CELLS 64
#define PEER_PARAMS 24

struct peer_params {
	struct arena *arena; /* where the texts are */
	char *text[PEER_PARAMS];
	unsigned count;
};

/* Adds one; it is $count then. */
void peer_param(struct peer_params *params, struct span text);

struct peer {
	/* A connection for one thread; NULL after telling why. */
	void *(*open)(void);
	/*
	 * Runs the text, prepared when it was seen before. The parameters,
	 * texts, are $1, $2 and so on.
	 */
	enum err (*query)(void *db, const char *sql, char *const *params,
	    unsigned count, peer_row *row, void *context);
	/*
	 * Appends a query for the ids whose text holds all the folded words,
	 * and its parameters; $1 is the supplier if there is one.
	 */
	void (*match)(struct buf *sql, struct peer_params *params,
	    struct span words, bool in_supplier);
	/* "nulls last" for an index to serve, at the column. */
	void (*order)(struct buf *sql, const char *table, const char *column,
	    bool descending);
};

/* main(): PROGRAM SOCKET PROCESSES THREADS, after the database's own. */
int peer_main(const struct peer *peer, int argc, char **argv, int at);
