#include "tools/gridhook/tool/session.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fs.h"

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

bool
session_apply(const struct tool_settings *settings)
{
	if (settings->x11_display != NULL &&
	    setenv("DISPLAY", settings->x11_display, 1) != 0)
		return false;
	return settings->wayland_display == NULL ||
	    setenv("WAYLAND_DISPLAY", settings->wayland_display, 1) == 0;
}

static bool
is_socket(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISSOCK(info.st_mode);
}

static bool
has_wayland(void)
{
	const char *name = getenv("WAYLAND_DISPLAY");
	const char *folder = getenv("XDG_RUNTIME_DIR");
	char path[FS_PATH_MAX];

	if (name == NULL || name[0] == '\0')
		return false;
	if (name[0] == '/')
		return is_socket(name);
	return folder != NULL &&
	    fs_path(path, "%s/%s", folder, name) == ERR_OK && is_socket(path);
}

static bool
has_x11(void)
{
	const char *name = getenv("DISPLAY");

	return name != NULL && name[0] != '\0';
}

enum session_kind
session_find(const struct tool_settings *settings)
{
	assert(settings != NULL);
	switch (settings->display) {
	case SETTINGS_DISPLAY_NONE:
		return SESSION_NONE;
	case SETTINGS_DISPLAY_X11:
		return SESSION_X11;
	case SETTINGS_DISPLAY_WAYLAND:
		return SESSION_WAYLAND;
	case SETTINGS_DISPLAY_AUTO:
		break;
	}
	/* Before X11: under XWayland an X screen is black. */
	if (has_wayland())
		return SESSION_WAYLAND;
	return has_x11() ? SESSION_X11 : SESSION_NONE;
}

enum err
session_none(struct fault *fault)
{
	assert(fault != NULL);
	fault_set(fault, "display",
	    "no display: neither WAYLAND_DISPLAY nor DISPLAY leads to a "
	    "desktop; one must be running, and its variables known to the "
	    "service (systemctl --user import-environment DISPLAY "
	    "WAYLAND_DISPLAY XAUTHORITY)");
	return ERR_NOT_READY;
}

static bool
is_program(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISREG(info.st_mode) &&
	    access(path, X_OK) == 0;
}

bool
session_has_program(const char *name)
{
	const char *list = getenv("PATH");
	struct span folder, rest;
	char path[FS_PATH_MAX];

	assert(name != NULL);
	if (strchr(name, '/') != NULL)
		return is_program(name);
	rest = span_of(list == NULL ? DEFAULT_PATH : list);
	while (span_cut(&folder, &rest, ':')) {
		/* An empty piece would be the current folder: never ours. */
		if (folder.len > 0 &&
		    fs_path(path, "%.*s/%s", SPAN_ARG(folder), name) ==
			ERR_OK &&
		    is_program(path))
			return true;
	}
	return false;
}
