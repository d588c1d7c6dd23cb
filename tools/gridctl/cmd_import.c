/*
 * gridctl import DIR: all or nothing. The steps of an import, on one page:
 *
 *	masters    suppliers, stores, classification, articles: one by one
 *	monthly    sales, stock, receptions, positions: side by side
 *	live       network metrics and server ranges
 *	write      the files of the facts, side by side, beside their places, synced,
 *	           renamed
 *	switch     one commit makes facts, metrics and ranges current; on nodes
 *	           that share their imports, on each of them (edition.h)
 *
 * --check takes the same steps up to the commit, which it undoes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/date.h"
#include "common/fs.h"
#include "common/opt.h"
#include "common/progress.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/edition.h"
#include "lmdb-schema/upkeep/prune.h"
#include "tools/gridctl/cmd.h"
#include "tools/gridctl/import/import.h"
#include "tools/gridctl/import/import_changes.h"
#include "tools/gridctl/import_tell.h"

#define GRACE_SECONDS (15 * 60)

#define MIB ((size_t)1 << 20)
#define MEMORY_MIB ((int64_t)(INTAKE_MEMORY / MIB))
#define MEMORY_MIB_MAX (INT64_C(1) << 24)

struct options {
	bool merge, ignore_unknown, check, yes, quiet;
	int64_t memory, shares, jobs;
};

static const struct opt_row rows[] = {
    {"--merge", 0, OPT_FLAG, offsetof(struct options, merge), 0, 0, NULL,
	"add to what is there and replace what comes again"},
    {"--ignore-unknown", 0, OPT_FLAG, offsetof(struct options, ignore_unknown),
	0, 0, NULL, "ignore files that an import does not know"},
    {"--check", 0, OPT_FLAG, offsetof(struct options, check), 0, 0, NULL,
	"count what the import would change, and change nothing"},
    {"--yes", 0, OPT_FLAG, offsetof(struct options, yes), 0, 0, NULL,
	"with --check: half of the articles may go"},
    {"--memory", 0, OPT_INT, offsetof(struct options, memory), 1,
	MEMORY_MIB_MAX, "MIB",
	"beyond so much memory sort in files (default 1024)"},
    {"--shares", 0, OPT_INT, offsetof(struct options, shares), 1,
	SOURCE_SHARES_MAX, "N",
	"spread suppliers over so many files (default: by articles)"},
    {"--jobs", 'j', OPT_INT, offsetof(struct options, jobs), 1, INTAKE_JOBS_MAX,
	"N", "threads (default: one for each processor)"},
    {"--quiet", 'q', OPT_FLAG, offsetof(struct options, quiet), 0, 0, NULL,
	"no progress, no summary"},
};

static const struct opt_spec spec = {
    .usage = "gridctl [--data DIR] import [OPTION]... DIR",
    .about =
	"Imports a folder of up to ten CSV files, all of it or nothing: a bad "
	"line is reported and refuses the import. Without --merge the folder "
	"replaces all facts and needs suppliers.csv and articles.csv; "
	"snapshots stay as they are until they are computed. --check says what "
	"an import would change, and fails where it would be refused or looks "
	"like a mistake.",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .args_min = 1,
    .args_max = 1,
};

struct run {
	struct store *store;
	struct source *before; /* the facts that are replaced, if any */
	struct source *base; /* the same, when they are merged into */
	struct import import;
	struct source *now; /* the facts that this import has written */
	const struct options *options;
	struct progress progress;
	uint64_t bytes_total;
	uint64_t generation;
	struct edition_making *edition;
	struct fault fault; /* of the switch to the new facts */
	char facts[FS_PATH_MAX]; /* what write_facts() has written */
	struct live_counts counts;
	struct import_changes changes; /* --check */
	bool odd; /* the changes look like a mistake */
};

/* --- masters ------------------------------------------------------------ */

static enum err
check_files(struct run *run)
{
	const struct options *options = run->options;

	if (!options->ignore_unknown)
		return import_check_files(&run->import, options->merge, NULL);
	return import_check_files(&run->import, options->merge,
	    options->quiet ? import_tell_nothing : import_tell_ignored);
}

