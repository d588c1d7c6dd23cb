/* fs_expect: the kernel is told what is read soon. */
#include "common/fs.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * The kernel takes no more of one hint than the disk takes in one request, or
 * than it reads ahead by itself, which is 128 KB unless somebody changed it.
 */
#define EXPECT_BYTES (UINT64_C(128) << 10)

static uint64_t
least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void
fs_expect(int fd, uint64_t at, uint64_t bytes)
{
	for (uint64_t done = 0; done < bytes; done += EXPECT_BYTES)
		posix_fadvise(fd, (off_t)(at + done),
		    (off_t)least(bytes - done, EXPECT_BYTES),
		    POSIX_FADV_WILLNEED);
}

void
fs_expect_map(const void *from, uint64_t bytes)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t at = (uintptr_t)from & ~(page - 1);
	uintptr_t end = (uintptr_t)from + bytes;

	for (; at < end; at += EXPECT_BYTES)
		madvise(
		    (void *)at, least(end - at, EXPECT_BYTES), MADV_WILLNEED);
}

void
fs_expect_jumps(int fd)
{
	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
}
