/*
 * x11: what an X server does for the tools. x11.c, x11_picture.c,
 * x11_selection.c, x11_key.c and x11_window.c are together the door to libxcb; they share
 * x11_priv.h, and nothing else includes either.
 *
 * One connection, one thread. Every fault begins with a text of tool.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/span.h"
#include "tools/gridhook/tool/picture.h"

struct x11;

/* To the server that DISPLAY names; ERR_NOT_READY is "no display". */
enum err x11_open(struct x11 **out, struct fault *fault);
void x11_close(struct x11 *x11);

#define X11_ALL_MONITORS (-1)

/*
 * Takes a picture of the screen: all of it, or one monitor (0 is the primary
 * one). ERR_NOT_FOUND when there is no such monitor.
 */
enum err x11_picture(
    struct x11 *x11, int64_t monitor, struct picture *out, struct fault *fault);

/*
 * The hearer of a key: a program that has grabbed it, as desktops grab media
 * keys; else the window with the focus, which may do nothing with it.
 */
enum x11_ear { X11_EAR_NONE, X11_EAR_FOCUS, X11_EAR_GRAB };

/*
 * Presses and releases the key with that symbol, as a keyboard would; *ear
 * tells who heard. ERR_NOT_FOUND when no key has it, the server has no XTEST,
 * or nobody would hear: then it is not pressed.
 */
enum err x11_key(
    struct x11 *x11, uint32_t symbol, enum x11_ear *ear, struct fault *fault);

/* The end of an attempt to bring a window to the front. */
enum x11_front {
	X11_FRONT_NO_MANAGER, /* no window manager that tells of windows */
	X11_FRONT_NO_WINDOW, /* none fits */
	X11_FRONT_ASKED, /* the manager was asked, and did not yet do it */
	X11_FRONT_DONE
};

/*
 * Brings the uppermost window that fits, by its WM_CLASS, to the front, on
 * whatever desktop it is, and gives it the focus.
 */
enum x11_front x11_to_front(struct x11 *x11,
    bool (*fits)(void *arg, struct span instance, struct span class),
    void *arg);

/*
 * The clipboard's text, appended. At the buffer's ceiling it is cut, and *cut
 * set. ERR_NOT_FOUND: nobody owns it, or it is no text. ERR_TIMED_OUT: its
 * owner does not answer within `timeout_ms`.
 */
enum err x11_selection_read(struct x11 *x11, struct buf *text, bool *cut,
    int timeout_ms, struct fault *fault);

/*
 * Becomes the owner of the clipboard. With x11_selection_serve() it then
 * hands `text` to programs that ask, until another one takes the clipboard,
 * the server goes, or `life_fd` (-1: none) can be read or is closed.
 */
enum err x11_selection_own(struct x11 *x11, struct fault *fault);
void x11_selection_serve(struct x11 *x11, struct span text, int life_fd);

/* Leaves the clipboard without an owner: empty. */
enum err x11_selection_clear(struct x11 *x11, struct fault *fault);
