/*
 * The file is read through a map. Opening compares its size with the head and
 * checks that every segment lies inside.
 */
#include "lmdb-schema/snapshot/zip.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/log.h"
#include "lmdb-schema/deflate.h"
#include "lmdb-schema/snapshot/zipping.h"
#include "lmdb-schema/store/store.h"

struct zip {
	const char *map;
	size_t bytes;
	int fd;
	struct fs_stamp stamp; /* taken before reading */
	struct zip_head *head; /* copies of head and table: verified once, */
	const struct zip_segment *segments; /* once; the map could change */
	char path[FS_PATH_MAX];
};

enum err
zip_path(char path[FS_PATH_MAX], const struct store *store,
    struct span supplier, uint64_t generation, const char *suffix)
{
	char snapshot[FS_PATH_MAX];
	enum err err =
	    store_snapshot_path(snapshot, store, supplier, generation, "");

	if (err != ERR_OK)
		return err;
	/* "….mdb" becomes "….gz" and the suffix. */
	return fs_path(
	    path, "%.*sgz%s", (int)strlen(snapshot) - 3, snapshot, suffix);
}

uint32_t
zip_head_crc(const struct zip_head *head, const struct zip_segment *segments)
{
	struct zip_head copy = *head;
	uint32_t crc;

	copy.crc = 0;
	crc = deflate_crc(0, &copy, sizeof(copy));
	return deflate_crc(crc, segments, head->segments * sizeof(*segments));
}

static bool
segments_fit(const struct zip *zip)
{
	for (uint32_t i = 0; i < zip->head->segments; i++) {
		const struct zip_segment *segment = &zip->segments[i];

		if (segment->at > zip->bytes ||
		    segment->len > zip->bytes - segment->at)
			return false;
	}
	return true;
}

static enum err
examine(struct zip *zip, const struct snapshot *snap)
{
	const struct snap_head *of = snapshot_head(snap);
	uint64_t segments = (of->rows + UINT64_C(0) + ZIP_ROWS - 1) / ZIP_ROWS;
	size_t len =
	    sizeof(struct zip_head) + segments * sizeof(struct zip_segment);
	struct zip_head *head;

	if (zip->bytes < len)
		return ERR_DAMAGED;
	head = malloc(len);
	if (head == NULL)
		return ERR_NO_MEMORY;
	memcpy(head, zip->map, len);
	zip->head = head;
	zip->segments = (const struct zip_segment *)(const void *)(head + 1);
	if (memcmp(head->magic, ZIP_MAGIC, sizeof(head->magic)) != 0)
		return ERR_DAMAGED;
	if (head->version != ZIP_VERSION)
		return ERR_VERSION;
	if (head->rows != of->rows || head->generation != of->generation ||
	    head->snapshot != of->crc || head->bytes != zip->bytes ||
	    head->segments != segments ||
	    zip_head_crc(head, zip->segments) != head->crc ||
	    !segments_fit(zip))
		return ERR_DAMAGED;
	return ERR_OK;
}

static enum err
map_file(struct zip *zip)
{
	enum err err;
	void *map;

	zip->fd = open(zip->path, O_RDONLY | O_CLOEXEC);
	if (zip->fd < 0)
		return errno == ENOENT ? ERR_NOT_FOUND : err_from_errno(errno);
	err = fs_stamp(&zip->stamp, zip->fd);
	if (err != ERR_OK || zip->stamp.bytes == 0)
		return ERR_DAMAGED;
	map = mmap(NULL, zip->stamp.bytes, PROT_READ, MAP_SHARED, zip->fd, 0);
	if (map == MAP_FAILED)
		return ERR_DAMAGED;
	zip->map = map;
	zip->bytes = zip->stamp.bytes;
	return ERR_OK;
}

enum err
zip_open(struct zip **out, struct store *store, struct snapshot *snap)
{
	struct zip *zip = calloc(1, sizeof(*zip));
	enum err err;

	*out = NULL;
	if (zip == NULL)
		return ERR_NO_MEMORY;
	zip->fd = -1;
	err = zip_path(zip->path, store, snapshot_supplier(snap),
	    snapshot_head(snap)->generation, "");
	if (err == ERR_OK)
		err = map_file(zip);
	if (err == ERR_OK)
		err = examine(zip, snap);
	if (err == ERR_OK) {
		*out = zip;
		return ERR_OK;
	}
	if (err != ERR_NOT_FOUND)
		log_error("packed rows cannot be used, 'gridctl gzip' makes "
			  "them again: file=%s error=%s",
		    zip->path, err_text(err));
	zip_close(zip);
	return err;
}

void
zip_close(struct zip *zip)
{
	if (zip == NULL)
		return;
	if (zip->map != NULL)
		munmap((void *)(uintptr_t)zip->map, zip->bytes);
	if (zip->fd >= 0)
		close(zip->fd);
	free(zip->head);
	free(zip);
}

bool
zip_is_touched(const struct zip *zip)
{
	struct fs_stamp now;

	return fs_stamp(&now, zip->fd) != ERR_OK ||
	    !fs_stamp_eq(&now, &zip->stamp);
}

const struct zip_segment *
zip_segment(const struct zip *zip, uint32_t i)
{
	assert(i < zip->head->segments);
	return &zip->segments[i];
}

struct span
zip_bytes(const struct zip *zip, uint32_t i)
{
	const struct zip_segment *segment = &zip->segments[i];
	const char *bytes = zip->map + segment->at;

	assert(i < zip->head->segments);
	if (deflate_crc(0, bytes, segment->len) == segment->packed_crc)
		return span_make(bytes, segment->len);
	log_error("damage: the file is not as it was written: file=%s "
		  "section=%u offset=%llu what=checksum",
	    zip->path, i, (unsigned long long)segment->at);
	return SPAN("");
}

enum err
zip_verify(const struct zip *zip)
{
	enum err err = ERR_OK;

	for (uint32_t i = 0; i < zip->head->segments; i++)
		if (zip_bytes(zip, i).len == 0)
			err = ERR_DAMAGED;
	return err;
}

const struct zip_head *
zip_head(const struct zip *zip)
{
	return zip->head;
}

void
zip_discard(struct store *store, const struct snapshot *snap)
{
	char path[FS_PATH_MAX];

	if (zip_path(path, store, snapshot_supplier(snap),
		snapshot_head(snap)->generation, "") == ERR_OK)
		fs_unlink(path);
}
