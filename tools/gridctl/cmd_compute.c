/*
 * gridctl compute: one supplier, all, or those whose snapshot is out of date.
 * Several are computed in parallel, each in one thread, the largest first, so
 * that all threads end at about the same time.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/date.h"
#include "common/log.h"
#include "common/opt.h"
#include "common/progress.h"
#include "lmdb-schema/facts/source.h"
#include "lmdb-schema/search/word_index.h"
#include "lmdb-schema/snapshot/snapshot.h"
#include "lmdb-schema/store/cluster.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/computed.h"
#include "lmdb-schema/upkeep/keeping.h"
#include "lmdb-schema/upkeep/prune.h"
#include "tools/gridctl/cmd.h"

#define GRACE_SECONDS (15 * 60)
#define JOBS_MAX 64

struct options {
	bool all, stale, absent, no_wait, quiet;
	int64_t jobs, slots, limit;
	const char *as_of;
};

static const struct opt_row rows[] = {
    {"--all", 0, OPT_FLAG, offsetof(struct options, all), 0, 0, NULL,
	"every supplier that has articles"},
    {"--stale", 0, OPT_FLAG, offsetof(struct options, stale), 0, 0, NULL,
	"every supplier whose snapshot is stale or damaged, or SUPPLIER if "
	"its is"},
    {"--absent", 0, OPT_FLAG, offsetof(struct options, absent), 0, 0, NULL,
	"with --stale: and suppliers without a snapshot"},
    {"--jobs", 'j', OPT_INT, offsetof(struct options, jobs), 1, JOBS_MAX, "N",
	"number of threads (default: one for each processor)"},
    {"--as-of", 0, OPT_TEXT, offsetof(struct options, as_of), 0, 0,
	"YYYY-MM-DD",
	"the day the 12 months end (default: the newest month's last)"},
    {"--slots", 0, OPT_INT, offsetof(struct options, slots), 1, 1024, "N",
	"computations at once on this machine (default 4)"},
    {"--no-wait", 0, OPT_FLAG, offsetof(struct options, no_wait), 0, 0, NULL,
	"exit with 3 when all slots are taken"},
    {"--limit", 0, OPT_INT, offsetof(struct options, limit), 1, 86400, "N",
	"exit with 4 after N seconds, finished or not"},
    {"--quiet", 'q', OPT_FLAG, offsetof(struct options, quiet), 0, 0, NULL,
	"no progress, no summary"},
};

static const struct opt_spec spec = {
    .usage = "gridctl [--data DIR] compute [OPTION]... [SUPPLIER]",
    .about = "Computes suppliers from the imported facts and publishes "
	     "their snapshots. A published snapshot stays readable while it is "
	     "replaced.",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .args_min = 0,
    .args_max = 1,
};

/* --- telling ------------------------------------------------------------ */

static void
show_progress(void *context, uint64_t done, uint64_t total)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct progress *progress = context;

	/* Threads report out of order: drop a report that would step back. */
	pthread_mutex_lock(&lock);
	progress->total = total;
	if (done > progress->done)
		progress_at(progress, done);
	pthread_mutex_unlock(&lock);
}

static int
tell_failure(
    struct store *store, struct span supplier, enum err err, bool noted)
{
	const char *why = compute_why(err);

	fprintf(stderr, "gridctl compute: supplier %.*s: %s%s\n",
	    SPAN_ARG(supplier), why,
	    err == ERR_NO_SPACE ? "; its old snapshot stays current" : "");
	if (!noted && !compute_is_answer(err))
		cmd_note_failure(store, "compute", supplier, why);
	if (err == ERR_NO_SPACE)
		return CMD_FULL;
	return err == ERR_BUSY ? CMD_BUSY : CMD_FAILED;
}

/* --- many --------------------------------------------------------------- */

struct target {
	char *code;
	uint64_t articles;
	bool later; /* another node is at it */
};

