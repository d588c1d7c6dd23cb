/*
 * gridctl import DIR: all or nothing. The steps of an import, on one page:
 *
 *	masters    suppliers, stores, classification, articles: one by one
 *	monthly    sales, stock, receptions, positions: side by side
 *	live       network metrics and server ranges
 *	write      one facts file, beside its place, synced, renamed
 *	switch     one commit makes facts, metrics and ranges current
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/date.h"
#include "common/fs.h"
#include "common/opt.h"
#include "common/progress.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/prune.h"
#include "tools/gridctl/cmd.h"
#include "tools/gridctl/import/import.h"
#include "tools/gridctl/import_warn.h"

#define GRACE_SECONDS (15 * 60)
#define READERS_MAX 4

struct options {
	bool merge, ignore_unknown, quiet;
};

static const struct opt_row rows[] = {
    {"--merge", 0, OPT_FLAG, offsetof(struct options, merge), 0, 0, NULL,
	"add to what is there and replace what comes again"},
    {"--ignore-unknown", 0, OPT_FLAG, offsetof(struct options, ignore_unknown),
	0, 0, NULL, "ignore files that an import does not know"},
    {"--quiet", 'q', OPT_FLAG, offsetof(struct options, quiet), 0, 0, NULL,
	"no progress, no summary"},
};

static const struct opt_spec spec = {
    .usage = "gridctl [--data DIR] import [OPTION]... DIR",
    .about =
	"Imports a folder of up to ten CSV files, all of it or nothing: a bad "
	"line is reported and refuses the import. Without --merge the folder "
	"replaces all facts and needs suppliers.csv and articles.csv; "
	"snapshots stay as they are until they are computed.",
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
	pthread_mutex_t lock;
	unsigned next_monthly;
	enum err err; /* first failure of the monthly files */
	struct live_counts counts;
};

/* --- masters ------------------------------------------------------------ */

static void
tell_ignored(const char *name)
{
	fprintf(stderr, "gridctl import: ignored: %s\n", name);
}

static void
ignore_quietly(const char *name)
{
	(void)name;
}

static enum err
check_names(struct run *run)
{
	const struct options *options = run->options;

	if (!options->ignore_unknown)
		return import_check_folder(&run->import, NULL);
	return import_check_folder(
	    &run->import, options->quiet ? ignore_quietly : tell_ignored);
}

/* Distinguishes a missing folder from one without such files. */
static enum err
check_folder(struct run *run)
{
	struct csv_faults *faults = &run->import.faults[0];
	uint64_t bytes, on_disk;
	enum err err = fs_size(run->import.dir, &bytes, &on_disk);

	for (unsigned i = 0; i < IMPORT_FILES; i++)
		if (import_has(&run->import, i))
			return check_names(run);
	if (err != ERR_OK)
		csv_faults_add(faults, run->import.dir, 0, NULL,
		    "cannot be opened: %s", err_text(err));
	else
		csv_faults_add(faults, run->import.dir, 0, NULL,
		    "has none of the CSV files of an import");
	return ERR_BAD_INPUT;
}

static enum err
check_files(struct run *run)
{
	static const enum import_file needed[] = {
	    IMPORT_SUPPLIERS, IMPORT_ARTICLES};

	if (check_folder(run) != ERR_OK)
		return ERR_BAD_INPUT;
	if (run->options->merge)
		return ERR_OK;
	for (unsigned i = 0; i < 2; i++)
		if (!import_has(&run->import, needed[i]))
			csv_faults_add(&run->import.faults[needed[i]],
			    import_file_name(needed[i]), 0, NULL,
			    "is not in %s; only --merge goes without it",
			    run->import.dir);
	return run->import.faults[IMPORT_SUPPLIERS].count +
		    run->import.faults[IMPORT_ARTICLES].count >
		0
	    ? ERR_BAD_INPUT
	    : ERR_OK;
}

static void
show_reading(struct run *run)
{
	progress_items(&run->progress, run->import.bytes_done, "lines",
	    run->import.lines_done);
}

static enum err
read_masters(struct run *run)
{
	enum err first = ERR_OK;

	for (unsigned i = IMPORT_SUPPLIERS; i <= IMPORT_ARTICLES; i++) {
		enum err err = import_read(&run->import, i);

		if (err != ERR_OK && err != ERR_BAD_INPUT)
			return err;
		if (first == ERR_OK)
			first = err;
		show_reading(run);
	}
	return first == ERR_OK ? intake_seal(run->import.intake) : first;
}

