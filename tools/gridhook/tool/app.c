/*
 * open_app: an application is looked up among those installed and, unless a
 * window of it can be brought to the front, started as its .desktop file says. A caller names one; what is run is never its own
 * text, and arguments only where the owner allows them.
 */
#include "tools/gridhook/tool/tool.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/arena.h"
#include "common/fs.h"
#include "common/utf8.h"
#include "tools/gridhook/tool/bus.h"
#include "tools/gridhook/tool/child.h"
#include "tools/gridhook/tool/desktop.h"
#include "tools/gridhook/tool/exec.h"
#include "tools/gridhook/tool/session.h"
#include "tools/gridhook/tool/x11.h"

#define NAME_MAX_BYTES 1024
#define ARGS_MAX 32
#define ARG_MAX_BYTES 16384
#define WATCH_MS 600
#define ARENA_MAX (64u * 1024 * 1024)
#define VECTOR_MAX 512

/* In a scope of its own it outlives the service that started us. */
static const char *const scope[] = {
    "systemd-run", "--user", "--scope", "--collect", "--quiet", "--", NULL};

static bool
has_user_manager(void)
{
	const char *folder = getenv("XDG_RUNTIME_DIR");
	char path[FS_PATH_MAX];
	struct stat info;

	return folder != NULL &&
	    fs_path(path, "%s/systemd/private", folder) == ERR_OK &&
	    stat(path, &info) == 0 && S_ISSOCK(info.st_mode) &&
	    session_has_program(scope[0]);
}

static size_t
append(const char **to, size_t count, const char *const *from)
{
	while (*from != NULL && count + 1 < VECTOR_MAX)
		to[count++] = *from++;
	to[count] = NULL;
	return count;
}

/* The folder that the entry asks for, else the person's own. */
static void
enter_folder(const struct desktop_entry *entry)
{
	const char *home = getenv("HOME");

	if (entry->folder.len > 0 && chdir(entry->folder.ptr) == 0)
		return;
	if (home == NULL || chdir(home) != 0)
		(void)!chdir("/");
}

static enum err
start(const struct desktop_entry *entry, const char *const *argv,
    const struct tool_settings *settings, struct fault *fault)
{
	const char *vector[VECTOR_MAX];
	size_t count = 0;
	int status;
	enum err err;

	/* Told by its own name, before a terminal or a scope hides it. */
	if (!session_has_program(argv[0])) {
		fault_set(fault, "Exec", "not found: program %s of %.*s",
		    argv[0], SPAN_ARG(entry->id));
		return ERR_NOT_FOUND;
	}
	if (has_user_manager())
		count = append(vector, count, scope);
	if (entry->terminal)
		count = append(vector, count, settings->terminal);
	append(vector, count, argv);
	enter_folder(entry);
	err = child_start(vector, WATCH_MS, &status, fault);
	if (err != ERR_OK || status == CHILD_RUNNING || status == 0)
		return err;
	fault_set(fault, "open_app",
	    "the desktop refused: %.*s ended at once with status %d",
	    SPAN_ARG(entry->name), status);
	return ERR_SYSTEM;
}

/* "org.foo.Bar.desktop" runs when a program owns the name org.foo.Bar. */
static bool
is_running_on_bus(const struct desktop_entry *entry)
{
	struct bus *bus = NULL;
	struct fault quiet;
	char name[256];
	bool runs = false;

	fault_clear(&quiet);
	if (span_ends(entry->id, SPAN(".desktop")) &&
	    span_copy(name, sizeof(name),
		span_sub(entry->id, 0, entry->id.len - strlen(".desktop"))) &&
	    bus_open(&bus, BUS_SESSION, &quiet) == ERR_OK)
		runs = bus_has_name(bus, name);
	bus_close(bus);
	return runs;
}

