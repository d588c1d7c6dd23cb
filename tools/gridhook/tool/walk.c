#include "tools/gridhook/tool/walk.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/date.h"

/* A folder on the way down. */
struct level {
	struct walk *walk;
	DIR *folder;
	int fd;
	dev_t device;
	size_t path_len;
	unsigned depth;
};

static void walk_level(struct level *level);

/* Looks at the clock now and then only. */
static bool
may_go_on(struct walk *walk)
{
	if (walk->stopped != NULL)
		return false;
	if (walk->entries >= walk->limits.entries)
		walk->stopped = "entries";
	else if (walk->entries % 32 == 0 &&
	    date_monotonic_ns() / 1000000 >= walk->limits.deadline_ms)
		walk->stopped = "time";
	return walk->stopped == NULL;
}

/* Adds "/name" to the path; false when it grows too long. */
static bool
path_push(struct walk *walk, size_t len, const char *name)
{
	size_t add = strlen(name);
	bool slash = len == 0 || walk->path[len - 1] != '/';

	if (len + slash + add >= sizeof(walk->path))
		return false;
	if (slash)
		walk->path[len++] = '/';
	memcpy(walk->path + len, name, add + 1);
	return true;
}

/* A folder between the look and the opening may have become a link. */
static void
go_down(struct level *up, const char *name)
{
	struct level level = {.walk = up->walk,
	    .device = up->device,
	    .path_len = strlen(up->walk->path),
	    .depth = up->depth + 1};
	struct stat info;

	if (level.depth > up->walk->limits.depth) {
		up->walk->too_deep++;
		return;
	}
	level.fd = openat(up->fd, name,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (level.fd < 0 || fstat(level.fd, &info) != 0) {
		up->walk->skipped++;
		if (level.fd >= 0)
			close(level.fd);
		return;
	}
	if (info.st_dev == level.device)
		walk_level(&level);
	else
		close(level.fd);
}

static void
look_at(struct level *level, const struct dirent *entry)
{
	struct walk *walk = level->walk;
	bool wanted = walk->fits(walk->context, entry->d_name);
	bool is_folder = entry->d_type == DT_DIR;
	struct stat info;

	if (!path_push(walk, level->path_len, entry->d_name)) {
		walk->skipped++;
		return;
	}
	if (wanted || entry->d_type == DT_UNKNOWN) {
		if (fstatat(level->fd, entry->d_name, &info,
			AT_SYMLINK_NOFOLLOW) != 0) {
			walk->skipped++;
			return;
		}
		is_folder = S_ISDIR(info.st_mode);
	}
	if (wanted && !walk->found(walk->context, walk->path, &info)) {
		walk->stopped = "results";
		return;
	}
	if (is_folder)
		go_down(level, entry->d_name);
}

static bool
is_left_out(const struct walk *walk, const char *name)
{
	if (name[0] != '.')
		return false;
	return !walk->hidden || name[1] == '\0' ||
	    (name[1] == '.' && name[2] == '\0');
}

/* Takes level->fd. */
static void
walk_level(struct level *level)
{
	struct walk *walk = level->walk;
	const struct dirent *entry;

	level->folder = fdopendir(level->fd);
	if (level->folder == NULL) {
		walk->skipped++;
		close(level->fd);
		return;
	}
	while (may_go_on(walk)) {
		errno = 0;
		entry = readdir(level->folder);
		if (entry == NULL) {
			walk->skipped += errno != 0;
			break;
		}
		if (is_left_out(walk, entry->d_name))
			continue;
		walk->entries++;
		look_at(level, entry);
		walk->path[level->path_len] = '\0';
	}
	closedir(level->folder);
}

void
walk_folder(struct walk *walk, int fd, const char *path)
{
	struct level level = {.walk = walk, .fd = fd};
	struct stat info;

	assert(fd >= 0 && walk->fits != NULL && walk->found != NULL);
	level.path_len = strlen(path);
	if (fstat(fd, &info) != 0 || level.path_len >= sizeof(walk->path)) {
		walk->skipped++;
		close(fd);
		return;
	}
	memcpy(walk->path, path, level.path_len + 1);
	level.device = info.st_dev;
	walk_level(&level);
}

int
walk_open_below(int root, const char *below)
{
	struct open_how how = {
	    .flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
	    .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
		RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV};

	assert(root >= 0 && below != NULL);
	return (int)syscall(SYS_openat2, root, below, &how, sizeof(how));
}
