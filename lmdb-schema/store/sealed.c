#include "lmdb-schema/store/sealed.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/date.h"
#include "common/log.h"
#include "common/seldom.h"
#include "lmdb-schema/deflate.h"

uint32_t
sealed_head_crc(struct span head, size_t crc_at, struct span table)
{
	static const uint32_t zero = 0;
	size_t behind = crc_at + sizeof(zero);
	uint32_t crc = deflate_crc(0, head.ptr, crc_at);

	assert(behind <= head.len);
	crc = deflate_crc(crc, &zero, sizeof(zero));
	crc = deflate_crc(crc, head.ptr + behind, head.len - behind);
	/* An empty table has no address, and NULL would begin the CRC anew. */
	return table.len == 0 ? crc : deflate_crc(crc, table.ptr, table.len);
}

void
sealed_log_damage(
    const char *file, unsigned section, uint64_t offset, const char *what)
{
	char where[FS_PATH_MAX + 128];
	uint64_t before;

	assert(file != NULL);
	snprintf(where, sizeof(where), "file=%s section=%u offset=%llu what=%s",
	    file, section, (unsigned long long)offset, what);
	if (seldom_fails_of(where, &before, date_monotonic_ns()))
		log_error("damage: the file is not as it was written: %s "
			  "times=%llu",
		    where, (unsigned long long)before + 1);
}

enum err
sealed_begin(struct sealed *file, const char *path)
{
	enum err err;

	*file = (struct sealed){.fd = open(path, O_RDONLY | O_CLOEXEC)};
	if (file->fd < 0)
		return errno == ENOENT ? ERR_NOT_FOUND : err_from_errno(errno);
	err = fs_stamp(&file->stamp, file->fd);
	file->len = file->stamp.bytes;
	return err == ERR_OK && file->len == 0 ? ERR_DAMAGED : err;
}

enum err
sealed_map(struct sealed *file)
{
	void *map;

	assert(file->len > 0 && file->bytes == NULL);
	map = mmap(NULL, file->len, PROT_READ, MAP_SHARED, file->fd, 0);
	if (map == MAP_FAILED)
		return err_from_errno(errno);
	file->bytes = map;
	return ERR_OK;
}

enum err
sealed_open(struct sealed *file, const char *path)
{
	enum err err = sealed_begin(file, path);

	return err == ERR_OK ? sealed_map(file) : err;
}

enum err
sealed_read(const struct sealed *file, void *to, size_t len, uint64_t offset)
{
	ssize_t got;

	if (offset > file->len || len > file->len - offset)
		return ERR_DAMAGED;
	do
		got = pread(file->fd, to, len, (off_t)offset);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return err_from_errno(errno);
	return (size_t)got == len ? ERR_OK : ERR_DAMAGED;
}

void
sealed_close(struct sealed *file)
{
	if (file->bytes != NULL)
		munmap((void *)(uintptr_t)file->bytes, file->len);
	if (file->fd >= 0)
		close(file->fd);
	*file = (struct sealed){.fd = -1};
}

bool
sealed_is_touched(const struct sealed *file)
{
	struct fs_stamp now;

	assert(file->bytes != NULL);
	return fs_stamp(&now, file->fd) != ERR_OK ||
	    !fs_stamp_eq(&now, &file->stamp);
}

enum err
sealed_create(int *fd, const char *path)
{
	*fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
	return *fd < 0 ? err_from_errno(errno) : ERR_OK;
}

enum err
sealed_put(int fd, const void *bytes, uint64_t len, uint64_t offset)
{
	return fs_write_at(fd, bytes, len, offset);
}

enum err
sealed_finish(int fd, struct span head, struct span table)
{
	enum err err = sealed_put(fd, head.ptr, head.len, 0);

	assert(head.len > 0);
	if (err == ERR_OK)
		err = sealed_put(fd, table.ptr, table.len, head.len);
	if (err == ERR_OK && fsync(fd) != 0)
		err = err_from_errno(errno);
	return err;
}
