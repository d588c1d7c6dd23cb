/*
 * housekeep: periodic work in the data directory: removes replaced snapshots
 * whose grace time is over, frees the reader slots of dead processes, counts
 * the stored data for /metrics (stock.h), and compares a part of all files with
 * their checksums (scrub.h).
 */
#pragma once

#include <sys/types.h>

#include "fcgi/metrics.h"
#include "fcgi/process/listen.h"
#include "fcgi/settings.h"

#define HOUSEKEEP_EVERY_S 60

/*
 * Works in a child process, so that the supervisor never opens the store. The
 * child has no listener open, and ends with the supervisor. Returns its pid, or
 * 0 when it could not be started; failures are logged.
 */
pid_t housekeep_start(const struct api_settings *settings,
    const struct listen *listen, struct metrics *metrics);
