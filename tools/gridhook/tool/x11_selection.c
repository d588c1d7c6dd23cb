/*
 * x11_selection: the clipboard of X, which has no place where a text is kept:
 * its owner is a program that hands the text over when another one asks.
 *
 * A reader asks the owner to write the text into a property of the reader's
 * window. A text too large for one property comes in pieces (INCR): each time
 * the reader deletes the property the next piece is put there, and an empty
 * one is the end. An owner that never answers costs us the time limit, no
 * more. As an owner we write the text in one piece: it is at most 1 MiB, and
 * servers take requests of 4 MiB and more; one that does not gets a refusal.
 */
#include "tools/gridhook/tool/x11_priv.h"

#include <assert.h>
#include <stdlib.h>

#define PIECE_WORDS 65536 /* of 4 bytes, asked for at a time */

/* --- reading -------------------------------------------------------------- */

struct reading {
	struct x11 *x11;
	struct buf *text;
	bool *cut;
	int timeout_ms;
	int64_t deadline_ms;
	struct fault *fault;
};

static enum err
too_late(const struct reading *reading)
{
	fault_set(reading->fault, "clipboard",
	    "timed out after %d ms: the program that owns the clipboard does "
	    "not answer",
	    reading->timeout_ms);
	return ERR_TIMED_OUT;
}

static enum err
no_text(const struct reading *reading)
{
	fault_set(
	    reading->fault, "clipboard", "not found: no text on the clipboard");
	return ERR_NOT_FOUND;
}

/* Waits for an event of the type that `is_wanted` agrees to. */
static enum err
await(const struct reading *reading,
    bool (*is_wanted)(const struct x11 *x11, const xcb_generic_event_t *event),
    xcb_generic_event_t **out)
{
	enum err err;

	for (;;) {
		err = x11_event(reading->x11, out, reading->deadline_ms, -1);
		if (err == ERR_TIMED_OUT)
			return too_late(reading);
		if (err != ERR_OK)
			return x11_lost(reading->x11, reading->fault);
		if (is_wanted(reading->x11, *out))
			return ERR_OK;
		free(*out);
		*out = NULL;
	}
}

static unsigned
type_of(const xcb_generic_event_t *event)
{
	return event->response_type & 0x7fu;
}

static bool
is_notify(const struct x11 *x11, const xcb_generic_event_t *event)
{
	const xcb_selection_notify_event_t *notify = (const void *)event;

	return type_of(event) == XCB_SELECTION_NOTIFY &&
	    notify->requestor == x11->window &&
	    notify->selection == x11->atoms[ATOM_CLIPBOARD];
}

static bool
is_piece(const struct x11 *x11, const xcb_generic_event_t *event)
{
	const xcb_property_notify_event_t *notify = (const void *)event;

	return type_of(event) == XCB_PROPERTY_NOTIFY &&
	    notify->window == x11->window &&
	    notify->atom == x11->atoms[ATOM_TRANSFER] &&
	    notify->state == XCB_PROPERTY_NEW_VALUE;
}

/* Adds what there is room for; the rest is cut off. */
static void
keep(const struct reading *reading, struct span bytes)
{
	size_t room = reading->text->max - reading->text->len;

	if (bytes.len > room) {
		bytes = span_sub(bytes, 0, room);
		*reading->cut = true;
	}
	buf_add_span(reading->text, bytes);
}

/* Latin-1, as the type STRING is, made UTF-8. */
static void
keep_latin1(const struct reading *reading, struct span bytes)
{
	for (size_t i = 0; i < bytes.len && !*reading->cut; i++) {
		uint8_t byte = (uint8_t)bytes.ptr[i];
		char pair[2] = {
		    (char)(0xc0 | byte >> 6), (char)(0x80 | (byte & 0x3f))};

		if (byte < 0x80)
			keep(reading, span_make(&bytes.ptr[i], 1));
		else
			keep(reading, span_make(pair, 2));
	}
}

/* The property as it stands now: its type and all its bytes; then deleted. */
static enum err
take_property(const struct reading *reading, xcb_atom_t *type, size_t *len)
{
	struct x11 *x11 = reading->x11;
	uint32_t at = 0, left;

	*len = 0;
	do {
		xcb_get_property_reply_t *reply =
		    xcb_get_property_reply(x11->server,
			xcb_get_property(x11->server, 1, x11->window,
			    x11->atoms[ATOM_TRANSFER], XCB_ATOM_ANY, at,
			    PIECE_WORDS),
			NULL);
		struct span bytes;

		if (reply == NULL)
			return x11_lost(x11, reading->fault);
		bytes = span_make(xcb_get_property_value(reply),
		    (size_t)xcb_get_property_value_length(reply));
		*type = reply->type;
		left = reply->bytes_after;
		*len += bytes.len;
		at += PIECE_WORDS;
		if (*type == XCB_ATOM_STRING)
			keep_latin1(reading, bytes);
		else if (*type != x11->atoms[ATOM_INCR])
			keep(reading, bytes);
		free(reply);
	} while (left > 0 && !*reading->cut);
	return buf_end(reading->text);
}