/* --- monthly files, by several threads ---------------------------------- */

/* Sorts the longest file first. */
static const enum import_file monthly[] = {
    IMPORT_SALES, IMPORT_STOCK, IMPORT_RECEPTIONS, IMPORT_POSITIONS};

#define MONTHLY (sizeof(monthly) / sizeof(monthly[0]))

static void *
read_monthly(void *context)
{
	struct run *run = context;

	for (;;) {
		enum err err;
		unsigned i;

		pthread_mutex_lock(&run->lock);
		i = run->next_monthly++;
		pthread_mutex_unlock(&run->lock);
		if (i >= MONTHLY)
			return NULL;
		err = import_read(&run->import, monthly[i]);
		pthread_mutex_lock(&run->lock);
		if (run->err == ERR_OK || run->err == ERR_BAD_INPUT)
			run->err = err == ERR_OK ? run->err : err;
		pthread_mutex_unlock(&run->lock);
	}
}

/* Shows the other threads' progress. */
static enum err
read_all_monthly(struct run *run)
{
	long readers = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t threads[READERS_MAX];
	int started = 0;

	if (readers > READERS_MAX)
		readers = READERS_MAX;
	while (started < readers &&
	    pthread_create(&threads[started], NULL, read_monthly, run) == 0)
		started++;
	if (started == 0)
		read_monthly(run);
	for (int i = 0; i < started; i++) {
		struct timespec soon;

		do {
			clock_gettime(CLOCK_REALTIME, &soon);
			soon.tv_nsec += 100000000;
			if (soon.tv_nsec >= 1000000000) {
				soon.tv_nsec -= 1000000000;
				soon.tv_sec++;
			}
			show_reading(run);
		} while (pthread_timedjoin_np(threads[i], NULL, &soon) != 0);
	}
	return run->err;
}

static enum err
read_everything(struct run *run)
{
	enum err err = check_files(run), live;

	if (err == ERR_OK)
		err = read_masters(run);
	if (err != ERR_OK)
		return err;
	err = read_all_monthly(run);
	if (err != ERR_OK && err != ERR_BAD_INPUT)
		return err;
	for (unsigned i = IMPORT_NETWORK; i <= IMPORT_GAMMES; i++) {
		live = import_read(&run->import, i);
		err = live == ERR_OK ? err : live;
	}
	return err;
}

/* --- writing and switching ---------------------------------------------- */

static void
written(void *context, uint64_t done)
{
	struct run *run = context;

	progress_at(&run->progress, done);
}

static enum err
write_facts(struct run *run)
{
	char path[FS_PATH_MAX], temporary[FS_PATH_MAX];
	struct intake_twice twice;
	uint64_t last;
	enum err err = source_current(&last, run->store);

	run->generation = key_generation_next(last);
	if (err == ERR_OK || err == ERR_DAMAGED) /* replaced shortly */
		err = store_facts_path(path, run->store, run->generation, "");
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
	if (err == ERR_OK)
		err = fs_publish(temporary, path);
	return err;
}

static bool
brings_range(void *context, struct span key)
{
	const struct import *import = context;

	return codemap_find(import->gammes, key) != CODEMAP_NONE;
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
	char path[FS_PATH_MAX];
	enum err err = store_facts_path(path, run->store, run->generation, "");

	if (err == ERR_OK)
		err = source_open_file(&run->now, path, run->generation);
	if (err == ERR_OK)
		err =
		    live_change_run(run->store, change_live, run, &run->counts);
	source_close(run->now);
	return err;
}

/* --- the command -------------------------------------------------------- */

