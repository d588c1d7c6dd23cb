/*
 * settings: what the owner of the machine allows and prefers, as the server
 * hands it over in the environment: one JSON object with any of these members.
 *
 *	display          "auto" (default), "x11", "wayland" or "none"
 *	x11_display      used in place of DISPLAY: ":0"
 *	wayland_display  used in place of WAYLAND_DISPLAY: "wayland-1"
 *	find_roots       folders that find_files may look into, absolute;
 *	                 default: the home folder
 *	find_entries     names looked at before it stops (200000)
 *	find_depth       folders below a root (12)
 *	find_ms          time before it stops (2000)
 *	url_schemes      what open_url opens (["http","https","mailto"])
 *	app_allow        desktop ids that open_app may start; default: any
 *	app_args         whether a caller may pass arguments to an application
 *	                 (false); those that begin with '-' are refused anyway
 *	terminal         what runs an application that wants a terminal
 *	                 (["x-terminal-emulator","-e"])
 *	lock_command     what locks when the desktop does not: ["swaylock"]
 *	app_name         shown as the sender of notifications ("assistant")
 *	limit_ms         no action takes longer, whatever its own limit
 *	life_fd          an open descriptor, the reading end of a pipe whose
 *	                 other end the server holds: when that is closed, the
 *	                 owner of the X11 clipboard ends. Default: none, and it
 *	                 ends when another program takes the clipboard
 *
 * An unknown member or a wrong type fails every tool, so that a limit that
 * was misspelt is not silently missing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"

struct arena;

enum settings_display {
	SETTINGS_DISPLAY_AUTO,
	SETTINGS_DISPLAY_X11,
	SETTINGS_DISPLAY_WAYLAND,
	SETTINGS_DISPLAY_NONE
};

struct tool_settings {
	enum settings_display display;
	const char *x11_display; /* NULL: the environment's */
	const char *wayland_display;
	const char **find_roots; /* NULL-ended, never NULL */
	int64_t find_entries, find_depth, find_ms;
	const char **url_schemes;
	const char **app_allow; /* NULL: any */
	bool app_args;
	const char **terminal;
	const char **lock_command; /* NULL: none */
	const char *app_name;
	int64_t limit_ms; /* 0: none */
	int64_t life_fd; /* -1: none */
};

/*
 * Reads `text` (empty: all defaults) over the defaults. What comes out lives
 * in `arena`. ERR_BAD_INPUT and a fault when something in it is wrong.
 */
enum err settings_read(struct tool_settings *out, struct span text,
    struct arena *arena, struct fault *fault);

/* Whether the NULL-ended list holds `text`, ASCII case ignored. */
bool settings_listed(const char *const *list, struct span text);
