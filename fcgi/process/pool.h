/*
 * pool: the supervisor. It owns the sockets, keeps the workers of both pools
 * alive and never serves itself, so that it has nothing to crash on.
 *
 *	SIGTERM, SIGINT  end: what is under way is finished, for so long as
 *	                 the setting `drain` allows; a second one ends at once
 *	SIGHUP           read the settings again, replace the workers one by
 *	                 one; no request is lost
 */
#pragma once

#include "common/err.h"
#include "fcgi/metrics.h"
#include "fcgi/process/listen.h"
#include "fcgi/settings.h"

struct pool_job {
	struct api_settings *settings;
	struct metrics *metrics;
	struct listen *listen;
	/*
	 * Reads the settings again into *settings, or leaves them and has
	 * logged why not. Sockets and numbers of processes stay as they were.
	 */
	void (*reload)(void *context);
	void *context;
};

/*
 * Runs until told to end. 0; 1 when it could not begin to serve, for a reason
 * that has been logged.
 */
int pool_run(const struct pool_job *job);
