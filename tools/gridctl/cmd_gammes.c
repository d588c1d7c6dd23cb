/*
 * gridctl gammes import FILE: what the central database says of the ranges.
 * gridctl gammes export: the changes that buyers validated, for it to take.
 */
#include <stdio.h>
#include <unistd.h>

#include "common/opt.h"
#include "lmdb-schema/source.h"
#include "lmdb-schema/store.h"
#include "tools/gridctl/cmd.h"
#include "tools/gridctl/import.h"

struct options {
	bool quiet;
};

static const struct opt_row rows[] = {
    {"--quiet", 'q', OPT_FLAG, offsetof(struct options, quiet), 0, 0, NULL,
	"no summary"},
};

static const struct opt_spec import_spec = {
    .usage = "gridctl [--data DIR] gammes import [OPTION]... FILE",
    .about = "Takes server ranges in (fournisseur,codein,gamme; empty = "
	     "none). Articles that\nthe file does not name keep theirs. The "
	     "rows show them at once.",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .args_min = 1,
    .args_max = 1,
};

/* The file may only name articles that the current facts have. */
static enum err
take_in(struct import *import, struct store *store, const char *file,
    struct live_counts *counts)
{
	struct live_change *change;
	enum err err = source_open(&import->source, store);

	if (err == ERR_OK || err == ERR_NOT_FOUND)
		err = import_read_path(import, IMPORT_GAMMES, file);
	if (err == ERR_OK)
		err = live_change_begin(&change, store);
	if (err == ERR_OK) {
		err = import_live(import, change);
		*counts = live_change_counts(change);
		if (err == ERR_OK)
			err = live_change_commit(change);
		else
			live_change_abort(change);
	}
	source_close(import->source);
	return err;
}

static int
gammes_import(int argc, char **argv)
{
	struct options options = {false};
	struct live_counts counts = {0, 0, 0, 0};
	struct import import;
	struct store *store;
	int args, result, lock;
	enum err err;

	switch (opt_read(&options, &import_spec, argc, argv, &args)) {
	case OPT_GO:
		break;
	case OPT_HELP:
		return CMD_DONE;
	case OPT_WRONG:
		return CMD_USAGE;
	}
	result = cmd_open(&store, "gammes import");
	if (result != CMD_DONE)
		return result;
	err = import_init(&import, "");
	if (err == ERR_OK)
		err = store_lock_import(&lock, store, true);
	if (err == ERR_OK) {
		err = take_in(&import, store, argv[1], &counts);
		close(lock);
	}
	if (import_print_faults(&import) > 0) {
		fprintf(stderr,
		    "gridctl gammes import: refused, nothing was changed\n");
		result = CMD_FAILED;
	} else if (err != ERR_OK)
		result = cmd_fail("gammes import", err, NULL);
	else if (!options.quiet)
		printf("%s ranges changed, %s were the same\n",
		    cmd_count(counts.gammes), cmd_count(counts.gammes_same));
	import_fini(&import);
	store_close(store);
	return result;
}

static const struct cmd_row commands[] = {
    {"import", gammes_import, "take server ranges in"},
};

int
cmd_gammes(int argc, char **argv)
{
	return cmd_run_table("gridctl gammes",
	    "Range codes, from and to the central database.", commands, 1, argc,
	    argv);
}
