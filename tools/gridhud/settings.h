/*
 * settings: what the person has chosen, one table, one INI file.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/fs.h"
#include "tools/gridhud/hours.h"

enum theme_choice { THEME_AUTO, THEME_DAY, THEME_NIGHT };
enum language { LANGUAGE_EN, LANGUAGE_FR };
enum engine { ENGINE_AUTO, ENGINE_ESPEAK, ENGINE_DISPATCHER, ENGINE_NONE };

struct hud_settings {
	char *app;
	char *socket; /* "": found */
	char *history; /* "": found */
	int64_t keep_messages, keep_bytes;

	char *quiet_text;
	bool quiet_strict;
	char *priority_words;
	bool speak_job_failures;
	char *mute_sources;
	bool bell;

	bool speech;
	int engine; /* enum engine */
	int language; /* enum language */
	char *voice;
	int64_t rate;
	char *player;
	int64_t sentences, max_chars;
	int64_t queue_max, burst_count, burst_s;

	int theme; /* enum theme_choice */
	char *night_text;
	bool title_unread;
	bool mouse, notify;
	char *opener;

	/* Made of the texts above. */
	struct hours quiet, night;
};

/*
 * Defaults, then the file; a NULL `path` takes ~/.config/gridhud.conf when
 * there is one. On failure the fault says what to mend, and `settings` needs
 * settings_fini() all the same.
 */
enum err settings_load(
    struct hud_settings *settings, const char *path, struct fault *fault);
void settings_fini(struct hud_settings *settings);

/* The file that settings_load() reads for `path`, there or not. */
enum err settings_path(char out[FS_PATH_MAX], const char *path);

/* The commented file with every default. */
void settings_print(FILE *file);

/* Each setting as it stands: "name = value" under "[section]" lines. */
void settings_list(const struct hud_settings *settings, struct buf *buf);

/* One of them as the file would have it; nothing for a name that is none. */
void settings_value(const struct hud_settings *settings, struct span section,
    struct span name, struct buf *buf);

/*
 * Writes one setting into the file that settings_load() reads for `path`. The
 * file stays as it is when the value is wrong, and the fault says why.
 */
enum err settings_change(const char *path, struct span section,
    struct span name, struct span value, struct fault *fault);

/* Where the server's socket is, and where the conversation is kept. */
enum err settings_socket(
    char path[FS_PATH_MAX], const struct hud_settings *settings);
enum err settings_history(
    char path[FS_PATH_MAX], const struct hud_settings *settings);

/* The voice: as set, else by the language. */
const char *settings_voice(const struct hud_settings *settings);

/* True when the comma list "a, b c" has the item; case ignored. */
bool settings_list_has(const char *list, struct span item);
