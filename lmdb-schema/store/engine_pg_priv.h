/*
 * engine_pg_priv: a request of the door to PostgreSQL (engine_pg.h), for its
 * own files.
 */
#pragma once

#include <pthread.h>
#include <stdint.h>

#include "common/err.h"
#include "lmdb-schema/store/engine.h"
#include "lmdb-schema/store/engine_pause.h"
#include "lmdb-schema/store/pg.h"

/* One request at a time, on a connection of its own. */
struct lane {
	pthread_mutex_t lock;
	struct pg *pg; /* NULL: none was needed yet, or the last one ended */
	unsigned place; /* where it is; who is asked first */
	unsigned failed; /* of the last failure */
	int64_t barrier_ns; /* the last commit that was waited for */
	int64_t end_ns; /* of the request, over all places */
	struct engine_doubt doubt;
	struct fault fault; /* of the last failure */
};

struct door {
	struct engine engine; /* first: an engine is its door */
	struct pg_places *places;
	char base[ENGINE_EPOCH_NAME_MAX]; /* the cluster's name */
	char name[ENGINE_EPOCH_NAME_MAX]; /* and with its epoch */
	/* An append holds the environment, and a read waits for it. */
	struct lane appends[STORE_ENVS], reads[STORE_ENVS], heads, nodes, notes;
	struct engine_pause pause;
};

static inline struct pg_value
number(uint64_t value)
{
	return (struct pg_value){.is_number = true, .number = value};
}

static inline struct pg_value
bytes(struct span value)
{
	return (struct pg_value){.bytes = value};
}

static inline struct pg_value
name_of(const struct door *door)
{
	return bytes(span_of(door->name));
}

/* Begins a request, on a lane that is locked. */
void engine_pg_begin(struct lane *lane, int64_t end_ns);

/*
 * Connects where that is needed, and asks; once more where it was not sent, or
 * the server is no primary any more. See pg_ask() for what fails.
 */
enum err engine_pg_ask(struct door *door, struct lane *lane, const char *sql,
    const struct pg_value *values, unsigned count);

/*
 * The same for a statement that may make the tables: where one is missing, they
 * are made, and it is asked again.
 */
enum err engine_pg_change(struct door *door, struct lane *lane, const char *sql,
    const struct pg_value *values, unsigned count);

/* Waits until all that this connection has shown is on the standbys. */
enum err engine_pg_barrier(struct door *door, struct lane *lane);

/* The failure of a request that may be sent again. */
enum err engine_pg_as_read(enum err err);

/* Notes whether the server is there, and logs a change. */
void engine_pg_note(struct door *door, struct lane *lane, enum err err);

/* The rights that are lacking, whose text *out has; false: none, or no answer. */
bool engine_pg_lacks(
    struct engine_trouble *out, struct door *door, struct lane *lane);

/*
 * Whether a statement failed as the user has not the right, which is noted: others
 * may go on, so that engine_pg_note() is not for it.
 */
bool engine_pg_denied(struct door *door, struct lane *lane, enum err err);

/* Behind a write: the user may have all rights again. */
void engine_pg_written(struct door *door, struct lane *lane);

/* The function of engine.h. */
enum err engine_pg_rights(struct engine *engine);

/* Ends a connection that is within a transaction. */
void engine_pg_end(struct lane *lane);

/* Adds the functions for gridctl cluster. */
void engine_pg_for_upkeep(struct engine *engine);
