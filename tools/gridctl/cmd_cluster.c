/* gridctl cluster: how nodes come to share their state (docs/cluster.md). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/opt.h"
#include "lmdb-schema/facts/source.h"
#include "lmdb-schema/store/cluster.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/checkpoint.h"
#include "lmdb-schema/upkeep/computed.h"
#include "lmdb-schema/upkeep/edition.h"
#include "lmdb-schema/upkeep/join.h"
#include "lmdb-schema/upkeep/keeping.h"
#include "lmdb-schema/upkeep/push.h"
#include "lmdb-schema/upkeep/roster.h"
#include "lmdb-schema/upkeep/standing.h"
#include "tools/gridctl/cmd.h"

#define DAY_S INT64_C(86400)

struct options {
	int64_t from, keep_s;
	const char *holder, *node;
	bool anew, alone, verify;
};

#define AT(member) offsetof(struct options, member)

static const struct opt_row init_rows[] = {
    {"--from", 0, OPT_INT, AT(from), 1, INT64_MAX, "NUMBER",
	"begin again after the log's loss, with this node's state, which must "
	"be "
	"at this entry"},
};

static const struct opt_spec init_spec = {
    .usage = "gridctl [--data DIR] cluster init [--from NUMBER]",
    .about = "Begins a cluster with the state of this data directory, which "
	     "has a cluster.conf, and makes its first checkpoint.",
    .rows = init_rows,
    .count = 1,
};

static const struct opt_row join_rows[] = {
    {"--anew", 0, OPT_FLAG, AT(anew), 0, 0, NULL,
	"replace the state that is there; state.mdb.before keeps it"},
    {"--from", 0, OPT_TEXT, AT(holder), 0, 0, "ADDRESS",
	"a node to ask first: http://host:port"},
};

static const struct opt_spec join_spec = {
    .usage = "gridctl [--data DIR] cluster join [OPTION]...",
    .about = "Makes the data directory, which has a cluster.conf, one of the "
	     "cluster's, by the newest checkpoint that another node has.",
    .rows = join_rows,
    .count = 2,
};

static const struct opt_row leave_rows[] = {
    {"--node", 0, OPT_TEXT, AT(node), 0, 0, "NAME",
	"take another node out, which is gone for good; this one stays"},
};

static const struct opt_spec leave_spec = {
    .usage = "gridctl [--data DIR] cluster leave [--node NAME]",
    .about =
	"Ends sharing: the data directory is of a machine on its own "
	"from then on. cluster.conf is renamed to cluster.conf.left; where "
	"it is missing, the other nodes are not told.",
    .rows = leave_rows,
    .count = 1,
};

static const struct opt_row publish_rows[] = {
    {"--alone", 0, OPT_FLAG, AT(alone), 0, 0, NULL,
	"even where no other node has the files yet"},
};

static const struct opt_row checkpoint_rows[] = {
    {"--keep", 0, OPT_SECONDS, AT(keep_s), 0, 366 * DAY_S, "TIME",
	"how long entries of the log stay at least (default 1d)"},
};

static const struct opt_spec checkpoint_spec = {
    .usage = "gridctl [--data DIR] cluster checkpoint [--keep TIME]",
    .about = "Copies the shared state for nodes that join, and trims the "
	     "log.",
    .rows = checkpoint_rows,
    .count = 1,
};

static const struct opt_row pull_rows[] = {
    {"--verify", 0, OPT_FLAG, AT(verify), 0, 0, NULL,
	"read all files that are here, and get damaged ones anew"},
};

static const struct opt_spec pull_spec = {
    .usage = "gridctl [--data DIR] cluster pull [--verify]",
    .about = "Gets what the nodes' last import has made and what they have "
	     "computed from it, and shows it, as gridapi does.",
    .rows = pull_rows,
    .count = 1,
};

static const struct opt_spec push_spec = {
    .usage = "gridctl [--data DIR] cluster push",
    .about = "Puts what the bucket of cluster.conf lacks of this node's files "
	     "into it, as gridapi does.",
};

static const struct opt_spec publish_spec = {
    .usage = "gridctl [--data DIR] cluster publish [--alone]",
    .about = "Makes this node's facts, network's metrics and server ranges "
	     "those of all nodes, whatever they show, and what it has computed "
	     "from them.",
    .rows = publish_rows,
    .count = 1,
};

/* --- checkpoints ---------------------------------------------------------- */

