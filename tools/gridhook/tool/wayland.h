/*
 * wayland: what a compositor offers to programs, asked on its socket without
 * a library: the first two requests of the protocol are all it takes.
 */
#pragma once

#include <stdbool.h>

#include "common/buf.h"
#include "common/err.h"

#define WAYLAND_NAMES_MAX 65536 /* bytes of `names` that are enough */

/*
 * The interfaces that it offers, appended to `names`, each with a newline
 * behind it. ERR_NOT_READY is "no display", ERR_TIMED_OUT one that does not
 * answer.
 */
enum err wayland_list(struct buf *names, struct fault *fault);

bool wayland_has(struct span names, const char *interface);

/* A clipboard for programs without a window, under either of its names. */
bool wayland_has_clipboard(struct span names);
#define WAYLAND_CLIPBOARD \
	"zwlr_data_control_manager_v1 or ext_data_control_manager_v1"