static enum err
open_base(struct run *run)
{
	enum err err = source_open(&run->before, run->store);

	if (!run->options->merge)
		return ERR_OK; /* damaged ones are replaced as a whole */
	run->base = run->before;
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

static enum err
import_now(struct run *run)
{
	enum err err = open_base(run);

	if (err == ERR_OK)
		err = intake_new(&run->import.intake, run->store, run->base);
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
		err = switch_over(run);
	return err;
}

static void
summary(const struct run *run, double seconds)
{
	const struct source_header *header = intake_header(run->import.intake);

	printf("imported %s articles of %s suppliers, %s stores\n",
	    cmd_count(header->articles), cmd_count(header->suppliers),
	    cmd_count(header->stores));
	printf("  rows of %s of the suppliers are as before\n",
	    cmd_count(run->counts.suppliers_same));
	for (unsigned i = 0; i < IMPORT_FILES; i++)
		if (!run->import.there[i])
			printf("  %-16s not there%s\n", import_file_name(i),
			    run->options->merge || i >= IMPORT_NETWORK
				? ", left as it was"
				: ", counts as empty");
		else
			printf("  %-16s %12s lines\n", import_file_name(i),
			    cmd_count(run->import.records[i]));
	printf("%s in %.1f s. 'gridctl compute --all' or '--stale' makes new "
	       "snapshots.\n",
	    cmd_bytes(run->bytes_total), seconds);
}

static int
tell(struct run *run, enum err err)
{
	struct fault fault;
	uint64_t faults = import_print_faults(&run->import);

	if (faults > 0) {
		fprintf(stderr,
		    "gridctl import: refused, nothing was changed: %s %s\n",
		    cmd_count(faults), faults == 1 ? "fault" : "faults");
		cmd_note_failure(run->store, "import", SPAN(""),
		    "refused, nothing was changed: the files have faults");
		return CMD_FAILED;
	}
	cmd_note_failure(run->store, "import", SPAN(""), err_text(err));
	fault_clear(&fault);
	if (err == ERR_NO_SPACE)
		fault_set(&fault, cmd_data_dir(),
		    "the disk is full; nothing was changed");
	else
		fault_set(&fault, run->import.dir,
		    "not imported, nothing was changed: %s", err_text(err));
	return cmd_fail("import", err, &fault);
}

static int
import_locked(
    struct store *store, const char *dir, const struct options *options)
{
	struct run run = {.store = store, .options = options};
	int64_t start = date_monotonic_ns();
	enum err err = import_init(&run.import, dir);
	int result = CMD_DONE;

	pthread_mutex_init(&run.lock, NULL);
	if (err == ERR_OK)
		err = import_now(&run);
	if (err != ERR_OK)
		result = tell(&run, err);
	else {
		if (!options->quiet)
			summary(
			    &run, (double)(date_monotonic_ns() - start) / 1e9);
		import_warn_ahead(run.import.intake);
	}
	import_fini(&run.import);
	intake_free(run.import.intake);
	source_close(run.before);
	pthread_mutex_destroy(&run.lock);
	return result;
}

int
cmd_import(int argc, char **argv)
{
	struct options options = {0};
	struct pruned pruned;
	struct store *store;
	struct fault fault;
	int args, lock, result;
	enum err err;

	switch (opt_read(&options, &spec, argc, argv, &args)) {
	case OPT_GO:
		break;
	case OPT_HELP:
		puts("\nThe files are UTF-8, with commas between the fields, "
		     "as they are or packed by\ngzip (sales.csv.gz). Their "
		     "first lines name these columns, in any order;\n"
		     "product-grid-csv(5) says what stands in them.\n");
		import_print_columns(stdout);
		return CMD_DONE;
	case OPT_WRONG:
		return CMD_USAGE;
	}
	result = cmd_open(&store, "import");
	if (result != CMD_DONE)
		return result;
	err = store_prepare(cmd_data_dir()); /* a folder may be missing */
	if (err == ERR_OK)
		err = store_lock_import(&lock, store, false);
	if (err == ERR_OK) {
		/*
		 * Settle again: a crash may have prevented that after the last
		 * import.
		 */
		result = cmd_settle(store, "import", false, true);
		if (result == CMD_DONE)
			result = import_locked(store, argv[1], &options);
		if (result == CMD_DONE)
			result =
			    cmd_settle(store, "import", true, options.quiet);
		close(lock);
		/*
		 * Remove the files this import replaced, and leftovers of
		 * killed ones.
		 */
		prune_all(store, GRACE_SECONDS, &pruned);
	} else {
		fault_clear(&fault);
		if (err == ERR_BUSY)
			fault_set(&fault, cmd_data_dir(),
			    "another import is running: wait for it to end");
		result = cmd_fail("import", err, &fault);
	}
	store_close(store);
	return result;
}