static void
show_reading(void *context)
{
	struct run *run = context;

	progress_items(&run->progress, run->import.bytes_done, "lines",
	    run->import.lines_done);
}

/* After a fault the reading goes on, for all of them in one run. */
static enum err
worse(enum err before, enum err now)
{
	return now == ERR_OK || (now == ERR_BAD_INPUT && before != ERR_OK)
	    ? before
	    : now;
}

static enum err
read_masters(struct run *run)
{
	enum err err = ERR_OK;

	for (unsigned i = IMPORT_SUPPLIERS;
	     i <= IMPORT_ARTICLES && (err == ERR_OK || err == ERR_BAD_INPUT);
	     i++) {
		err = worse(err, import_read(&run->import, i));
		show_reading(run);
	}
	return err == ERR_OK || err == ERR_BAD_INPUT
	    ? worse(err, import_seal(&run->import))
	    : err;
}

static enum err
read_everything(struct run *run)
{
	enum err err = check_files(run);

	err = worse(err, read_masters(run));
	if (err == ERR_OK || err == ERR_BAD_INPUT)
		err = worse(
		    err, import_read_monthly(&run->import, show_reading, run));
	for (unsigned i = IMPORT_NETWORK;
	     i <= IMPORT_GAMMES && (err == ERR_OK || err == ERR_BAD_INPUT); i++)
		err = worse(err, import_read(&run->import, i));
	return err;
}

/* --- writing and switching ---------------------------------------------- */

static void
written(void *context, uint64_t done)
{
	struct run *run = context;

	/* A merge may have to load more articles while it writes. */
	run->progress.total = intake_articles(run->import.intake);
	progress_at(&run->progress, done);
}

static enum err
write_facts(struct run *run)
{
	char temporary[FS_PATH_MAX];
	struct intake_twice twice;
	uint64_t last;
	enum err err = source_current(&last, run->store);

	run->generation = key_generation_next(last);
	if (err == ERR_OK || err == ERR_DAMAGED) /* replaced shortly */
		err = store_facts_path(run->facts, run->store, run->generation,
		    run->options->check ? ".tmp" : "");
	if (err == ERR_OK)
		err = store_facts_path(
		    temporary, run->store, run->generation, ".tmp");
	if (err != ERR_OK)
		return err;
	progress_begin(&run->progress, "write", "articles",
	    intake_articles(run->import.intake), run->options->quiet);
	err = intake_write(run->import.intake, temporary, &twice, written, run);
	progress_end(&run->progress);
	if (err == ERR_EXISTS)
		err = import_find_twice(&run->import, &twice);
	if (err == ERR_OK && !run->options->check)
		err = intake_publish(run->import.intake, temporary, run->facts);
	return err;
}

/* Each article of a folder that replaces all facts has a range, or none. */
static bool
brings_range(void *context, struct span key)
{
	const struct import *import = context;

	return intake_find_article(import->intake, key_first(key),
		   key_second(key)) != INTAKE_NONE;
}

static enum err
change_live(void *context, struct live_change *change)
{
	struct run *run = context;
	enum err err = live_set_facts(change, run->generation);

	if (err == ERR_OK)
		err = import_live(&run->import, change);
	if (err == ERR_OK && !run->options->merge)
		err = live_forget_gammes(change, brings_range, &run->import);
	if (err == ERR_OK && !run->options->merge &&
	    run->import.there[IMPORT_NETWORK])
		err = live_forget_networks(change);
	return err == ERR_OK
	    ? live_keep_unchanged(change, run->before, run->now)
	    : err;
}

static enum err
switch_over(struct run *run)
{
	enum err err = source_open_file(&run->now, run->facts, run->generation);

	if (err == ERR_OK)
		err = edition_change(run->edition, change_live, run,
		    &run->counts, 0, &run->fault);
	source_close(run->now);
	return err;
}

/* As change_live(), to be undone: only the counts remain. */
static enum err
try_live(void *context, struct live_change *change)
{
	enum err err = change_live(context, change);

	return err == ERR_OK ? ERR_ANSWERED : err;
}

