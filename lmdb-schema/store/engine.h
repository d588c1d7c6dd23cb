/*
 * engine: the ordered log that several nodes share, one for each environment.
 * Each entry has a number, from 1 on without gaps, and is there for good once
 * it was appended.
 *
 * A door has these functions; a store without an engine (one machine) commits
 * to its own files alone.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/span.h"
#include "lmdb-schema/store/engine_trouble.h"
#include "lmdb-schema/store/store.h"

#define ENGINE_ID_LEN 16
#define ENGINE_CHAIN_LEN 32
#define ENGINE_CHAIN_AT 17 /* where an entry has its own chain */

/* A cluster's name; and with its epoch, which comes behind it from 1 on. */
#define ENGINE_NAME_MAX 64
#define ENGINE_EPOCH_NAME_MAX (ENGINE_NAME_MAX + 24)
#define ENGINE_EPOCH_TEXT_MAX 160

/* A node, as it tells the others of itself. Texts end with a NUL. */
#define ENGINE_NODE_NAME_MAX 64
#define ENGINE_NODE_TEXT_MAX 256
#define ENGINE_RUN_LEN 20
#define ENGINE_RUN_JOINS "joins" /* a node that joins: join_record.h */
#define ENGINE_RUN_TWIN "twin" /* a node whose name another one has */

struct engine_node {
	char name[ENGINE_NODE_NAME_MAX]; /* letters, digits, '.', '-', '_' */
	char address[ENGINE_NODE_TEXT_MAX]; /* of its nginx; "": not told */
	char program
	    [ENGINE_NODE_TEXT_MAX]; /* its version; a twin's host, address */
	/* Letters and digits, of one start; or one of ENGINE_RUN_... */
	char run[ENGINE_RUN_LEN + 1];
	uint64_t beat; /* grows with each record of a run */
	/*
	 * Entries of the state that it has; the import that it shows, for live;
	 * and for the catalogue the version at which it had all snapshots of
	 * its part (upkeep/keeping.h).
	 */
	uint64_t places[STORE_ENVS];
	unsigned log_version; /* of entries that it reads: write_log.h */
};

/* A server of the engine itself, as it answers. */
struct engine_server {
	const char *address;
	bool there, leads;
	bool led; /* it has a leader: a majority is there */
	char version[ENGINE_NODE_TEXT_MAX]; /* "": not told */
	const char *why; /* it is not there; or there, and refuses; or NULL */
};

struct engine {
	const char *title; /* of what keeps the log: "etcd" */
	/* By the functions of engine_trouble.h alone. */
	struct engine_trouble trouble, rights_trouble;

	/*
	 * Appends the entry, if the last one's number is `after`, and its chain
	 * (write_log.h) is `chain`, ENGINE_CHAIN_LEN bytes:
	 *
	 *   ERR_OK       it is number after + 1, on a majority's disks
	 *   ERR_BEHIND   it was not appended: the log is at another number
	 *   ERR_AWAY     it was surely not appended
	 *   ERR_UNKNOWN  it may have been: the same call again finds out, by
	 *                `id`, ENGINE_ID_LEN bytes
	 *   ERR_NOT_FOUND  it was not appended: an entry behind `after` is
	 *                trimmed
	 *   ERR_FORKED   it was not appended: the log has not the entries that
	 *                this node has
	 */
	enum err (*append)(struct engine *engine, enum store_env log,
	    uint64_t after, struct span chain, struct span id,
	    struct span entry);

	/*
	 * Calls `each` for the entries behind number `after`, in order.
	 * ERR_AWAY when the log cannot be read; ERR_NOT_FOUND when the one
	 * behind `after` is trimmed.
	 */
	enum err (*read)(struct engine *engine, enum store_env log,
	    uint64_t after,
	    enum err (*each)(void *context, uint64_t number, struct span entry),
	    void *context);

	/*
	 * The number of each log's last entry; ERR_AWAY. Without `sure` it may
	 * be that of a moment before: a server that another has taken over
	 * from shows it for half a second. With it, ERR_AWAY at once for a
	 * while after a failure, as of an append.
	 */
	enum err (*heads)(
	    struct engine *engine, bool sure, uint64_t heads[STORE_ENVS]);

