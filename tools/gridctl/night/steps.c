#include "tools/gridctl/night/steps.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "common/date.h"
#include "common/fs.h"
#include "tools/gridctl/cmd.h"
#include "tools/gridctl/night/report.h"

#define WORDS_MAX 8
#define ID_MAX 20

/* Runs a command of gridctl with these words, NULL-ended. */
static int
command(int (*run)(int argc, char **argv), const char *const *words)
{
	static char texts[WORDS_MAX][FS_PATH_MAX];
	char *argv[WORDS_MAX + 1] = {NULL};
	int argc = 0;

	for (; words[argc] != NULL; argc++) {
		assert(argc < WORDS_MAX);
		snprintf(texts[argc], FS_PATH_MAX, "%s", words[argc]);
		argv[argc] = texts[argc];
	}
	return run(argc, argv);
}

/* "20261123T020005Z", of the night's beginning: a name that sorts by time. */
static void
night_id(char id[ID_MAX], const struct night *night)
{
	char text[DATE_TEXT_MAX];
	size_t len = 0;

	date_instant_text(text, night->began_ms);
	for (size_t i = 0; i < 19; i++)
		if (text[i] != '-' && text[i] != ':')
			id[len++] = text[i];
	id[len++] = 'Z';
	id[len] = '\0';
}

/* `fault` may be NULL. */
static int
wrong(const char *what, enum err err, const struct fault *fault)
{
	if (fault != NULL && fault_is_set(fault))
		return cmd_fail("night", err, fault);
	fprintf(stderr, "gridctl night: %s: %s\n", what, err_text(err));
	return CMD_FAILED;
}

/* --- a delivery ------------------------------------------------------------------ */

static int
take(const struct steps_context *context)
{
	struct fault fault;
	uint64_t files = 0;
	enum err err;

	fault_clear(&fault);
	err =
	    inbox_take(context->inbox, context->step->delivery, &files, &fault);
	if (err != ERR_OK)
		return wrong(context->step->delivery, err, &fault);
	cmd_set_rows(files);
	return CMD_DONE;
}

static int
import(const struct steps_context *context, bool check)
{
	const char *words[WORDS_MAX] = {"import", "--quiet"};
	char path[FS_PATH_MAX];
	unsigned count = 2;
	bool merge;
	enum err err =
	    inbox_copy(path, &merge, context->inbox, context->step->delivery);

	if (err == ERR_NOT_FOUND && !check)
		return CMD_DONE; /* it was imported, then the step was cut */
	if (err != ERR_OK) {
		fprintf(stderr, "gridctl night: %s: %s\n", path, err_text(err));
		return CMD_FAILED;
	}
	if (check)
		words[count++] = "--check";
	if (check && context->options->yes)
		words[count++] = "--yes";
	if (merge)
		words[count++] = "--merge";
	words[count] = path;
	return command(cmd_import, words);
}

static int
import_and_finish(const struct steps_context *context)
{
	int result = import(context, false);
	enum err err;

	if (result != CMD_DONE)
		return result;
	err = inbox_finish(context->inbox, context->step->delivery);
	if (err == ERR_OK)
		return CMD_DONE;
	fprintf(stderr,
	    "gridctl night: %s is imported, and cannot be removed from the "
	    "inbox: %s\n",
	    context->step->delivery, err_text(err));
	return CMD_FAILED;
}

/* --- what the imports have changed ------------------------------------------------- */

static int
pack(const struct steps_context *context)
{
	static const char *const kinds[] = {
	    [NIGHT_PACK_DUMPS] = "dumps",
	    [NIGHT_PACK_PAGES] = "pages",
	    [NIGHT_PACK_ZSTD] = "zstd",
	};
	int kind = context->options->settings->pack;

	assert(kind > NIGHT_PACK_NONE && kind <= NIGHT_PACK_ZSTD);
	return command(cmd_pack,
	    (const char *[]){
		"pack", "--all", "--quiet", "--for", kinds[kind], NULL});
}

