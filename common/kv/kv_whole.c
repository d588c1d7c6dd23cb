/*
 * kv_whole: an environment as a file: synced, measured, copied, finished.
 */
#include "common/kv/kv_priv.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/limits.h"
#include "common/log.h"

#define COPY_MODE 0640

enum err
kv_sync(struct kv *kv)
{
	if (kv->read_only)
		return ERR_OK;
	return kv_failed(kv, "syncing", mdb_env_sync(kv->env, 1));
}

size_t
kv_used_bytes(struct kv *kv)
{
	MDB_envinfo info;
	MDB_stat stat;
	int code;

	kv_enter(kv);
	code = mdb_env_info(kv->env, &info);
	if (code == 0)
		code = mdb_env_stat(kv->env, &stat);
	kv_leave(kv);
	assert(code == 0); /* fails only without an environment */
	return (info.me_last_pgno + 1) * stat.ms_psize;
}

/* An immutable file must be as long as it claims to be. */
static int
copy_to(struct kv *kv, int fd)
{
	struct stat st;
	off_t used;
	int code;

	kv_enter(kv);
	code = mdb_env_copyfd(kv->env, fd);
	kv_leave(kv);
	/* The present size, not the copy's: a file too long does no harm. */
	used = (off_t)kv_used_bytes(kv);
	if (code != 0)
		return code;
	if (fstat(fd, &st) != 0)
		return errno;
	if (st.st_size < used && ftruncate(fd, used) != 0)
		return errno;
	return fsync(fd) == 0 ? 0 : errno;
}

enum err
kv_copy(struct kv *kv, const char *path)
{
	enum err err = kv_verify_rest(kv);
	int fd, code;

	assert(path != NULL);
	if (err != ERR_OK)
		return err;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, COPY_MODE);
	if (fd < 0)
		return kv_failed_at(kv, path, "copying", errno);
	code = copy_to(kv, fd);
	if (close(fd) != 0 && code == 0)
		code = errno;
	if (code == 0)
		return fs_sync_folder(path);
	/* Read the size first: it tells why the copy failed. */
	err = kv_failed_at(kv, path, "copying", code);
	unlink(path);
	return err;
}

int
kv_reap_readers(struct kv *kv)
{
	int dead = 0;
	int code = mdb_reader_check(kv->env, &dead);

	if (code != 0)
		kv_failed(kv, "looking for dead readers", code);
	return dead;
}

/*
 * The map is closed by now; its dirty pages belong to the file, so fsync writes
 * them.
 */
static enum err
cut_and_sync(const char *path, size_t used)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	char why[LIMITS_TEXT_MAX];
	int errnum = 0;

	if (fd < 0 || ftruncate(fd, (off_t)used) != 0 || fsync(fd) != 0)
		errnum = errno;
	if (fd >= 0)
		close(fd);
	if (errnum == 0)
		return ERR_OK;
	log_error("cannot finish a new file: file=%s error=%s", path,
	    limits_why(why, errnum));
	return err_from_errno(errnum);
}

enum err
kv_finish(struct kv *kv, const char *path, enum err err)
{
	size_t used = kv == NULL ? 0 : kv_used_bytes(kv);
	bool built = kv != NULL;

	assert(kv != NULL || err != ERR_OK);
	kv_close(kv);
	if (err == ERR_OK)
		err = cut_and_sync(path, used);
	/* An existing file is not ours to remove. */
	if (err != ERR_OK && (built || err != ERR_EXISTS))
		(void)fs_unlink(path);
	return err;
}
