#include "tools/gridhud/voice/wav.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_MAX 4096

static uint32_t
u32(const unsigned char *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
	    (uint32_t)at[3] << 24;
}

static enum err
measure(int64_t *out, const unsigned char *head, size_t len, int64_t size)
{
	uint32_t rate = 0; /* bytes a second */
	size_t at = 12;
	int64_t bytes;

	if (len < 44 || memcmp(head, "RIFF", 4) != 0 ||
	    memcmp(head + 8, "WAVE", 4) != 0)
		return ERR_BAD_INPUT;
	while (at + 8 <= len && memcmp(head + at, "data", 4) != 0) {
		if (memcmp(head + at, "fmt ", 4) == 0 && at + 24 <= len)
			rate = u32(head + at + 16);
		at += 8 + (size_t)u32(head + at + 4) + (u32(head + at + 4) & 1);
	}
	if (at + 8 > len || rate == 0)
		return ERR_BAD_INPUT;
	bytes = u32(head + at + 4);
	if (bytes > size - (int64_t)at - 8)
		bytes = size - (int64_t)at - 8;
	*out = bytes * 1000 / rate;
	return ERR_OK;
}

enum err
wav_length_ms(int64_t *out, const char *path)
{
	unsigned char head[HEAD_MAX];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	enum err err = ERR_OK;
	ssize_t len = -1;
	struct stat st;

	assert(path != NULL);
	*out = 0;
	if (fd < 0)
		return err_from_errno(errno);
	if (fstat(fd, &st) != 0 || (len = read(fd, head, sizeof(head))) < 0)
		err = err_from_errno(errno);
	close(fd);
	if (err != ERR_OK)
		return err;
	return measure(out, head, (size_t)len, st.st_size);
}