/* "org.foo.Bar.desktop" has the object /org/foo/Bar. */
static enum err
activate(const struct desktop_entry *entry, struct fault *fault)
{
	char name[256], path[260];
	struct bus_peer peer = {name, path, "org.freedesktop.Application"};
	struct bus *bus = NULL;
	enum err err;

	if (!span_ends(entry->id, SPAN(".desktop")) ||
	    !span_copy(name, sizeof(name),
		span_sub(entry->id, 0, entry->id.len - strlen(".desktop")))) {
		fault_set(fault, "open_app", "not supported: the id %.*s",
		    SPAN_ARG(entry->id));
		return ERR_BAD_INPUT;
	}
	snprintf(path, sizeof(path), "/%s", name);
	for (char *at = path; *at != '\0'; at++)
		if (*at == '.')
			*at = '/';
		else if (*at == '-')
			*at = '_';
	err = bus_open(&bus, BUS_SESSION, fault);
	if (err == ERR_OK)
		err = bus_call(bus, &peer, "Activate", NULL, fault, "a{sv}", 0);
	bus_close(bus);
	return err;
}

/* --- the front ------------------------------------------------------------ */

/* The answer tells each in words of its own. */
enum outcome {
	STARTED,
	STARTED_BLIND, /* whether it ran already could not be seen */
	FRONT_DONE,
	FRONT_ASKED
};

/* "/usr/bin/xterm -name %c" -> "xterm" */
static struct span
program_of(const struct desktop_entry *entry)
{
	struct span word = span_trim(entry->exec);
	size_t i;

	word = span_sub(word, 0, span_find(word, ' '));
	for (i = word.len; i > 0 && word.ptr[i - 1] != '/'; i--)
		;
	return span_from(word, i);
}

/* "org.gnome.Calculator.desktop" -> "org.gnome.Calculator", "Calculator" */
static bool
is_id(const struct desktop_entry *entry, struct span class)
{
	struct span bare = entry->id, last;
	size_t at;

	if (span_ends(bare, SPAN(".desktop")))
		bare = span_sub(bare, 0, bare.len - strlen(".desktop"));
	for (at = bare.len; at > 0 && bare.ptr[at - 1] != '.'; at--)
		;
	last = span_from(bare, at);
	return span_eq_nocase(class, bare) || span_eq_nocase(class, last);
}

/*
 * The class of its windows is StartupWMClass; else mostly the name of
 * the program or the id. The instance may be another's: uxterm's is "xterm".
 */
static bool
is_its_window(void *arg, struct span instance, struct span class)
{
	const struct desktop_entry *entry = arg;

	if (entry->wm_class.len > 0)
		return span_eq_nocase(class, entry->wm_class) ||
		    span_eq_nocase(instance, entry->wm_class);
	/* The window of one in a terminal is the terminal's. */
	return !entry->terminal && class.len > 0 &&
	    (span_eq_nocase(class, program_of(entry)) || is_id(entry, class));
}

/* True when it ran already and nothing is to be started. */
static bool
has_come_to_front(const struct tool_call *call, struct desktop_entry *entry,
    enum outcome *out)
{
	struct x11 *x11 = NULL;
	struct fault quiet;
	bool done = true;

	*out = STARTED_BLIND;
	fault_clear(&quiet);
	if (entry->by_bus && is_running_on_bus(entry) &&
	    activate(entry, &quiet) == ERR_OK) {
		*out = FRONT_ASKED;
		return true;
	}
	if (session_find(call->settings) != SESSION_X11 ||
	    x11_open(&x11, &quiet) != ERR_OK)
		return false;
	switch (x11_to_front(x11, is_its_window, entry)) {
	case X11_FRONT_DONE:
		*out = FRONT_DONE;
		break;
	case X11_FRONT_ASKED:
		*out = FRONT_ASKED;
		break;
	case X11_FRONT_NO_WINDOW:
		*out = STARTED;
		done = false;
		break;
	case X11_FRONT_NO_MANAGER:
		done = false;
	}
	x11_close(x11);
	return done;
}

