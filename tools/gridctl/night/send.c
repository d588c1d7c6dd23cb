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

/* Runs rsync with these words, NULL-ended; its output to `out`, or to ours. */
static int
rsync(int out, const char *ssh, const char *const *words)
{
	static char texts[WORDS_MAX][FS_PATH_MAX];
	char *argv[WORDS_MAX + 5] = {
	    (char[]){"env"}, (char[]){"rsync"}, (char[]){"-e"}, texts[0]};
	struct spawn_fd output = {out, STDOUT_FILENO};
	struct spawn_spec spec = {.program = "/usr/bin/env",
	    .argv = argv,
	    .fds = &output,
	    .fd_count = out >= 0};
	pid_t pid = 0;
	unsigned count = 1;
	int errnum;

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
	result = rsync(out, ssh,
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

static int
send_all(const char *from, const char *to, const char *ssh, bool markers)
{
	return rsync(-1, ssh,
	    (const char *[]){"-rlptHO", SILENCE, LOCKS,
		"--include=/[0-9]*T[0-9]*Z",
		markers ? "--include=/*/store" : MARKERS, "--exclude=/*", from,
		to, NULL});
}

bool
backups_is_away(const char *place)
{
	return place[strcspn(place, ":/")] == ':';
}

int
backups_send(const struct night_settings *settings)
{
	const char *ssh = settings->ssh;
	char from[FS_PATH_MAX], to[FS_PATH_MAX], newest[FS_PATH_MAX],
	    there[FS_PATH_MAX], id[BACKUP_ID_MAX];
	int result;
	enum err err = backups_newest(id, settings->backup_to);

	if (err == ERR_OK)
		err = fs_path(from, "%s/", settings->backup_to);
	if (err == ERR_OK)
		err = fs_path(to, "%s/", settings->send_to);
	if (err == ERR_OK)
		err = fs_path(newest, "%s/%s/", settings->backup_to, id);
	if (err == ERR_OK)
		err = fs_path(there, "%s/%s/", settings->send_to, id);
	if (err != ERR_OK)
		return failed(settings->backup_to, err_text(err));
	result = send_all(from, to, ssh, false);
	if (result == CMD_DONE)
		result = send_all(from, to, ssh, true);
	if (result == CMD_DONE && settings->verify)
		result = compare(newest, there, ssh);
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
	result = rsync(-1, ssh,
	    (const char *[]){
		"-rtO", SILENCE, "--exclude=/store", path, into, NULL});
	if (result == CMD_DONE)
		result = rsync(-1, ssh,
		    (const char *[]){"-tO", SILENCE, marker, into, NULL});
	return result;
}
