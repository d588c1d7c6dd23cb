/*
 * fs: the file operations that this product needs, each safe against a crash.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/span.h"

#define FS_PATH_MAX 4096

/*
 * Formats a path as printf does; ERR_TOO_LARGE when it does not fit (the path
 * is then empty).
 */
enum err fs_path(char path[FS_PATH_MAX], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Makes the directory and its parents, mode 0750. Existing ones are fine. */
enum err fs_mkdir(const char *path);

/* Reads a whole file. ERR_NOT_FOUND is quiet; the rest is logged. */
enum err fs_read(struct buf *buf, const char *path);

/*
 * Replaces a file so that after a crash either the old or the new one is there:
 * written aside, synced, renamed, folder synced.
 */
enum err fs_replace(const char *path, struct span bytes, unsigned mode);

/* Renames within one disk and syncs the folder of `to`. */
enum err fs_publish(const char *from, const char *to);

/* Syncs the folder that holds `path`. */
enum err fs_sync_folder(const char *path);

/* Unlinks; a file that is not there is fine. */
enum err fs_unlink(const char *path);

/*
 * Makes a file without a name, also on file systems without O_TMPFILE: the
 * kernel deletes it with its last descriptor. -1: errno says why.
 */
int fs_nameless(const char *dir);

/*
 * Removes a folder and its contents; does not follow links. The contents are
 * removed even when the folder itself cannot be, which is a failure.
 */
enum err fs_remove_tree(const char *path);

/* Empties a folder, which stays. ERR_NOT_FOUND is quiet. */
enum err fs_empty(const char *path);

/*
 * Calls `each` with every name in the folder, sorted, but ".", ".." and "lost+found",
 * which file systems have at their root for themselves.
 */
enum err fs_list(const char *path,
    enum err (*each)(void *context, const char *name), void *context);

/* Size in bytes, and bytes allocated on the disk. */
enum err fs_size(const char *path, uint64_t *bytes, uint64_t *on_disk);

/* Bytes that may still be written to the disk that holds `path`. */
enum err fs_free_bytes(const char *path, uint64_t *bytes);

/*
 * Whether a path is the folder or lies in it, also by links. Of a path that is not
 * there the nearest folder above it counts.
 */
bool fs_is_within(const char *path, const char *folder);

/*
 * Locks a file; the kernel drops the lock when its holder dies. *fd is -1 on
 * failure; ERR_BUSY when `wait` is false and another holder has the lock.
 * close() releases it.
 */
enum err fs_lock(int *fd, const char *path, bool wait);

/* The same with others who share it, and with no holder of the lock itself. */
enum err fs_lock_shared(int *fd, const char *path, bool wait);

/*
 * Writes all bytes, through partial transfers and EINTR; errors are not logged.
 */
enum err fs_write_all(int fd, const void *data, size_t len);

/* As fs_write_all(), at `offset`; the file position does not move. */
enum err fs_write_at(int fd, const void *data, size_t len, uint64_t offset);

/*
 * When a file was last written, when anything else about it changed, and its
 * size. A file that must never be written was touched when its stamp differs
 * from the one taken before.
 */
struct fs_stamp {
	int64_t changed_ns, written_ns; /* since the epoch */
	uint64_t bytes;
};
struct stat;
enum err fs_stamp(struct fs_stamp *stamp, int fd);
void fs_stamp_of(struct fs_stamp *stamp, const struct stat *st);
bool fs_stamp_eq(const struct fs_stamp *a, const struct fs_stamp *b);

/*
 * File times advance by the system's tick, of 10 ms at most: two writes within
 * one tick have the same time. True when the last write is so recent that a
 * further one would not show in the stamp.
 */
bool fs_stamp_is_young(const struct fs_stamp *stamp);

/*
 * Tells the kernel that bytes of a file, or of a map of one, are read soon: it
 * reads them while the caller goes on. Only a hint: nothing fails.
 */
void fs_expect(int fd, uint64_t at, uint64_t bytes);
void fs_expect_map(const void *from, uint64_t bytes);

/* The file is read here and there: more than is asked for is of no use. */
void fs_expect_jumps(int fd);
