/* gridctl network FILE: replaces the network's metrics. */
#include <stdio.h>
#include <unistd.h>

#include "common/opt.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/edition.h"
#include "tools/gridctl/cmd.h"
#include "tools/gridctl/import/import.h"

struct options {
	bool replace, quiet;
};

static const struct opt_row rows[] = {
    {"--replace", 0, OPT_FLAG, offsetof(struct options, replace), 0, 0, NULL,
	"remove the metrics of products that the file does not have"},
    {"--quiet", 'q', OPT_FLAG, offsetof(struct options, quiet), 0, 0, NULL,
	"no summary"},
};

static const struct opt_spec spec = {
    .usage = "gridctl [--data DIR] network [OPTION]... FILE",
    .about = "Imports network.csv: adds new products and replaces known ones. "
	     "Rows show the metrics at once; sorts and filters use them after "
	     "'compute --stale'.",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .args_min = 1,
    .args_max = 1,
};

struct taking {
	struct import *import;
	struct store *store;
	bool replace;
};

static enum err
change_networks(void *context, struct live_change *change)
{
	struct taking *taking = context;
	struct source *source = NULL;
	enum err err = import_live(taking->import, change);

	if (err == ERR_OK && taking->replace)
		err = live_forget_networks(change);
	if (err != ERR_OK)
		return err;
	/* Within the change: no import can replace the facts meanwhile. */
	if (source_open(&source, taking->store) != ERR_OK)
		source = NULL; /* then every supplier counts as changed */
	err = live_keep_unchanged(change, source, source);
	source_close(source);
	return err;
}

static enum err
take_in(struct taking *taking, const char *file, struct live_counts *counts,
    struct fault *fault)
{
	struct edition_making *edition = NULL;
	int lock = -1;
	enum err err = import_read_path(taking->import, IMPORT_NETWORK, file);

	/* On one machine the change itself waits for an import to end. */
	if (err == ERR_OK && store_is_shared(taking->store))
		err = store_lock_import(&lock, taking->store, true);
	if (err == ERR_OK)
		err = edition_begin(&edition, taking->store, false, fault);
	if (err == ERR_OK)
		err = edition_change(
		    edition, change_networks, taking, counts, 0, fault);
	edition_end(edition);
	if (lock >= 0)
		close(lock);
	return err;
}

static void
summary(const struct live_counts *counts, bool replace)
{
	printf("%s products changed, %s were the same",
	    cmd_count(counts->networks), cmd_count(counts->networks_same));
	if (replace)
		printf(", %s forgotten", cmd_count(counts->networks_gone));
	printf("\n");
}

int
cmd_network(int argc, char **argv)
{
	struct options options = {false, false};
	struct live_counts counts = {0};
	struct taking taking;
	struct fault fault;
	struct import import;
	struct store *store;
	int args, result;
	enum err err;

	result =
	    cmd_start(&store, "network", &options, &spec, argc, argv, &args);
	if (result != CMD_GO)
		return result;
	result = CMD_DONE;
	fault_clear(&fault);
	err = import_init(&import, "", store_dir(store), INTAKE_MEMORY);
	taking = (struct taking){&import, store, options.replace};
	if (err == ERR_OK)
		err = take_in(&taking, argv[1], &counts, &fault);
	if (import_print_faults(&import) > 0) {
		fprintf(
		    stderr, "gridctl network: refused, nothing was changed\n");
		result = CMD_FAILED;
	} else if (err != ERR_OK)
		result = cmd_fail("network", err, &fault);
	else if (!options.quiet)
		summary(&counts, options.replace);
	import_fini(&import);
	store_close(store);
	return result;
}
