/*
 * session: which desktop is there. Looked at afresh for each call, so the
 * server may have been started before the desktop was.
 */
#pragma once

#include <stdbool.h>

#include "common/err.h"
#include "tools/gridhook/tool/settings.h"

enum session_kind { SESSION_NONE, SESSION_X11, SESSION_WAYLAND };

/* Puts the settings' displays into the environment. False: out of memory. */
bool session_apply(const struct tool_settings *settings);

/* Wayland when its socket is there, else X11 when DISPLAY names one. */
enum session_kind session_find(const struct tool_settings *settings);

/* Tells that there is no display, and what would help. */
enum err session_none(struct fault *fault);

/* Whether a program of that name is on PATH (or is a path to one). */
bool session_has_program(const char *name);
