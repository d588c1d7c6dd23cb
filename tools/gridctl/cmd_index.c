/*
 * gridctl index: writes the word index of all suppliers, for searches across
 * them.
 */
#include <stdio.h>

#include "common/date.h"
#include "common/opt.h"
#include "common/progress.h"
#include "lmdb-schema/search/word_index.h"
#include "lmdb-schema/store/store.h"
#include "tools/gridctl/cmd.h"

struct options {
	bool quiet;
	int64_t limit, memory;
};

/* Of memory, and what a run has at least. */
#define MEGABYTE (INT64_C(1) << 20)
#define MEMORY_MIN 8
#define MEMORY_MAX (INT64_C(1) << 20)

static const struct opt_row rows[] = {
    {"--limit", 0, OPT_INT, offsetof(struct options, limit), 1, 86400, "N",
	"exit with 4 after N seconds, finished or not"},
    {"--memory", 0, OPT_INT, offsetof(struct options, memory), MEMORY_MIN,
	MEMORY_MAX, "MB", "make it in parts of so much memory (default 256)"},
    {"--quiet", 'q', OPT_FLAG, offsetof(struct options, quiet), 0, 0, NULL,
	"no progress, no summary"},
};

static const struct opt_spec spec = {
    .usage = "gridctl [--data DIR] index [OPTION]...",
    .about = "Makes the word index, which searches across all suppliers read. "
	     "An index of all current snapshots is kept as it is. gridapi does "
	     "so by itself when too much has "
	     "changed.",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .args_min = 0,
    .args_max = 0,
};

static void
show_progress(void *context, uint64_t done, uint64_t total)
{
	struct progress *progress = context;

	progress->total = total;
	progress_at(progress, done);
}

static int
tell_failure(enum err err)
{
	const char *why = err_text(err), *more = "";

	if (err == ERR_NO_SPACE)
		more = "; until then searches use the index that was there";
	else if (err == ERR_NO_MEMORY)
		more = " (--memory says how much an index takes at a time); "
		       "until then searches use the index that was there";
	else if (err == ERR_TOO_LARGE)
		why = "there are too many words for one index; searches read "
		      "each supplier's rows";
	else
		return cmd_fail("index", err, NULL);
	fprintf(stderr, "gridctl index: %s: %s%s\n", cmd_data_dir(), why, more);
	return err == ERR_NO_SPACE ? CMD_FULL : CMD_FAILED;
}

static void
summary(const struct word_index_result *result, int64_t ms)
{
	if (result->suppliers == 0) {
		puts("index: no supplier has a snapshot that can be read: "
		     "'gridctl compute --all' makes them");
		return;
	}
	printf("index: %s%s suppliers, %s articles, %s words, %s",
	    result->made ? "" : "up to date: ", cmd_count(result->suppliers),
	    cmd_count(result->rows), cmd_count(result->words),
	    cmd_bytes(result->bytes));
	if (result->taken_over > 0)
		printf(
		    ", %s articles taken over", cmd_count(result->taken_over));
	if (result->made)
		printf(", in %s ms", cmd_count((unsigned long long)ms));
	putchar('\n');
}

int
cmd_index(int argc, char **argv)
{
	int64_t start = date_monotonic_ns();
	struct options options = {
	    .memory = (int64_t)(WORD_INDEX_MEMORY / MEGABYTE)};
	struct word_index_result made;
	struct progress progress;
	struct word_index_options how = {
	    .at = show_progress, .context = &progress};
	struct store *store;
	int args, result = cmd_options(&options, &spec, argc, argv, &args);
	enum err err;

	if (result != CMD_GO)
		return result;
	cmd_end_after("index", options.limit);
	result = cmd_open(&store, "index");
	if (result != CMD_DONE)
		return result;
	how.memory = (uint64_t)(options.memory * MEGABYTE);
	progress_begin(&progress, "index", "rows", 0, options.quiet);
	err = word_index_make(&made, store, &how);
	progress_end(&progress);
	store_close(store);
	if (err != ERR_OK)
		return tell_failure(err);
	cmd_set_rows(made.suppliers);
	if (!options.quiet)
		summary(&made, (date_monotonic_ns() - start) / 1000000);
	if (made.left_out > 0)
		fprintf(stderr,
		    "gridctl index: %s suppliers are not in it, because their "
		    "snapshots cannot be read: 'gridctl check' says which and "
		    "what to do\n",
		    cmd_count(made.left_out));
	return CMD_DONE;
}
