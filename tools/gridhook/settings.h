/*
 * settings: what the file says, and the secret, which stands in no such file.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/jsonw.h"
#include "common/span.h"

#define SETTINGS_SECRET_MAX 1024
#define SETTINGS_SECRET_LONG 16 /* characters that make guessing hopeless */
#define SETTINGS_PORT 7842

enum settings_replay { REPLAY_UNACKED, REPLAY_ALL, REPLAY_NONE };

struct hook_settings {
	int64_t port;
	char *host; /* "": by the secret */
	char *app;
	char *secret_file;
	char *senders_file;
	bool autostart;
	bool check_origin;
	bool same_user;
	char *allowed_origins;
	char *allowed_hosts;

	int64_t connections, per_address;
	int64_t first_byte_s, head_s, body_s, write_s, idle_s, linger_s;
	int64_t guess_rate, guess_burst;

	char *data;
	int64_t keep_events, keep_s, keep_bytes;

	char *runtime; /* folder of the two sockets; "": found */
	int replay; /* enum settings_replay */

	char *helper;
	char *disabled;
	bool read_only;
	int64_t rate[3], burst[3]; /* by enum tool_pace */
	int64_t helpers;

	/* For the helper; empty texts leave it its own defaults. */
	char *display, *x11_display, *wayland_display;
	char *find_roots, *url_schemes, *app_allow, *terminal, *lock_command;
	int64_t find_entries, find_depth, find_ms;
	bool app_args;

	/* From elsewhere. */
	char secret[SETTINGS_SECRET_MAX];
	bool has_secret;
};

/*
 * Defaults, then the file; a NULL `path` takes the first of the usual places
 * that has one. Then the secret: `secret_file`, else the systemd credential
 * "secret", else GRIDHOOK_SECRET, which is taken out of the environment so
 * that no child sees it. Every trouble is a fault for a person.
 */
enum err settings_load(
    struct hook_settings *settings, const char *path, struct fault *fault);
void settings_fini(struct hook_settings *settings);

/* Reads a secret's file: trimmed, not empty, no control characters. */
enum err settings_read_secret(
    struct hook_settings *settings, const char *path, struct fault *fault);

/* The commented file with every default. */
void settings_print(FILE *file);

/* The address to listen on: the host that is set, or by the secret. */
const char *settings_host(const struct hook_settings *settings);

/* Whether that is a loopback address, which only this machine can reach. */
bool settings_is_loopback(const struct hook_settings *settings);

/*
 * Logs a warning when that is no loopback address and no secret is set, and
 * when the secret is a short one.
 */
void settings_warn_exposed(const struct hook_settings *settings);

/* There is a secret of SETTINGS_SECRET_LONG characters or more. */
bool settings_has_long_secret(const struct hook_settings *settings);

/* True when access depends on the peer's user, since no secret is set. */
bool settings_wants_user(const struct hook_settings *settings);

/* "/assistant/hook" */
enum err settings_push_path(
    char path[FS_PATH_MAX], const struct hook_settings *settings);

/* "interface.sock" or "control.sock" in the folder for sockets. */
enum err settings_socket(char path[FS_PATH_MAX],
    const struct hook_settings *settings, const char *name);

/* Where events are kept; ERR_NOT_FOUND when they are kept in memory only. */
enum err settings_data(
    char path[FS_PATH_MAX], const struct hook_settings *settings);

/*
 * The helper's settings as the JSON that it reads from its environment. With
 * `ends_with_us` they name HELPER_LIFE_FD, a pipe that closes when gridhook
 * ends, and with it what a helper leaves behind.
 */
void settings_for_helper(struct jsonw *json,
    const struct hook_settings *settings, bool ends_with_us);

/* True when a list "a, b c" has the item; ASCII case ignored. */
bool settings_list_has(const char *list, struct span item);

/* The next item of such a list, taken off its front. */
bool settings_list_next(struct span *item, const char **list);
