#include "tools/gridhook/settings.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/conf.h"
#include "common/digest.h"
#include "common/log.h"
#include "common/origin.h"
#include "tools/gridhook/mcp/helper.h"
#include "tools/gridhook/mcp/toolset.h"

#define AT(member) offsetof(struct hook_settings, member)
#define BLANKS ", \t"

static const char *const replays[] = {"unacked", "all", "none", NULL};

static const struct conf_row rows[] = {
    {"server", "port", CONF_INT, AT(port), "7842", 1, 65535, NULL, "TCP port."},
    {"server", "host", CONF_TEXT, AT(host), "", 0, 255, NULL,
	"Address to listen on. Empty: 0.0.0.0 with a secret, 127.0.0.1 "
	"without."},
    {"server", "app", CONF_TEXT, AT(app), "assistant", 1, 64, NULL,
	"Application name: the push path is /<app>/hook."},
    {"server", "secret_file", CONF_TEXT, AT(secret_file), "", 0, 4095, NULL,
	"File that holds the shared secret. Empty: the systemd credential "
	"\"secret\", else the environment's GRIDHOOK_SECRET, else none."},
    {"server", "senders_file", CONF_TEXT, AT(senders_file), "", 0, 4095, NULL,
	"File of senders that push with a secret of their own, since they "
	"cannot send the shared one: a line NAME SCHEME SECRET each. Empty: "
	"none."},
    {"server", "autostart", CONF_BOOL, AT(autostart), "yes", 0, 0, NULL,
	"Listen at once; no: wait for gridhook ctl start."},
    {"server", "check_origin", CONF_BOOL, AT(check_origin), "yes", 0, 0, NULL,
	"Refuse foreign Origin and Host headers (DNS rebinding)."},
    {"server", "allowed_origins", CONF_TEXT, AT(allowed_origins), "", 0, 4095,
	NULL,
	"Origins of web pages that may call besides gridhook's own, "
	"such as http://localhost:6274."},
    {"server", "allowed_hosts", CONF_TEXT, AT(allowed_hosts), "", 0, 4095, NULL,
	"Host names that may be used besides those of this machine."},
    {"server", "same_user", CONF_BOOL, AT(same_user), "yes", 0, 0, NULL,
	"Without a secret, refuse programs of this machine's other users but "
	"root."},

    {"limits", "connections", CONF_INT, AT(connections), "512", 1, 900, NULL,
	"Most connections at a time."},
    {"limits", "per_address", CONF_INT, AT(per_address), "64", 1, 900, NULL,
	"Most connections at a time from one address of the network."},
    {"limits", "first_byte", CONF_SECONDS, AT(first_byte_s), "10s", 1, 3600,
	NULL, "A new connection must begin its request within this time."},
    {"limits", "head", CONF_SECONDS, AT(head_s), "10s", 1, 3600, NULL,
	"A request's head must be complete this long after its first byte."},
    {"limits", "body", CONF_SECONDS, AT(body_s), "30s", 1, 3600, NULL,
	"64 KiB of a request's body, or what is left of it, must come within "
	"this time, again and again."},
    {"limits", "write", CONF_SECONDS, AT(write_s), "30s", 1, 3600, NULL,
	"64 KiB of an answer, or what is left of it, must be taken within "
	"this time, again and again."},
    {"limits", "idle", CONF_SECONDS, AT(idle_s), "60s", 1, 3600, NULL,
	"A connection kept for another request is closed after this time."},
    {"limits", "linger", CONF_SECONDS, AT(linger_s), "5s", 1, 60, NULL,
	"How long a refused sender is read on, so that it hears why."},
    {"limits", "guess_rate", CONF_INT, AT(guess_rate), "2", 1, 1000, NULL,
	"Wrong secrets a second of one address, or of one user of this "
	"machine; the request with the next one waits, and so does one with "
	"the right secret where that has less than 16 characters."},
    {"limits", "guess_burst", CONF_INT, AT(guess_burst), "20", 1, 1000, NULL,
	"The same at once."},

    {"store", "data", CONF_TEXT, AT(data), "", 0, 4095, NULL,
	"Folder of the events. Empty: $STATE_DIRECTORY, else "
	"$XDG_STATE_HOME/gridhook, else ~/.local/state/gridhook. \"memory\": "
	"they are gone when gridhook ends."},
    {"store", "keep_events", CONF_INT, AT(keep_events), "1000", 10, 1000000,
	NULL, "Events kept; the oldest go first."},
    {"store", "keep_age", CONF_SECONDS, AT(keep_s), "14d", 60, 31536000, NULL,
	"Events older than this go."},
    {"store", "keep_bytes", CONF_SIZE, AT(keep_bytes), "32M", 1048576,
	1073741824, NULL, "Bytes of events kept; the oldest go first."},

    {"interface", "sockets", CONF_TEXT, AT(runtime), "", 0, 90, NULL,
	"Folder of interface.sock and control.sock. Empty: "
	"$RUNTIME_DIRECTORY, else $XDG_RUNTIME_DIR/<app>, else "
	"/tmp/<app>-<uid>."},
    {"interface", "replay", CONF_CHOICE, AT(replay), "unacked", 0, 0, replays,
	"What a window that is new here gets of the past: unacked, all or "
	"none."},

    {"tools", "helper", CONF_TEXT, AT(helper), "", 0, 4095, NULL,
	"Program that performs the system tools. Empty: the installed "
	"gridhook-tool."},
    {"tools", "disabled", CONF_TEXT, AT(disabled), "", 0, 4095, NULL,
	"Tools that are switched off, by name."},
    {"tools", "read_only", CONF_BOOL, AT(read_only), "no", 0, 0, NULL,
	"Offer only the tools that change nothing."},
    {"tools", "helpers", CONF_INT, AT(helpers), "4", 1, 64, NULL,
	"Most helper processes at a time; further calls wait."},
    {"tools", "read_rate", CONF_INT, AT(rate[TOOL_PACE_READ]), "200", 1, 100000,
	NULL, "Reading calls a second."},
    {"tools", "read_burst", CONF_INT, AT(burst[TOOL_PACE_READ]), "1000", 1,
	100000, NULL, "Reading calls at once."},
    {"tools", "act_rate", CONF_INT, AT(rate[TOOL_PACE_ACT]), "10", 1, 100000,
	NULL, "Calls a second that a person notices."},
    {"tools", "act_burst", CONF_INT, AT(burst[TOOL_PACE_ACT]), "20", 1, 100000,
	NULL, "The same at once."},
    {"tools", "heavy_rate", CONF_INT, AT(rate[TOOL_PACE_HEAVY]), "3", 1, 100000,
	NULL, "Captures, launches and locks a second."},
    {"tools", "heavy_burst", CONF_INT, AT(burst[TOOL_PACE_HEAVY]), "5", 1,
	100000, NULL, "The same at once."},

    {"desktop", "display", CONF_TEXT, AT(display), "auto", 0, 16, NULL,
	"Where the screen and the clipboard are: auto, x11, wayland, none."},
    {"desktop", "x11_display", CONF_TEXT, AT(x11_display), "", 0, 255, NULL,
	"Used in place of DISPLAY, such as :0."},
    {"desktop", "wayland_display", CONF_TEXT, AT(wayland_display), "", 0, 255,
	NULL, "Used in place of WAYLAND_DISPLAY, such as wayland-1."},
    {"desktop", "find_roots", CONF_TEXT, AT(find_roots), "", 0, 4095, NULL,
	"Folders that find_files may look into. Empty: the home folder."},
    {"desktop", "find_entries", CONF_INT, AT(find_entries), "200000", 1,
	100000000, NULL, "Names that find_files looks at before it stops."},
    {"desktop", "find_depth", CONF_INT, AT(find_depth), "12", 0, 64, NULL,
	"Folders below a root that find_files goes down."},
    {"desktop", "find_ms", CONF_INT, AT(find_ms), "2000", 1, 600000, NULL,
	"Milliseconds before find_files stops."},
    {"desktop", "url_schemes", CONF_TEXT, AT(url_schemes),
	"http, https, mailto", 0, 1023, NULL, "What open_url opens."},
    {"desktop", "app_allow", CONF_TEXT, AT(app_allow), "", 0, 4095, NULL,
	"Desktop ids that open_app may start. Empty: any."},
    {"desktop", "app_args", CONF_BOOL, AT(app_args), "no", 0, 0, NULL,
	"Whether a caller may pass arguments to an application."},
    {"desktop", "terminal", CONF_TEXT, AT(terminal), "x-terminal-emulator -e",
	0, 1023, NULL, "What runs an application that wants a terminal."},
    {"desktop", "lock_command", CONF_TEXT, AT(lock_command), "", 0, 1023, NULL,
	"What locks the session when the desktop does not."},
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

void
settings_print(FILE *file)
{
	conf_print(file, rows, ROWS);
}

void
settings_fini(struct hook_settings *settings)
{
	conf_fini(settings, rows, ROWS);
	digest_forget(settings->secret, sizeof(settings->secret));
}

bool
settings_list_next(struct span *item, const char **list)
{
	assert(item != NULL && *list != NULL);
	*list += strspn(*list, BLANKS);
	*item = span_make(*list, strcspn(*list, BLANKS));
	*list += item->len;
	return item->len > 0;
}

bool
settings_list_has(const char *list, struct span item)
{
	struct span listed;

	assert(list != NULL);
	while (settings_list_next(&listed, &list))
		if (span_eq_nocase(listed, item))
			return true;
	return false;
}

/* --- the secret ----------------------------------------------------------- */

static enum err
keep_secret(struct hook_settings *settings, struct span secret,
    const char *place, struct fault *fault)
{
	while (secret.len > 0 && strchr("\r\n", secret.ptr[secret.len - 1]))
		secret.len--;
	secret = span_trim(secret);
	if (secret.len == 0) {
		fault_set(fault, place, "holds no secret: it is empty");
		return ERR_BAD_INPUT;
	}
	for (size_t i = 0; i < secret.len; i++)
		if ((unsigned char)secret.ptr[i] < 0x20 ||
		    secret.ptr[i] == 0x7F) {
			fault_set(fault, place,
			    "a secret is one line without control "
			    "characters: no header could carry it");
			return ERR_BAD_INPUT;
		}
	if (!span_copy(settings->secret, sizeof(settings->secret), secret)) {
		fault_set(fault, place, "the secret is longer than %d bytes",
		    SETTINGS_SECRET_MAX - 1);
		return ERR_TOO_LARGE;
	}
	settings->has_secret = true;
	return ERR_OK;
}

enum err
settings_read_secret(
    struct hook_settings *settings, const char *path, struct fault *fault)
{
	struct stat stat_;
	struct buf buf;
	enum err err;

	assert(path != NULL);
	buf_init(&buf, 65536);
	err = fs_read(&buf, path);
	if (err != ERR_OK)
		fault_set(fault, path, "the secret cannot be read: %s",
		    err_text(err));
	else
		err = keep_secret(settings, buf_span(&buf), path, fault);
	if (err == ERR_OK && stat(path, &stat_) == 0 &&
	    (stat_.st_mode & (S_IRWXO | S_IWGRP)) != 0)
		log_warn(
		    "others can get at the secret (chmod 600): file=%s", path);
	if (buf.data != NULL)
		digest_forget(buf.data, buf.cap);
	buf_fini(&buf);
	return err;
}

static enum err
find_secret(struct hook_settings *settings, struct fault *fault)
{
	const char *folder = getenv("CREDENTIALS_DIRECTORY");
	const char *given = getenv("GRIDHOOK_SECRET");
	char path[FS_PATH_MAX];
	enum err err = ERR_OK;

	if (settings->secret_file[0] != '\0')
		err = settings_read_secret(
		    settings, settings->secret_file, fault);
	else if (folder != NULL &&
	    fs_path(path, "%s/secret", folder) == ERR_OK &&
	    access(path, F_OK) == 0)
		err = settings_read_secret(settings, path, fault);
	else if (given != NULL && given[0] != '\0')
		err = keep_secret(
		    settings, span_of(given), "GRIDHOOK_SECRET", fault);
	unsetenv("GRIDHOOK_SECRET");
	return err;
}

/* --- the file ------------------------------------------------------------- */

static enum err
read_usual(struct hook_settings *settings, struct fault *fault)
{
	const char *config = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");
	char path[FS_PATH_MAX] = "";
	enum err err = ERR_NOT_FOUND;

	if (config != NULL && config[0] == '/')
		err = fs_path(path, "%s/gridhook.conf", config);
	else if (home != NULL && home[0] == '/')
		err = fs_path(path, "%s/.config/gridhook.conf", home);
	if (err == ERR_OK)
		err = conf_read(settings, rows, ROWS, path, fault);
	if (err != ERR_NOT_FOUND)
		return err;
	fault_clear(fault);
	err = conf_read(settings, rows, ROWS, GRIDHOOK_CONF, fault);
	if (err != ERR_NOT_FOUND)
		return err;
	fault_clear(fault);
	return ERR_OK;
}

/* Checks a segment of a path, as it will stand in a request. */
static enum err
check_app(const struct hook_settings *settings, struct fault *fault)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~";
	const char *app = settings->app;

	if (app[0] == '\0' || app[0] == '.' || strlen(app) > 64 ||
	    app[strspn(app, good)] != '\0' || strcmp(app, "mcp") == 0) {
		fault_set(fault, "[server] app",
		    "is not a name for a path: \"%s\" (letters, digits, - _ "
		    "~ and inner points, at most 64)",
		    app);
		return ERR_BAD_INPUT;
	}
	return ERR_OK;
}

