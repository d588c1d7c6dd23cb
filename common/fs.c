#include "common/fs_priv.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/log.h"
#include "common/limits.h"

#define CHUNK_BYTES 65536
#define LOCK_MODE 0640

enum err
fs_failed(const char *doing, const char *path)
{
	char why[LIMITS_TEXT_MAX];
	int code = errno;

	log_error("%s failed: %s: path=%s", doing, limits_why(why, code), path);
	return err_from_errno(code);
}

enum err
fs_failed_or_missing(const char *doing, const char *path)
{
	return errno == ENOENT ? ERR_NOT_FOUND : fs_failed(doing, path);
}

enum err
fs_path(char path[FS_PATH_MAX], const char *format, ...)
{
	va_list args;
	int len;

	assert(path != NULL && format != NULL);
	va_start(args, format);
	len = vsnprintf(path, FS_PATH_MAX, format, args);
	va_end(args);
	if (len >= 0 && len < FS_PATH_MAX)
		return ERR_OK;
	path[0] = '\0';
	return ERR_TOO_LARGE;
}

static enum err
folder_of(char folder[FS_PATH_MAX], const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL)
		return fs_path(folder, ".");
	if (slash == path)
		return fs_path(folder, "/");
	return fs_path(folder, "%.*s", (int)(slash - path), path);
}

enum err
fs_sync_folder(const char *path)
{
	char folder[FS_PATH_MAX];
	enum err err = folder_of(folder, path);
	int fd;

	if (err != ERR_OK)
		return err;
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return fs_failed("opening a folder", folder);
	if (fsync(fd) != 0)
		err = fs_failed("syncing a folder", folder);
	close(fd);
	return err;
}

/* --- files ---------------------------------------------------------------- */

#define IN_ORDER UINT64_MAX /* no offset: behind what was written last */

