/*
 * settings_derived: addresses, paths and the helper's settings, which follow from
 * the settings that were read.
 */
#include "tools/gridhook/settings.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/log.h"
#include "common/members.h"
#include "tools/gridhook/mcp/helper.h"

#define BLANKS ", \t"

const char *
settings_host(const struct hook_settings *settings)
{
	assert(settings->host != NULL);
	if (settings->host[0] != '\0')
		return settings->host;
	return settings->has_secret ? "0.0.0.0" : "127.0.0.1";
}

bool
settings_is_loopback(const struct hook_settings *settings)
{
	const char *host = settings_host(settings);

	return strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0 ||
	    strcmp(host, "localhost") == 0;
}

bool
settings_has_long_secret(const struct hook_settings *settings)
{
	return settings->has_secret &&
	    strlen(settings->secret) >= SETTINGS_SECRET_LONG;
}

void
settings_warn_exposed(const struct hook_settings *settings)
{
	const char *host = settings_host(settings);

	if (!settings->has_secret && !settings_is_loopback(settings))
		log_warn("anybody on the network can push and use the tools: "
			 "no secret is set: host=%s",
		    host);
	if (settings->has_secret && !settings_has_long_secret(settings))
		log_warn("the secret is short enough to be guessed: "
			 "characters=%zu wanted=%d host=%s (openssl rand -hex "
			 "16 makes one)",
		    strlen(settings->secret), SETTINGS_SECRET_LONG, host);
}

bool
settings_wants_user(const struct hook_settings *settings)
{
	return settings->same_user && !settings->has_secret;
}

enum err
settings_push_path(char path[FS_PATH_MAX], const struct hook_settings *settings)
{
	assert(settings->app != NULL);
	return fs_path(path, "/%s/hook", settings->app);
}

enum err
settings_socket(char path[FS_PATH_MAX], const struct hook_settings *settings,
    const char *name)
{
	const char *service = getenv("RUNTIME_DIRECTORY");
	const char *session = getenv("XDG_RUNTIME_DIR");

	assert(name != NULL && settings->runtime != NULL);
	if (settings->runtime[0] != '\0')
		return fs_path(path, "%s/%s", settings->runtime, name);
	if (service != NULL && service[0] == '/')
		return fs_path(path, "%s/%s", service, name);
	if (session != NULL && session[0] == '/')
		return fs_path(path, "%s/%s/%s", session, settings->app, name);
	return fs_path(path, "/tmp/%s-%lu/%s", settings->app,
	    (unsigned long)getuid(), name);
}

enum err
settings_data(char path[FS_PATH_MAX], const struct hook_settings *settings)
{
	const char *service = getenv("STATE_DIRECTORY");
	const char *state = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");

	assert(settings->data != NULL);
	if (strcmp(settings->data, "memory") == 0)
		return ERR_NOT_FOUND;
	if (settings->data[0] != '\0')
		return fs_path(path, "%s", settings->data);
	if (service != NULL && service[0] == '/')
		return fs_path(path, "%s", service);
	if (state != NULL && state[0] == '/')
		return fs_path(path, "%s/gridhook", state);
	if (home != NULL && home[0] == '/')
		return fs_path(path, "%s/.local/state/gridhook", home);
	return ERR_NOT_FOUND;
}

/* --- for the helper ------------------------------------------------------- */

/* The items between any of `separators`, without the blanks around them. */
static void
put_list(struct jsonw *json, const char *name, const char *list,
    const char *separators)
{
	const char *at = list + strspn(list, ", \t");
	struct span item;

	if (*at == '\0')
		return;
	jsonw_key(json, name);
	jsonw_array_begin(json);
	for (; *at != '\0'; at += strspn(at, ", \t")) {
		item = span_trim(span_make(at, strcspn(at, separators)));
		if (item.len > 0)
			jsonw_string(json, item);
		at += strcspn(at, separators);
	}
	jsonw_array_end(json);
}

void
settings_for_helper(
    struct jsonw *json, const struct hook_settings *settings, bool ends_with_us)
{
	assert(json != NULL && settings->app != NULL);
	jsonw_object_begin(json);
	members_given(json, "app_name", settings->app);
	members_given(json, "display", settings->display);
	members_given(json, "x11_display", settings->x11_display);
	members_given(json, "wayland_display", settings->wayland_display);
	put_list(json, "find_roots", settings->find_roots, ",");
	members_int(json, "find_entries", settings->find_entries);
	members_int(json, "find_depth", settings->find_depth);
	members_int(json, "find_ms", settings->find_ms);
	put_list(json, "url_schemes", settings->url_schemes, BLANKS);
	put_list(json, "app_allow", settings->app_allow, BLANKS);
	members_bool(json, "app_args", settings->app_args);
	put_list(json, "terminal", settings->terminal, BLANKS);
	put_list(json, "lock_command", settings->lock_command, BLANKS);
	if (ends_with_us)
		members_int(json, "life_fd", HELPER_LIFE_FD);
	jsonw_object_end(json);
}