struct many {
	struct store *store;
	struct source *source; /* kept open: opened only once */
	const struct options *options;
	struct compute_options how;
	struct target *targets;
	unsigned count, room;
	unsigned empty; /* suppliers without article, passed over */
	struct keeping keeping;
	unsigned others; /* suppliers that this node does not keep */
	struct catalog_view *catalog;
	atomic_uint next, failed, later, elsewhere;
	bool again; /* those that were left for later */
	atomic_ullong rows, rows_done, rows_made;
	pthread_mutex_t lock; /* guards the progress */
	struct progress progress;
	enum err err;
};

/*
 * True when the snapshot's file is missing, truncated, or of another version.
 */
static bool
is_unusable(struct many *many, struct span supplier, uint64_t generation)
{
	struct snapshot *snap;
	enum err err = snapshot_open(&snap, many->store, supplier, generation);

	snapshot_close(snap);
	return err == ERR_NOT_FOUND || err == ERR_DAMAGED || err == ERR_VERSION;
}

/* Without --all, selects only suppliers whose snapshot is stale or damaged. */
static bool
wanted(struct many *many, const struct source_supplier *supplier)
{
	struct catalog_entry entry;
	bool stale;
	enum err err;

	if (supplier->articles == 0) {
		many->empty++;
		return false;
	}
	if (many->options->all)
		return true;
	err = catalog_get(many->catalog, supplier->code, &entry);
	if (err == ERR_NOT_FOUND)
		return many->options->absent;
	if (err != ERR_OK)
		return err == ERR_DAMAGED;
	err = compute_is_stale(&stale, many->store, supplier->code, &entry);
	return (err == ERR_OK && stale) ||
	    is_unusable(many, supplier->code, entry.generation);
}

static enum err
add_target(void *context, const struct source_supplier *supplier)
{
	struct many *many = context;
	struct target *targets;

	if (!wanted(many, supplier))
		return ERR_OK;
	if (!keeping_keeps(&many->keeping, supplier->code)) {
		many->others++;
		return ERR_OK;
	}
	if (many->count == many->room) {
		many->room = many->room == 0 ? 256 : many->room * 2;
		targets =
		    reallocarray(many->targets, many->room, sizeof(*targets));
		if (targets == NULL)
			return ERR_NO_MEMORY;
		many->targets = targets;
	}
	many->targets[many->count].code = span_dup(supplier->code);
	many->targets[many->count].articles = supplier->articles;
	if (many->targets[many->count].code == NULL)
		return ERR_NO_MEMORY;
	many->count++;
	many->rows += supplier->articles;
	return ERR_OK;
}

static int
larger_first(const void *a, const void *b)
{
	const struct target *x = a, *y = b;

	return x->articles < y->articles ? 1
	    : x->articles > y->articles  ? -1
					 : 0;
}

static enum err
choose_targets(struct many *many)
{
	enum err err = source_open_verified(&many->source, many->store);

	if (err == ERR_OK)
		err = catalog_view_open(&many->catalog, many->store);
	if (err == ERR_OK)
		err = keeping_look(&many->keeping, many->store);
	if (err == ERR_OK)
		err = source_suppliers(many->source, add_target, many);
	catalog_view_close(many->catalog);
	if (many->count > 1)
		qsort(many->targets, many->count, sizeof(*many->targets),
		    larger_first);
	return err;
}

/* A supplier that another node computes just now comes from there, at the end. */
static enum err
compute_target(
    struct many *many, struct target *target, struct compute_result *result)
{
	struct compute_options how = many->how;
	enum err err;

	how.pass_over = !many->again;
	err =
	    computed_supplier(result, many->store, span_of(target->code), &how);
	target->later = how.pass_over && err == ERR_BUSY && result->elsewhere;
	return err;
}

static void *
work(void *context)
{
	struct many *many = context;
	unsigned i;

	while ((i = atomic_fetch_add(&many->next, 1)) < many->count) {
		struct target *target = &many->targets[i];
		struct span code = span_of(target->code);
		struct compute_result result;
		enum err err;

		if (many->again && !target->later)
			continue;
		err = compute_target(many, target, &result);
		if (target->later) {
			many->later++;
			continue;
		}
		pthread_mutex_lock(&many->lock);
		if (err != ERR_OK) {
			tell_failure(many->store, code, err, result.noted);
			many->failed++;
		} else if (result.elsewhere)
			many->elsewhere++;
		else
			many->rows_made += result.entry.rows;
		many->rows_done += many->targets[i].articles;
		progress_at(&many->progress, many->rows_done);
		pthread_mutex_unlock(&many->lock);
	}
	return NULL;
}