/* A text that comes in pieces; the property was deleted, so they begin. */
static enum err
take_pieces(const struct reading *reading)
{
	xcb_generic_event_t *event = NULL;
	xcb_atom_t type;
	size_t len = 1;
	enum err err = ERR_OK;

	while (err == ERR_OK && len > 0 && !*reading->cut) {
		err = await(reading, is_piece, &event);
		free(event);
		event = NULL;
		if (err == ERR_OK)
			err = take_property(reading, &type, &len);
	}
	return err;
}

/* Asks for one form of it; ERR_NOT_FOUND when the owner has not got it so. */
static enum err
ask(const struct reading *reading, xcb_atom_t target)
{
	struct x11 *x11 = reading->x11;
	xcb_generic_event_t *event = NULL;
	xcb_atom_t type = XCB_ATOM_NONE;
	size_t len;
	bool given;
	enum err err;

	xcb_delete_property(
	    x11->server, x11->window, x11->atoms[ATOM_TRANSFER]);
	xcb_convert_selection(x11->server, x11->window,
	    x11->atoms[ATOM_CLIPBOARD], target, x11->atoms[ATOM_TRANSFER],
	    XCB_CURRENT_TIME);
	err = await(reading, is_notify, &event);
	if (err != ERR_OK)
		return err;
	given = ((const xcb_selection_notify_event_t *)event)->property !=
	    XCB_ATOM_NONE;
	free(event);
	if (!given)
		return ERR_NOT_FOUND;
	err = take_property(reading, &type, &len);
	if (err == ERR_OK && type == x11->atoms[ATOM_INCR])
		err = take_pieces(reading);
	return err;
}

static bool
has_owner(struct x11 *x11)
{
	xcb_get_selection_owner_reply_t *reply = xcb_get_selection_owner_reply(
	    x11->server,
	    xcb_get_selection_owner(x11->server, x11->atoms[ATOM_CLIPBOARD]),
	    NULL);
	bool has = reply != NULL && reply->owner != XCB_NONE;

	free(reply);
	return has;
}

enum err
x11_selection_read(struct x11 *x11, struct buf *text, bool *cut, int timeout_ms,
    struct fault *fault)
{
	struct reading reading = {
	    x11, text, cut, timeout_ms, x11_now_ms() + timeout_ms, fault};
	xcb_atom_t forms[3];
	enum err err;

	assert(text != NULL && cut != NULL && timeout_ms > 0);
	*cut = false;
	err = x11_window(x11, fault);
	if (err != ERR_OK)
		return err;
	if (!has_owner(x11))
		return no_text(&reading);
	forms[0] = x11->atoms[ATOM_UTF8_STRING];
	forms[1] = x11->atoms[ATOM_PLAIN_UTF8];
	forms[2] = XCB_ATOM_STRING;
	err = ERR_NOT_FOUND;
	for (unsigned i = 0; i < 3 && err == ERR_NOT_FOUND; i++)
		err = ask(&reading, forms[i]);
	if (err == ERR_NOT_FOUND)
		return no_text(&reading);
	return err;
}

/* --- owning --------------------------------------------------------------- */

/*
 * The server's time: it stamps the change of a property, and a change of
 * nothing will do.
 */
static enum err
find_time(struct x11 *x11, struct fault *fault)
{
	xcb_generic_event_t *event = NULL;
	int64_t deadline = x11_now_ms() + 2000;
	enum err err;

	xcb_change_property(x11->server, XCB_PROP_MODE_APPEND, x11->window,
	    x11->atoms[ATOM_TRANSFER], XCB_ATOM_STRING, 8, 0, "");
	for (;;) {
		err = x11_event(x11, &event, deadline, -1);
		if (err != ERR_OK)
			return x11_lost(x11, fault);
		if (is_piece(x11, event)) {
			x11->now =
			    ((const xcb_property_notify_event_t *)event)->time;
			free(event);
			return ERR_OK;
		}
		free(event);
	}
}