static void
tell(const struct tool_call *call, struct answer *answer,
    const struct desktop_entry *entry, enum outcome outcome)
{
	switch (outcome) {
	case FRONT_DONE:
		answer_text(answer,
		    "%.*s (%.*s) ran already: its window is in front now.",
		    SPAN_ARG(entry->name), SPAN_ARG(entry->id));
		break;
	case FRONT_ASKED:
		answer_text(answer,
		    "%.*s (%.*s) runs already and was asked to come to the "
		    "front; whether it did was not seen.",
		    SPAN_ARG(entry->name), SPAN_ARG(entry->id));
		break;
	case STARTED_BLIND:
		answer_text(answer,
		    "Started %.*s (%.*s). Whether it ran already cannot be "
		    "seen here (%s): then this may be a second window.",
		    SPAN_ARG(entry->name), SPAN_ARG(entry->id),
		    session_find(call->settings) == SESSION_WAYLAND
			? "a Wayland compositor shows no program the windows "
			  "of others"
			: "no window manager lists the windows");
		break;
	case STARTED:
		answer_text(answer, "Started %.*s (%.*s).",
		    SPAN_ARG(entry->name), SPAN_ARG(entry->id));
	}
}

/* --- arguments ------------------------------------------------------------ */

/*
 * Checks an argument of the caller's: text, and nothing that looks an option.
 */
static bool
is_plain_arg(struct span arg)
{
	return arg.len > 0 && arg.len <= ARG_MAX_BYTES && arg.ptr[0] != '-' &&
	    memchr(arg.ptr, '\0', arg.len) == NULL && utf8_is_valid(arg);
}

static enum err
read_args(const struct tool_call *call, struct span args[ARGS_MAX],
    size_t *count, struct fault *fault)
{
	const struct jsonr_value *list = jsonr_member(call->args, "args");
	size_t i;

	*count = jsonr_count(list);
	if (*count == 0)
		return ERR_OK;
	if (!call->settings->app_args) {
		fault_set(fault, "args",
		    "not allowed: arguments for applications (the owner's "
		    "setting app_args permits them)");
		return ERR_DENIED;
	}
	for (i = 0; i < *count && i < ARGS_MAX; i++) {
		args[i] = jsonr_as_string(jsonr_at(list, i));
		if (!is_plain_arg(args[i]))
			break;
	}
	if (i == *count && jsonr_type(list) == JSONR_ARRAY)
		return ERR_OK;
	fault_set(fault, "args",
	    "not allowed: args are up to %d texts that do not begin with '-'",
	    ARGS_MAX);
	return ERR_DENIED;
}

static enum err
run_entry(const struct tool_call *call, struct desktop_entry *entry,
    enum outcome *outcome, struct arena *arena, struct fault *fault)
{
	struct span args[ARGS_MAX];
	struct exec_fields fields = {.name = entry->name,
	    .icon = entry->icon,
	    .path = entry->path,
	    .args = args};
	const char **argv;
	enum err err;

	if (call->settings->app_allow != NULL &&
	    !settings_listed(call->settings->app_allow, entry->id)) {
		fault_set(fault, "open_app", "not allowed: application %.*s",
		    SPAN_ARG(entry->id));
		return ERR_DENIED;
	}
	err = read_args(call, args, &fields.args_count, fault);
	if (err != ERR_OK)
		return err;
	*outcome = STARTED;
	/* Arguments would not reach a window that is there. */
	if (fields.args_count == 0 && has_come_to_front(call, entry, outcome))
		return ERR_OK;
	if (entry->exec.len == 0)
		return activate(entry, fault);
	err = exec_expand(&argv, entry->exec, &fields, arena, fault);
	return err != ERR_OK ? err : start(entry, argv, call->settings, fault);
}

enum err
open_app(
    const struct tool_call *call, struct answer *answer, struct fault *fault)
{
	const struct desktop_entry *found = NULL;
	struct desktop_entry entry;
	struct desktop_index index;
	enum outcome outcome = STARTED;
	struct arena *arena;
	struct span name;
	enum err err;

	assert(call->settings != NULL && answer != NULL);
	if (!call_text(call, &name, "name", NULL, NAME_MAX_BYTES, fault))
		return ERR_BAD_INPUT;
	if (session_find(call->settings) == SESSION_NONE)
		return session_none(fault);
	arena = arena_new(ARENA_MAX);
	if (arena == NULL)
		return ERR_NO_MEMORY;
	err = desktop_load(&index, arena);
	if (err == ERR_OK)
		err = desktop_match(&found, &index, name, fault);
	if (err == ERR_OK) {
		entry = *found;
		err = run_entry(call, &entry, &outcome, arena, fault);
	}
	if (err == ERR_OK)
		tell(call, answer, &entry, outcome);
	arena_free(arena);
	return err;
}