/* A bucket that is away holds up no checkpoint: gridapi puts it there later. */
static int
sweep_bucket(struct store *store, const char *command, int64_t keep_s)
{
	struct fault fault;
	uint64_t removed = 0;
	enum err err;

	fault_clear(&fault);
	err = push_sweep(&removed, store, keep_s, &fault);
	if (removed > 0)
		printf("%s objects are removed from the bucket\n",
		    cmd_count(removed));
	if (err != ERR_OK)
		cmd_fail(command, err, &fault);
	return CMD_DONE;
}

static int
make_checkpoint(struct store *store, const char *command, int64_t keep_s)
{
	struct checkpoint made;
	struct fault fault;
	uint64_t up_to = 0, removed = 0;
	enum err err;

	fault_clear(&fault);
	err = checkpoint_make(&made, store, &fault);
	if (err != ERR_OK)
		return cmd_fail(command, err, &fault);
	printf("checkpoint of entry %s: %s\n", cmd_count(made.number),
	    made.parcel.name);
	err = checkpoint_trim(&up_to, store, keep_s, date_now_ms());
	if (err == ERR_OK)
		err = checkpoint_sweep(
		    &removed, store, keep_s > DAY_S ? keep_s : DAY_S);
	if (err != ERR_OK)
		return cmd_fail(command, err, &fault);
	if (up_to > 0)
		printf("the log is trimmed up to entry %s\n", cmd_count(up_to));
	if (removed > 0)
		printf("%s files of earlier checkpoints are removed\n",
		    cmd_count(removed));
	return sweep_bucket(store, command, keep_s > DAY_S ? keep_s : DAY_S);
}

/* Of a machine on its own there is nothing to copy for others. */
static int
check_shared(struct store *store, const char *command)
{
	struct fault fault;

	if (store_is_shared(store))
		return CMD_DONE;
	fault_clear(&fault);
	return cmd_fail(command, store_untold(store, &fault), &fault);
}

static int
cluster_checkpoint(int argc, char **argv)
{
	static const char command[] = "cluster checkpoint";
	struct options options = {.keep_s = DAY_S};
	struct store *store = NULL;
	int args,
	    result = cmd_start(
		&store, command, &options, &checkpoint_spec, argc, argv, &args);

	if (result != CMD_GO)
		return result;
	result = check_shared(store, command);
	if (result == CMD_DONE)
		result = make_checkpoint(store, command, options.keep_s);
	store_close(store);
	return result;
}

/* --- imports --------------------------------------------------------------- */

static int
tell_current(struct store *store, const char *command)
{
	struct editions editions;
	enum err err = edition_look(&editions, store);

	if (err != ERR_OK)
		return cmd_fail(command, err, NULL);
	if (editions.now.number == 0)
		printf("the nodes have no import yet\n");
	else
		printf("this node shows import %s of node %s\n",
		    cmd_count(editions.now.number), editions.now.node);
	return CMD_DONE;
}

/* A node that has just joined has no record yet, and would get all of them. */
static enum err
tell_part(struct store *store, struct fault *fault)
{
	struct cluster_sharing sharing;
	struct engine_node own;
	enum err err = cluster_sharing(&sharing, store_dir(store), fault);

	if (err == ERR_OK)
		err = cluster_node(&own, store_dir(store), fault);
	return err == ERR_OK ? keeping_tell(store, &own, sharing.keep) : err;
}

