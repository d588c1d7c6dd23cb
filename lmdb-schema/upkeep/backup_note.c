#include "lmdb-schema/upkeep/backup_note.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

#include "common/date.h"
#include "common/fs.h"
#include "common/jsonr.h"
#include "common/members.h"

#define VERSION 1
#define FILE_MAX 4096

static const char *const names[BACKUP_EVENTS] = {
    [BACKUP_MADE] = "made",
    [BACKUP_SENT] = "sent",
    [BACKUP_TESTED] = "tested",
};

/* null is 0. */
static bool
take(struct backup_note *out, const struct jsonr_value *root)
{
	if (jsonr_as_int(jsonr_member(root, "version")) != VERSION)
		return false;
	for (unsigned i = 0; i < BACKUP_EVENTS; i++) {
		const struct jsonr_value *value = jsonr_member(root, names[i]);

		if (jsonr_type(value) != JSONR_NULL &&
		    !date_instant(&out->ms[i], jsonr_as_string(value)))
			return false;
	}
	return true;
}

static enum err
parse(struct backup_note *out, struct span text)
{
	static const struct jsonr_limits limits = {
	    .bytes = FILE_MAX, .depth = 2, .issues = 1};
	struct jsonr *doc = NULL;
	struct fault fault;
	enum err err = jsonr_parse(&doc, text, &limits, &fault);

	if (err == ERR_BAD_INPUT || err == ERR_TOO_LARGE ||
	    (err == ERR_OK && !take(out, jsonr_root(doc))))
		err = ERR_DAMAGED;
	jsonr_free(doc);
	return err;
}

enum err
backup_note_read(struct backup_note *out, const char *data_dir)
{
	char path[FS_PATH_MAX];
	struct buf text;
	enum err err = fs_path(path, "%s/backups.json", data_dir);

	memset(out, 0, sizeof(*out));
	buf_init(&text, FILE_MAX);
	if (err == ERR_OK)
		err = fs_read(&text, path);
	if (err == ERR_OK)
		err = parse(out, buf_span(&text));
	buf_fini(&text);
	if (err != ERR_OK)
		memset(out, 0, sizeof(*out));
	if (err == ERR_TOO_LARGE)
		return ERR_DAMAGED;
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

static enum err
replace(const struct backup_note *note, const char *data_dir)
{
	char path[FS_PATH_MAX];
	struct jsonw json;
	struct buf text;
	enum err err = fs_path(path, "%s/backups.json", data_dir);

	buf_init(&text, FILE_MAX);
	jsonw_init(&json, &text);
	jsonw_object_begin(&json);
	members_int(&json, "version", VERSION);
	for (unsigned i = 0; i < BACKUP_EVENTS; i++)
		members_time(&json, names[i], note->ms[i]);
	jsonw_object_end(&json);
	buf_add_char(&text, '\n');
	if (err == ERR_OK)
		err = buf_end(&text);
	if (err == ERR_OK)
		err = fs_replace(path, buf_span(&text), 0640);
	buf_fini(&text);
	return err;
}

enum err
backup_note_set(const char *data_dir, enum backup_event event)
{
	char path[FS_PATH_MAX];
	struct backup_note note;
	int lock = -1;
	enum err err = fs_path(path, "%s/locks/backup", data_dir);

	assert(event < BACKUP_EVENTS);
	if (err == ERR_OK)
		err = fs_lock(&lock, path, true);
	if (err == ERR_OK)
		err = backup_note_read(&note, data_dir);
	if (err == ERR_OK || err == ERR_DAMAGED) {
		note.ms[event] = date_now_ms();
		err = replace(&note, data_dir);
	}
	if (lock >= 0)
		close(lock);
	return err;
}
