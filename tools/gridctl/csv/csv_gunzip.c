#include "tools/gridctl/csv/csv_gunzip.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define PACKED_SIZE ((size_t)64 * 1024)
#define GZIP_ONLY (MAX_WBITS + 16)

struct csv_gunzip {
	z_stream zlib;
	int fd;
	uint64_t most, made, taken;
	bool at_end; /* of the file */
	bool in_member; /* the member that was begun has not ended */
	const char *why;
	unsigned char packed[PACKED_SIZE];
};

bool
csv_gunzip_is_name(const char *name)
{
	size_t len = strlen(name);

	return len > 3 && strcmp(name + len - 3, ".gz") == 0;
}

enum err
csv_gunzip_new(struct csv_gunzip **out, int fd, uint64_t most)
{
	struct csv_gunzip *gunzip = calloc(1, sizeof(*gunzip));

	assert(fd >= 0 && most > 0);
	*out = NULL;
	if (gunzip == NULL)
		return ERR_NO_MEMORY;
	if (inflateInit2(&gunzip->zlib, GZIP_ONLY) != Z_OK) {
		free(gunzip);
		return ERR_NO_MEMORY;
	}
	gunzip->fd = fd;
	gunzip->most = most;
	*out = gunzip;
	return ERR_OK;
}

void
csv_gunzip_free(struct csv_gunzip *gunzip)
{
	if (gunzip == NULL)
		return;
	inflateEnd(&gunzip->zlib);
	free(gunzip);
}

static enum err
refuse(struct csv_gunzip *gunzip, enum err err, const char *why)
{
	gunzip->why = why;
	return err;
}

/* More of the file, when all that was read is used up. */
static enum err
take_in(struct csv_gunzip *gunzip)
{
	ssize_t got;

	if (gunzip->zlib.avail_in > 0 || gunzip->at_end)
		return ERR_OK;
	do
		got = read(gunzip->fd, gunzip->packed, PACKED_SIZE);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return err_from_errno(errno);
	gunzip->at_end = got == 0;
	gunzip->taken += (uint64_t)got;
	gunzip->zlib.next_in = gunzip->packed;
	gunzip->zlib.avail_in = (uInt)got;
	return ERR_OK;
}

static enum err
unpack(struct csv_gunzip *gunzip)
{
	bool is_first = gunzip->made == 0 && !gunzip->in_member;

	gunzip->in_member = true;
	switch (inflate(&gunzip->zlib, Z_NO_FLUSH)) {
	case Z_OK:
	case Z_BUF_ERROR: /* it wants more of the file */
		return ERR_OK;
	case Z_STREAM_END:
		gunzip->in_member = false;
		inflateReset(&gunzip->zlib);
		return ERR_OK;
	case Z_MEM_ERROR:
		return ERR_NO_MEMORY;
	default:
		return refuse(gunzip, ERR_BAD_INPUT,
		    is_first ? "is no gzip file, as its name says"
			     : "is damaged: it cannot be unpacked to its end");
	}
}

enum err
csv_gunzip_read(size_t *got, struct csv_gunzip *gunzip, char *to, size_t len)
{
	z_stream *zlib = &gunzip->zlib;
	enum err err = ERR_OK;
	bool is_done = false;

	assert(to != NULL && len > 0);
	*got = 0;
	zlib->next_out = (unsigned char *)to;
	zlib->avail_out = (uInt)len;
	while (err == ERR_OK && !is_done && zlib->avail_out == len) {
		err = take_in(gunzip);
		is_done = gunzip->at_end;
		/* zlib may hold bytes that had no room the last time. */
		if (err == ERR_OK && (!is_done || gunzip->in_member))
			err = unpack(gunzip);
	}
	if (err == ERR_OK && is_done && zlib->avail_out == len &&
	    (gunzip->in_member || gunzip->taken == 0))
		return refuse(
		    gunzip, ERR_BAD_INPUT, "is cut short: its end is missing");
	*got = len - zlib->avail_out;
	gunzip->made += *got;
	if (err == ERR_OK && gunzip->made > gunzip->most)
		err = refuse(gunzip, ERR_TOO_LARGE,
		    "unpacks to more than a file may have (64 GiB): unpack "
		    "it and divide it");
	return err;
}

const char *
csv_gunzip_why(const struct csv_gunzip *gunzip)
{
	assert(gunzip != NULL);
	return gunzip->why;
}

uint64_t
csv_gunzip_taken(const struct csv_gunzip *gunzip)
{
	assert(gunzip != NULL);
	return gunzip->taken;
}
