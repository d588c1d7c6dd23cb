/* proposals: the code that gridctl proposals list and log share. */
#pragma once

#include "lmdb-schema/state/state.h"
#include "tools/gridctl/cmd.h"

struct proposals_listing {
	struct store *store;
	struct state_view *view;
	struct cmd_list list;
	const char *named; /* the supplier given; NULL: all */
	struct span supplier; /* that one, for proposals log; empty: all */
	bool json;
};

/* Null for an empty text. */
void proposals_add_member(
    struct jsonw *json, const char *name, struct span text);

/* Behind the last column, and the end of the line. */
void proposals_add_motif(struct buf *text, struct span motif);

/*
 * Opens the store, has `fill` write the list, and prints it unless `fill` fails.
 * The exit code.
 */
int proposals_show(const char *command, struct proposals_listing *listing,
    enum err (*fill)(void *context), void *context);

/* cmd_proposals_log.c */
int proposals_log(int argc, char **argv);