static void
run_threads(struct many *many)
{
	pthread_t threads[JOBS_MAX];
	int started = 0;

	while (started + 1 < many->options->jobs &&
	    pthread_create(&threads[started], NULL, work, many) == 0)
		started++;
	work(many);
	for (int i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
}

static void
compute_all(struct many *many)
{
	run_threads(many);
	if (many->later == 0)
		return;
	many->again = true;
	many->next = 0;
	run_threads(many);
}

static void
summary(const struct many *many, double seconds)
{
	if (many->count == 0 && many->options->stale) {
		puts("every snapshot is current and usable: nothing to do");
		return;
	}
	printf("%u of %u suppliers computed, %s rows in %.1f s",
	    many->count - many->failed - many->elsewhere, many->count,
	    cmd_count(many->rows_made), seconds);
	if (many->elsewhere > 0)
		printf("; %u that other nodes have computed", many->elsewhere);
	if (many->others > 0)
		printf("; %u that other nodes keep left out", many->others);
	if (many->options->all && many->empty > 0)
		printf("; %u without an article passed over", many->empty);
	putchar('\n');
}

/*
 * A timer computes what is stale from before the first import on; with --absent, as
 * in a night, rows are awaited.
 */
static int
nothing_imported(const struct options *options)
{
	static const char why[] =
	    "nothing was imported yet: 'gridctl import FOLDER' does it";

	if (!options->stale || options->absent) {
		fprintf(stderr, "gridctl compute: %s\n", why);
		return CMD_FAILED;
	}
	if (!options->quiet)
		puts(why);
	return CMD_DONE;
}

static int
compute_many(struct store *store, const struct options *options,
    struct compute_options how)
{
	struct many many = {.store = store, .options = options, .how = how};
	struct pruned pruned;
	int64_t start = date_monotonic_ns();
	enum err err;

	many.how.threads = 1;
	many.how.wait = true;
	if (many.how.slots < (unsigned)options->jobs)
		many.how.slots = (unsigned)options->jobs;
	err = choose_targets(&many);
	if (err == ERR_NOT_FOUND && many.source == NULL)
		return nothing_imported(options);
	pthread_mutex_init(&many.lock, NULL);
	if (err == ERR_OK) {
		progress_begin(&many.progress, "compute", "rows", many.rows,
		    options->quiet);
		compute_all(&many);
		progress_end(&many.progress);
		err = prune_all(store, GRACE_SECONDS, &pruned);
	}
	cmd_set_rows(many.count - many.failed);
	if (err == ERR_OK && !options->quiet)
		summary(&many, (double)(date_monotonic_ns() - start) / 1e9);
	if (options->stale && !options->quiet && word_index_is_missing(store))
		cmd_words_missing();
	for (unsigned i = 0; i < many.count; i++)
		free(many.targets[i].code);
	free(many.targets);
	source_close(many.source);
	pthread_mutex_destroy(&many.lock);
	return err == ERR_OK && many.failed == 0 ? CMD_DONE : CMD_FAILED;
}

/* --- one ---------------------------------------------------------------- */

/* A supplier of which this is not known is computed, which says why. */
static bool
needs_it(
    struct store *store, struct span supplier, const struct options *options)
{
	struct many many = {.store = store, .options = options};
	struct source_supplier info = {.articles = 0};
	bool needs = true;
	enum err err = source_open(&many.source, store);

	if (err == ERR_OK)
		err = source_supplier(many.source, supplier, &info);
	if (err == ERR_OK)
		err = catalog_view_open(&many.catalog, store);
	if (err == ERR_OK && info.articles > 0)
		needs = wanted(&many, &info);
	catalog_view_close(many.catalog);
	source_close(many.source);
	return needs;
}

static const char *
how_it_came(const struct compute_result *result)
{
	if (result->elsewhere)
		return "computed by another node";
	return result->shared ? "computed by another process" : "computed";
}

static int
compute_one(struct store *store, struct span supplier,
    const struct options *options, struct compute_options how)
{
	struct progress progress;
	struct compute_result result;
	struct pruned pruned;
	enum err err;

	if (options->stale && !needs_it(store, supplier, options)) {
		if (!options->quiet)
			printf("%.*s: its snapshot is current and usable\n",
			    SPAN_ARG(supplier));
		return CMD_DONE;
	}
	progress_begin(&progress, "compute", "rows", 0, options->quiet);
	how.at = show_progress;
	how.context = &progress;
	how.threads = (unsigned)options->jobs;
	err = computed_supplier(&result, store, supplier, &how);
	progress_end(&progress);
	if (err != ERR_OK)
		return tell_failure(store, supplier, err, result.noted);
	if (!options->quiet)
		printf("%.*s: %s rows, %s, %s in %lld ms\n", SPAN_ARG(supplier),
		    cmd_count(result.entry.rows), cmd_bytes(result.entry.bytes),
		    how_it_came(&result), (long long)result.ms);
	prune_supplier(store, supplier, GRACE_SECONDS, &pruned);
	return CMD_DONE;
}

/* --- the command -------------------------------------------------------- */

/* Warns once per command: all suppliers have the same months. */
static void
warn_ahead(struct store *store)
{
	struct source *source;
	char month[DATE_TEXT_MAX], now[DATE_TEXT_MAX];
	int32_t newest;

	if (source_open(&source, store) != ERR_OK)
		return; /* computing reports the reason */
	newest = source_header(source)->newest_month;
	source_close(source);
	if (!cmd_lies_ahead(newest))
		return;
	date_month_text(month, newest);
	date_day_text(now, date_day_from_ms(date_now_ms()));
	log_warn("the newest month of the facts lies ahead, and the 12 months "
		 "of all rows end there (import again, or compute --as-of): "
		 "month=%s today=%s",
	    month, now);
}

/* Without the nodes' secret each supplier would be computed by each node. */
static int
check_sharing(void)
{
	struct cluster_sharing sharing;
	struct fault fault;
	enum err err;

	fault_clear(&fault);
	err = cluster_can_share(&sharing, cmd_data_dir(), &fault);
	return err == ERR_OK ? CMD_DONE : cmd_fail("compute", err, &fault);
}

static int
usage(const char *why)
{
	fprintf(
	    stderr, "gridctl compute: %s; try 'gridctl compute --help'\n", why);
	return CMD_USAGE;
}

/* `supplier` is NULL for many. */
static int
compute(struct store *store, const char *supplier,
    const struct options *options, struct compute_options how)
{
	if (options->as_of == NULL)
		warn_ahead(store);
	return supplier != NULL
	    ? compute_one(store, span_of(supplier), options, how)
	    : compute_many(store, options, how);
}

int
cmd_compute(int argc, char **argv)
{
	struct options options = {
	    .jobs = sysconf(_SC_NPROCESSORS_ONLN), .slots = 4};
	struct compute_options how = {.as_of_day = DATE_NULL};
	struct store *store;
	int args, result;

	result = cmd_options(&options, &spec, argc, argv, &args);
	if (result != CMD_GO)
		return result;
	if (args == 1 ? options.all : options.all == options.stale)
		return usage("give a SUPPLIER, or --all, or --stale");
	if (options.absent && !options.stale)
		return usage("--absent goes with --stale");
	if (options.as_of != NULL &&
	    !date_day(&how.as_of_day, span_of(options.as_of)))
		return usage("--as-of: not a date like 2025-12-31");
	how.slots = (unsigned)options.slots;
	how.wait = !options.no_wait;
	how.take = options.stale ? COMPUTE_TAKE_ANY
	    : options.all        ? COMPUTE_TAKE_OTHERS
				 : COMPUTE_TAKE_NEWER;
	cmd_end_after("compute", options.limit);
	result = cmd_open(&store, "compute");
	if (result != CMD_DONE)
		return result;
	result = check_sharing();
	if (result == CMD_DONE)
		result =
		    compute(store, args == 1 ? argv[1] : NULL, &options, how);
	store_close(store);
	return result;
}
