/* A data directory that begins, joins or leaves. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/fs.h"
#include "lmdb-schema/store/cluster.h"
#include "lmdb-schema/store/engine.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/join_priv.h"

/* LMDB's own lock: each process that has the file open holds a part of it. */
static bool
is_used(const char *dir)
{
	struct flock lock = {
	    .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
	char path[FS_PATH_MAX];
	bool used;
	int fd;

	if (fs_path(path, "%s/state.mdb-lock", dir) != ERR_OK)
		return true;
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return errno != ENOENT;
	used = fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
	close(fd);
	return used;
}

enum err
join_refuse_used(const char *dir, struct fault *fault)
{
	fault_set(fault, dir,
	    "is in use: stop gridapi, and all else that has it open, first");
	return ERR_BUSY;
}

enum err
join_check_unused(const char *dir, struct fault *fault)
{
	return is_used(dir) ? join_refuse_used(dir, fault) : ERR_OK;
}

enum err
join_check_told(const char *dir, struct fault *fault)
{
	if (cluster_is_told(dir))
		return ERR_OK;
	if (errno == EACCES) {
		store_denied(dir, fault);
		return ERR_DENIED;
	}
	return store_untold_in(dir, fault);
}

enum err
join_away(enum err err, struct engine *engine, struct fault *fault)
{
	engine_tell_away(err, engine, fault);
	return err;
}

enum err
join_end_with(struct store *store, enum err err, struct fault *fault)
{
	join_away(err, store == NULL ? NULL : store_engine(store), fault);
	store_close(store);
	return err;
}

enum err
join_open_place(struct store **store, uint64_t *epoch,
    struct write_log_place *place, const char *dir, struct fault *fault)
{
	enum err err = store_open(store, dir, fault);

	if (err == ERR_OK)
		err = store_epoch(*store, epoch);
	if (err == ERR_OK)
		err = write_log_place_of(place, store_state(*store));
	return err;
}
