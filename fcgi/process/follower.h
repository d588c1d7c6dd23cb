/*
 * follower: the process that takes in what other nodes have written, where the
 * data directory is one of several (docs/cluster.md).
 */
#pragma once

#include <sys/types.h>

#include "fcgi/metrics.h"
#include "fcgi/process/listen.h"
#include "fcgi/settings.h"

/* How long after its end the next one is started. */
#define FOLLOWER_PAUSE_S 2

/* Starts it; 0 where there is one node alone, or after a failure. */
pid_t follower_start(const struct api_settings *settings,
    const struct listen *listen, struct metrics *metrics);
