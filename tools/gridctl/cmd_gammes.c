/*
 * gridctl gammes import FILE: what the central database says of the ranges.
 * gridctl gammes export: the changes that buyers validated, for it to take.
 */
#include <stdio.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/opt.h"
#include "lmdb-schema/proposal.h"
#include "lmdb-schema/source.h"
#include "lmdb-schema/store.h"
#include "tools/gridctl/cmd.h"
#include "tools/gridctl/csv_write.h"
#include "tools/gridctl/import.h"

struct options {
	const char *out;
	bool quiet;
};

static const struct opt_row rows[] = {
    {"--quiet", 'q', OPT_FLAG, offsetof(struct options, quiet), 0, 0, NULL,
	"no summary"},
};

static const struct opt_spec import_spec = {
    .usage = "gridctl [--data DIR] gammes import [OPTION]... FILE",
    .about = "Takes server ranges in (fournisseur,codein,gamme; empty = "
	     "none). Articles that the file does not name keep theirs. "
	     "The rows show them at once.",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .args_min = 1,
    .args_max = 1,
};

static const struct opt_row export_rows[] = {
    {"--out", 'o', OPT_TEXT, offsetof(struct options, out), 0, 0, "FILE",
	"write it there, whole or not at all, instead of standard output"},
};

static const struct opt_spec export_spec = {
    .usage = "gridctl [--data DIR] gammes export [--out FILE]",
    .about = "Writes the validated changes as CSV "
	     "(fournisseur,codein,gamme), sorted, for the central database. "
	     "They stay until 'gammes import' or 'import' brings them back "
	     "as server ranges.",
    .rows = export_rows,
    .count = 1,
};

/* --- import --------------------------------------------------------------- */

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
tell(const struct import *import, enum err err,
    const struct live_counts *counts, bool quiet)
{
	if (import_print_faults(import) > 0) {
		fprintf(stderr,
		    "gridctl gammes import: refused, nothing was changed\n");
		return CMD_FAILED;
	}
	if (err != ERR_OK)
		return cmd_fail("gammes import", err, NULL);
	if (!quiet)
		printf("%s ranges changed, %s were the same\n",
		    cmd_count(counts->gammes), cmd_count(counts->gammes_same));
	return CMD_DONE;
}

static int
gammes_import(int argc, char **argv)
{
	struct options options = {NULL, false};
	struct live_counts counts = {0};
	struct import import;
	struct store *store;
	int args, result, lock;
	enum err err;

	result = cmd_options(&options, &import_spec, argc, argv, &args);
	if (result != CMD_GO)
		return result;
	result = cmd_open(&store, "gammes import");
	if (result != CMD_DONE)
		return result;
	err = import_init(&import, "");
	if (err == ERR_OK)
		err = store_lock_import(&lock, store, true);
	if (err == ERR_OK) {
		/* A crash may have come after the one before. */
		result = cmd_settle(store, "gammes import", true);
		if (result == CMD_DONE)
			err = take_in(&import, store, argv[1], &counts);
		close(lock);
	}
	if (result == CMD_DONE)
		result = tell(&import, err, &counts, options.quiet);
	if (result == CMD_DONE)
		result = cmd_settle(store, "gammes import", options.quiet);
	import_fini(&import);
	store_close(store);
	return result;
}

/* --- export --------------------------------------------------------------- */

struct exporting {
	struct state_view *view;
	struct span supplier;
	struct buf text;
};

static enum err
export_change(
    void *context, struct span codein, const struct proposal *validated)
{
	struct exporting *exporting = context;

	csv_write_field(&exporting->text, exporting->supplier);
	buf_add_char(&exporting->text, ',');
	csv_write_field(&exporting->text, codein);
	buf_add_char(&exporting->text, ',');
	buf_add_span(&exporting->text, row_gamme_text(validated->gamme));
	buf_add_char(&exporting->text, '\n');
	return buf_end(&exporting->text);
}

static enum err
export_supplier(
    void *context, struct span supplier, const struct proposal_counts *counts)
{
	struct exporting *exporting = context;

	(void)counts;
	exporting->supplier = supplier;
	return proposal_validated(
	    exporting->view, supplier, export_change, exporting);
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

static int
gammes_export(int argc, char **argv)
{
	struct options options = {NULL, false};
	struct exporting exporting = {.view = NULL};
	struct store *store;
	int args, result;
	enum err err;

	result = cmd_options(&options, &export_spec, argc, argv, &args);
	if (result != CMD_GO)
		return result;
	result = cmd_open(&store, "gammes export");
	if (result != CMD_DONE)
		return result;
	buf_init(&exporting.text, (size_t)1 << 32);
	buf_add_text(&exporting.text, "fournisseur,codein,gamme\n");
	err = state_view_open(&exporting.view, store);
	if (err == ERR_OK)
		err = proposal_suppliers(
		    exporting.view, export_supplier, &exporting);
	state_view_close(exporting.view);
	store_close(store);
	buf_fail(&exporting.text, err);
	return write_out(&exporting.text, options.out);
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
