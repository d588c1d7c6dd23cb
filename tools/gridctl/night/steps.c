#include "tools/gridctl/night/steps.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "common/date.h"
#include "common/fs.h"
#include "tools/gridctl/cmd.h"
#include "tools/gridctl/night/backups.h"
#include "tools/gridctl/night/report.h"

#define WORDS_MAX 12

/* "20261123T020005Z", of the night's beginning: a name that sorts by time. */
static void
night_id(char id[BACKUP_ID_MAX], const struct night *night)
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

/* Without a delivery: of an inbox that could not be read when the night began. */
static int
look_again(const struct inbox *inbox)
{
	struct inbox_names names = {.count = 0};
	enum err err = inbox_list(&names, inbox);

	return err == ERR_OK ? CMD_DONE : wrong(inbox->folder, err, NULL);
}

static int
take(const struct steps_context *context)
{
	struct fault fault;
	uint64_t files = 0;
	enum err err;

	if (context->step->delivery[0] == '\0')
		return look_again(context->inbox);
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
	char path[FS_PATH_MAX], memory[24];
	const char *words[WORDS_MAX] = {
	    "import", "--quiet", "--memory", memory};
	unsigned count = 4;
	bool merge;
	enum err err =
	    inbox_copy(path, &merge, context->inbox, context->step->delivery);

	if (err == ERR_NOT_FOUND && !check)
		return CMD_DONE; /* it was imported, then the step was cut */
	if (err != ERR_OK) {
		fprintf(stderr, "gridctl night: %s: %s\n", path, err_text(err));
		return CMD_FAILED;
	}
	snprintf(memory, sizeof(memory), "%lld",
	    (long long)context->options->settings->memory);
	if (check)
		words[count++] = "--check";
	if (check && context->options->yes)
		words[count++] = "--yes";
	if (merge)
		words[count++] = "--merge";
	words[count] = path;
	return cmd_by_words(cmd_import, words);
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
	return cmd_by_words(cmd_pack,
	    (const char *[]){
		"pack", "--all", "--quiet", "--for", kinds[kind], NULL});
}

static int export(const struct steps_context *context)
{
	const char *folder = context->options->settings->export_to;
	char id[BACKUP_ID_MAX], path[FS_PATH_MAX];
	enum err err = fs_mkdir(folder);

	night_id(id, context->night);
	if (err == ERR_OK)
		err = fs_path(path, "%s/gammes-%s.csv", folder, id);
	if (err != ERR_OK) {
		fprintf(
		    stderr, "gridctl night: %s: %s\n", folder, err_text(err));
		return CMD_FAILED;
	}
	return cmd_by_words(cmd_gammes,
	    (const char *[]){"gammes", "export", "--out", path, NULL});
}

static int
backup(const struct steps_context *context)
{
	char id[BACKUP_ID_MAX];

	night_id(id, context->night);
	return backups_make(context->options->settings, id);
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
		return cmd_by_words(cmd_compute,
		    (const char *[]){
			"compute", "--stale", "--absent", "--quiet", NULL});
	case NIGHT_INDEX:
		return cmd_by_words(
		    cmd_index, (const char *[]){"index", "--quiet", NULL});
	case NIGHT_PACK:
		return pack(step);
	case NIGHT_EXPORT:
		return export(step);
	case NIGHT_BACKUP:
		return backup(step);
	case NIGHT_SEND:
		return backups_send(step->options->settings);
	case NIGHT_PRUNE:
		return cmd_by_words(cmd_prune, (const char *[]){"prune", NULL});
	case NIGHT_REPORT:
		return night_report(step->night, step->options->settings);
	case NIGHT_KINDS:
		break;
	}
	assert(false);
	return CMD_FAILED;
}
