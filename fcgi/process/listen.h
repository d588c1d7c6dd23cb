/*
 * listen: the two sockets on which nginx finds the pools. gridapi binds them,
 * or systemd does and passes them.
 */
#pragma once

#include <stdbool.h>

#include "common/err.h"
#include "fcgi/settings.h"

enum { LISTEN_PAGES, LISTEN_SLOW, LISTEN_COUNT };

struct listen {
	int fds[LISTEN_COUNT]; /* non-blocking, not inherited by exec */
	bool handed_over; /* systemd's, which keeps them after our end */
	char *paths[LISTEN_COUNT]; /* bound by us, to be removed */
};

/*
 * Takes LISTEN_FDS (two, named "pages" and "slow", or in that order), or else
 * binds the paths of the settings. Replaces a socket file that a crash has
 * left, even while workers of a killed supervisor finish their requests there.
 * ERR_BUSY, after two seconds, when another gridapi listens there.
 */
enum err listen_open(struct listen *listen, const struct api_settings *settings,
    struct fault *fault);

/* Refuses new connections; queued ones can still be accepted. */
void listen_unlink(struct listen *listen);

/* Unlinks and closes; fine after a failed listen_open(). */
void listen_close(struct listen *listen);
