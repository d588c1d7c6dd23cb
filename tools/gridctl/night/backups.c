#include "tools/gridctl/night/backups.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/gridctl/cmd.h"

static int
wrong(const char *what, enum err err)
{
	fprintf(stderr, "gridctl night: %s: %s\n", what, err_text(err));
	return CMD_FAILED;
}

/* --- the folder ---------------------------------------------------------------- */

bool
backups_is_id(const char *name)
{
	static const char form[] = "00000000T000000Z";

	if (strlen(name) != sizeof(form) - 1)
		return false;
	for (size_t i = 0; i < sizeof(form) - 1; i++)
		if (form[i] == '0' ? name[i] < '0' || name[i] > '9'
				   : name[i] != form[i])
			return false;
	return true;
}

struct newest {
	const char *folder;
	char *id;
};

static enum err
take_newer(void *context, const char *name)
{
	struct newest *newest = context;
	char marker[FS_PATH_MAX];

	if (backups_is_id(name) &&
	    fs_path(marker, "%s/%s/store", newest->folder, name) == ERR_OK &&
	    access(marker, R_OK) == 0)
		snprintf(newest->id, BACKUP_ID_MAX, "%s", name);
	return ERR_OK;
}

enum err
backups_newest(char id[BACKUP_ID_MAX], const char *folder)
{
	enum err err;

	id[0] = '\0';
	err = fs_list(folder, take_newer, &(struct newest){folder, id});
	return err == ERR_OK && id[0] == '\0' ? ERR_NOT_FOUND : err;
}

struct rotation {
	const char *folder;
	int64_t spare; /* how many are to go */
	bool counting;
};

/* The names sort by time: the first ones are the oldest. */
static enum err
rotate_name(void *context, const char *name)
{
	struct rotation *rotation = context;
	char path[FS_PATH_MAX];
	enum err err;

	if (!backups_is_id(name))
		return ERR_OK;
	if (rotation->counting) {
		rotation->spare++;
		return ERR_OK;
	}
	if (rotation->spare-- <= 0)
		return ERR_OK;
	err = fs_path(path, "%s/%s", rotation->folder, name);
	return err == ERR_OK ? fs_remove_tree(path) : err;
}

static enum err
rotate(const struct night_settings *settings)
{
	struct rotation rotation = {settings->backup_to, -settings->keep, true};
	enum err err = fs_list(rotation.folder, rotate_name, &rotation);

	rotation.counting = false;
	return err == ERR_OK ? fs_list(rotation.folder, rotate_name, &rotation)
			     : err;
}

void
backups_note(const char *command, enum backup_event event)
{
	static const char *const done[BACKUP_EVENTS] = {
	    [BACKUP_MADE] = "the backup is complete",
	    [BACKUP_SENT] = "the backup is sent",
	    [BACKUP_TESTED] = "the backup restores",
	};
	enum err err = backup_note_set(cmd_data_dir(), event);

	assert(event < BACKUP_EVENTS);
	if (err != ERR_OK)
		fprintf(stderr,
		    "gridctl %s: %s, but its time cannot be noted in %s: %s\n",
		    command, done[event], cmd_data_dir(), err_text(err));
}

/* --- making one ---------------------------------------------------------------- */

static int
check(const char *dir)
{
	const char *before = cmd_data_dir();
	int result;

	cmd_set_data_dir(dir);
	result =
	    cmd_by_words(cmd_check, (const char *[]){"check", "--quiet", NULL});
	cmd_set_data_dir(before);
	return result;
}

/* A backup in the making. */
struct making {
	const struct night_settings *settings;
	const char *aside, *base; /* base: NULL for none */
	bool whole; /* it has all, perhaps with the base's help */
	bool sound; /* and every byte is as it was written */
};

static bool
is_sound(const struct making *making)
{
	uint64_t rows = cmd_rows();
	bool sound =
	    !making->settings->verify || check(making->aside) == CMD_DONE;

	cmd_set_rows(rows);
	return sound;
}

/* CMD_FAILED with a sound backup: the data directory is to be mended. */
static int
copy_and_check(struct making *making)
{
	int result =
	    cmd_backup_copy(&making->whole, making->aside, making->base);

	making->sound = making->whole && is_sound(making);
	return result;
}