/* A snapshot that does not come is computed here once it is asked for. */
static int
pull_computed(struct store *store, const char *command)
{
	struct computed_taken taken = {0, 0};
	struct fault fault;
	enum err err;

	fault_clear(&fault);
	err = tell_part(store, &fault);
	if (err == ERR_OK)
		err = computed_take(&taken, store, &fault);
	if (taken.count > 0)
		printf("%s snapshots came that other nodes have computed\n",
		    cmd_count(taken.count));
	return err == ERR_OK ? CMD_DONE : cmd_fail(command, err, &fault);
}

static int
pull(struct store *store, const char *command, bool verify)
{
	struct fault fault;
	unsigned damaged = 0;
	int lock = -1;
	enum err err = store_lock_import_soon(&lock, store);

	fault_clear(&fault);
	if (err == ERR_OK)
		err = edition_take(store, true, &fault);
	if (err == ERR_OK && verify)
		err = edition_repair(&damaged, store, true, true, &fault);
	if (lock >= 0)
		close(lock);
	if (err != ERR_OK)
		return cmd_fail(command, err, &fault);
	if (damaged > 0)
		printf("%s damaged files came anew\n", cmd_count(damaged));
	if (tell_current(store, command) != CMD_DONE)
		return CMD_FAILED;
	return pull_computed(store, command);
}

/* Without the log nothing is known of what the others have since. */
static int
check_standing(struct store *store, const char *command)
{
	struct fault fault;
	enum err err;

	fault_clear(&fault);
	err = standing_check(store, &fault);
	return err == ERR_OK ? CMD_DONE : cmd_fail(command, err, &fault);
}

static int
cluster_pull(int argc, char **argv)
{
	static const char command[] = "cluster pull";
	struct options options = {.verify = false};
	struct store *store = NULL;
	int args,
	    result = cmd_start(
		&store, command, &options, &pull_spec, argc, argv, &args);

	if (result != CMD_GO)
		return result;
	result = check_shared(store, command);
	if (result == CMD_DONE)
		result = check_standing(store, command);
	if (result == CMD_DONE)
		result = pull(store, command, options.verify);
	store_close(store);
	return result;
}

static int
push(struct store *store, const char *command)
{
	struct push_look look;
	struct pushed pushed;
	struct fault fault;
	enum err err;

	fault_clear(&fault);
	err = push_files(&pushed, store, PUSH_ALL, &fault);
	if (err == ERR_OK)
		err = push_look(&look, store, &fault);
	if (err == ERR_OK && look.url[0] == '\0') {
		fault_set(&fault, cmd_data_dir(),
		    "has a cluster.conf without a bucket");
		err = ERR_BAD_INPUT;
	}
	if (err != ERR_OK)
		return cmd_fail(command, err, &fault);
	printf("%s files put, %s; the bucket has %s in %s objects\n",
	    cmd_count(pushed.files), cmd_bytes(pushed.bytes),
	    cmd_bytes(look.bytes), cmd_count(look.objects));
	return CMD_DONE;
}

static int
cluster_push(int argc, char **argv)
{
	static const char command[] = "cluster push";
	struct store *store = NULL;
	int args,
	    result =
		cmd_start(&store, command, NULL, &push_spec, argc, argv, &args);

	if (result != CMD_GO)
		return result;
	result = check_shared(store, command);
	if (result == CMD_DONE)
		result = push(store, command);
	store_close(store);
	return result;
}

