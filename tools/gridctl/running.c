#include "tools/gridctl/running.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/num.h"
#include "common/procstat.h"

#define SEEN_MAX 32

struct running {
	pid_t seen[SEEN_MAX];
	unsigned count;
	pid_t supervisor;
	char stopped[RUNNING_TEXT_MAX / 2]; /* their numbers, by spaces */
};

static bool
is_gridapi(struct procstat_who *who, pid_t pid)
{
	return pid > 0 && procstat_who(who, pid) == ERR_OK &&
	    strcmp(who->name, "gridapi") == 0;
}

/* The process, if it is gridapi's, and those that it is a child of. */
static void
note(struct running *running, pid_t pid)
{
	struct procstat_who who;
	pid_t last = 0;
	size_t len;

	while (running->count < SEEN_MAX && is_gridapi(&who, pid)) {
		for (unsigned i = 0; i < running->count; i++)
			if (running->seen[i] == pid)
				return;
		running->seen[running->count++] = pid;
		last = pid;
		len = strlen(running->stopped);
		if (who.state == 'T' && len + 16 < sizeof(running->stopped))
			snprintf(running->stopped + len,
			    sizeof(running->stopped) - len, " %lld",
			    (long long)pid);
		pid = who.parent;
	}
	if (last != 0)
		running->supervisor = last;
}

/*
 * LMDB locks a byte of the file for each process that reads. The file stays open to
 * this program's end: to close it would end the locks that the program has itself.
 */
static void
note_readers(struct running *running, const char *dir)
{
	static int fd = -1;
	struct flock lock = {.l_start = 0};
	char path[FS_PATH_MAX];

	if (fd < 0 && fs_path(path, "%s/state.mdb-lock", dir) == ERR_OK)
		fd = open(path, O_RDWR | O_CLOEXEC);
	while (fd >= 0 && running->count < SEEN_MAX) {
		lock.l_type = F_WRLCK;
		lock.l_whence = SEEK_SET;
		lock.l_len = 0;
		if (fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK)
			return;
		note(running, lock.l_pid);
		if (lock.l_len == 0)
			return;
		lock.l_start += lock.l_len;
	}
}

/* Also those that have not read yet. */
static void
note_children(struct running *running)
{
	const struct dirent *entry;
	DIR *proc = running->count == 0 ? NULL : opendir("/proc");
	pid_t supervisor = running->supervisor;
	struct procstat_who who;
	int64_t pid;

	while (proc != NULL && (entry = readdir(proc)) != NULL)
		if (num_int(&pid, span_of(entry->d_name), 1, INT32_MAX) &&
		    is_gridapi(&who, (pid_t)pid) && who.parent == supervisor)
			note(running, (pid_t)pid);
	if (proc != NULL)
		closedir(proc);
}

const char *
running_todo(char out[RUNNING_TEXT_MAX], const char *dir)
{
	struct running running = {.count = 0};

	note_readers(&running, dir);
	note_children(&running);
	if (running.count == 0)
		return NULL;
	if (running.stopped[0] != '\0')
		snprintf(out, RUNNING_TEXT_MAX,
		    "gridapi is stopped by a signal: 'kill -CONT%s' lets it go "
		    "on",
		    running.stopped);
	else
		snprintf(out, RUNNING_TEXT_MAX,
		    "gridapi runs as process %lld: its log may say why; "
		    "'systemctl restart gridapi', or 'kill %lld' and, where it "
		    "does not end, 'kill -KILL %lld', and start it anew",
		    (long long)running.supervisor,
		    (long long)running.supervisor,
		    (long long)running.supervisor);
	return out;
}