enum err
x11_selection_own(struct x11 *x11, struct fault *fault)
{
	xcb_get_selection_owner_reply_t *reply;
	bool ours;
	enum err err;

	err = x11_window(x11, fault);
	if (err == ERR_OK)
		err = find_time(x11, fault);
	if (err != ERR_OK)
		return err;
	xcb_set_selection_owner(
	    x11->server, x11->window, x11->atoms[ATOM_CLIPBOARD], x11->now);
	reply = xcb_get_selection_owner_reply(x11->server,
	    xcb_get_selection_owner(x11->server, x11->atoms[ATOM_CLIPBOARD]),
	    NULL);
	ours = reply != NULL && reply->owner == x11->window;
	free(reply);
	if (ours)
		return ERR_OK;
	fault_set(fault, "clipboard",
	    "the desktop refused: another program keeps the clipboard");
	return ERR_DENIED;
}

enum err
x11_selection_clear(struct x11 *x11, struct fault *fault)
{
	enum err err = x11_selection_own(x11, fault);

	if (err != ERR_OK)
		return err;
	xcb_set_selection_owner(
	    x11->server, XCB_NONE, x11->atoms[ATOM_CLIPBOARD], x11->now);
	if (has_owner(x11))
		return x11_lost(x11, fault);
	return ERR_OK;
}

static bool
is_ascii(struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		if ((uint8_t)text.ptr[i] >= 0x80)
			return false;
	return true;
}

static bool
is_listed(const xcb_atom_t *list, uint32_t count, xcb_atom_t atom)
{
	while (count-- > 0)
		if (list[count] == atom)
			return true;
	return false;
}

/* Writes the form that is asked for; false when we have not got it. */
static bool
hand_over(struct x11 *x11, const xcb_selection_request_event_t *asked,
    xcb_atom_t property, struct span text)
{
	const xcb_atom_t *atoms = x11->atoms;
	const xcb_atom_t targets[] = {atoms[ATOM_TARGETS],
	    atoms[ATOM_TIMESTAMP], atoms[ATOM_UTF8_STRING],
	    atoms[ATOM_PLAIN_UTF8], XCB_ATOM_STRING};
	/* STRING, the last, is Latin-1: right for plain ASCII alone. */
	uint32_t forms = sizeof(targets) / sizeof(targets[0]) - !is_ascii(text);
	xcb_atom_t type = asked->target;
	uint8_t bits = 8;
	uint32_t count = (uint32_t)text.len;
	const void *data = text.ptr;

	if (asked->target == atoms[ATOM_TARGETS]) {
		type = XCB_ATOM_ATOM;
		bits = 32;
		count = forms;
		data = targets;
	} else if (asked->target == atoms[ATOM_TIMESTAMP]) {
		type = XCB_ATOM_INTEGER;
		bits = 32;
		count = 1;
		data = &x11->now;
	} else if (!is_listed(targets + 2, forms - 2, asked->target))
		return false;
	else if (text.len / 4 + 16 >
	    xcb_get_maximum_request_length(x11->server))
		return false;
	xcb_change_property(x11->server, XCB_PROP_MODE_REPLACE,
	    asked->requestor, property, type, bits, count, data);
	return true;
}

static void
serve_one(struct x11 *x11, const xcb_selection_request_event_t *asked,
    struct span text)
{
	/* A request without a property is an old client's. */
	xcb_atom_t property =
	    asked->property == XCB_ATOM_NONE ? asked->target : asked->property;
	union {
		xcb_selection_notify_event_t notify;
		char bytes[32]; /* what every event takes on the wire */
	} answer = {.bytes = {0}};

	answer.notify.response_type = XCB_SELECTION_NOTIFY;
	answer.notify.time = asked->time;
	answer.notify.requestor = asked->requestor;
	answer.notify.selection = asked->selection;
	answer.notify.target = asked->target;
	if (hand_over(x11, asked, property, text))
		answer.notify.property = property;
	xcb_send_event(x11->server, 0, asked->requestor,
	    XCB_EVENT_MASK_NO_EVENT, answer.bytes);
}

void
x11_selection_serve(struct x11 *x11, struct span text, int life_fd)
{
	xcb_generic_event_t *event;
	bool ours = true;

	assert(x11->window != 0);
	while (ours && x11_event(x11, &event, -1, life_fd) == ERR_OK) {
		if (type_of(event) == XCB_SELECTION_REQUEST)
			serve_one(x11, (const void *)event, text);
		else if (type_of(event) == XCB_SELECTION_CLEAR)
			ours = false;
		free(event);
	}
}