/* Of a copy that changes nothing; 1 copy is this node's own. */
static int
publish(struct store *store, const char *command, unsigned copies)
{
	struct edition_making *edition = NULL;
	struct fault fault;
	uint64_t number = 0;
	int lock = -1;
	enum err err = store_lock_import_soon(&lock, store);

	fault_clear(&fault);
	if (err == ERR_OK)
		err = edition_begin(&edition, store, true, &fault);
	if (err == ERR_OK)
		err = edition_change(edition, NULL, NULL, NULL, copies, &fault);
	if (err == ERR_OK)
		number = edition_published(edition);
	edition_end(edition);
	if (lock >= 0)
		close(lock);
	if (err != ERR_OK)
		return cmd_fail(command, err, &fault);
	printf("the nodes show this node's data as import %s\n",
	    cmd_count(number));
	/* gridapi offers the suppliers that another process is computing. */
	err = computed_offer(store, &fault);
	return err == ERR_OK || err == ERR_BUSY
	    ? CMD_DONE
	    : cmd_fail(command, err, &fault);
}

/* Whether nodes give each other what they import. */
static int
check_sharing(const char *command, bool *shares)
{
	struct cluster_sharing sharing;
	struct fault fault;
	enum err err;

	fault_clear(&fault);
	err = cluster_sharing(&sharing, cmd_data_dir(), &fault);
	*shares = sharing.files;
	return err == ERR_OK ? CMD_DONE : cmd_fail(command, err, &fault);
}

static int
cluster_publish(int argc, char **argv)
{
	static const char command[] = "cluster publish";
	struct options options = {.alone = false};
	struct store *store = NULL;
	struct fault fault;
	bool shares = false;
	int args,
	    result = cmd_start(
		&store, command, &options, &publish_spec, argc, argv, &args);

	if (result != CMD_GO)
		return result;
	result = check_shared(store, command);
	if (result == CMD_DONE)
		result = check_sharing(command, &shares);
	if (result == CMD_DONE && !shares) {
		fault_clear(&fault);
		fault_set(&fault, cmd_data_dir(),
		    "has a cluster.conf without address or secret_file: its "
		    "nodes give each other no files");
		result = cmd_fail(command, ERR_BAD_INPUT, &fault);
	}
	if (result == CMD_DONE)
		result = publish(store, command, options.alone ? 1 : 0);
	store_close(store);
	return result;
}

/* The facts that the first node has already, if any, also by a backup. */
static int
publish_first(struct store *store, const char *command)
{
	struct source *source = NULL;
	bool shares = false;
	int result = check_sharing(command, &shares);
	enum err err;

	if (result != CMD_DONE || !shares)
		return result;
	err = source_open(&source, store);
	source_close(source);
	return err == ERR_NOT_FOUND ? CMD_DONE : publish(store, command, 1);
}

/* --- beginning, joining, leaving ------------------------------------------ */

static int
cluster_init(int argc, char **argv)
{
	static const char command[] = "cluster init";
	struct options options = {.from = 0};
	struct store *store = NULL;
	struct fault fault;
	uint64_t epoch = 1;
	int args, result = cmd_options(&options, &init_spec, argc, argv, &args);
	enum err err;

	if (result != CMD_GO)
		return result;
	fault_clear(&fault);
	err = options.from == 0 ? join_begin(cmd_data_dir(), &fault)
				: join_begin_again(&epoch, cmd_data_dir(),
				      (uint64_t)options.from, &fault);
	if (err != ERR_OK)
		return cmd_fail(command, err, &fault);
	printf("%s begins the cluster: epoch %s\n", cmd_data_dir(),
	    cmd_count(epoch));
	result = cmd_open(&store, command);
	if (result != CMD_DONE)
		return result;
	/* First, so that the checkpoint names it. */
	if (options.from == 0)
		result = publish_first(store, command);
	if (result == CMD_DONE)
		result = make_checkpoint(store, command, DAY_S);
	store_close(store);
	return result;
}