static int export(const struct steps_context *context)
{
	const char *folder = context->options->settings->export_to;
	char id[ID_MAX], path[FS_PATH_MAX];
	enum err err = fs_mkdir(folder);

	night_id(id, context->night);
	if (err == ERR_OK)
		err = fs_path(path, "%s/gammes-%s.csv", folder, id);
	if (err != ERR_OK) {
		fprintf(
		    stderr, "gridctl night: %s: %s\n", folder, err_text(err));
		return CMD_FAILED;
	}
	return command(cmd_gammes,
	    (const char *[]){"gammes", "export", "--out", path, NULL});
}

/* --- backups -------------------------------------------------------------------------- */

struct rotation {
	const char *folder;
	int64_t spare; /* how many are to go */
	bool counting;
};

static bool
is_id(const char *name)
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

/* The names sort by time: the first ones are the oldest. */
static enum err
rotate_name(void *context, const char *name)
{
	struct rotation *rotation = context;
	char path[FS_PATH_MAX];
	enum err err;

	if (!is_id(name))
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

static int
copy_and_check(const char *aside, const struct night_settings *settings)
{
	int result =
	    command(cmd_backup, (const char *[]){"backup", aside, NULL});

	if (result != CMD_DONE || !settings->verify)
		return result;
	cmd_set_data_dir(aside); /* of this process alone */
	return command(cmd_check, (const char *[]){"check", "--quiet", NULL});
}

static int
backup(const struct steps_context *context)
{
	const struct night_settings *settings = context->options->settings;
	char id[ID_MAX], aside[FS_PATH_MAX], path[FS_PATH_MAX];
	uint64_t rows;
	int result;
	enum err err = fs_mkdir(settings->backup_to);

	night_id(id, context->night);
	if (err == ERR_OK)
		err = fs_path(aside, "%s/backup.part", settings->backup_to);
	if (err == ERR_OK)
		err = fs_path(path, "%s/%s", settings->backup_to, id);
	if (err == ERR_OK) /* of a night that was cut off */
		err = fs_remove_tree(aside);
	if (err == ERR_OK || err == ERR_NOT_FOUND)
		err = fs_remove_tree(path);
	if (err != ERR_OK && err != ERR_NOT_FOUND)
		return wrong(settings->backup_to, err, NULL);
	result = copy_and_check(aside, settings);
	rows = cmd_rows();
	if (result != CMD_DONE) {
		(void)fs_remove_tree(aside); /* room for the next */
		return result;
	}
	err = fs_publish(aside, path);
	if (err == ERR_OK)
		err = rotate(settings);
	cmd_set_rows(rows);
	return err == ERR_OK ? CMD_DONE : wrong(settings->backup_to, err, NULL);
}

/* --- all of them ------------------------------------------------------------------------ */

int
steps_do(void *context)
{
	const struct steps_context *step = context;

	switch (step->step->kind) {
	case NIGHT_TAKE:
		return take(step);
	case NIGHT_CHECK:
		return import(step, true);
	case NIGHT_IMPORT:
		return import_and_finish(step);
	case NIGHT_COMPUTE:
		return command(cmd_compute,
		    (const char *[]){
			"compute", "--stale", "--absent", "--quiet", NULL});
	case NIGHT_INDEX:
		return command(
		    cmd_index, (const char *[]){"index", "--quiet", NULL});
	case NIGHT_PACK:
		return pack(step);
	case NIGHT_EXPORT:
		return export(step);
	case NIGHT_BACKUP:
		return backup(step);
	case NIGHT_PRUNE:
		return command(cmd_prune, (const char *[]){"prune", NULL});
	case NIGHT_REPORT:
		return night_report(step->night, step->options->settings);
	case NIGHT_KINDS:
		break;
	}
	assert(false);
	return CMD_FAILED;
}
