/*
 * gridctl backup DIR and restore DIR: a data directory copied while it is in
 * use. The environments are copied first, as LMDB does it; then the immutable
 * files that the copies point to. Imports wait meanwhile. The copy counts as a
 * data directory only when its marker is written, last of all.
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/opt.h"
#include "lmdb-schema/upkeep/copy.h"
#include "tools/gridctl/cmd.h"

struct options {
	const char *base;
};

static const struct opt_row backup_rows[] = {
    {"--base", 0, OPT_TEXT, offsetof(struct options, base), 0, 0, "BACKUP",
	"an earlier backup on the same disk: files that it has are linked, and "
	"only new ones copied"},
};

static const struct opt_spec backup_spec = {
    .usage = "gridctl [--data DIR] backup [--base BACKUP] TO",
    .about = "Copies the data directory, which may be in use, to TO, which "
	     "must not exist or be an empty folder.",
    .rows = backup_rows,
    .count = sizeof(backup_rows) / sizeof(backup_rows[0]),
    .args_min = 1,
    .args_max = 1,
};

static const struct opt_spec restore_spec = {
    .usage = "gridctl [--data DIR] restore FROM",
    .about = "Restores the backup FROM into the data directory DIR, which must "
	     "not exist or be an empty folder.",
    .args_min = 1,
    .args_max = 1,
};

static int
copy(const char *command, const char *from, const char *to, const char *base)
{
	struct copy_counts counts;
	struct fault fault;
	enum err err;

	fault_clear(&fault);
	err = store_copy(from, to, base, &counts, &fault);
	if (err != ERR_OK)
		return cmd_fail(command, err, &fault);
	cmd_set_rows(counts.snapshots);
	printf("%s: %s snapshots, %s in all\n", to, cmd_count(counts.snapshots),
	    cmd_bytes(counts.bytes + counts.linked_bytes));
	if (base != NULL)
		printf("%s were copied; %s files, %s, are those of %s\n",
		    cmd_bytes(counts.bytes), cmd_count(counts.linked),
		    cmd_bytes(counts.linked_bytes), base);
	if (counts.skipped > 0)
		printf("%s snapshots could not be read and were left out: "
		       "compute them again\n",
		    cmd_count(counts.skipped));
	if (counts.parts_missing > 0)
		printf("%s files of the audit trail are missing: 'gridctl "
		       "check' names them\n",
		    cmd_count(counts.parts_missing));
	return CMD_DONE;
}

/*
 * Recognises a backup by its marker, which is written last: without this check,
 * store_open() would advise to create a data directory there.
 */
static enum err
check_backup(const char *from, struct fault *fault)
{
	char path[FS_PATH_MAX];
	enum err err = fs_path(path, "%s/store", from);

	if (err == ERR_OK && eaccess(path, R_OK) == 0)
		return ERR_OK;
	if (err == ERR_OK && errno == EACCES) {
		fault_set(fault, from,
		    "may not be read: 'chown -R' gives it to the user whom "
		    "the data directory belongs to");
		return ERR_DENIED;
	}
	fault_set(fault, from,
	    "is no backup, or none that was completed: name a folder that "
	    "'gridctl backup' has made");
	return ERR_NOT_FOUND;
}

int
cmd_backup(int argc, char **argv)
{
	struct options options = {NULL};
	struct fault fault;
	int args,
	    result = cmd_options(&options, &backup_spec, argc, argv, &args);
	enum err err = ERR_OK;

	if (result != CMD_GO)
		return result;
	fault_clear(&fault);
	if (options.base != NULL)
		err = check_backup(options.base, &fault);
	return err == ERR_OK
	    ? copy("backup", cmd_data_dir(), argv[1], options.base)
	    : cmd_fail("backup", err, &fault);
}

int
cmd_restore(int argc, char **argv)
{
	struct fault fault;
	int args, result = cmd_options(NULL, &restore_spec, argc, argv, &args);
	enum err err;

	if (result != CMD_GO)
		return result;
	fault_clear(&fault);
	err = check_backup(argv[1], &fault);
	return err == ERR_OK ? copy("restore", argv[1], cmd_data_dir(), NULL)
			     : cmd_fail("restore", err, &fault);
}
