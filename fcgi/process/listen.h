/*
 * listen: the two sockets on which nginx finds the pools. They are ours, or
 * systemd made them and hands them over.
 */
#pragma once

#include <stdbool.h>

#include "common/err.h"
#include "fcgi/settings.h"

enum { LISTEN_PAGES, LISTEN_SLOW, LISTEN_COUNT };

struct listen {
	int fds[LISTEN_COUNT]; /* non-blocking, not inherited by exec */
	bool handed_over; /* systemd's: it keeps them when we go */
	char *paths[LISTEN_COUNT]; /* of our own, to be removed */
};

/*
 * Takes LISTEN_FDS (two, by the names "pages" and "slow", else in that order),
 * or else binds the settings' paths. A file that a crash left is replaced, also
 * while workers whose supervisor was killed finish what is under way there;
 * ERR_BUSY, after two seconds, when another gridapi listens there.
 */
enum err listen_open(struct listen *listen, const struct api_settings *settings,
    struct fault *fault);

/* No new connection can be made; those that queue can still be accepted. */
void listen_unlink(struct listen *listen);

/* Unlinks and closes; fine after a failed listen_open(). */
void listen_close(struct listen *listen);
