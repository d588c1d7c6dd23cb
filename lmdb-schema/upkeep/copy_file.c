/* A file from one data directory to another, and whose fault it is if not. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fs.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/copy_priv.h"

#define COPY_BYTES ((size_t)1 << 20)

/* An errno of each side; 0: none. */
struct sides {
	int from, to;
};

/* Copies by read and write, which tells the sides apart. */
static struct sides
copy_by_hand(int from, int to)
{
	struct sides failed = {0, 0};
	char *bytes = malloc(COPY_BYTES);
	ssize_t got = 1;

	if (bytes == NULL)
		return (struct sides){.to = ENOMEM};
	while (failed.to == 0 && got > 0) {
		got = read(from, bytes, COPY_BYTES);
		if (got < 0 && errno == EINTR)
			got = 1;
		else if (got < 0)
			failed.from = errno;
		else if (fs_write_all(to, bytes, (size_t)got) != ERR_OK)
			failed.to = errno;
	}
	free(bytes);
	return failed;
}

/*
 * Lets the kernel copy, which works within a file system and mostly between two
 * of the same type. Where it fails, the copy by hand goes on from there, or says
 * which side fails.
 */
static struct sides
copy_bytes(int from, int to)
{
	for (;;) {
		ssize_t got =
		    copy_file_range(from, NULL, to, NULL, 1u << 30, 0);

		if (got == 0)
			return (struct sides){0, 0};
		if (got < 0 && errno != EINTR)
			return copy_by_hand(from, to);
	}
}

enum err
copy_file_bytes(int from, int to)
{
	struct sides failed = copy_bytes(from, to);
	int errnum = failed.from != 0 ? failed.from : failed.to;

	return errnum == 0 ? ERR_OK : err_from_errno(errnum);
}

/*
 * Opens a regular file only: *fd is -1 for a link, which could lead to a file
 * that only this process may read, and for devices and pipes, which could
 * block.
 */
static enum err
open_regular(int *fd, struct stat *st, const char *path)
{
	int errnum = 0;

	*fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (*fd < 0 || fstat(*fd, st) != 0)
		errnum = errno;
	else if (S_ISREG(st->st_mode))
		return ERR_OK;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return errnum != 0 && errnum != ELOOP && errnum != ENXIO
	    ? err_from_errno(errnum)
	    : ERR_BAD_INPUT;
}

/* Whether two immutable files are one and the same, by size and time. */
static bool
is_same(const struct stat *a, const struct stat *b)
{
	return S_ISREG(a->st_mode) && a->st_size == b->st_size &&
	    a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	    a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

enum err
copy_base_path(
    char path[FS_PATH_MAX], const struct copying *copying, const char *to)
{
	return fs_path(
	    path, "%s%s", copying->base, to + strlen(store_dir(copying->to)));
}

/* Links the base's copy of the file, where there is one; else false. */
static bool
link_base(struct copying *copying, const struct stat *st, const char *to)
{
	char path[FS_PATH_MAX];
	struct stat found;

	if (copying->base == NULL ||
	    copy_base_path(path, copying, to) != ERR_OK ||
	    lstat(path, &found) != 0 || !is_same(&found, st) ||
	    link(path, to) != 0)
		return false;
	copying->counts->linked++;
	copying->counts->linked_bytes += (uint64_t)st->st_size;
	return true;
}

/* The time comes behind the bytes: a base's file with that time is whole. */
static struct sides
copy_opened(int in, int out, const struct stat *st)
{
	struct sides failed = copy_bytes(in, out);

	if (failed.from != 0 || failed.to != 0)
		return failed;
	if (fsync(out) != 0 ||
	    futimens(out,
		(struct timespec[]){{.tv_nsec = UTIME_OMIT}, st->st_mtim}) != 0)
		failed.to = errno;
	return failed;
}

enum err
copy_unwritten(struct copying *copying, const char *to, enum err err)
{
	if (err != ERR_OK)
		fault_set(copying->fault, to, "could not be written: %s",
		    err_text(err));
	return err;
}

static enum err
write_copy(struct copying *copying, int in, const struct stat *st,
    const char *to, enum err *lost)
{
	int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	struct sides failed = {.to = out < 0 ? errno : 0};

	if (out >= 0) {
		failed = copy_opened(in, out, st);
		close(out);
	}
	copying->counts->bytes += (uint64_t)st->st_size;
	if (failed.to == 0) {
		*lost = failed.from == 0 ? ERR_OK : err_from_errno(failed.from);
		return failed.from == 0
		    ? ERR_OK
		    : copy_unwritten(copying, to, fs_unlink(to));
	}
	return copy_unwritten(copying, to, err_from_errno(failed.to));
}

enum err
copy_file(
    struct copying *copying, const char *from, const char *to, enum err *lost)
{
	int in;
	struct stat st;
	enum err err = ERR_OK;

	*lost = open_regular(&in, &st, from);
	if (*lost != ERR_OK)
		return err_is_limit(*lost) ? *lost : ERR_OK;
	if (!link_base(copying, &st, to))
		err = write_copy(copying, in, &st, to, lost);
	close(in);
	return err;
}

static const char *
remedy_of(enum err lost)
{
	if (lost == ERR_DENIED)
		return "give it to the user whom the data directory belongs to";
	if (lost == ERR_NOT_FOUND || lost == ERR_BAD_INPUT)
		return "put back what was there, or remove it and compute or "
		       "import again";
	return "test its disk; then put the file back from a backup, or "
	       "compute or import again";
}

enum err
copy_lost(struct copying *copying, const char *from, enum err lost)
{
	if (lost == ERR_BAD_INPUT)
		fault_set(copying->fault, from,
		    "is no regular file, but a link or the like, and is not "
		    "copied: %s",
		    remedy_of(lost));
	else if (lost != ERR_OK)
		fault_set(copying->fault, from,
		    "is to be copied, and cannot be read: %s: %s",
		    err_text(lost), remedy_of(lost));
	return lost == ERR_BAD_INPUT ? ERR_DAMAGED : lost;
}
