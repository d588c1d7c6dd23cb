/* cluster_look_priv.h: a look that is under way; for cluster_look*.c alone. */
#pragma once

#include "common/jsonw.h"
#include "lmdb-schema/store/engine.h"
#include "lmdb-schema/upkeep/edition.h"
#include "lmdb-schema/upkeep/roster.h"
#include "lmdb-schema/upkeep/standing.h"
#include "tools/gridctl/cluster_look.h"

struct cluster_looking {
	const struct cluster_look_options *options;
	struct cluster_looked *looked;
	struct engine *engine;
	struct engine_node own; /* by this data directory */
	struct jsonw json;
	struct buf *text;
	struct editions editions;
	bool head_known;
	struct engine_trouble trouble; /* why it is not */
	bool lacks_rights; /* the nodes' user; `rights`: which */
	struct engine_trouble rights;
	struct standing standing; /* of this node, where the head is known */
	bool ended; /* with its epoch: `head` is 0 then */
	bool stands; /* this node does not go on: its fault is told */
	uint64_t head;
	uint64_t own_place; /* entries that this directory has */
	bool own_alive;
	unsigned receivers; /* other nodes that can get files */
	struct buf alive; /* the nodes' names, a line each */
	struct buf
	    old; /* records that may be of before the head, a line each */
	unsigned waits; /* nodes of them that have put no other one */
	struct buf lacks; /* what nodes have told: lacks.h */
	struct buf
	    faults; /* a line each: what is not well, a tab, what to do */
};

/* Notes what is not well: `here` and `todo` are those of cluster_look.h. */
void cluster_look_unwell(struct cluster_looking *status, bool here,
    const char *todo, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The array of that name, where the look is printed as JSON. */
void cluster_look_begin(struct cluster_looking *status, const char *name);
void cluster_look_end(struct cluster_looking *status);

/* Whether a line of the text is the one that is wanted. */
bool cluster_look_has_line(const struct buf *lines, struct span wanted);

/* A record that is no node's: of one that joins, or of a second one of a name. */
bool cluster_look_is_aside(const struct engine_node *node);

/* Of nodes that have not come over to the epoch that there is. */
enum err cluster_look_at_former(
    struct cluster_looking *status, struct store *store);
/* Nodes that run put no record, for want of a right: none counts as gone. */
bool cluster_look_hides(const struct cluster_looking *status);

/*
 * The node's last entry: of this one its state says it, of another one its record,
 * which may be old.
 */
uint64_t cluster_look_place(
    const struct cluster_looking *status, const struct engine_node *node);

/* A node that runs has put its text so long ago at most: roster.h. */
#define ROSTER_OLD_S (ROSTER_EACH_S + 15)

/*
 * Waits a few seconds for nodes that begin, and for records that are newer than the
 * look at the log; then has read what nodes lack. A record that is old all the same
 * was put by a process that puts no other one.
 */
enum err cluster_look_await(struct cluster_looking *status);
bool cluster_look_is_old(
    const struct cluster_looking *status, const struct engine_node *node);

/* Of those that are there, and those that are to be. */
enum err cluster_look_at_nodes(
    struct cluster_looking *status, struct store *store);

/* Whether each that is there gives its files to the others. */
enum err cluster_look_at_files(
    struct cluster_looking *status, struct store *store);