static enum err
write_whole(int fd, const char *at, size_t len, uint64_t offset)
{
	while (len > 0) {
		ssize_t done = offset == IN_ORDER
		    ? write(fd, at, len)
		    : pwrite(fd, at, len, (off_t)offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return err_from_errno(errno);
		at += done;
		len -= (size_t)done;
		if (offset != IN_ORDER)
			offset += (uint64_t)done;
	}
	return ERR_OK;
}

enum err
fs_write_all(int fd, const void *data, size_t len)
{
	assert(data != NULL || len == 0);
	return write_whole(fd, data, len, IN_ORDER);
}

enum err
fs_write_at(int fd, const void *data, size_t len, uint64_t offset)
{
	assert((data != NULL || len == 0) && offset != IN_ORDER);
	return write_whole(fd, data, len, offset);
}

/*
 * Reads one piece of the file: 1 when more may follow, 0 at its end, -1 on
 * failure.
 */
static int
read_piece(struct buf *buf, int fd)
{
	size_t left = buf->max - buf->len;
	size_t want = left < CHUNK_BYTES ? left : CHUNK_BYTES;
	char beyond = 0;
	char *room = want == 0 ? &beyond : buf_room(buf, want);
	ssize_t got;

	if (room == NULL)
		return -1;
	do
		got = read(fd, room, want == 0 ? 1 : want);
	while (got < 0 && errno == EINTR);
	if (got <= 0) {
		if (got < 0)
			buf_fail(buf, err_from_errno(errno));
		return (int)got;
	}
	if (want == 0) {
		buf_fail(buf, ERR_TOO_LARGE);
		return -1;
	}
	buf_grown(buf, (size_t)got);
	return 1;
}

enum err
fs_read(struct buf *buf, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int more = 1;

	assert(buf != NULL && path != NULL);
	if (fd < 0)
		return fs_failed_or_missing("opening a file", path);
	while (more > 0)
		more = read_piece(buf, fd);
	close(fd);
	if (more < 0)
		log_error("reading a file failed: %s: path=%s",
		    err_text(buf_end(buf)), path);
	return buf_end(buf);
}

/*
 * Creates a temporary file beside `path`, under a name that no other writer
 * uses.
 */
static int
open_aside(char aside[FS_PATH_MAX], const char *path)
{
	static atomic_uint count;
	int fd;

	do {
		if (fs_path(aside, "%s.%d-%u.tmp", path, (int)getpid(),
			atomic_fetch_add(&count, 1)) != ERR_OK) {
			errno = ENAMETOOLONG;
			return -1;
		}
		fd = open(aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	} while (fd < 0 && errno == EEXIST);
	return fd;
}

static enum err
fill(int fd, const char *aside, struct span bytes, unsigned mode)
{
	enum err err = fs_write_all(fd, bytes.ptr, bytes.len);

	if (err != ERR_OK)
		return fs_failed("writing a file", aside);
	if (fchmod(fd, (mode_t)mode) != 0)
		return fs_failed("setting a file's mode", aside);
	if (fsync(fd) != 0)
		return fs_failed("syncing a file", aside);
	return ERR_OK;
}

enum err
fs_replace(const char *path, struct span bytes, unsigned mode)
{
	char aside[FS_PATH_MAX];
	int fd = open_aside(aside, path);
	enum err err;

	assert(path != NULL && mode <= 07777);
	if (fd < 0)
		return fs_failed("making a file beside", path);
	err = fill(fd, aside, bytes, mode);
	if (close(fd) != 0 && err == ERR_OK)
		err = fs_failed("closing a file", aside);
	if (err == ERR_OK)
		err = fs_publish(aside, path);
	if (err != ERR_OK)
		unlink(aside); /* already renamed when only the sync failed */
	return err;
}

enum err
fs_publish(const char *from, const char *to)
{
	assert(from != NULL && to != NULL);
	if (rename(from, to) != 0)
		return fs_failed("renaming a file to", to);
	return fs_sync_folder(to);
}

enum err
fs_unlink(const char *path)
{
	if (unlink(path) == 0 || errno == ENOENT)
		return ERR_OK;
	return fs_failed("removing a file", path);
}

/* --- sizes ---------------------------------------------------------------- */

enum err
fs_size(const char *path, uint64_t *bytes, uint64_t *on_disk)
{
	struct stat st = {0};
	enum err err = ERR_OK;

	/* Below a file there is none. */
	if (stat(path, &st) != 0)
		err = errno == ENOTDIR
		    ? ERR_NOT_FOUND
		    : fs_failed_or_missing("measuring a file", path);
	*bytes = (uint64_t)st.st_size;
	*on_disk = (uint64_t)st.st_blocks * 512;
	return err;
}

enum err
fs_free_bytes(const char *path, uint64_t *bytes)
{
	char folder[FS_PATH_MAX];
	struct statvfs disk = {0};
	enum err err = folder_of(folder, path);
	int rc;

	*bytes = 0;
	if (err != ERR_OK)
		return err;
	rc = statvfs(path, &disk);
	if (rc != 0 && errno == ENOENT)
		rc = statvfs(folder, &disk); /* `path` does not exist yet */
	if (rc != 0)
		return fs_failed_or_missing("measuring the disk of", path);
	*bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
	return ERR_OK;
}

/* --- locks ---------------------------------------------------------------- */

static int
take_lock(int fd, int how, bool wait)
{
	int rc;

	do
		rc = flock(fd, how | (wait ? 0 : LOCK_NB));
	while (rc != 0 && errno == EINTR);
	return rc;
}

/* False when the file was removed or replaced during the wait. */
static bool
is_still(int fd, const char *path)
{
	struct stat own;
	struct stat there;

	return fstat(fd, &own) == 0 && stat(path, &there) == 0 &&
	    own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

static enum err
lock(int *fd, const char *path, int how, bool wait)
{
	enum err err = ERR_OK;

	assert(fd != NULL && path != NULL);
	for (;;) {
		*fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, LOCK_MODE);
		if (*fd < 0)
			return fs_failed("opening a lock", path);
		if (take_lock(*fd, how, wait) != 0)
			err = errno == EWOULDBLOCK ? ERR_BUSY
						   : fs_failed("locking", path);
		if (err == ERR_OK && is_still(*fd, path))
			return ERR_OK;
		close(*fd);
		*fd = -1;
		if (err != ERR_OK)
			return err;
	}
}

enum err
fs_lock(int *fd, const char *path, bool wait)
{
	return lock(fd, path, LOCK_EX, wait);
}

enum err
fs_lock_shared(int *fd, const char *path, bool wait)
{
	return lock(fd, path, LOCK_SH, wait);
}

int
fs_nameless(const char *dir)
{
	char path[FS_PATH_MAX];
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	assert(dir != NULL);
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR) ||
	    fs_path(path, "%s/spool-XXXXXX.tmp", dir) != ERR_OK)
		return fd;
	fd = mkostemps(path, 4, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}
