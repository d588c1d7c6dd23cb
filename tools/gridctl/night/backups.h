/*
 * backups: the folder of backups that the night keeps: a backup a night, named
 * by the night's beginning ("20261123T020005Z"), so that names sort by time.
 */
#pragma once

#include "common/fs.h"
#include "lmdb-schema/upkeep/backup_note.h"
#include "tools/gridctl/night/settings.h"

/*
 * Makes the backup `id` on top of the newest one, reads it where the settings
 * say so, and removes the oldest ones. A base that turns out to be damaged is not
 * used: then all is copied. The exit code: CMD_FAILED also where the backup is made,
 * and the base had to give it what is damaged in the data directory.
 */
int backups_make(const struct night_settings *settings, const char *id);

/* Sends what another host lacks, and compares the newest there. The exit code. */
int backups_send(const struct night_settings *settings);

/*
 * Restores the newest backup aside, from the other host where there is one, has
 * it checked, and removes it. The exit code.
 */
int backups_test(const struct night_settings *settings);

/* Whether it is the name of a backup, complete or not. */
bool backups_is_id(const char *name);

/* The newest complete backup's name; ERR_NOT_FOUND where there is none. */
#define BACKUP_ID_MAX 20
enum err backups_newest(char id[BACKUP_ID_MAX], const char *folder);

/* Whether rsync finds the place on another host: a colon before the first slash. */
bool backups_is_away(const char *place);

/*
 * Copies a backup from there, "user@host:/srv/grid/20261123T020005Z", into the
 * folder `to`, which is a data directory only when all of it has come. `ssh` is
 * the command that reaches the host. CMD_DONE, or CMD_FAILED, which it tells.
 */
int backups_fetch(const char *from, const char *to, const char *ssh);

/*
 * Notes in the data directory that it is done, now. Where that fails, as on a
 * full disk, it says so: the backup itself is as good as ever.
 */
void backups_note(const char *command, enum backup_event event);
