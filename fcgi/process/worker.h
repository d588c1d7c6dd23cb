/*
 * worker: one process of a pool. After the fork it opens the store, accepts
 * connections, and serves requests with several threads.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "fcgi/metrics.h"
#include "fcgi/settings.h"

/* Signals of the supervisor to a worker. */
#define WORKER_LEAVE SIGTERM /* finish running requests, then end */
#define WORKER_LAST_CALL SIGUSR1 /* serve queued requests as well, then end */

/* Exit codes of a worker. */
enum {
	WORKER_DONE = 0, /* as told */
	WORKER_FAILED = 1,
	WORKER_NO_STORE = 3 /* the data directory cannot be opened */
};

struct worker_job {
	const struct api_settings *settings;
	struct metrics *metrics;
	int listener; /* non-blocking, shared with other workers */
	bool handed_over; /* the listener is systemd's, which keeps it */
	pid_t supervisor; /* its death ends the worker; 0: none */
	bool slow; /* which of the two pools */
	bool patient; /* without a store, answer 503 until there is one */
	int ready; /* a pipe for the pid of a serving worker; -1: none */
};

/*
 * Serves until a signal ends it; all signals must be blocked. The worker is
 * ready when it has opened the store. The caller arranges that WORKER_LEAVE is
 * sent when the supervisor dies (PR_SET_PDEATHSIG). After that no program can
 * connect to the listener, unless it is systemd's; queued requests are served,
 * and after the setting `drain` the worker is dead in any case.
 */
int worker_run(const struct worker_job *job);
