/* x11_priv: shared by x11*.c only. */
#pragma once

#include <xcb/xcb.h>

#include "tools/gridhook/tool/x11.h"

enum x11_atom {
	ATOM_CLIPBOARD,
	ATOM_INCR,
	ATOM_TARGETS,
	ATOM_TIMESTAMP,
	ATOM_UTF8_STRING,
	ATOM_PLAIN_UTF8,
	ATOM_TRANSFER, /* the property of ours that others write to */
	ATOM_COUNT
};

struct x11 {
	xcb_connection_t *server;
	xcb_screen_t *screen;
	xcb_window_t window; /* 0 until x11_window() */
	xcb_timestamp_t now; /* the server's, when we became owner */
	xcb_atom_t atoms[ATOM_COUNT];
};

/* An invisible window of ours and the atoms above, made on first use. */
enum err x11_window(struct x11 *x11, struct fault *fault);

/* The server went away, or refused: the fault says which. */
enum err x11_lost(struct x11 *x11, struct fault *fault);

/*
 * The next event, the caller's to free(). ERR_TIMED_OUT at `deadline_ms` of
 * the monotonic clock (-1: never), ERR_CLOSED when the server has gone or
 * `life_fd` stirred.
 */
enum err x11_event(struct x11 *x11, xcb_generic_event_t **out,
    int64_t deadline_ms, int life_fd);

int64_t x11_now_ms(void);

/* The one that would hear that key now. */
enum x11_ear x11_ear(struct x11 *x11, xcb_keycode_t code);
