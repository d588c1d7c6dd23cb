/*
 * worker: one process of a pool, after the fork: opens the store, accepts,
 * serves with several threads. The door to libfcgi.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "fcgi/metrics.h"
#include "fcgi/settings.h"

/* Signals of the supervisor to a worker. */
#define WORKER_LEAVE SIGTERM /* finish what is under way, then end */
#define WORKER_LAST_CALL SIGUSR1 /* serve also those who queue, then end */

/* Exit codes of a worker. */
enum {
	WORKER_DONE = 0, /* was told to */
	WORKER_FAILED = 1,
	WORKER_NO_STORE = 3 /* the data directory cannot be opened */
};

struct worker_job {
	const struct api_settings *settings;
	struct metrics *metrics;
	int listener; /* non-blocking, shared with other workers */
	bool handed_over; /* the listener is systemd's, which keeps it */
	pid_t supervisor; /* whose death ends the worker; 0: nobody's */
	bool slow; /* which of the two pools */
	bool patient; /* without a store it answers 503 until it has one */
	int ready; /* a pipe: the pid is written when it serves; -1: none */
};

/*
 * Serves until told to end; all signals must be blocked. It is ready when it
 * has opened the store. The caller has
 * WORKER_LEAVE sent when the supervisor dies (PR_SET_PDEATHSIG). Then nothing
 * more can connect to the listener, unless it is systemd's; those that queue
 * are served, and after the setting `drain` the worker is dead in any case.
 */
int worker_run(const struct worker_job *job);