	/*
	 * Puts the node's record, which ends when no other follows within
	 * `seconds`:
	 *
	 *   ERR_EXISTS  there is one of that name and another run, in *other
	 *   ERR_AWAY    it may not be there
	 */
	enum err (*node_put)(struct engine *engine,
	    const struct engine_node *node, unsigned seconds,
	    struct engine_node *other);

	/*
	 * Whether the user may do all that a node does; it changes nothing. NULL:
	 * it cannot be asked.
	 *
	 *   ERR_DENIED  a right is lacking: engine_lacks_rights() says which
	 *   ERR_AWAY    it is not known
	 */
	enum err (*rights)(struct engine *engine);

	/* The records that have not ended, by name; ERR_AWAY. */
	enum err (*nodes)(struct engine *engine,
	    enum err (*each)(void *context, const struct engine_node *node),
	    void *context);

	/* --- for gridctl cluster ------------------------------------------ */

	/* Removes the entries up to this one; the last one stays. ERR_AWAY. */
	enum err (*trim)(
	    struct engine *engine, enum store_env log, uint64_t up_to);

	/* Ends a node's record. ERR_AWAY. */
	enum err (*node_drop)(struct engine *engine, const char *name);

	/*
	 * Texts by name, of '/' and what a node's name has: those whose name
	 * begins with `prefix`, in order of their names. ERR_AWAY.
	 */
	enum err (*note_put)(
	    struct engine *engine, struct span name, struct span text);
	enum err (*note_drop)(struct engine *engine, struct span name);
	enum err (*notes)(struct engine *engine, const char *prefix,
	    enum err (*each)(void *context, struct span name, struct span text),
	    void *context);

	/*
	 * The cluster's epoch, which the engine was opened for or another one,
	 * as engine_epoch_text() makes it; empty: none was begun.
	 * ERR_AWAY.
	 */
	enum err (*epoch)(struct engine *engine, struct buf *text);

	/*
	 * Begins epoch `now` where the one before is still `before`, with a log
	 * of the state whose entries up to `number` are trimmed, with the chain
	 * of the last one. Nodes of another epoch write nothing from then on.
	 *
	 *   ERR_EXISTS   the epoch is another one, or `number` is 0 and the log
	 *                before has an entry
	 *   ERR_UNKNOWN  ask for the epoch
	 */
	enum err (*begin)(struct engine *engine, struct span before,
	    struct span now, uint64_t number, struct span chain);

	/* Asks each server that the settings name. NULL: none is asked. */
	enum err (*servers)(struct engine *engine,
	    enum err (*each)(void *context, const struct engine_server *server),
	    void *context);

	void (*close)(struct engine *engine);
};

/*
 * A record beside that of a node, whose name it has with the run behind: of one that
 * is no part of the cluster yet. It has no address, so that nobody asks there.
 */
void engine_node_aside(
    struct engine_node *out, const struct engine_node *node, const char *run);

/* The number that an epoch's text begins with; 0 for one that does not. */
uint64_t engine_epoch_number(struct span text);

/*
 * Replaces the text by that of an epoch: "EPOCH NUMBER CHAIN", of the entry that it
 * began with.
 */
void engine_epoch_text(
    struct buf *text, uint64_t epoch, uint64_t number, struct span chain);

/* "grid" of epoch 0, "grid.7" of epoch 7. */
void engine_epoch_name(
    char out[ENGINE_EPOCH_NAME_MAX], const char *name, uint64_t epoch);

/* ERR_BAD_INPUT for a name that could be taken for one with its epoch. */
enum err engine_check_name(const char *name, struct fault *fault);

/* The head of a log that has ended with its epoch: no entry comes behind it. */
#define ENGINE_ENDED (UINT64_C(1) << 62)

/*
 * Makes the state's log, as this engine shows it, one that has ended: nothing is
 * read of it or appended. The rest of the engine goes on.
 */
void engine_end(struct engine *engine);
