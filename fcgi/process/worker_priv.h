/*
 * worker_priv: internals shared by worker.c, the process, and worker_thread.c,
 * its threads.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "common/buf.h"
#include "fcgi/process/fcgiparams.h"
#include "fcgi/process/incoming.h"
#include "fcgi/process/kept.h"
#include "fcgi/process/record.h"
#include "fcgi/process/worker.h"
#include "fcgi/serve.h"
#include "fcgi/server.h"

enum stop { STOP_NOT, STOP_LEAVE, STOP_LAST_CALL };

struct worker {
	const struct worker_job *job;
	_Atomic(struct server *) server; /* NULL while no store can be opened */
	struct kept_connections *kept;
	int wake; /* eventfd: stays readable once the worker must stop */
	_Atomic enum stop stop;
	unsigned threads;
	atomic_uint busy; /* of the slow pool's threads; unused in the other */
};

struct worker_thread {
	struct worker *worker;
	struct serving *serving; /* NULL until there is a server */
	pthread_t id;
	struct fcgiparams *params;
	struct incoming incoming;
	struct record record;
	struct buf body;
};

/*
 * Prepares a thread before it starts. False with errno when a resource is
 * exhausted; thread_close() frees the rest.
 */
bool thread_open(struct worker_thread *thread, struct worker *worker);
void thread_close(struct worker_thread *thread);

/* The main function of a thread: serves until the worker must stop. */
void *thread_main(void *arg);
