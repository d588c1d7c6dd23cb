#include "tools/gridctl/csv/csv_block.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "tools/gridctl/csv/csv_unpack.h"

#define READ_SIZE ((size_t)256 * 1024)

enum err
csv_block_init(struct csv_block *block, const char *path)
{
	struct stat st;

	assert(block != NULL && path != NULL);
	*block = (struct csv_block){.path = path, .fd = -1, .line = 1};
	/* Room for a record at its ceiling, and for one more read. */
	block->cap = CSV_LINE_MAX + 2 * READ_SIZE;
	block->data = malloc(block->cap + CSV_BLOCK_SLACK);
	if (block->data == NULL)
		return ERR_NO_MEMORY;
	block->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (block->fd < 0 || fstat(block->fd, &st) != 0)
		return err_from_errno(errno);
	if (S_ISREG(st.st_mode))
		block->size = st.st_size;
	posix_fadvise(block->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	if (csv_unpack_is_name(path))
		return csv_unpack_new(
		    &block->unpack, path, block->fd, CSV_UNPACK_MAX);
	return ERR_OK;
}

void
csv_block_fini(struct csv_block *block)
{
	assert(block != NULL);
	if (block->fd >= 0)
		close(block->fd);
	block->fd = -1;
	csv_unpack_free(block->unpack);
	block->unpack = NULL;
	free(block->data);
	block->data = NULL;
}

const char *
csv_block_why(const struct csv_block *block)
{
	assert(block != NULL);
	return block->unpack == NULL ? NULL : csv_unpack_why(block->unpack);
}

/* Up to READ_SIZE bytes of the text; 0 at its end, or when that failed. */
static size_t
read_some(struct csv_block *block, char *to)
{
	ssize_t got;
	size_t unpacked;

	if (block->unpack != NULL) {
		block->err =
		    csv_unpack_read(&unpacked, block->unpack, to, READ_SIZE);
		block->offset = csv_unpack_taken(block->unpack);
		got = block->err == ERR_OK ? (ssize_t)unpacked : -1;
	} else {
		do
			got = read(block->fd, to, READ_SIZE);
		while (got < 0 && errno == EINTR);
		if (got < 0)
			block->err = err_from_errno(errno);
		else
			block->offset += (uint64_t)got;
	}
	if (got >= 0)
		return (size_t)got;
	if (csv_block_why(block) == NULL)
		log_error("cannot read: file=%s cause=%s", block->path,
		    strerror(errno));
	return 0;
}

void
csv_block_fill(struct csv_block *block)
{
	size_t got;

	assert(block->begin <= block->end && block->end <= block->cap);
	if (block->at_end)
		return;
	/*
	 * Move the rest to the front: it is short, and the front is in the
	 * cache.
	 */
	block->end -= block->begin;
	memmove(block->data, block->data + block->begin, block->end);
	block->begin = 0;
	got = read_some(block, block->data + block->end);
	block->at_end = got == 0;
	block->end += got;
	memset(block->data + block->end, '\n', CSV_BLOCK_SLACK);
}

bool
csv_block_find(struct csv_block *block, size_t from, size_t *stop)
{
	const char *found;
	size_t seen = from;

	assert(from <= block->end - block->begin);
	for (;;) {
		found = memchr(block->data + block->begin + seen, '\n',
		    block->end - block->begin - seen);
		if (found != NULL) {
			*stop = found - (block->data + block->begin);
			return *stop <= CSV_LINE_MAX;
		}
		seen = block->end - block->begin;
		*stop = seen;
		if (seen > CSV_LINE_MAX)
			return false;
		if (block->at_end)
			return true;
		csv_block_fill(block);
	}
}

void
csv_block_use(struct csv_block *block, size_t len)
{
	assert(len <= block->end - block->begin);
	block->begin += len;
	if (block->begin < block->end) {
		block->begin++;
		block->line++;
	}
}

void
csv_block_skip(struct csv_block *block)
{
	const char *found;

	assert(block->begin <= block->end);
	for (;;) {
		found = memchr(block->data + block->begin, '\n',
		    block->end - block->begin);
		if (found != NULL)
			break;
		block->begin = block->end;
		if (block->at_end)
			return;
		csv_block_fill(block);
	}
	csv_block_use(block, found - (block->data + block->begin));
}