/*
 * A file of the base that the disk has damaged would be in each later backup.
 * Where the copy itself fails, the data directory or the disk is to be mended, and
 * a copy of all of it would fail as well.
 */
static int
copy_again_if_bent(struct making *making)
{
	int result = copy_and_check(making);
	enum err err;

	if (!making->whole || making->sound || making->base == NULL)
		return result;
	err = fs_remove_tree(making->aside);
	if (err != ERR_OK && err != ERR_NOT_FOUND)
		return wrong(making->aside, err);
	fprintf(stderr,
	    "gridctl night: the backup on top of the last one is not sound: "
	    "all is copied anew; test the disk of the backups\n");
	making->base = NULL;
	return copy_and_check(making);
}

/* Removes what a night that was cut off has left of these. */
static enum err
clear(const char *aside, const char *path)
{
	enum err err = fs_remove_tree(aside);

	if (err == ERR_OK || err == ERR_NOT_FOUND)
		err = fs_remove_tree(path);
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

/* Gives the backup its name, and removes the oldest ones. */
static int
publish(const struct making *making, const char *path, int result)
{
	enum err err = fs_publish(making->aside, path);

	if (err == ERR_OK) {
		backups_note("night", BACKUP_MADE);
		err = rotate(making->settings);
	}
	if (err != ERR_OK)
		return wrong(making->settings->backup_to, err);
	if (result != CMD_DONE)
		fprintf(stderr,
		    "gridctl night: %s is made, and whole: 'cp -p' from its "
		    "folder trail mends the months of the data directory that "
		    "are named above\n",
		    path);
	return result;
}

int
backups_make(const struct night_settings *settings, const char *id)
{
	const char *folder = settings->backup_to;
	char aside[FS_PATH_MAX], path[FS_PATH_MAX], base[FS_PATH_MAX] = "";
	char last[BACKUP_ID_MAX];
	struct making making = {.settings = settings, .aside = aside};
	int result;
	enum err err = fs_mkdir(folder);

	if (err == ERR_OK)
		err = fs_path(aside, "%s/backup.part", folder);
	if (err == ERR_OK)
		err = fs_path(path, "%s/%s", folder, id);
	if (err == ERR_OK)
		err = clear(aside, path);
	if (err == ERR_OK && backups_newest(last, folder) == ERR_OK)
		err = fs_path(base, "%s/%s", folder, last);
	if (err != ERR_OK)
		return wrong(folder, err);
	making.base = base[0] == '\0' ? NULL : base;
	result = copy_again_if_bent(&making);
	if (making.sound)
		return publish(&making, path, result);
	(void)fs_remove_tree(aside); /* room for the next */
	return CMD_FAILED;
}

/* --- trying one ---------------------------------------------------------------- */

static int
restore_and_check(
    const char *part, const char *id, const struct night_settings *settings)
{
	const char *before = cmd_data_dir();
	const bool away = settings->send_to[0] != '\0';
	char from[FS_PATH_MAX];
	int result;
	enum err err = fs_path(
	    from, "%s/%s", away ? settings->send_to : settings->backup_to, id);

	if (err != ERR_OK)
		return wrong(part, err);
	cmd_set_data_dir(part);
	result = cmd_restore_copy(from, settings->ssh);
	cmd_set_data_dir(before);
	if (result == CMD_DONE)
		result = check(part);
	if (result == CMD_DONE)
		printf("%s: restored, and every byte is as it was written\n",
		    from);
	return result;
}

int
backups_test(const struct night_settings *settings)
{
	const char *folder = settings->backup_to;
	char part[FS_PATH_MAX], id[BACKUP_ID_MAX];
	int result;
	enum err err, removed;

	if (folder[0] == '\0') {
		fputs("gridctl night: [backup] folder is empty: there are no "
		      "backups to try\n",
		    stderr);
		return CMD_FAILED;
	}
	err = backups_newest(id, folder);
	if (err == ERR_OK)
		err = fs_path(part, "%s/restore.part", folder);
	if (err == ERR_OK)
		err = clear(part, part);
	if (err != ERR_OK)
		return wrong(folder, err);
	result = restore_and_check(part, id, settings);
	removed = clear(part, part);
	if (result == CMD_DONE)
		backups_note("night", BACKUP_TESTED);
	return removed == ERR_OK ? result : wrong(folder, removed);
}