static int
cluster_join(int argc, char **argv)
{
	struct options options = {.holder = NULL};
	struct joining joining;
	struct fault fault;
	int args, result = cmd_options(&options, &join_spec, argc, argv, &args);
	enum err err;

	if (result != CMD_GO)
		return result;
	fault_clear(&fault);
	joining.holder = options.holder;
	joining.anew = options.anew;
	err = join(cmd_data_dir(), &joining, &fault);
	if (err != ERR_OK)
		return cmd_fail("cluster join", err, &fault);
	if (joining.adopted)
		printf(
		    "%s is of the epoch, and goes on in it\n", cmd_data_dir());
	else
		printf("%s has joined: it got files of %s\n", cmd_data_dir(),
		    cmd_bytes(joining.bytes));
	printf("epoch %s, entry %s\n", cmd_count(joining.epoch),
	    cmd_count(joining.number));
	return CMD_DONE;
}

static enum err
check_other(const char *node, struct fault *fault)
{
	struct engine_node own;
	enum err err = cluster_node(&own, cmd_data_dir(), fault);

	if (err != ERR_OK || strcmp(own.name, node) != 0)
		return err;
	fault_set(fault, cmd_data_dir(),
	    "is of node %s: to leave, stop it, and 'gridctl cluster leave' "
	    "without --node",
	    node);
	return ERR_BAD_INPUT;
}

static int
take_out(const char *node)
{
	static const char command[] = "cluster leave";
	struct store *store = NULL;
	struct fault fault;
	int result = cmd_open(&store, command);
	enum err err;

	if (result == CMD_DONE)
		result = check_shared(store, command);
	if (result == CMD_DONE) {
		fault_clear(&fault);
		err = check_other(node, &fault);
		if (err == ERR_OK)
			err = roster_remove(
			    store, store_engine(store), node, &fault);
		if (err != ERR_OK)
			result = cmd_fail(command, err, &fault);
	}
	store_close(store);
	if (result == CMD_DONE)
		printf("node %s is taken out of the cluster; where its gridapi "
		       "is started again, it is in it again\n",
		    node);
	return result;
}

static int
cluster_leave(int argc, char **argv)
{
	struct options options = {.node = NULL};
	struct fault fault;
	bool told;
	int args,
	    result = cmd_options(&options, &leave_spec, argc, argv, &args);
	enum err err;

	if (result != CMD_GO)
		return result;
	if (options.node != NULL)
		return take_out(options.node);
	fault_clear(&fault);
	err = join_leave(&told, cmd_data_dir(), &fault);
	if (err != ERR_OK)
		return cmd_fail("cluster leave", err, &fault);
	if (!told) {
		printf("%s is of a machine on its own from now on; without "
		       "cluster.conf the other nodes were not told: where they "
		       "miss this node, 'gridctl cluster leave --node NAME' on "
		       "one of them takes it out\n",
		    cmd_data_dir());
		return CMD_DONE;
	}
	printf("%s is of a machine on its own from now on; the way back is to "
	       "rename its cluster.conf.left to cluster.conf and 'gridctl "
	       "cluster join --anew', which gives up what it writes until "
	       "then, and needs a checkpoint: 'gridctl cluster checkpoint' on "
	       "another node makes one\n",
	    cmd_data_dir());
	return CMD_DONE;
}

static const struct cmd_row commands[] = {
    {"init", cluster_init, "begin a cluster with this node's state"},
    {"join", cluster_join, "have the state of a cluster that there is"},
    {"leave", cluster_leave, "share no more, or take a lost node out"},
    {"checkpoint", cluster_checkpoint,
	"copy for nodes that join, trim the log"},
    {"pull", cluster_pull, "show what other nodes import and compute"},
    {"push", cluster_push, "put this node's files into the bucket"},
    {"publish", cluster_publish, "have all nodes show what this one does"},
    {"status", cmd_cluster_status, "whether the nodes and etcd are well"},
    {"nginx", cmd_cluster_nginx,
	"print what nginx needs for files and requests of other nodes"},
};

int
cmd_cluster(int argc, char **argv)
{
	return cmd_run_table("gridctl cluster",
	    "Nodes that share their state: docs/cluster.md.", commands,
	    sizeof(commands) / sizeof(commands[0]), argc, argv);
}
