#include "tools/gridhook/tool/x11_priv.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "common/date.h"

static const char *const atom_names[ATOM_COUNT] = {
    [ATOM_CLIPBOARD] = "CLIPBOARD",
    [ATOM_INCR] = "INCR",
    [ATOM_TARGETS] = "TARGETS",
    [ATOM_TIMESTAMP] = "TIMESTAMP",
    [ATOM_UTF8_STRING] = "UTF8_STRING",
    [ATOM_PLAIN_UTF8] = "text/plain;charset=utf-8",
    [ATOM_TRANSFER] = "GRIDHOOK_TRANSFER",
};

int64_t
x11_now_ms(void)
{
	return date_monotonic_ns() / 1000000;
}

enum err
x11_lost(struct x11 *x11, struct fault *fault)
{
	int code = xcb_connection_has_error(x11->server);

	assert(x11->server != NULL);
	if (code != 0) {
		fault_set(fault, "DISPLAY",
		    "no display: the X server has gone (error %d)", code);
		return ERR_CLOSED;
	}
	fault_set(fault, "DISPLAY",
	    "the desktop refused: the X server gave no answer");
	return ERR_DENIED;
}

enum err
x11_open(struct x11 **out, struct fault *fault)
{
	const char *name = getenv("DISPLAY");
	struct x11 *x11 = calloc(1, sizeof(*x11));
	xcb_screen_iterator_t screen;
	int number = 0, code;

	*out = NULL;
	if (x11 == NULL)
		return ERR_NO_MEMORY;
	x11->server = xcb_connect(NULL, &number);
	code = xcb_connection_has_error(x11->server);
	screen = xcb_setup_roots_iterator(xcb_get_setup(x11->server));
	if (code == 0) {
		while (number-- > 0 && screen.rem > 1)
			xcb_screen_next(&screen);
		x11->screen = screen.data;
	}
	if (x11->screen == NULL) {
		fault_set(fault, "DISPLAY",
		    "no display: the X server \"%s\" cannot be reached "
		    "(error %d); is it running, and is XAUTHORITY right?",
		    name == NULL ? "" : name, code);
		x11_close(x11);
		return ERR_NOT_READY;
	}
	*out = x11;
	return ERR_OK;
}

void
x11_close(struct x11 *x11)
{
	if (x11 == NULL)
		return;
	xcb_disconnect(x11->server);
	free(x11);
}

/* All asked for before the first answer is waited for. */
static bool
find_atoms(struct x11 *x11)
{
	xcb_intern_atom_cookie_t asked[ATOM_COUNT];
	bool found = true;

	for (unsigned i = 0; i < ATOM_COUNT; i++)
		asked[i] = xcb_intern_atom(x11->server, 0,
		    (uint16_t)strlen(atom_names[i]), atom_names[i]);
	for (unsigned i = 0; i < ATOM_COUNT; i++) {
		xcb_intern_atom_reply_t *reply =
		    xcb_intern_atom_reply(x11->server, asked[i], NULL);

		x11->atoms[i] = reply == NULL ? XCB_ATOM_NONE : reply->atom;
		found = found && x11->atoms[i] != XCB_ATOM_NONE;
		free(reply);
	}
	return found;
}

enum err
x11_window(struct x11 *x11, struct fault *fault)
{
	static const uint32_t events[] = {XCB_EVENT_MASK_PROPERTY_CHANGE};

	assert(x11->server != NULL);
	if (x11->window != 0)
		return ERR_OK;
	if (!find_atoms(x11))
		return x11_lost(x11, fault);
	x11->window = xcb_generate_id(x11->server);
	xcb_create_window(x11->server, 0, x11->window, x11->screen->root, -10,
	    -10, 1, 1, 0, XCB_WINDOW_CLASS_INPUT_ONLY, XCB_COPY_FROM_PARENT,
	    XCB_CW_EVENT_MASK, events);
	return ERR_OK;
}

/* Whether there is something to read before the deadline. */
static enum err
await(struct x11 *x11, int64_t deadline_ms, int life_fd)
{
	struct pollfd wait[2] = {
	    {.fd = xcb_get_file_descriptor(x11->server), .events = POLLIN},
	    {.fd = life_fd, .events = POLLIN}};
	int64_t left = deadline_ms < 0 ? -1 : deadline_ms - x11_now_ms();

	if (deadline_ms >= 0 && left <= 0)
		return ERR_TIMED_OUT;
	if (poll(wait, 2, (int)left) < 0 && errno != EINTR)
		return err_from_errno(errno);
	return wait[1].revents != 0 ? ERR_CLOSED : ERR_OK;
}

enum err
x11_event(struct x11 *x11, xcb_generic_event_t **out, int64_t deadline_ms,
    int life_fd)
{
	enum err err = ERR_OK;

	assert(out != NULL);
	xcb_flush(x11->server);
	for (;;) {
		*out = xcb_poll_for_event(x11->server);
		if (*out != NULL)
			return ERR_OK;
		if (xcb_connection_has_error(x11->server) != 0)
			return ERR_CLOSED;
		if (err != ERR_OK)
			return err;
		err = await(x11, deadline_ms, life_fd);
	}
}
