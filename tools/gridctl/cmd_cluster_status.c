/* gridctl cluster status: whether the nodes and their log are well. */
#include "common/opt.h"
#include "lmdb-schema/store/store.h"
#include "tools/gridctl/cluster_look.h"
#include "tools/gridctl/cmd.h"

#define AT(member) offsetof(struct cluster_look_options, member)

static const struct opt_row rows[] = {
    {"--json", 0, OPT_FLAG, AT(json), 0, 0, NULL, "as a JSON object"},
    {"--nodes", 0, OPT_INT, AT(nodes), 0, 1000, "N",
	"fail when fewer nodes are alive"},
    {"--behind", 0, OPT_INT, AT(behind), 0, INT64_MAX, "N",
	"fail when a node lacks more entries (default 1000)"},
};

static const struct opt_spec spec = {
    .usage = "gridctl [--data DIR] cluster status [OPTION]...",
    .about = "Asks each member of etcd, and lists the nodes that are alive: "
	     "what each has of the log, and its version. Exits with 1 when "
	     "one is not well.",
    .rows = rows,
    .count = 3,
};

int
cmd_cluster_status(int argc, char **argv)
{
	struct cluster_look_options options = {
	    .behind = CLUSTER_LOOK_BEHIND, .bucket = true};
	struct cluster_looked looked;
	struct store *store = NULL;
	struct fault fault;
	struct buf text;
	int args, result = cmd_options(&options, &spec, argc, argv, &args);
	enum err err;

	if (result != CMD_GO)
		return result;
	fault_clear(&fault);
	buf_init(&text, CLUSTER_LOOK_MAX);
	err = store_open_piecemeal(&store, cmd_data_dir(), &fault);
	if (err == ERR_OK && !store_is_shared(store))
		err = store_untold(store, &fault);
	if (err == ERR_OK)
		err = cluster_look(&looked, &text, store, &options, &fault);
	result = err == ERR_OK ? cmd_print(&text, "cluster status")
			       : cmd_fail("cluster status", err, &fault);
	store_close(store);
	buf_fini(&text);
	return result == CMD_DONE && looked.faults > 0 ? CMD_FAILED : result;
}
