/*
 * desktop: installed applications, as their .desktop files describe them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"
#include "common/span.h"

struct arena;

/* An application. All spans live in the arena and have a NUL behind them. */
struct desktop_entry {
	struct span id; /* "org.gnome.Calculator.desktop" */
	struct span path; /* of its file */
	struct span name; /* as the user's language has it */
	struct span plain_name; /* as the file has it without a language */
	struct span keywords; /* "a;b;" */
	struct span exec, icon, try_exec, folder;
	struct span only_in, not_in; /* "GNOME;KDE;" */
	struct span wm_class; /* of its windows, where it tells */
	bool is_application, hidden, terminal, by_bus;
};

struct desktop_index {
	struct desktop_entry *entries;
	size_t count, room;
	struct arena *arena;
};

/*
 * Reads the text of one file. `locale` as in LC_MESSAGES: "fr_CA.UTF-8".
 * ERR_BAD_INPUT when it has no group [Desktop Entry]. id and path are left to
 * the caller.
 */
enum err desktop_read(struct desktop_entry *out, struct span text,
    const char *locale, struct arena *arena);

/*
 * All that may be shown and started here, from XDG_DATA_HOME and
 * XDG_DATA_DIRS. A file hides those of the same id in later folders. Files
 * that cannot be read are left out.
 */
enum err desktop_load(struct desktop_index *out, struct arena *arena);

/*
 * The one application that `wanted` names: its id, with or without .desktop;
 * its name; the last part of its id; the beginning of its name or a keyword.
 * The first of these that fits any decides. ERR_NOT_FOUND when none does;
 * ERR_EXISTS when several do, and the fault lists them.
 */
enum err desktop_match(const struct desktop_entry **out,
    const struct desktop_index *index, struct span wanted, struct fault *fault);