static enum err
check_origins(const struct hook_settings *settings, struct fault *fault)
{
	const char *list = settings->allowed_origins;
	struct origin origin;
	struct span item;

	while (settings_list_next(&item, &list)) {
		if (origin_read(&origin, item))
			continue;
		fault_set(fault, "[server] allowed_origins",
		    "\"%.*s\" is no origin: scheme://host or "
		    "scheme://host:port is wanted, with nothing behind it",
		    SPAN_ARG(span_sub(item, 0, 200)));
		return ERR_BAD_INPUT;
	}
	return ERR_OK;
}

static enum err
check_hosts(const struct hook_settings *settings, struct fault *fault)
{
	const char *list = settings->allowed_hosts;
	struct authority at;
	struct span item;

	while (settings_list_next(&item, &list)) {
		if (authority_read(&at, item))
			continue;
		fault_set(fault, "[server] allowed_hosts",
		    "\"%.*s\" is no host: a name, or name:port, is wanted",
		    SPAN_ARG(span_sub(item, 0, 200)));
		return ERR_BAD_INPUT;
	}
	return ERR_OK;
}

static enum err
check_disabled(const struct hook_settings *settings, struct fault *fault)
{
	const char *at = settings->disabled;
	struct span name;

	for (;;) {
		at += strspn(at, ", \t");
		name = span_make(at, strcspn(at, ", \t"));
		if (name.len == 0)
			return ERR_OK;
		if (toolset_find(name) == NULL) {
			fault_set(fault, "[tools] disabled",
			    "there is no tool \"%.*s\" (gridhook tools lists "
			    "them)",
			    SPAN_ARG(name));
			return ERR_BAD_INPUT;
		}
		at += name.len;
	}
}

enum err
settings_load(
    struct hook_settings *settings, const char *path, struct fault *fault)
{
	enum err err;

	memset(settings, 0, sizeof(*settings));
	err = conf_defaults(settings, rows, ROWS, fault);
	if (err == ERR_OK && path == NULL)
		err = read_usual(settings, fault);
	else if (err == ERR_OK) {
		err = conf_read(settings, rows, ROWS, path, fault);
		if (err == ERR_NOT_FOUND)
			fault_set(fault, path, "there is no such file");
	}
	if (err == ERR_OK)
		err = check_app(settings, fault);
	if (err == ERR_OK)
		err = check_origins(settings, fault);
	if (err == ERR_OK)
		err = check_hosts(settings, fault);
	if (err == ERR_OK)
		err = check_disabled(settings, fault);
	if (err == ERR_OK)
		err = find_secret(settings, fault);
	return err;
}
