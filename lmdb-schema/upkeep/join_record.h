/*
 * join_record: the record (engine.h) of a node while it joins, so that the log
 * is not trimmed behind the checkpoint that it gets (checkpoint_trim()): it has
 * no entry yet.
 */
#pragma once

#include <pthread.h>

#include "common/err.h"
#include "lmdb-schema/store/engine.h"

struct join_record {
	struct engine *engine;
	struct engine_node node;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	bool ends, runs;
};

/* Puts the record, and keeps it until join_record_end(). ERR_AWAY. */
enum err join_record_begin(struct join_record *record, struct engine *engine,
    const char *dir, struct fault *fault);

/* Removes it; one that was not begun, all zeros, has none. */
void join_record_end(struct join_record *record);
