/*
 * x11_window: windows of other programs, by what a window manager tells of
 * them (EWMH), and who would hear a key.
 */
#include "tools/gridhook/tool/x11_priv.h"

#include <assert.h>
#include <stdlib.h>
#include <time.h>

#define WINDOWS_MAX 4096
#define TEXT_LONGS 256 /* of a property, in units of 4 bytes */
#define ACTIVE_TRIES 20
#define ACTIVE_STEP_MS 50
#define SOURCE_PAGER 2 /* a person's wish, by EWMH */

static xcb_atom_t
atom(struct x11 *x11, const char *name)
{
	xcb_intern_atom_reply_t *reply = xcb_intern_atom_reply(x11->server,
	    xcb_intern_atom(x11->server, 1, (uint16_t)strlen(name), name),
	    NULL);
	xcb_atom_t found = reply == NULL ? XCB_ATOM_NONE : reply->atom;

	free(reply);
	return found;
}

/* The property's value, the caller's to free(); NULL when there is none. */
static xcb_get_property_reply_t *
property(struct x11 *x11, xcb_window_t window, const char *name, uint32_t longs)
{
	xcb_atom_t wanted = atom(x11, name);
	xcb_get_property_reply_t *reply;

	if (wanted == XCB_ATOM_NONE)
		return NULL;
	reply = xcb_get_property_reply(x11->server,
	    xcb_get_property(x11->server, 0, window, wanted,
		XCB_GET_PROPERTY_TYPE_ANY, 0, longs),
	    NULL);
	if (reply != NULL && xcb_get_property_value_length(reply) > 0)
		return reply;
	free(reply);
	return NULL;
}

static xcb_window_t
window_in(struct x11 *x11, xcb_window_t window, const char *name)
{
	xcb_get_property_reply_t *reply = property(x11, window, name, 1);
	xcb_window_t found = XCB_WINDOW_NONE;

	if (reply != NULL && reply->format == 32)
		found = *(xcb_window_t *)xcb_get_property_value(reply);
	free(reply);
	return found;
}

/* A window manager is there, and lets windows be brought to the front. */
static bool
has_manager(struct x11 *x11)
{
	xcb_window_t root = x11->screen->root;
	xcb_window_t check = window_in(x11, root, "_NET_SUPPORTING_WM_CHECK");
	xcb_atom_t wanted = atom(x11, "_NET_ACTIVE_WINDOW");
	xcb_get_property_reply_t *reply;
	bool found = false;

	/* A manager that has ended leaves its property, but no window. */
	if (check == XCB_WINDOW_NONE || wanted == XCB_ATOM_NONE ||
	    window_in(x11, check, "_NET_SUPPORTING_WM_CHECK") != check)
		return false;
	reply = property(x11, root, "_NET_SUPPORTED", WINDOWS_MAX);
	if (reply != NULL && reply->format == 32) {
		const xcb_atom_t *atoms = xcb_get_property_value(reply);

		for (uint32_t i = 0; i < reply->value_len; i++)
			found = found || atoms[i] == wanted;
	}
	free(reply);
	return found;
}

/* WM_CLASS is the instance, a NUL, the class, a NUL. */
static bool
is_of(struct x11 *x11, xcb_window_t window,
    bool (*fits)(void *arg, struct span instance, struct span class), void *arg)
{
	xcb_get_property_reply_t *reply =
	    property(x11, window, "WM_CLASS", TEXT_LONGS);
	struct span instance, rest;
	bool fit = false;

	if (reply != NULL && reply->format == 8) {
		rest = span_make(xcb_get_property_value(reply),
		    (size_t)xcb_get_property_value_length(reply));
		if (rest.len > 0 && rest.ptr[rest.len - 1] == '\0')
			rest.len--;
		fit = span_cut(&instance, &rest, '\0') &&
		    fits(arg, instance, rest);
	}
	free(reply);
	return fit;
}

