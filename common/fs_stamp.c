/*
 * fs_stamp: whether a file was touched since it was looked at.
 */
#include "common/fs.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "common/log.h"

#define YOUNG_NS INT64_C(20000000)

static int64_t
ns_of(struct timespec time)
{
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

void
fs_stamp_of(struct fs_stamp *stamp, const struct stat *st)
{
	stamp->changed_ns = ns_of(st->st_ctim);
	stamp->written_ns = ns_of(st->st_mtim);
	stamp->bytes = (uint64_t)st->st_size;
}

enum err
fs_stamp(struct fs_stamp *stamp, int fd)
{
	struct stat st;

	assert(stamp != NULL && fd >= 0);
	if (fstat(fd, &st) != 0) {
		log_error(
		    "a file cannot be measured: error=%s", strerror(errno));
		return err_from_errno(errno);
	}
	fs_stamp_of(stamp, &st);
	return ERR_OK;
}

bool
fs_stamp_eq(const struct fs_stamp *a, const struct fs_stamp *b)
{
	return a->changed_ns == b->changed_ns &&
	    a->written_ns == b->written_ns && a->bytes == b->bytes;
}

bool
fs_stamp_is_young(const struct fs_stamp *stamp)
{
	struct timespec now;
	int64_t age;

	clock_gettime(CLOCK_REALTIME, &now);
	age = ns_of(now) - stamp->changed_ns;
	return age >= 0 && age < YOUNG_NS;
}
