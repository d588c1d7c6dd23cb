/*
 * below: the first path of the data directory that something is true of: that this
 * user may not use it, for one.
 */
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fs.h"
#include "tools/gridctl/cmd.h"

struct looking {
	const char *folder;
	char *path; /* "": nothing is found yet */
	bool (*is)(
	    const void *context, const char *path, const struct stat *found);
	const void *context;
};

static enum err look_at(void *context, const char *name);

static void
look_into(const struct looking *looking, const char *at)
{
	struct looking inside = *looking;
	struct stat found;

	if (lstat(at, &found) != 0)
		return; /* gone since it was listed */
	inside.folder = at;
	if (looking->is(looking->context, at, &found))
		snprintf(looking->path, FS_PATH_MAX, "%s", at);
	else if (S_ISDIR(found.st_mode))
		(void)fs_list(at, look_at, &inside);
}

static enum err
look_at(void *context, const char *name)
{
	const struct looking *looking = context;
	char at[FS_PATH_MAX];

	if (looking->path[0] == '\0' &&
	    fs_path(at, "%s/%s", looking->folder, name) == ERR_OK)
		look_into(looking, at);
	return ERR_OK;
}

bool
cmd_below(char path[FS_PATH_MAX],
    bool (*is)(const void *context, const char *path, const struct stat *found),
    const void *context)
{
	struct looking looking = {cmd_data_dir(), path, is, context};
	struct stat found;

	assert(path != NULL && is != NULL);
	path[0] = '\0';
	/* The folder itself may be named by a link. */
	if (stat(looking.folder, &found) != 0)
		return false;
	if (is(context, looking.folder, &found))
		snprintf(path, FS_PATH_MAX, "%s", looking.folder);
	else
		(void)fs_list(looking.folder, look_at, &looking);
	return path[0] != '\0';
}

/* Files of a past import are never written again, and may be read-only. */
static bool
is_denied(const void *context, const char *path, const struct stat *found)
{
	(void)context;
	return faccessat(AT_FDCWD, path,
		   S_ISDIR(found->st_mode) ? R_OK | W_OK | X_OK : R_OK,
		   AT_EACCESS) != 0;
}

bool
cmd_denied(char path[FS_PATH_MAX], bool *own)
{
	struct stat found;

	assert(own != NULL);
	*own = cmd_below(path, is_denied, NULL) && stat(path, &found) == 0 &&
	    found.st_uid == geteuid();
	return path[0] != '\0';
}