/* Counts what would change, and removes the new facts. */
static enum err
look_at_changes(struct run *run)
{
	enum err err = source_open_file(&run->now, run->facts, run->generation);

	if (err == ERR_OK)
		err = import_changes(&run->changes, run->before, run->now);
	if (err == ERR_OK)
		err = live_change_run(run->store, try_live, run, &run->counts);
	if (err == ERR_ANSWERED)
		err = ERR_OK;
	if (err == ERR_OK)
		import_tell_changes(&(struct import_told){
		    run->before, run->now, &run->changes, &run->counts});
	if (err == ERR_OK && !run->options->yes)
		run->odd =
		    import_tell_odd(run->before, run->now, &run->changes);
	source_close(run->now);
	return err;
}

/* --- the command -------------------------------------------------------- */

static enum err
open_base(struct run *run)
{
	enum err err = source_open(&run->before, run->store);

	if (run->options->merge)
		run->base = run->before;
	else if (!run->options->check)
		return ERR_OK; /* damaged ones are replaced as a whole */
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

static enum err
import_now(struct run *run)
{
	enum err err = open_base(run);

	if (err == ERR_OK)
		err = intake_new(&run->import.intake, run->store, run->base);
	if (err == ERR_OK)
		intake_set_memory(run->import.intake,
		    (size_t)run->options->memory * MIB / 8 * 7);
	if (err == ERR_OK && run->options->shares > 0)
		intake_set_shares(
		    run->import.intake, (unsigned)run->options->shares);
	if (err == ERR_OK)
		intake_set_jobs(
		    run->import.intake, (unsigned)run->options->jobs);
	run->import.jobs = (unsigned)run->options->jobs;
	for (unsigned i = 0; i < IMPORT_FILES; i++)
		run->bytes_total += import_file_bytes(&run->import, i);
	if (err == ERR_OK) {
		progress_begin(&run->progress, "read", "bytes",
		    run->bytes_total, run->options->quiet);
		err = read_everything(run);
		progress_end(&run->progress);
	}
	if (err == ERR_OK)
		err = write_facts(run);
	if (err == ERR_OK)
		err = run->options->check ? look_at_changes(run)
					  : switch_over(run);
	if (run->options->check && run->facts[0] != '\0')
		intake_discard(run->import.intake, run->facts);
	return err;
}

/* A check leaves no trace. */
static void
note_failure(struct run *run, const char *why)
{
	if (!run->options->check)
		cmd_note_failure(run->store, "import", SPAN(""), why);
}

static int
tell(struct run *run, enum err err)
{
	struct fault fault;
	uint64_t faults = import_print_faults(&run->import);

	if (faults > 0) {
		fprintf(stderr, "gridctl import: %s: %s %s\n",
		    run->options->check ? "would be refused"
					: "refused, nothing was changed",
		    cmd_count(faults), faults == 1 ? "fault" : "faults");
		note_failure(
		    run, "refused, nothing was changed: the files have faults");
		return CMD_FAILED;
	}
	note_failure(run, err_text(err));
	if (fault_is_set(&run->fault))
		return cmd_fail("import", err, &run->fault);
	fault_clear(&fault);
	if (err == ERR_NO_SPACE)
		fault_set(&fault, cmd_data_dir(),
		    "nothing was changed: %s, for the new facts and for the "
		    "files in which an import sorts what --memory does not "
		    "hold, and import again",
		    err_text(err));
	else
		fault_set(&fault, run->import.dir,
		    "not imported, nothing was changed: %s", err_text(err));
	return cmd_fail("import", err, &fault);
}

static int
import_locked(struct store *store, struct edition_making *edition,
    const char *dir, const struct options *options)
{
	struct run run = {
	    .store = store, .edition = edition, .options = options};
	int64_t start = date_monotonic_ns();
	/* Live values are few beside articles and their facts. */
	const size_t memory = (size_t)options->memory * MIB / 8;
	enum err err = import_init(&run.import, dir, store_dir(store), memory);
	int result = CMD_DONE;

	if (err == ERR_OK)
		err = import_now(&run);
	if (err != ERR_OK)
		result = tell(&run, err);
	else {
		if (!options->quiet && !options->check)
			import_tell_done(&run.import, options->merge,
			    run.counts.suppliers_same, run.bytes_total,
			    (double)(date_monotonic_ns() - start) / 1e9);
		import_warn_ahead(run.import.intake);
		cmd_set_rows(options->check
			? import_changes_articles(&run.changes)
			: intake_header(run.import.intake)->articles);
		result = run.odd ? CMD_FAILED : CMD_DONE;
	}
	import_fini(&run.import);
	intake_free(run.import.intake);
	source_close(run.before);
	return result;
}

/* Holds the lock: the import, with what comes before and after it. */
static int
import_and_settle(
    struct store *store, const char *dir, const struct options *options)
{
	struct edition_making *edition = NULL;
	struct fault fault;
	int result;
	enum err err;

	if (options->check)
		return import_locked(store, NULL, dir, options);
	/* Settle again: a crash may have prevented that after the last import.
	 */
	result = cmd_settle(store, "import", false, true);
	if (result != CMD_DONE)
		return result;
	fault_clear(&fault);
	err = edition_begin(&edition, store, false, &fault);
	if (err != ERR_OK)
		result = cmd_fail("import", err, &fault);
	else
		result = import_locked(store, edition, dir, options);
	if (result == CMD_DONE)
		result = cmd_settle(store, "import", true, options->quiet);
	edition_end(edition);
	return result;
}

static int
import_into(struct store *store, const char *dir, const struct options *options)
{
	struct pruned pruned;
	struct fault fault;
	int lock, result;
	enum err err = store_prepare(cmd_data_dir()); /* a folder may miss */

	if (err == ERR_OK)
		err = store_lock_import_soon(&lock, store);
	if (err != ERR_OK) {
		fault_clear(&fault);
		if (err == ERR_BUSY)
			fault_set(&fault, cmd_data_dir(),
			    "another import is running: wait for it to end");
		return cmd_fail("import", err, &fault);
	}
	result = import_and_settle(store, dir, options);
	close(lock);
	/* Removes the replaced files, and leftovers of killed imports. */
	if (!options->check)
		prune_all(store, GRACE_SECONDS, &pruned);
	return result;
}

static int
read_options(struct options *options, int argc, char **argv)
{
	int args;

	switch (opt_read(options, &spec, argc, argv, &args)) {
	case OPT_GO:
		break;
	case OPT_HELP:
		puts("\nThe files are UTF-8, with commas between the fields, "
		     "as they are or packed by\ngzip (sales.csv.gz) or zstd "
		     "(sales.csv.zst). "
		     "Their first lines name all of these\ncolumns, in any "
		     "order; "
		     "product-grid-csv(5) says what stands in them, and which "
		     "may be empty.\n");
		import_print_columns(stdout);
		return CMD_DONE;
	case OPT_WRONG:
		return CMD_USAGE;
	}
	if (options->merge && options->shares > 0) {
		fprintf(stderr,
		    "gridctl import: --shares goes with an import of "
		    "everything: a merge keeps the files that there are; try "
		    "'gridctl import --help'\n");
		return CMD_USAGE;
	}
	if (!options->yes || options->check)
		return CMD_GO;
	fprintf(stderr,
	    "gridctl import: --yes goes with --check: an import asks nothing; "
	    "try 'gridctl import --help'\n");
	return CMD_USAGE;
}

int
cmd_import(int argc, char **argv)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	struct options options = {.memory = MEMORY_MIB,
	    .jobs = processors < 1             ? 1
		: processors > INTAKE_JOBS_MAX ? INTAKE_JOBS_MAX
					       : processors};
	struct store *store;
	int result = read_options(&options, argc, argv);

	if (result != CMD_GO)
		return result;
	result = cmd_open(&store, "import");
	if (result == CMD_DONE)
		result = import_into(store, argv[1], &options);
	store_close(store);
	return result;
}
