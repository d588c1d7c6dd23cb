#include "common/procstat.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file of /proc/PID as a text; false when it cannot be read. */
static bool
read_text(char *text, size_t size, pid_t pid, const char *name)
{
	char path[64];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%lld/%s", (long long)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	len = read(fd, text, size - 1);
	close(fd);
	text[len > 0 ? len : 0] = '\0';
	return len > 0;
}

/* The times are fields 14 to 17; the second is a name with any bytes in (). */
static bool
read_times(struct procstat *out, const char *stat)
{
	const char *at = strrchr(stat, ')');
	unsigned long long own, system, waited, waited_system;
	int64_t tick_us = 1000000 / sysconf(_SC_CLK_TCK);

	if (at == NULL ||
	    sscanf(at + 1,
		" %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu "
		"%llu",
		&own, &system, &waited, &waited_system) != 4)
		return false;
	out->cpu_us = (int64_t)(own + system) * tick_us;
	out->children_cpu_us = (int64_t)(waited + waited_system) * tick_us;
	return true;
}

static bool
read_memory(struct procstat *out, const char *status)
{
	const char *at = strstr(status, "\nRssAnon:");

	if (at == NULL)
		return false;
	out->private_bytes =
	    strtoll(at + strlen("\nRssAnon:"), NULL, 10) * 1024;
	return true;
}

static bool
count_files(struct procstat *out, pid_t pid)
{
	char path[64];
	const struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%lld/fd", (long long)pid);
	dir = opendir(path);
	if (dir == NULL)
		return false;
	out->open_files = 0;
	while ((entry = readdir(dir)) != NULL)
		out->open_files += entry->d_name[0] != '.';
	closedir(dir);
	return true;
}

enum err
procstat_read(struct procstat *out, pid_t pid)
{
	char stat[1024], status[4096];

	assert(pid > 0);
	return read_text(stat, sizeof(stat), pid, "stat") &&
		read_times(out, stat) &&
		read_text(status, sizeof(status), pid, "status") &&
		read_memory(out, status) && count_files(out, pid)
	    ? ERR_OK
	    : ERR_NOT_FOUND;
}

enum err
procstat_who(struct procstat_who *out, pid_t pid)
{
	char stat[1024];
	const char *name, *end;
	int parent;

	assert(pid > 0);
	if (!read_text(stat, sizeof(stat), pid, "stat"))
		return ERR_NOT_FOUND;
	name = strchr(stat, '(');
	end = strrchr(stat, ')');
	if (name == NULL || end == NULL ||
	    sscanf(end + 1, " %c %d", &out->state, &parent) != 2)
		return ERR_NOT_FOUND;
	snprintf(out->name, sizeof(out->name), "%.*s", (int)(end - name - 1),
	    name + 1);
	out->parent = parent;
	return ERR_OK;
}
