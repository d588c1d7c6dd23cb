/*
 * engine_etcd_priv: a request of the door to etcd (engine_etcd.h), for its own files.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/span.h"
#include "common/web/ask.h"
#include "lmdb-schema/store/engine.h"
#include "lmdb-schema/store/engine_etcd.h"
#include "lmdb-schema/store/engine_pause.h"
#include "lmdb-schema/store/etcd_text.h"

#define ENGINE_ETCD_URL_MAX 320
#define MEMBERS_TEXT_MAX 2048
#define TRIED_MAX 1024
#define SAID_MAX (ETCD_FAULT_MAX + 64)

/* One request at a time, on a connection of its own. */
struct lane {
	pthread_mutex_t lock;
	struct asker *asker; /* NULL: none was needed yet */
	unsigned member; /* who is asked first */
	char token[ETCD_TOKEN_MAX];
	struct buf body, answer;
	int64_t end_ns; /* of the request, over all members */
	char tried[TRIED_MAX]; /* of it, the members that failed, and why */
	char said[SAID_MAX]; /* by the member, of its last failure */
	bool refused; /* the request: engine_trouble.h */
	bool writes; /* the request: it changes keys */
	bool denied; /* the right to do so: nothing else is away */
	struct engine_doubt doubt;
};

struct etcd {
	struct engine engine; /* first: an engine is its etcd */
	char *texts[6]; /* of the settings */
	struct ask_trust trust;
	const char *user, *password;
	const char *name; /* of the cluster */
	uint64_t epoch;
	char prefix[ENGINE_EPOCH_NAME_MAX]; /* of its keys */
	char members[MEMBERS_TEXT_MAX]; /* each ends with NUL */
	const char *member[ENGINE_ETCD_MEMBERS];
	unsigned count;
	/* An append holds the environment, and a read waits for it. */
	struct lane appends[STORE_ENVS], reads[STORE_ENVS], heads, nodes, notes;
	struct engine_pause pause;
};

static inline struct span
name_of(const struct etcd *etcd)
{
	return span_of(etcd->prefix);
}

/* Of an answer that is none: nothing is known. */
static inline enum err
engine_etcd_as_away(enum err err)
{
	return err == ERR_BAD_INPUT || err == ERR_NOT_FOUND ? ERR_AWAY : err;
}

void engine_etcd_lane_init(struct lane *lane);
void engine_etcd_lane_fini(struct lane *lane);

/*
 * Asks by the lane's body, on a lane that is locked: the members in turn; a write ends
 * with the first that has it. The lane has the answer, which is of status 200.
 *
 *   ERR_AWAY       nothing was done
 *   ERR_UNKNOWN    whether it was is not known; of what `reads`, ERR_AWAY
 *   ERR_TOO_LARGE  for etcd's own limits
 */
enum err engine_etcd_ask(
    struct etcd *etcd, struct lane *lane, const char *path, bool reads);

/* The same of the lane's member alone; and without a login, with any status. */
enum err engine_etcd_ask_one(
    struct etcd *etcd, struct lane *lane, const char *path);
enum err engine_etcd_ask_member(struct etcd *etcd, struct lane *lane,
    const char *path, const struct buf *body, int *status);

/* Why the member that was asked last has failed. */
const char *engine_etcd_why(const struct lane *lane, enum err err);

/* Notes whether etcd is there, and logs a change. */
void engine_etcd_note(struct etcd *etcd, const struct lane *lane, enum err err);

/* Behind a write: the user may have all rights again. */
void engine_etcd_written(struct etcd *etcd, struct lane *lane);

/* The function of engine.h. */
enum err engine_etcd_rights(struct engine *engine);

/* Add the functions for nodes and members, and for gridctl cluster. */
void engine_etcd_for_nodes(struct engine *engine);
void engine_etcd_for_upkeep(struct engine *engine);
