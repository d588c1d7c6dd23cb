/*
 * housekeep: periodic work in the data directory: removes replaced snapshots
 * whose time is over, frees what processes that died still hold, counts what is
 * stored for /metrics (stock.h), and reads a part of all files (scrub.h).
 */
#pragma once

#include <sys/types.h>

#include "fcgi/metrics.h"
#include "fcgi/process/listen.h"
#include "fcgi/settings.h"

#define HOUSEKEEP_EVERY_S 60

/*
 * Does it in a child process, so that the supervisor never opens the store.
 * The child has no listener open, and ends with the supervisor. Its pid, or 0
 * when there is none; its failures are logged.
 */
pid_t housekeep_start(const struct api_settings *settings,
    const struct listen *listen, struct metrics *metrics);
