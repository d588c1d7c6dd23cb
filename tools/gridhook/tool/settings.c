#include "tools/gridhook/tool/settings.h"

#include <assert.h>
#include <pwd.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/arena.h"
#include "common/jsonr.h"

#define TEXT_MAX 65536

enum row_type { ROW_DISPLAY, ROW_TEXT, ROW_LIST, ROW_BOOL, ROW_INT };

static const struct row {
	const char *name;
	enum row_type type;
	size_t offset;
	int64_t min, max;
} rows[] = {
#define AT(member) offsetof(struct tool_settings, member)
    {"display", ROW_DISPLAY, AT(display), 0, 0},
    {"x11_display", ROW_TEXT, AT(x11_display), 0, 0},
    {"wayland_display", ROW_TEXT, AT(wayland_display), 0, 0},
    {"find_roots", ROW_LIST, AT(find_roots), 0, 0},
    {"find_entries", ROW_INT, AT(find_entries), 1, 100000000},
    {"find_depth", ROW_INT, AT(find_depth), 0, 64},
    {"find_ms", ROW_INT, AT(find_ms), 1, 600000},
    {"url_schemes", ROW_LIST, AT(url_schemes), 0, 0},
    {"app_allow", ROW_LIST, AT(app_allow), 0, 0},
    {"app_args", ROW_BOOL, AT(app_args), 0, 0},
    {"terminal", ROW_LIST, AT(terminal), 0, 0},
    {"lock_command", ROW_LIST, AT(lock_command), 0, 0},
    {"app_name", ROW_TEXT, AT(app_name), 0, 0},
    {"limit_ms", ROW_INT, AT(limit_ms), 1, 600000},
    {"life_fd", ROW_INT, AT(life_fd), 3, 1 << 20},
#undef AT
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static const char *const display_names[] = {"auto", "x11", "wayland", "none"};

static const char *default_schemes[] = {"http", "https", "mailto", NULL};
static const char *default_terminal[] = {"x-terminal-emulator", "-e", NULL};

static const char *
home_folder(void)
{
	const char *home = getenv("HOME");
	const struct passwd *user;

	if (home != NULL && home[0] == '/')
		return home;
	user = getpwuid(getuid());
	return user == NULL ? NULL : user->pw_dir;
}

static bool
set_defaults(struct tool_settings *out, struct arena *arena)
{
	const char **roots = arena_array(arena, 2, sizeof(*roots));
	const char *home = home_folder();

	if (roots == NULL)
		return false;
	if (home != NULL) {
		struct span copy = arena_copy(arena, span_of(home));

		roots[0] = copy.ptr;
		if (roots[0] == NULL)
			return false;
	}
	*out = (struct tool_settings){
	    .find_roots = roots,
	    .find_entries = 200000,
	    .find_depth = 12,
	    .find_ms = 2000,
	    .url_schemes = default_schemes,
	    .terminal = default_terminal,
	    .app_name = "assistant",
	    .life_fd = -1,
	};
	return true;
}

static bool
read_list(
    const char ***out, const struct jsonr_value *value, struct arena *arena)
{
	size_t i, count = jsonr_count(value);
	const char **list;

	if (jsonr_type(value) != JSONR_ARRAY)
		return false;
	list = arena_array(arena, count + 1, sizeof(*list));
	if (list == NULL)
		return false;
	for (i = 0; i < count; i++) {
		const struct jsonr_value *item = jsonr_at(value, i);
		struct span copy = arena_copy(arena, jsonr_as_string(item));

		if (jsonr_type(item) != JSONR_STRING || copy.len == 0)
			return false;
		list[i] = copy.ptr;
	}
	*out = list;
	return true;
}

static bool
read_display(enum settings_display *out, struct span text)
{
	for (unsigned i = 0; i < sizeof(display_names) / sizeof(char *); i++)
		if (span_eq(text, span_of(display_names[i]))) {
			*out = (enum settings_display)i;
			return true;
		}
	return false;
}

/* Reads a member into its place; false when it does not fit there. */
static bool
read_row(struct tool_settings *out, const struct row *row,
    const struct jsonr_value *value, struct arena *arena)
{
	void *to = (char *)out + row->offset;
	enum jsonr_type type = jsonr_type(value);
	int64_t number = jsonr_as_int(value);

	switch (row->type) {
	case ROW_DISPLAY:
		return read_display(to, jsonr_as_string(value));
	case ROW_TEXT:
		*(const char **)to =
		    arena_copy(arena, jsonr_as_string(value)).ptr;
		return type == JSONR_STRING && *(const char **)to != NULL;
	case ROW_LIST:
		return read_list(to, value, arena);
	case ROW_BOOL:
		*(bool *)to = jsonr_as_bool(value);
		return type == JSONR_BOOL;
	case ROW_INT:
		*(int64_t *)to = number;
		return type == JSONR_INT && number >= row->min &&
		    number <= row->max;
	}
	return false;
}

static enum err
read_member(struct tool_settings *out, struct span name,
    const struct jsonr_value *value, struct arena *arena, struct fault *fault)
{
	for (size_t i = 0; i < ROWS; i++) {
		if (!span_eq(name, span_of(rows[i].name)))
			continue;
		if (read_row(out, &rows[i], value, arena))
			return ERR_OK;
		fault_set(fault, "settings",
		    "the setting %s of the helper has a bad value",
		    rows[i].name);
		return ERR_BAD_INPUT;
	}
	fault_set(fault, "settings", "the helper knows no setting \"%.*s\"",
	    SPAN_ARG(name));
	return ERR_BAD_INPUT;
}

enum err
settings_read(struct tool_settings *out, struct span text, struct arena *arena,
    struct fault *fault)
{
	static const struct jsonr_limits limits = {.bytes = TEXT_MAX};
	const struct jsonr_value *value;
	struct jsonr *doc = NULL;
	void *iter = NULL;
	struct span name;
	enum err err;

	assert(out != NULL && arena != NULL);
	if (!set_defaults(out, arena))
		return ERR_NO_MEMORY;
	if (text.len == 0)
		return ERR_OK;
	err = jsonr_parse(&doc, text, &limits, fault);
	if (err == ERR_OK && jsonr_type(jsonr_root(doc)) != JSONR_OBJECT) {
		fault_set(fault, "settings", "the settings are no object");
		err = ERR_BAD_INPUT;
	}
	while (
	    err == ERR_OK && jsonr_next(jsonr_root(doc), &iter, &name, &value))
		err = read_member(out, name, value, arena, fault);
	jsonr_free(doc);
	return err;
}

bool
settings_listed(const char *const *list, struct span text)
{
	assert(list != NULL);
	for (; *list != NULL; list++)
		if (span_eq_nocase(span_of(*list), text))
			return true;
	return false;
}
