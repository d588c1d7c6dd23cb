/*
 * gridctl backup DIR and restore DIR: a data directory copied while it is in
 * use. The environments are copied first, as LMDB does it; then the immutable
 * files that the copies point to. Imports wait meanwhile. The copy counts as a
 * data directory only when its marker is written, last of all.
 */
#include <stdio.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/opt.h"
#include "lmdb-schema/copy.h"
#include "lmdb-schema/store.h"
#include "tools/gridctl/cmd.h"

static const struct opt_spec backup_spec = {
    .usage = "gridctl [--data DIR] backup TO",
    .about = "Copies the data directory to TO, which must not exist or be "
	     "an empty folder, while it is in use.",
    .args_min = 1,
    .args_max = 1,
};

static const struct opt_spec restore_spec = {
    .usage = "gridctl [--data DIR] restore FROM",
    .about = "Makes the data directory DIR, which must not exist or be an "
	     "empty folder, from the backup FROM.",
    .args_min = 1,
    .args_max = 1,
};

static int
copy(const char *command, const char *from, const char *to)
{
	struct copy_counts counts;
	struct fault fault;
	enum err err;

	fault_clear(&fault);
	err = store_copy(from, to, &counts, &fault);
	if (err != ERR_OK)
		return cmd_fail(command, err, &fault);
	printf("%s: %s snapshots, %s in all\n", to, cmd_count(counts.snapshots),
	    cmd_bytes(counts.bytes));
	if (counts.skipped > 0)
		printf("%s snapshots could not be read and were left out: "
		       "compute them again\n",
		    cmd_count(counts.skipped));
	return CMD_DONE;
}

/* The file that is written last of all; else the advice would be to make one.
 */
static bool
is_backup(const char *from)
{
	char path[FS_PATH_MAX];
	struct fault fault;

	if (fs_path(path, "%s/store", from) == ERR_OK &&
	    access(path, F_OK) == 0)
		return true;
	fault_clear(&fault);
	fault_set(&fault, from,
	    "is no backup, or none that was completed: name a folder that "
	    "'gridctl backup' has made");
	cmd_fail("restore", ERR_NOT_FOUND, &fault);
	return false;
}

static int
run(const char *command, const struct opt_spec *spec, int argc, char **argv,
    bool restore)
{
	int args;

	switch (opt_read(NULL, spec, argc, argv, &args)) {
	case OPT_GO:
		break;
	case OPT_HELP:
		return CMD_DONE;
	case OPT_WRONG:
		return CMD_USAGE;
	}
	if (!restore)
		return copy(command, cmd_data_dir(), argv[1]);
	return is_backup(argv[1]) ? copy(command, argv[1], cmd_data_dir())
				  : CMD_FAILED;
}

int
cmd_backup(int argc, char **argv)
{
	return run("backup", &backup_spec, argc, argv, false);
}

int
cmd_restore(int argc, char **argv)
{
	return run("restore", &restore_spec, argc, argv, true);
}
