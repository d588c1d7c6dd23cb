/*
 * Backups to another host and back, by rsync. The marker of a backup, its file
 * `store`, goes last: without it the copy is no backup.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/spawn.h"
#include "tools/gridctl/cmd.h"
#include "tools/gridctl/night/backups.h"

#define WORDS_MAX 16
#define SAID_MAX (64u << 10)
/* No bytes for so long: the other host is gone. */
#define SILENCE "--timeout=600"
#define MARKERS "--exclude=/*/store"
/* LMDB's, which hold who reads now. */
#define LOCKS "--exclude=*.mdb-lock"

static int
failed(const char *what, const char *why)
{
	fprintf(stderr, "gridctl night: %s: %s\n", what, why);
	return CMD_FAILED;
}

/* Waits for rsync, which says itself on stderr what is wrong. */
static int
wait_for(pid_t pid)
{
	int status = 0, errnum = spawn_reap(&status, pid), code;

	if (errnum != 0)
		return failed("rsync", strerror(errnum));
	code = spawn_code(status);
	if (code == 0)
		return CMD_DONE;
	if (code == 127)
		return failed("rsync", "is not installed: apt install rsync");
	fprintf(stderr, "gridctl night: rsync: exit code %d\n", code);
	return CMD_FAILED;
}

/*
 * Runs rsync with these words, NULL-ended; its input from `in`, its output to `out`, or
 * to ours where that is -1.
 */
static int
rsync(int in, int out, const char *ssh, const char *const *words)
{
	static char texts[WORDS_MAX][FS_PATH_MAX];
	char *argv[WORDS_MAX + 5] = {
	    (char[]){"env"}, (char[]){"rsync"}, (char[]){"-e"}, texts[0]};
	struct spawn_fd fds[2];
	struct spawn_spec spec = {
	    .program = "/usr/bin/env", .argv = argv, .fds = fds};
	pid_t pid = 0;
	unsigned count = 1;
	int errnum;

	if (in >= 0)
		fds[spec.fd_count++] = (struct spawn_fd){in, STDIN_FILENO};
	if (out >= 0)
		fds[spec.fd_count++] = (struct spawn_fd){out, STDOUT_FILENO};
	snprintf(texts[0], FS_PATH_MAX, "%s", ssh);
	for (; *words != NULL && count < WORDS_MAX; words++, count++) {
		snprintf(texts[count], FS_PATH_MAX, "%s", *words);
		argv[count + 3] = texts[count];
	}
	errnum = spawn_start(&pid, &spec);
	return errnum == 0 ? wait_for(pid) : failed("rsync", strerror(errnum));
}

/* rsync's list of what differs must be empty. */
static int
compare(const char *from, const char *to, const char *ssh)
{
	char said[SAID_MAX];
	int out = memfd_create("differences", MFD_CLOEXEC), result;
	ssize_t got;

	if (out < 0)
		return failed("rsync", strerror(errno));
	result = rsync(-1, out, ssh,
	    (const char *[]){"-rlptnO", "--checksum", "--itemize-changes",
		LOCKS, SILENCE, from, to, NULL});
	got = pread(out, said, sizeof(said), 0);
	close(out);
	if (result != CMD_DONE || got == 0)
		return result;
	if (got < 0)
		return failed("rsync", strerror(errno));
	fprintf(stderr,
	    "gridctl night: %s is not what was sent (rsync's list):\n%.*s", to,
	    (int)got, said);
	return CMD_FAILED;
}

/* --- sending -------------------------------------------------------------- */

/* Of the folder of backups, where they go, and their names. */
struct sending {
	char from[FS_PATH_MAX], to[FS_PATH_MAX];
	const char *ssh;
	int names; /* a file with a line each */
};

static enum err
add_name(void *context, const char *name)
{
	const struct sending *sending = context;

	return backups_is_id(name) && dprintf(sending->names, "%s\n", name) < 0
	    ? err_from_errno(errno)
	    : ERR_OK;
}

/* By their names: of the folder itself rsync would give its mode to `to`. */
static int
send_all(const struct sending *sending, bool markers)
{
	if (lseek(sending->names, 0, SEEK_SET) != 0)
		return failed("rsync", strerror(errno));
	return rsync(sending->names, -1, sending->ssh,
	    (const char *[]){"-rlptHO", SILENCE, LOCKS, "--files-from=-",
		markers ? "--include=/*/store" : MARKERS, sending->from,
		sending->to, NULL});
}

static int
send_by_names(const struct night_settings *settings)
{
	struct sending sending = {
	    .ssh = settings->ssh, .names = memfd_create("names", MFD_CLOEXEC)};
	int result = CMD_FAILED;
	enum err err = sending.names < 0 ? err_from_errno(errno) : ERR_OK;

	if (err == ERR_OK)
		err = fs_path(sending.from, "%s/", settings->backup_to);
	if (err == ERR_OK)
		err = fs_path(sending.to, "%s/", settings->send_to);
	if (err == ERR_OK)
		err = fs_list(settings->backup_to, add_name, &sending);
	if (err == ERR_OK)
		result = send_all(&sending, false);
	else
		failed(settings->backup_to, err_text(err));
	if (result == CMD_DONE)
		result = send_all(&sending, true);
	if (sending.names >= 0)
		close(sending.names);
	return result;
}

bool
backups_is_away(const char *place)
{
	return place[strcspn(place, ":/")] == ':';
}

int
backups_send(const struct night_settings *settings)
{
	char newest[FS_PATH_MAX], there[FS_PATH_MAX], id[BACKUP_ID_MAX];
	int result;
	enum err err = backups_newest(id, settings->backup_to);

	if (err == ERR_OK)
		err = fs_path(newest, "%s/%s/", settings->backup_to, id);
	if (err == ERR_OK)
		err = fs_path(there, "%s/%s/", settings->send_to, id);
	if (err != ERR_OK)
		return failed(settings->backup_to, err_text(err));
	result = send_by_names(settings);
	if (result == CMD_DONE && settings->verify)
		result = compare(newest, there, settings->ssh);
	if (result != CMD_DONE)
		return result;
	backups_note("night", BACKUP_SENT);
	return CMD_DONE;
}

int
backups_fetch(const char *from, const char *to, const char *ssh)
{
	char path[FS_PATH_MAX], into[FS_PATH_MAX], marker[FS_PATH_MAX];
	enum err err = fs_path(path, "%s/", from);
	int result;

	if (err == ERR_OK)
		err = fs_path(into, "%s/", to);
	if (err == ERR_OK)
		err = fs_path(marker, "%s/store", from);
	if (err != ERR_OK)
		return failed(from, err_text(err));
	result = rsync(-1, -1, ssh,
	    (const char *[]){
		"-rtO", SILENCE, "--exclude=/store", path, into, NULL});
	if (result == CMD_DONE)
		result = rsync(-1, -1, ssh,
		    (const char *[]){"-tO", SILENCE, marker, into, NULL});
	return result;
}
