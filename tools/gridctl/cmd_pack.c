/* gridctl pack: packs the rows of snapshots, so that answers go out compressed. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/date.h"
#include "common/opt.h"
#include "common/progress.h"
#include "lmdb-schema/codemap.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/snapshot/packed_rows.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/zstd_pieces.h"
#include "tools/gridctl/cmd.h"

struct options {
	bool all, quiet;
	const char *purpose;
	int64_t jobs, level, limit;
};

static const struct opt_row rows[] = {
    {"--all", 0, OPT_FLAG, offsetof(struct options, all), 0, 0, NULL,
	"every supplier that has a snapshot"},
    {"--for", 0, OPT_TEXT, offsetof(struct options, purpose), 0, 0, "WHAT",
	"dumps (default), pages, or zstd: dumps for clients that accept zstd"},
    {"--level", 'l', OPT_INT, offsetof(struct options, level), 1,
	ZSTD_LEVEL_MAX, "N",
	"1 is fast, 12 is small (default 6); zstd: up to 19 (default 15)"},
    {"--jobs", 'j', OPT_INT, offsetof(struct options, jobs), 1, 64, "N",
	"number of threads (default: one for each processor)"},
    {"--limit", 0, OPT_INT, offsetof(struct options, limit), 1, 86400, "N",
	"exit with 4 after N seconds, finished or not"},
    {"--quiet", 'q', OPT_FLAG, offsetof(struct options, quiet), 0, 0, NULL,
	"no progress, no summary"},
};

static const struct opt_spec spec = {
    .usage = "gridctl [--data DIR] pack [OPTION]... [SUPPLIER]",
    .about = "Packs the rows of snapshots beside them: whole dumps, and pages "
	     "of whole rows, can then be sent compressed at once. gridapi does "
	     "so by itself when a request needs it.",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .args_min = 0,
    .args_max = 1,
};

struct packing {
	struct store *store;
	const struct options *options;
	enum packed_kind kind;
	uint64_t suppliers, small;
	int result;
};

static void
show_progress(void *context, uint64_t done, uint64_t total)
{
	struct progress *progress = context;

	progress->total = total;
	progress_at(progress, done);
}

static void
summary(
    struct span supplier, const struct packed_rows_result *result, int64_t ms)
{
	if (result->rows == 0)
		printf("%.*s: fewer than %d rows: they are packed on the way\n",
		    SPAN_ARG(supplier), PACKED_ROWS_ROWS_MIN);
	else if (!result->made)
		printf("%.*s: packed already, %s\n", SPAN_ARG(supplier),
		    cmd_bytes(result->bytes));
	else
		printf("%.*s: %s rows, %s, %.2f times smaller, in %lld ms\n",
		    SPAN_ARG(supplier), cmd_count(result->rows),
		    cmd_bytes(result->bytes),
		    (double)result->raw_bytes / (double)result->bytes,
		    (long long)ms);
}

static int
tell_failure(struct span supplier, enum err err)
{
	const char *why = err_text(err);

	if (err == ERR_NOT_FOUND)
		why = "it has no snapshot: 'gridctl compute' makes one";
	fprintf(stderr, "gridctl pack: supplier %.*s: %s%s\n",
	    SPAN_ARG(supplier), why,
	    err == ERR_NO_SPACE ? "; its answers are packed on the way" : "");
	return err == ERR_NO_SPACE ? CMD_FULL : CMD_FAILED;
}

static int
pack_one(struct packing *packing, struct span supplier)
{
	const struct options *options = packing->options;
	int64_t start = date_monotonic_ns();
	struct packed_rows_result result;
	struct progress progress;
	struct packed_rows_options how = {.kind = packing->kind,
	    .threads = (unsigned)options->jobs,
	    .level = (int)options->level,
	    .at = show_progress,
	    .context = &progress};
	enum err err;

	progress_begin(&progress, "pack", "rows", 0, options->quiet);
	err = packed_rows_make(&result, packing->store, supplier, &how);
	progress_end(&progress);
	if (err != ERR_OK)
		return tell_failure(supplier, err);
	packing->suppliers++;
	packing->small += result.rows == 0;
	if (!options->quiet && (result.made || !options->all))
		summary(
		    supplier, &result, (date_monotonic_ns() - start) / 1000000);
	return CMD_DONE;
}

static enum err
note_supplier(
    void *context, struct span supplier, const struct catalog_entry *entry)
{
	uint32_t number;

	(void)entry;
	return codemap_add(context, supplier, &number);
}

/* List the suppliers first: a view must not be held over minutes of work. */
static void
pack_all(struct packing *packing)
{
	struct codemap *suppliers = codemap_new();
	struct catalog_view *view = NULL;
	enum err err = suppliers == NULL
	    ? ERR_NO_MEMORY
	    : catalog_view_open(&view, packing->store);

	if (err == ERR_OK)
		err = catalog_each(view, note_supplier, suppliers);
	catalog_view_close(view);
	for (uint32_t i = 0; err == ERR_OK && i < codemap_count(suppliers); i++)
		if (pack_one(packing, codemap_code(suppliers, i)) != CMD_DONE)
			packing->result = CMD_FAILED;
	codemap_free(suppliers);
	if (err != ERR_OK)
		packing->result = cmd_fail("pack", err, NULL);
	cmd_set_rows(packing->suppliers);
	if (err == ERR_OK && !packing->options->quiet)
		printf("%s suppliers, %s of them too small to want it\n",
		    cmd_count(packing->suppliers), cmd_count(packing->small));
}

static bool
take_kind(enum packed_kind *kind, const char *name)
{
	for (unsigned i = 0; i < PACKED_KINDS; i++)
		if (strcmp(packed_kinds[i].name, name) == 0) {
			*kind = i;
			return true;
		}
	return false;
}

int
cmd_pack(int argc, char **argv)
{
	struct options options = {.jobs = sysconf(_SC_NPROCESSORS_ONLN),
	    .purpose = packed_kinds[PACKED_DUMPS].name};
	struct packing packing = {.options = &options, .result = CMD_DONE};
	int args, result = cmd_options(&options, &spec, argc, argv, &args);

	if (result != CMD_GO)
		return result;
	if (args + options.all != 1) {
		fprintf(stderr,
		    "gridctl pack: give a SUPPLIER, or --all; try 'gridctl "
		    "pack --help'\n");
		return CMD_USAGE;
	}
	if (!take_kind(&packing.kind, options.purpose)) {
		fprintf(stderr,
		    "gridctl pack: --for %s: give dumps, pages or zstd\n",
		    options.purpose);
		return CMD_USAGE;
	}
	if (options.level > packed_kinds[packing.kind].most_level) {
		fprintf(stderr, "gridctl pack: --level %lld: for %s up to %d\n",
		    (long long)options.level, options.purpose,
		    packed_kinds[packing.kind].most_level);
		return CMD_USAGE;
	}
	cmd_end_after("pack", options.limit);
	result = cmd_open(&packing.store, "pack");
	if (result != CMD_DONE)
		return result;
	if (options.all)
		pack_all(&packing);
	else
		packing.result = pack_one(&packing, span_of(argv[1]));
	store_close(packing.store);
	return packing.result;
}
