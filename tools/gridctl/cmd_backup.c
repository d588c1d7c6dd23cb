/*
 * gridctl backup DIR and restore DIR: a data directory copied while it is in
 * use. The environments are copied first, as LMDB does it; then the immutable
 * files that the copies point to. Imports wait meanwhile. The copy counts as a
 * data directory only when its marker is written, last of all.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/opt.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/backup_note.h"
#include "lmdb-schema/upkeep/copy.h"
#include "tools/gridctl/cmd.h"
#include "tools/gridctl/night/backups.h"

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

struct restore_options {
	const char *ssh;
};

static const struct opt_row restore_rows[] = {
    {"--ssh", 0, OPT_TEXT, offsetof(struct restore_options, ssh), 0, 0,
	"COMMAND", "what reaches another host (default: ssh)"},
};

static const struct opt_spec restore_spec = {
    .usage = "gridctl [--data DIR] restore [--ssh COMMAND] FROM",
    .about = "Restores the backup FROM, a folder or USER@HOST:FOLDER, into the "
	     "data directory DIR, which must not exist or be an empty folder. "
	     "Backups have no cluster.conf: a node of a cluster needs a copy "
	     "of it in DIR before gridapi is started there.",
    .rows = restore_rows,
    .count = sizeof(restore_rows) / sizeof(restore_rows[0]),
    .args_min = 1,
    .args_max = 1,
};

struct telling {
	const char *command, *from, *to;
};

/*
 * A month is mended in the data directory: of a backup that is made in `from`, of
 * one that is restored in `to`.
 */
static void
tell_month(void *context, const struct copy_lost_month *month)
{
	const struct telling *telling = context;
	const struct trail_lost *lost = &month->lost;
	const bool restored = telling->to == cmd_data_dir();

	fprintf(stderr, "gridctl %s: %s%s: %s%s%s: %s%s\n", telling->command,
	    restored ? telling->to : "",
	    lost->path + (restored ? strlen(telling->from) : 0), lost->what,
	    month->irregular ? " (a link, a folder or the like is in its place)"
			     : "",
	    restored ? " in the backup" : "",
	    month->irregular && !restored ? "remove that, and " : "",
	    lost->todo);
	if (month->base[0] != '\0')
		fprintf(stderr,
		    "gridctl %s: %s is sound, and copied instead: 'cp -p' "
		    "brings it back\n",
		    telling->command, month->base);
}

static void
tell_base(void *context, const char *path)
{
	const struct telling *telling = context;

	fprintf(stderr,
	    "gridctl %s: %s is not sound: it is copied anew, and not linked; "
	    "test the disk of the backups\n",
	    telling->command, path);
}

static int
tell_months(const struct telling *telling, const struct copy_counts *counts)
{
	if (counts->months_lost == 0)
		return CMD_DONE;
	fprintf(stderr, "gridctl %s: %s has all%s\n", telling->command,
	    telling->to,
	    counts->months_lost > counts->months_of_base ? " else" : "");
	return CMD_FAILED;
}

static int
tell_counts(const struct telling *telling, const char *base,
    const struct copy_counts *counts)
{
	const char *to = telling->to;

	cmd_set_rows(counts->snapshots);
	printf("%s: %s snapshots, %s in all\n", to,
	    cmd_count(counts->snapshots),
	    cmd_bytes(counts->bytes + counts->linked_bytes));
	if (base != NULL)
		printf("%s were copied; %s files, %s, are those of %s\n",
		    cmd_bytes(counts->bytes), cmd_count(counts->linked),
		    cmd_bytes(counts->linked_bytes), base);
	if (counts->skipped > 0)
		printf("%s snapshots could not be read and were left out: "
		       "compute them again\n",
		    cmd_count(counts->skipped));
	return tell_months(telling, counts);
}

static int
copy(bool *whole, const char *command, const char *from, const char *to,
    const char *base)
{
	struct telling telling = {command, from, to};
	const struct copy_listener listener = {tell_month, tell_base, &telling};
	struct copy_counts counts;
	struct fault fault;
	enum err err;

	fault_clear(&fault);
	err = store_copy(from, to, base, &listener, &counts, &fault);
	*whole = err == ERR_OK && counts.months_lost == counts.months_of_base;
	return err == ERR_OK ? tell_counts(&telling, base, &counts)
			     : cmd_fail(command, err, &fault);
}

/*
 * Recognises a backup by its marker, which is written last: without this check,
 * store_open() would advise to create a data directory there.
 */