/* Of several windows the uppermost. */
static xcb_window_t
find_window(struct x11 *x11,
    bool (*fits)(void *arg, struct span instance, struct span class), void *arg)
{
	xcb_get_property_reply_t *reply = property(
	    x11, x11->screen->root, "_NET_CLIENT_LIST_STACKING", WINDOWS_MAX);
	xcb_window_t found = XCB_WINDOW_NONE;
	const xcb_window_t *windows;

	if (reply == NULL)
		reply = property(
		    x11, x11->screen->root, "_NET_CLIENT_LIST", WINDOWS_MAX);
	if (reply != NULL && reply->format == 32) {
		windows = xcb_get_property_value(reply);
		for (uint32_t i = reply->value_len;
		     i > 0 && found == XCB_WINDOW_NONE; i--)
			if (is_of(x11, windows[i - 1], fits, arg))
				found = windows[i - 1];
	}
	free(reply);
	return found;
}

static void
ask_for_front(struct x11 *x11, xcb_window_t window)
{
	xcb_client_message_event_t event = {.response_type = XCB_CLIENT_MESSAGE,
	    .format = 32,
	    .window = window,
	    .type = atom(x11, "_NET_ACTIVE_WINDOW"),
	    .data.data32 = {SOURCE_PAGER, XCB_CURRENT_TIME}};

	xcb_send_event(x11->server, 0, x11->screen->root,
	    XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY |
		XCB_EVENT_MASK_SUBSTRUCTURE_REDIRECT,
	    (const char *)&event);
	xcb_flush(x11->server);
}

static bool
comes_to_front(struct x11 *x11, xcb_window_t window)
{
	static const struct timespec step = {
	    .tv_nsec = ACTIVE_STEP_MS * 1000000L};

	for (int tries = 0; tries < ACTIVE_TRIES; tries++) {
		if (window_in(x11, x11->screen->root, "_NET_ACTIVE_WINDOW") ==
		    window)
			return true;
		nanosleep(&step, NULL);
	}
	return false;
}

enum x11_front
x11_to_front(struct x11 *x11,
    bool (*fits)(void *arg, struct span instance, struct span class), void *arg)
{
	xcb_window_t window;

	assert(fits != NULL);
	if (!has_manager(x11))
		return X11_FRONT_NO_MANAGER;
	window = find_window(x11, fits, arg);
	if (window == XCB_WINDOW_NONE)
		return X11_FRONT_NO_WINDOW;
	ask_for_front(x11, window);
	return comes_to_front(x11, window) ? X11_FRONT_DONE : X11_FRONT_ASKED;
}

/* --- the window that gets a key ------------------------------------------- */

/* A key that another has grabbed cannot be grabbed again. */
static bool
is_grabbed(struct x11 *x11, xcb_keycode_t code)
{
	xcb_window_t root = x11->screen->root;
	xcb_generic_error_t *error = xcb_request_check(x11->server,
	    xcb_grab_key_checked(x11->server, 0, root, XCB_NONE, code,
		XCB_GRAB_MODE_ASYNC, XCB_GRAB_MODE_ASYNC));
	bool grabbed = error != NULL && error->error_code == XCB_ACCESS;

	if (error == NULL)
		xcb_ungrab_key(x11->server, code, root, XCB_NONE);
	free(error);
	return grabbed;
}

/*
 * Keys go to the window with the focus, or to the one under the pointer; where
 * nothing has the focus they are lost, and no grab sees them.
 */
static enum x11_ear
ear_by_focus(struct x11 *x11, bool grabbed)
{
	xcb_get_input_focus_reply_t *focus = xcb_get_input_focus_reply(
	    x11->server, xcb_get_input_focus(x11->server), NULL);
	xcb_query_pointer_reply_t *pointer =
	    xcb_query_pointer_reply(x11->server,
		xcb_query_pointer(x11->server, x11->screen->root), NULL);
	enum x11_ear ear = X11_EAR_NONE;
	bool found = false;

	if (focus != NULL)
		found = focus->focus == XCB_INPUT_FOCUS_POINTER_ROOT ||
			focus->focus == x11->screen->root
		    ? pointer != NULL && pointer->child != XCB_WINDOW_NONE
		    : focus->focus != XCB_INPUT_FOCUS_NONE;
	if (grabbed && focus != NULL && focus->focus != XCB_INPUT_FOCUS_NONE)
		ear = X11_EAR_GRAB;
	else if (found)
		ear = X11_EAR_FOCUS;
	free(pointer);
	free(focus);
	return ear;
}

enum x11_ear
x11_ear(struct x11 *x11, xcb_keycode_t code)
{
	return ear_by_focus(x11, is_grabbed(x11, code));
}
