/*
 * what_works: each tool's first question (is there a display, a bus, a
 * program?) asked without doing its work, so that a caller learns beforehand
 * what this desktop and this build can do.
 */
#include "common/members.h"
#include "tools/gridhook/tool/tool.h"

#include <assert.h>
#include <stdlib.h>

#include "config.h"
#include "tools/gridhook/tool/bus.h"
#include "tools/gridhook/tool/child.h"
#include "tools/gridhook/tool/mpris.h"
#include "tools/gridhook/tool/session.h"
#include "tools/gridhook/tool/wayland.h"
#include "tools/gridhook/tool/x11.h"

#define PROGRAM_MS 500
#define PORTAL "org.freedesktop.portal.Desktop"
#define NOTIFICATIONS "org.freedesktop.Notifications"

/* The display, the bus and the rest, found out once for all the tools. */
struct here {
	const struct tool_settings *settings;
	enum session_kind session;
	bool has_x11;
	struct fault x11; /* why not */
	bool has_wayland;
	struct fault wayland;
	struct buf offers; /* of the compositor */
	struct bus *bus; /* the session's; NULL when there is none */
	struct fault bus_fault;
};

static const struct bus_peer bus_itself = {
    "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus"};

static void
look(struct here *here)
{
	struct x11 *x11 = NULL;

	if (here->session == SESSION_X11)
		here->has_x11 = x11_open(&x11, &here->x11) == ERR_OK;
	x11_close(x11);
	if (here->session == SESSION_WAYLAND)
		here->has_wayland =
		    wayland_list(&here->offers, &here->wayland) == ERR_OK;
	bus_open(&here->bus, BUS_SESSION, &here->bus_fault);
}

/* Somebody has that name, or would be started for it. */
static bool
is_on_bus(const struct here *here, const char *name)
{
	struct bus_message *names = NULL;
	struct fault quiet;
	const char *each;
	bool found = false;

	if (here->bus == NULL)
		return false;
	if (bus_has_name(here->bus, name))
		return true;
	fault_clear(&quiet);
	if (bus_call(here->bus, &bus_itself, "ListActivatableNames", &names,
		&quiet, NULL) == ERR_OK &&
	    bus_enter_array(names, "s"))
		while (!found && bus_read(names, "s", &each))
			found = strcmp(each, name) == 0;
	bus_message_free(names);
	return found;
}

static bool
offers(const struct here *here, const char *interface)
{
	return wayland_has(buf_span(&here->offers), interface);
}

/* A display that answers; the fault is the session's else. */
static bool
has_display(const struct here *here, struct fault *why)
{
	if (here->has_x11 || here->has_wayland)
		return true;
	if (here->session == SESSION_NONE)
		session_none(why);
	else
		*why = here->session == SESSION_X11 ? here->x11 : here->wayland;
	return false;
}

static bool
lacks(struct fault *why, const char *what)
{
	fault_clear(why);
	fault_set(why, "here", "%s", what);
	return false;
}

static bool
capture(struct here *here, struct fault *why)
{
	if (!HAVE_PNG)
		return lacks(why,
		    "not supported: this build was configured without PNG "
		    "(package libpng-dev)");
	if (here->has_x11)
		return true;
	if (here->has_wayland && session_has_program("grim") &&
	    (offers(here, "zwlr_screencopy_manager_v1") ||
		offers(here, "ext_image_copy_capture_manager_v1")))
		return true;
	if (here->session != SESSION_NONE && here->bus != NULL &&
	    bus_has_name(here->bus, PORTAL))
		return true;
	if (!has_display(here, why))
		return false;
	return lacks(why,
	    session_has_program("grim")
		? "not supported: the compositor offers no screencopy, and no "
		  "desktop portal is running"
		: "not found: program grim (package grim), and no desktop "
		  "portal is running");
}

static bool
clipboard(struct here *here, struct fault *why)
{
	if (!has_display(here, why))
		return false;
	if (here->has_x11)
		return true;
	if (!session_has_program("wl-paste"))
		return lacks(
		    why, "not found: program wl-paste (package wl-clipboard)");
	if (!wayland_has_clipboard(buf_span(&here->offers)))
		return lacks(why,
		    "not supported: the compositor does not "
		    "offer " WAYLAND_CLIPBOARD);
	return true;
}

