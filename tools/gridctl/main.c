/*
 * gridctl: the operator's tool. This file is the table of its commands.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "common/opt.h"
#include "common/owner.h"
#include "common/version.h"
#include "config.h"
#include "tools/gridctl/cmd.h"

static const struct cmd_row commands[] = {
    {"init", cmd_init, "make an empty data directory"},
    {"demo", cmd_demo, "write made-up CSV files that look real"},
    {"import", cmd_import, "take a folder of CSV files in, all or nothing"},
    {"network", cmd_network, "take the network's metrics in"},
    {"gammes", cmd_gammes, "import server ranges, export validated changes"},
    {"compute", cmd_compute, "compute suppliers and publish their snapshots"},
    {"pack", cmd_pack, "pack snapshots' rows for compressed answers"},
    {"gzip", cmd_pack, NULL} /* the name that pack had before */,
    {"index", cmd_index, "make the index of all suppliers' words"},
    {"suppliers", cmd_suppliers, "list the suppliers and their snapshots"},
    {"key", cmd_key, "create, list and revoke API keys"},
    {"hook", cmd_hook, "tell other programs what happens"},
    {"user", cmd_user, "add, change, list and remove the screen's users"},
    {"proposals", cmd_proposals, "list, save and cancel proposed ranges"},
    {"night", cmd_night, "take deliveries in, and all that follows"},
    {"backup", cmd_backup, "copy the data while it is in use"},
    {"restore", cmd_restore, "make a data directory from a backup"},
    {"cluster", cmd_cluster, "share the state with other nodes"},
    {"check", cmd_check, "verify every checksum and cross-reference"},
    {"doctor", cmd_doctor, "look at all that is needed, say what to do"},
    {"stat", cmd_stat, "say what is stored and how large it is"},
    {"prune", cmd_prune,
	"remove what is old, move the trail's months into files"},
    {"dump", cmd_dump, "print a snapshot's rows as JSON lines"},
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

struct head {
	const char *data;
	bool version, help;
};

static const struct opt_row head_rows[] = {
    {"--data", 0, OPT_TEXT, offsetof(struct head, data), 0, 0, "DIR",
	"the data directory (or $GRID_DATA)"},
    {"--version", 0, OPT_FLAG, offsetof(struct head, version), 0, 0, NULL,
	"print the version"},
    {"--help", 'h', OPT_FLAG, offsetof(struct head, help), 0, 0, NULL,
	"list the commands"},
};

static const struct opt_spec head_spec = {
    .usage = "gridctl [--data DIR] COMMAND [OPTION]...",
    .about = "The operator's tool of the product grid.",
    .rows = head_rows,
    .count = sizeof(head_rows) / sizeof(head_rows[0]),
    .args_min = 0,
    .args_max = -1,
};

static const char about[] =
    "The operator's tool of the product grid. Options before the command:\n"
    "  --data DIR  the data directory (or $GRID_DATA)\n"
    "  --version   print the version";

/* Whether a command does not use the data directory. */
static bool
is_apart(const char *command)
{
	return command == NULL || strcmp(command, "demo") == 0;
}

/* Whether a command reads files that any user may own: arguments, or nginx's. */
static bool
reads_others(char *const *argv)
{
	if (strcmp(argv[0], "gammes") == 0)
		return argv[1] != NULL && strcmp(argv[1], "import") == 0;
	return strcmp(argv[0], "import") == 0 ||
	    strcmp(argv[0], "network") == 0 || strcmp(argv[0], "doctor") == 0;
}

static int
become_owner(char *const *argv)
{
	struct fault fault;
	enum err err;

	fault_clear(&fault);
	err = owner_become(cmd_data_dir(), reads_others(argv), &fault);
	return err == ERR_OK ? CMD_DONE : cmd_fail("--data", err, &fault);
}

int
main(int argc, char **argv)
{
	struct head head = {.data = NULL};
	int first = 0;

	log_open("gridctl", LOG_INFO_);
	/*
	 * Ignore SIGXFSZ: a limit on file sizes is then reported like a full
	 * disk.
	 */
	signal(SIGXFSZ, SIG_IGN);
	if (opt_read_head(&head, &head_spec, argc, argv, &first) != OPT_GO)
		return CMD_USAGE;
	if (head.help)
		return cmd_flush(
		    cmd_help_table("gridctl", about, commands, COMMANDS));
	if (head.version) {
		printf("gridctl %s\n", version_text);
		return cmd_flush(CMD_DONE);
	}
	if (head.data != NULL && *head.data == '\0') {
		fprintf(stderr,
		    "gridctl: --data needs a folder, and is given an empty "
		    "text; try 'gridctl --help'\n");
		return CMD_USAGE;
	}
	if (head.data != NULL)
		cmd_set_data_dir(head.data);
	if (!is_apart(argv[first]) && become_owner(argv + first) != CMD_DONE)
		return CMD_FAILED;
	argv[first - 1] = argv[0];
	return cmd_flush(cmd_run_table("gridctl", about, commands, COMMANDS,
	    argc - first + 1, argv + first - 1));
}
