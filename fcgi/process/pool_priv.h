/* pool_priv: the supervisor's state, for pool*.c alone. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "fcgi/process/pool.h"

#define SECOND ((int64_t)1000000000)
#define NEVER INT64_MAX

struct pool_slot {
	bool slow;
	bool ready;
	bool patient; /* its worker stays even without a store */
	pid_t pid; /* 0: none */
	pid_t old; /* serves until pid does */
	int64_t began, pause;
	int64_t due; /* when to start a worker; NEVER while there is one */
};

/* A worker that was told to leave, and its deadline. */
struct pool_leaver {
	pid_t pid;
	int64_t deadline;
};

struct pool {
	const struct pool_job *job;
	struct pool_slot *slots;
	unsigned count;
	struct pool_leaver *leavers; /* two for each slot */
	unsigned leaver_count;
	unsigned rolling; /* the slot being replaced; count: none */
	int signals, ready[2];
	int64_t now;
	int64_t housekeeping_due;
	pid_t housekeeper;
	pid_t sender; /* to hooks */
	int64_t sender_due;
	pid_t follower; /* of other nodes */
	int64_t follower_due;
	int64_t stop_deadline; /* NEVER: not stopping */
	bool served; /* every slot has been ready once */
	bool failed;
};

static inline bool
pool_is_stopping(const struct pool *pool)
{
	return pool->stop_deadline != NEVER;
}

/* Starts a new worker in the slot; after a failure it is due again later. */
void pool_start(struct pool *pool, struct pool_slot *slot);
void pool_start_due(struct pool *pool);
