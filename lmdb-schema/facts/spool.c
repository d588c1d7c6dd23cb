#include "lmdb-schema/facts/spool.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/log.h"

#define CHUNK (4u << 20)
#define NO_PART UINT32_MAX

struct part {
	uint64_t offset;
	uint32_t len;
	uint32_t next; /* next part of the same article */
};

struct ends {
	uint32_t first, last;
};

struct spool {
	enum series_kind kind;
	int fd;
	const char *map;
	uint64_t written; /* bytes written to the file */
	uint64_t part_start; /* where the current series begins */
	uint64_t records;
	struct buf pending; /* not yet in the file */
	struct series_writer writer;
	uint32_t article; /* of the current series */
	bool open;
	struct part *parts;
	uint32_t part_count, part_room;
	struct ends *ends; /* by article */
	uint32_t ends_room;
};

/* Makes a file without a name, also on file systems without O_TMPFILE. */
static int
open_nameless(const char *dir)
{
	char path[FS_PATH_MAX];
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR) ||
	    fs_path(path, "%s/spool-XXXXXX.tmp", dir) != ERR_OK)
		return fd;
	fd = mkostemps(path, 4, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

enum err
spool_new(struct spool **out, enum series_kind kind, const char *dir)
{
	struct spool *spool = calloc(1, sizeof(*spool));

	assert(kind < SERIES_KINDS);
	*out = spool;
	if (spool == NULL)
		return ERR_NO_MEMORY;
	spool->kind = kind;
	buf_init(&spool->pending, CHUNK * 4);
	spool->fd = open_nameless(dir);
	if (spool->fd < 0) {
		int errnum = errno;

		log_error("cannot make a temporary file: dir=%s error=%s", dir,
		    strerror(errnum));
		spool_free(spool);
		*out = NULL;
		return err_from_errno(errnum);
	}
	return ERR_OK;
}

void
spool_free(struct spool *spool)
{
	if (spool == NULL)
		return;
	if (spool->map != NULL)
		munmap((void *)(uintptr_t)spool->map, spool->written);
	if (spool->fd >= 0)
		close(spool->fd);
	buf_fini(&spool->pending);
	series_fini(&spool->writer);
	free(spool->parts);
	free(spool->ends);
	free(spool);
}

static enum err
flush(struct spool *spool)
{
	enum err err = buf_end(&spool->pending);

	if (err == ERR_OK)
		err = fs_write_all(
		    spool->fd, spool->pending.data, spool->pending.len);
	/* A limit on file sizes is reported like a full disk. */
	if (err == ERR_TOO_LARGE)
		err = ERR_NO_SPACE;
	if (err != ERR_OK) {
		log_error(
		    "cannot write a temporary file: error=%s", err_text(err));
		return err;
	}
	spool->written += spool->pending.len;
	buf_clear(&spool->pending);
	return ERR_OK;
}

static enum err
add_part(struct spool *spool, struct part part)
{
	struct ends *ends = &spool->ends[spool->article];

	if (spool->part_count == spool->part_room) {
		uint32_t room =
		    spool->part_room == 0 ? 4096 : spool->part_room * 2;
		struct part *parts =
		    reallocarray(spool->parts, room, sizeof(*parts));

		if (parts == NULL || room > NO_PART / 2) {
			spool->parts = parts == NULL ? spool->parts : parts;
			return ERR_NO_MEMORY;
		}
		spool->parts = parts;
		spool->part_room = room;
	}
	if (ends->first == NO_PART)
		ends->first = spool->part_count;
	else
		spool->parts[ends->last].next = spool->part_count;
	ends->last = spool->part_count;
	spool->parts[spool->part_count++] = part;
	return ERR_OK;
}

/* Ends the current series, if there is one. */
static enum err
close_part(struct spool *spool)
{
	uint64_t end;
	struct part part = {.next = NO_PART};
	enum err err;

	if (!spool->open)
		return ERR_OK;
	series_end(&spool->writer);
	spool->open = false;
	end = spool->written + spool->pending.len;
	part.offset = spool->part_start;
	part.len = (uint32_t)(end - spool->part_start);
	err = add_part(spool, part);
	if (err == ERR_OK && spool->pending.len > CHUNK)
		err = flush(spool);
	return err == ERR_OK ? buf_end(&spool->pending) : err;
}

static enum err
room_for(struct spool *spool, uint32_t article)
{
	uint32_t room = spool->ends_room == 0 ? 4096 : spool->ends_room;
	struct ends *ends;

	if (article < spool->ends_room)
		return ERR_OK;
	while (room <= article)
		room *= 2;
	ends = reallocarray(spool->ends, room, sizeof(*ends));
	if (ends == NULL)
		return ERR_NO_MEMORY;
	memset(ends + spool->ends_room, 0xff,
	    (room - spool->ends_room) * sizeof(*ends));
	spool->ends = ends;
	spool->ends_room = room;
	return ERR_OK;
}

static enum err
open_part(struct spool *spool, uint32_t article)
{
	enum err err = close_part(spool);

	if (err == ERR_OK)
		err = room_for(spool, article);
	if (err != ERR_OK)
		return err;
	spool->article = article;
	spool->part_start = spool->written + spool->pending.len;
	spool->open = true;
	series_begin(&spool->writer, spool->kind, &spool->pending);
	return ERR_OK;
}

enum err
spool_put(
    struct spool *spool, uint32_t article, const struct series_record *record)
{
	enum err err = ERR_OK;

	assert(spool->map == NULL && article != NO_PART);
	spool->records++;
	if (!spool->open || spool->article != article)
		err = open_part(spool, article);
	if (err == ERR_OK && !series_put(&spool->writer, record)) {
		err = open_part(spool, article);
		if (err == ERR_OK)
			series_put(&spool->writer, record);
	}
	return err;
}

enum err
spool_seal(struct spool *spool)
{
	enum err err = close_part(spool);

	assert(spool->map == NULL);
	if (err == ERR_OK)
		err = flush(spool);
	if (err != ERR_OK || spool->written == 0)
		return err;
	spool->map =
	    mmap(NULL, spool->written, PROT_READ, MAP_SHARED, spool->fd, 0);
	if (spool->map == MAP_FAILED) {
		spool->map = NULL;
		return err_from_errno(errno);
	}
	madvise((void *)(uintptr_t)spool->map, spool->written, MADV_SEQUENTIAL);
	return ERR_OK;
}

uint64_t
spool_records(const struct spool *spool)
{
	return spool->records;
}

unsigned
spool_parts(const struct spool *spool, uint32_t article, struct span *parts,
    unsigned max)
{
	unsigned count = 0;

	assert(!spool->open);
	assert(parts != NULL || max == 0);
	if (article >= spool->ends_room)
		return 0;
	for (uint32_t i = spool->ends[article].first; i != NO_PART;
	     i = spool->parts[i].next) {
		if (count < max)
			parts[count] =
			    span_make(spool->map + spool->parts[i].offset,
				spool->parts[i].len);
		count++;
	}
	return count;
}
