/* fs_folder: folders are made, listed and removed. */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fs_priv.h"

static enum err
make_one(const char *path)
{
	struct stat st;
	int code;

	if (mkdir(path, 0750) == 0)
		return ERR_OK;
	code = errno;
	/* On a read-only disk even an existing one may say EROFS. */
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return ERR_OK;
	errno = code;
	return fs_failed("making a folder", path);
}

enum err
fs_mkdir(const char *path)
{
	char copy[FS_PATH_MAX];
	enum err err = fs_path(copy, "%s", path);

	for (char *at = copy; err == ERR_OK && *at != '\0'; at++) {
		if (*at != '/' || at == copy || at[-1] == '/')
			continue;
		*at = '\0';
		err = make_one(copy);
		*at = '/';
	}
	return err == ERR_OK ? make_one(copy) : err;
}

static int
by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int
is_real(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 &&
	    strcmp(entry->d_name, "..") != 0;
}

static int
is_listed(const struct dirent *entry)
{
	return is_real(entry) && strcmp(entry->d_name, "lost+found") != 0;
}

enum err
fs_list(const char *path, enum err (*each)(void *context, const char *name),
    void *context)
{
	struct dirent **entries = NULL;
	int count = scandir(path, &entries, is_listed, by_bytes);
	enum err err = ERR_OK;

	assert(path != NULL && each != NULL);
	if (count < 0)
		return fs_failed_or_missing("listing a folder", path);
	for (int i = 0; i < count; i++) {
		if (err == ERR_OK)
			err = each(context, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return err;
}

static enum err remove_at(int parent, const char *name);

static enum err
empty_folder(int fd, const char *name)
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;
	enum err err = ERR_OK;

	if (dir == NULL) {
		err = fs_failed("reading a folder", name);
		close(fd);
		return err;
	}
	while (err == ERR_OK && (entry = readdir(dir)) != NULL)
		if (is_real(entry))
			err = remove_at(fd, entry->d_name);
	closedir(dir);
	return err;
}

/*
 * Descends by open folders, not by paths, so that a symbolic link planted
 * meanwhile is not followed. Each level keeps a descriptor open: nesting deeper
 * than a few hundred levels is refused.
 */
static enum err
remove_at(int parent, const char *name)
{
	enum err err;
	int fd, code;

	if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
		return ERR_OK;
	/* In a folder that is not writable, every entry fails with EACCES. */
	code = errno;
	if (code != EISDIR && code != EPERM && code != EACCES)
		return fs_failed("removing a file", name);
	fd = openat(
	    parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOTDIR) {
		errno = code;
		return fs_failed("removing a file", name);
	}
	if (fd < 0)
		return fs_failed("opening a folder", name);
	err = empty_folder(fd, name);
	if (err == ERR_OK && unlinkat(parent, name, AT_REMOVEDIR) != 0 &&
	    errno != ENOENT)
		err = fs_failed("removing a folder", name);
	return err;
}

enum err
fs_remove_tree(const char *path)
{
	return remove_at(AT_FDCWD, path);
}

enum err
fs_empty(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return fs_failed_or_missing("opening a folder", path);
	return empty_folder(fd, path);
}

/* The nearest folder that is there, without links. */
static bool
nearest(char real[FS_PATH_MAX], const char *path)
{
	char at[FS_PATH_MAX];

	if (fs_path(at, "%s", path) != ERR_OK)
		return false;
	while (realpath(at, real) == NULL) {
		char *slash = strrchr(at, '/');

		if (slash == NULL || at[1] == '\0')
			return false;
		slash[slash == at] = '\0';
	}
	return true;
}

bool
fs_is_within(const char *path, const char *folder)
{
	char found[FS_PATH_MAX], own[FS_PATH_MAX];
	size_t len;

	if (!nearest(found, path) || realpath(folder, own) == NULL)
		return false;
	/* The root ends with the slash that parts others from what they hold. */
	len = strcmp(own, "/") == 0 ? 0 : strlen(own);
	return strncmp(found, own, len) == 0 &&
	    (found[len] == '/' || found[len] == '\0');
}
