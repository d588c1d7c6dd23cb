/*
 * gridctl gammes import FILE: takes in the ranges of the central database.
 * gridctl gammes export: writes the changes that buyers validated, for that
 * database.
 */
#include <stdio.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/opt.h"
#include "lmdb-schema/facts/source.h"
#include "lmdb-schema/state/proposal.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/edition.h"
#include "tools/gridctl/cmd.h"
#include "tools/gridctl/csv/csv_write.h"
#include "tools/gridctl/import/import.h"

struct options {
	const char *out;
	bool quiet, motif;
};

static const struct opt_row rows[] = {
    {"--quiet", 'q', OPT_FLAG, offsetof(struct options, quiet), 0, 0, NULL,
	"no summary"},
};

static const struct opt_spec import_spec = {
    .usage = "gridctl [--data DIR] gammes import [OPTION]... FILE",
    .about = "Imports server ranges (fournisseur,codein,gamme; empty = none). "
	     "Articles that are not in the file keep theirs. "
	     "The rows show them at once.",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .args_min = 1,
    .args_max = 1,
};

static const struct opt_row export_rows[] = {
    {"--motif", 0, OPT_FLAG, offsetof(struct options, motif), 0, 0, NULL,
	"a fourth column, motif: why the range was proposed"},
    {"--out", 'o', OPT_TEXT, offsetof(struct options, out), 0, 0, "FILE",
	"write to this file, as a whole or not at all, instead of standard "
	"output"},
};

static const struct opt_spec export_spec = {
    .usage = "gridctl [--data DIR] gammes export [--motif] [--out FILE]",
    .about = "Writes the validated changes as CSV "
	     "(fournisseur,codein,gamme), sorted, for the central database. "
	     "They stay until 'gammes import' or 'import' brings them back "
	     "as server ranges.",
    .rows = export_rows,
    .count = sizeof(export_rows) / sizeof(export_rows[0]),
};

/* --- import --------------------------------------------------------------- */

static enum err
change_gammes(void *context, struct live_change *change)
{
	return import_live(context, change);
}

/* The file may only name articles that the current facts have. */
static enum err
take_in(struct import *import, struct store *store, const char *file,
    struct live_counts *counts, struct fault *fault)
{
	struct edition_making *edition = NULL;
	enum err err = edition_begin(&edition, store, false, fault);

	if (err == ERR_OK)
		err = source_open(&import->source, store);
	if (err == ERR_OK || err == ERR_NOT_FOUND)
		err = import_read_path(import, IMPORT_GAMMES, file);
	if (err == ERR_OK)
		err = edition_change(
		    edition, change_gammes, import, counts, 0, fault);
	source_close(import->source);
	edition_end(edition);
	return err;
}

static int
tell(const struct import *import, enum err err,
    const struct live_counts *counts, bool quiet, const struct fault *fault)
{
	if (import_print_faults(import) > 0) {
		fprintf(stderr,
		    "gridctl gammes import: refused, nothing was changed\n");
		return CMD_FAILED;
	}
	if (err != ERR_OK)
		return cmd_fail("gammes import", err, fault);
	if (!quiet)
		printf("%s ranges changed, %s were the same\n",
		    cmd_count(counts->gammes), cmd_count(counts->gammes_same));
	return CMD_DONE;
}

static int
gammes_import(int argc, char **argv)
{
	struct options options = {.out = NULL};
	struct live_counts counts = {0};
	struct fault fault;
	struct import import;
	struct store *store;
	int args, result, lock;
	enum err err;

	result = cmd_start(
	    &store, "gammes import", &options, &import_spec, argc, argv, &args);
	if (result != CMD_GO)
		return result;
	result = CMD_DONE;
	fault_clear(&fault);
	err = import_init(&import, "", store_dir(store), INTAKE_MEMORY);
	if (err == ERR_OK)
		err = store_lock_import(&lock, store, true);
	if (err == ERR_OK) {
		/*
		 * Settle again: a crash may have prevented that after the last
		 * import.
		 */
		result = cmd_settle(store, "gammes import", false, true);
		if (result == CMD_DONE)
			err = take_in(&import, store, argv[1], &counts, &fault);
		close(lock);
	}
	if (result == CMD_DONE)
		result = tell(&import, err, &counts, options.quiet, &fault);
	if (result == CMD_DONE)
		result =
		    cmd_settle(store, "gammes import", true, options.quiet);
	import_fini(&import);
	store_close(store);
	return result;
}