static enum err
check_backup(const char *from, struct fault *fault)
{
	char path[FS_PATH_MAX], id[BACKUP_ID_MAX];
	enum err err = fs_path(path, "%s/store", from);

	if (err == ERR_OK && eaccess(path, R_OK) == 0)
		return ERR_OK;
	if (err == ERR_OK && errno == EACCES) {
		fault_set(fault, from,
		    "may not be read: 'chown -R' gives it to the user whom "
		    "the data directory belongs to, who must be able to pass "
		    "through the folders above it, too ('chmod o+x')");
		return ERR_DENIED;
	}
	if (backups_newest(id, from) == ERR_OK)
		fault_set(fault, from,
		    "holds backups: name one of them; the newest is %s/%s",
		    from, id);
	else
		fault_set(fault, from,
		    "is no backup, or none that was completed: name a folder "
		    "that 'gridctl backup' has made");
	return ERR_NOT_FOUND;
}

int
cmd_backup_copy(bool *whole, const char *to, const char *base)
{
	struct fault fault;
	enum err err = ERR_OK;

	*whole = false;
	fault_clear(&fault);
	if (base != NULL)
		err = check_backup(base, &fault);
	return err == ERR_OK ? copy(whole, "backup", cmd_data_dir(), to, base)
			     : cmd_fail("backup", err, &fault);
}

int
cmd_backup(int argc, char **argv)
{
	struct options options = {NULL};
	bool whole;
	int args,
	    result = cmd_options(&options, &backup_spec, argc, argv, &args);

	if (result != CMD_GO)
		return result;
	result = cmd_backup_copy(&whole, argv[1], options.base);
	if (whole)
		backups_note("backup", BACKUP_MADE);
	return result;
}

/* --- from another host ---------------------------------------------------- */

static enum err
refuse(void *context, const char *name)
{
	(void)context;
	(void)name;
	return ERR_EXISTS;
}

static int
verify(const char *to)
{
	struct telling telling = {"restore", to, to};
	const struct copy_listener listener = {tell_month, NULL, &telling};
	struct copy_counts counts;
	struct fault fault;
	enum err err;

	fault_clear(&fault);
	err = store_copy_verify(to, &listener, &counts, &fault);
	return err == ERR_OK ? tell_months(&telling, &counts)
			     : cmd_fail("restore", err, &fault);
}

/* A backup is a data directory as soon as its marker has come. */
static int
fetch(const char *from, const char *ssh)
{
	const char *to = cmd_data_dir();
	const bool there = eaccess(to, F_OK) == 0;
	struct fault fault;
	int result;
	enum err err = there ? fs_list(to, refuse, NULL) : fs_mkdir(to);

	fault_clear(&fault);
	if (err == ERR_EXISTS)
		fault_set(&fault, to,
		    "exists already: name a folder that does not, or an empty "
		    "one");
	if (err != ERR_OK)
		return cmd_fail("restore", err, &fault);
	result = backups_fetch(from, to, ssh);
	if (result != CMD_DONE) {
		(void)(there ? fs_empty(to) : fs_remove_tree(to));
		return result;
	}
	printf("%s: restored from %s; 'gridctl check' reads all of it\n", to,
	    from);
	return verify(to);
}

int
cmd_restore_copy(const char *from, const char *ssh)
{
	struct fault fault;
	bool whole;
	enum err err;

	if (backups_is_away(from))
		return fetch(from, ssh);
	fault_clear(&fault);
	err = check_backup(from, &fault);
	return err == ERR_OK
	    ? copy(&whole, "restore", from, cmd_data_dir(), NULL)
	    : cmd_fail("restore", err, &fault);
}

/*
 * A backup has no cluster.conf: restored on another machine, it would make that one
 * of the nodes.
 */
static void
tell_cut_off(void)
{
	struct store *store = NULL;
	struct fault fault;

	fault_clear(&fault);
	if (store_open_piecemeal(&store, cmd_data_dir(), &fault) == ERR_OK &&
	    store_is_cut_off(store))
		printf("%s is of a node of several, and backups have no "
		       "cluster.conf: put that node's at %s/cluster.conf "
		       "before gridapi is started there, or 'gridctl cluster "
		       "leave' makes it a machine on its own. Until then "
		       "nothing is stored there\n",
		    cmd_data_dir(), cmd_data_dir());
	store_close(store);
}

int
cmd_restore(int argc, char **argv)
{
	struct restore_options options = {"ssh"};
	int args,
	    result = cmd_options(&options, &restore_spec, argc, argv, &args);

	if (result != CMD_GO)
		return result;
	result = cmd_restore_copy(argv[1], options.ssh);
	tell_cut_off();
	return result;
}
