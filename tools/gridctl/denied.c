/* denied: the path below the data directory that this user may not use. */
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
};

static enum err look_at(void *context, const char *name);

/* Files of a past import are never written again, and may be read-only. */
static void
look_into(char path[FS_PATH_MAX], const char *at)
{
	struct looking inside = {at, path};
	struct stat found;
	bool folder;

	if (lstat(at, &found) != 0)
		return; /* gone since it was listed */
	folder = S_ISDIR(found.st_mode);
	if (faccessat(AT_FDCWD, at, folder ? R_OK | W_OK | X_OK : R_OK,
		AT_EACCESS) != 0)
		snprintf(path, FS_PATH_MAX, "%s", at);
	else if (folder)
		(void)fs_list(at, look_at, &inside);
}

static enum err
look_at(void *context, const char *name)
{
	struct looking *looking = context;
	char at[FS_PATH_MAX];

	if (looking->path[0] == '\0' &&
	    fs_path(at, "%s/%s", looking->folder, name) == ERR_OK)
		look_into(looking->path, at);
	return ERR_OK;
}

bool
cmd_denied(char path[FS_PATH_MAX], bool *own)
{
	struct stat found;

	assert(path != NULL && own != NULL);
	path[0] = '\0';
	look_into(path, cmd_data_dir());
	*own = path[0] != '\0' && stat(path, &found) == 0 &&
	    found.st_uid == geteuid();
	return path[0] != '\0';
}