static bool
find(struct here *here, struct fault *why)
{
	(void)here;
	(void)why;
	return true;
}

static bool
lock(struct here *here, struct fault *why)
{
	if (lock_is_possible(here->settings, why))
		return true;
	if (!fault_is_set(why))
		lacks(why, "the desktop refused: nothing here can lock");
	return false;
}

static const char *const wpctl[] = {"wpctl", "status", NULL};
static const char *const pactl[] = {"pactl", "info", NULL};

/* The program is there, and finds its server. */
static bool
answers(const char *const *argv)
{
	struct child_spec spec = {.argv = argv, .timeout_ms = PROGRAM_MS};
	struct fault quiet;
	int status;

	fault_clear(&quiet);
	return session_has_program(argv[0]) &&
	    child_run(&spec, NULL, &status, &quiet) == ERR_OK && status == 0;
}

/* A player, a volume, or at least a key that can be pressed. */
static bool
media(struct here *here, struct fault *why)
{
	struct mpris *mpris = NULL;
	struct fault quiet;
	bool player;

	fault_clear(&quiet);
	player = mpris_open(&mpris, &quiet) == ERR_OK;
	mpris_close(mpris);
	if (player || here->has_x11 || answers(wpctl) || answers(pactl))
		return true;
	if (here->has_wayland && session_has_program("wtype") &&
	    offers(here, "zwp_virtual_keyboard_manager_v1"))
		return true;
	if (!has_display(here, why))
		return false;
	return lacks(why,
	    "no media player: none that speaks MPRIS is running, and nothing "
	    "can press a key (package wtype, and a compositor that lets it)");
}

static bool
notify(struct here *here, struct fault *why)
{
	if (here->bus == NULL) {
		*why = here->bus_fault;
		return false;
	}
	if (is_on_bus(here, NOTIFICATIONS))
		return true;
	return lacks(why,
	    "no notification service: nobody on the session bus "
	    "is " NOTIFICATIONS " (package dunst has one)");
}

static bool
start_app(struct here *here, struct fault *why)
{
	return has_display(here, why);
}

static bool
start_url(struct here *here, struct fault *why)
{
	if (!has_display(here, why))
		return false;
	if (session_has_program("xdg-open") || session_has_program("gio") ||
	    (here->bus != NULL && bus_has_name(here->bus, PORTAL)))
		return true;
	return lacks(why, "not found: program xdg-open (package xdg-utils)");
}

static const struct {
	const char *name;
	bool (*can)(struct here *here, struct fault *why);
} rows[] = {
    {"capture_screen", capture},
    {"clipboard_get", clipboard},
    {"clipboard_set", clipboard},
    {"find_files", find},
    {"lock_session", lock},
    {"media_key", media},
    {"notify_user", notify},
    {"open_app", start_app},
    {"open_url", start_url},
};

static void
put_row(struct jsonw *object, struct here *here, size_t row)
{
	struct fault why;
	bool can;

	fault_clear(&why);
	can = rows[row].can(here, &why);
	jsonw_object_begin(object);
	members_string(object, "name", rows[row].name);
	members_bool(object, "works", can);
	if (!can)
		members_string(object, "why_not", why.message);
	jsonw_object_end(object);
}

enum err
what_works(
    const struct tool_call *call, struct answer *answer, struct fault *fault)
{
	struct here here = {.settings = call->settings,
	    .session = session_find(call->settings)};
	struct jsonw *object;

	assert(call->settings != NULL && answer != NULL);
	(void)fault;
	buf_init(&here.offers, WAYLAND_NAMES_MAX);
	look(&here);
	object = answer_object_begin(answer);
	jsonw_key(object, "tools");
	jsonw_array_begin(object);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		put_row(object, &here, i);
	jsonw_array_end(object);
	answer_object_end(answer);
	bus_close(here.bus);
	buf_fini(&here.offers);
	return ERR_OK;
}