/* --- export --------------------------------------------------------------- */

static enum err
has_article(bool *has, void *context, struct span supplier, struct span codein)
{
	struct source *source = context;

	*has = true;
	return source == NULL ? ERR_OK
			      : source_lists(has, source, supplier, codein);
}

static void
add_changes(struct buf *text, const struct proposal_export *export, bool motif)
{
	buf_add_text(text, "fournisseur,codein,gamme");
	buf_add_span(text, motif ? SPAN(",motif\n") : SPAN("\n"));
	for (unsigned i = 0; i < proposal_export_count(export); i++) {
		struct proposal_exported one = proposal_export_at(export, i);

		csv_write_field(text, one.supplier);
		buf_add_char(text, ',');
		csv_write_field(text, one.codein);
		buf_add_char(text, ',');
		buf_add_span(text, row_gamme_text(one.gamme));
		if (motif) {
			buf_add_char(text, ',');
			csv_write_field(text, one.motif);
		}
		buf_add_char(text, '\n');
	}
}

static int
write_out(struct buf *text, const char *path)
{
	enum err err = buf_end(text);
	struct fault fault;

	if (err == ERR_OK && path == NULL)
		return cmd_print(text, "gammes export");
	fault_clear(&fault);
	if (err == ERR_OK) {
		err = fs_replace(path, buf_span(text), 0640);
		fault_set(&fault, path,
		    "cannot be written (%s)%s; what was there is still there",
		    err_text(err),
		    err == ERR_NOT_FOUND ? ": make its folder, or name another"
					 : "");
	}
	buf_fini(text);
	return err == ERR_OK ? CMD_DONE
			     : cmd_fail("gammes export", err, &fault);
}

/*
 * The order matters: note the changes as possibly sent before writing them, and
 * as sent only afterwards.
 */
static int
hand_over(struct proposal_export *export, const struct options *options)
{
	unsigned left_out = proposal_export_left_out(export);
	struct buf text;
	int result;
	enum err err;

	buf_init(&text, (size_t)1 << 32);
	add_changes(&text, export, options->motif);
	cmd_set_rows(proposal_export_count(export));
	result = write_out(&text, options->out);
	if (result != CMD_DONE)
		return result;
	if (left_out > 0)
		fprintf(stderr,
		    "gridctl gammes export: %u validated change%s left out: "
		    "the "
		    "current facts do not have the article "
		    "('gridctl proposals list --validated' shows all)\n",
		    left_out, left_out == 1 ? " is" : "s are");
	err = proposal_export_done(export);
	return err == ERR_OK
	    ? CMD_DONE
	    : cmd_fail("gammes export: it is written, but not noted as "
		       "handed over: export again",
		  err, NULL);
}

static int
gammes_export(int argc, char **argv)
{
	struct options options = {.out = NULL};
	struct proposal_export *export = NULL;
	struct source *source = NULL;
	struct store *store;
	int args, result;
	enum err err;

	result = cmd_start(
	    &store, "gammes export", &options, &export_spec, argc, argv, &args);
	if (result != CMD_GO)
		return result;
	result = CMD_DONE;
	err = source_open(&source, store);
	if (err == ERR_OK || err == ERR_NOT_FOUND)
		err =
		    proposal_export_begin(&export, store, has_article, source);
	result = err == ERR_OK ? hand_over(export, &options)
			       : cmd_fail("gammes export", err, NULL);
	proposal_export_free(export);
	source_close(source);
	store_close(store);
	return result;
}

static const struct cmd_row commands[] = {
    {"import", gammes_import, "take server ranges in"},
    {"export", gammes_export, "write the validated changes"},
};

int
cmd_gammes(int argc, char **argv)
{
	return cmd_run_table("gridctl gammes",
	    "Range codes, from and to the central database.", commands,
	    sizeof(commands) / sizeof(commands[0]), argc, argv);
}
