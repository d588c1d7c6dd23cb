/*
 * pool: the supervisor. It owns the sockets, keeps the workers of both pools
 * running, and serves no request itself, so that no request can crash it.
 *
 *	SIGTERM, SIGINT  end: running requests are finished within the
 *	                 setting `drain`; a second signal ends at once
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
	 * Reads the settings again into *settings, or leaves them unchanged and
	 * logs the reason. Sockets and numbers of processes do not change.
	 */
	void (*reload)(void *context);
	void *context;
};

/*
 * Runs until a signal ends it: 0. 1 when it cannot serve, with the reason in
 * the log.
 */
int pool_run(const struct pool_job *job);
