#include "lmdb-schema/facts/shelf.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/fs.h"
#include "common/log.h"
#include "lmdb-schema/pack.h"

#define WRITE_BYTES ((size_t)256 << 10)
#define BUFFER_MAX ((size_t)1 << 30)

/* A file that grows at its end. */
struct growing {
	int fd;
	struct buf buf; /* not written yet */
	uint64_t written;
};

struct shelf_making {
	struct growing records, entries;
	uint32_t count;
	char dir[FS_PATH_MAX];
};

/* --- making --------------------------------------------------------------- */

static enum err
failed(const struct shelf_making *making, enum err err)
{
	log_error("cannot write a temporary file: dir=%s error=%s", making->dir,
	    err_text(err));
	return err;
}

static enum err
growing_begin(struct growing *growing, const struct shelf_making *making)
{
	buf_init(&growing->buf, BUFFER_MAX);
	growing->fd = fs_nameless(making->dir);
	return growing->fd < 0 ? failed(making, err_from_errno(errno)) : ERR_OK;
}

static enum err
growing_flush(struct growing *growing, const struct shelf_making *making)
{
	enum err err = buf_end(&growing->buf);

	if (err == ERR_OK)
		err = fs_write_all(
		    growing->fd, growing->buf.data, growing->buf.len);
	if (err != ERR_OK)
		return failed(making, err);
	growing->written += growing->buf.len;
	buf_clear(&growing->buf);
	return ERR_OK;
}

/* A map may be longer than its file, which grows into it. */
static enum err
map_file(const void **out, const struct growing *growing, uint64_t bytes,
    const struct shelf_making *making)
{
	void *map;

	*out = NULL;
	if (bytes == 0)
		return ERR_OK;
	map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, growing->fd, 0);
	if (map == MAP_FAILED)
		return failed(making, err_from_errno(errno));
	*out = map;
	return ERR_OK;
}

static enum err
growing_map(const void **out, struct growing *growing,
    const struct shelf_making *making)
{
	enum err err = growing_flush(growing, making);

	*out = NULL;
	return err == ERR_OK ? map_file(out, growing, growing->written, making)
			     : err;
}

static void
growing_end(struct growing *growing)
{
	if (growing->fd >= 0)
		close(growing->fd);
	buf_fini(&growing->buf);
}

enum err
shelf_begin(struct shelf_making **out, const char *dir)
{
	struct shelf_making *making = calloc(1, sizeof(*making));
	enum err err;

	*out = making;
	if (making == NULL)
		return ERR_NO_MEMORY;
	making->records.fd = making->entries.fd = -1;
	err = fs_path(making->dir, "%s", dir);
	if (err == ERR_OK)
		err = growing_begin(&making->records, making);
	return err == ERR_OK ? growing_begin(&making->entries, making) : err;
}

static uint64_t
prefix_of(struct span codein)
{
	uint64_t prefix = 0;

	memcpy(&prefix, codein.ptr, codein.len < 8 ? codein.len : 8);
	return be64toh(prefix);
}

static void
add_entry(struct shelf_making *making, uint64_t prefix)
{
	struct shelf_entry entry = {
	    prefix, making->records.written + making->records.buf.len};

	buf_add(&making->entries.buf, &entry, sizeof(entry));
}

enum err
shelf_add(struct shelf_making *making, struct span codein, struct span record)
{
	enum err err = ERR_OK;

	if (making->count == UINT32_MAX - 1)
		return ERR_TOO_LARGE;
	add_entry(making, prefix_of(codein));
	making->count++;
	buf_add_span(&making->records.buf, record);
	if (making->records.buf.len >= WRITE_BYTES)
		err = growing_flush(&making->records, making);
	if (err == ERR_OK && making->entries.buf.len >= WRITE_BYTES)
		err = growing_flush(&making->entries, making);
	return err;
}

static void
making_free(struct shelf_making *making)
{
	if (making == NULL)
		return;
	growing_end(&making->records);
	growing_end(&making->entries);
	free(making);
}

enum err
shelf_end(struct shelf *shelf, struct shelf_making *making, enum err err)
{
	const void *records = NULL, *entries = NULL;

	if (making == NULL)
		return err;
	if (err == ERR_OK) {
		add_entry(making, 0);
		err = growing_map(&records, &making->records, making);
	}
	if (err == ERR_OK)
		err = growing_map(&entries, &making->entries, making);
	shelf->records = records;
	shelf->entries = entries;
	shelf->bytes = making->records.written;
	shelf->count = making->count;
	making_free(making);
	if (err != ERR_OK)
		shelf_fini(shelf);
	return err;
}

void
shelf_fini(struct shelf *shelf)
{
	if (shelf->records != NULL)
		munmap((void *)(uintptr_t)shelf->records, shelf->bytes);
	if (shelf->entries != NULL)
		munmap((void *)(uintptr_t)shelf->entries,
		    (shelf->count + 1) * sizeof(*shelf->entries));
	memset(shelf, 0, sizeof(*shelf));
}

/* --- a pile ---------------------------------------------------------------- */

struct shelf_pile {
	struct shelf_making *making;
	const void *records, *entries;
	uint64_t bytes, entry_bytes; /* of the maps */
	uint64_t first; /* place of the present shelf's first entry, in bytes */
};

enum err
shelf_pile_new(
    struct shelf_pile **out, const char *dir, uint64_t bytes, uint64_t entries)
{
	struct shelf_pile *pile = calloc(1, sizeof(*pile));
	enum err err;

	*out = pile;
	if (pile == NULL)
		return ERR_NO_MEMORY;
	pile->bytes = bytes;
	pile->entry_bytes = entries * sizeof(struct shelf_entry);
	err = shelf_begin(&pile->making, dir);
	if (err == ERR_OK)
		err = map_file(&pile->records, &pile->making->records,
		    pile->bytes, pile->making);
	return err == ERR_OK ? map_file(&pile->entries, &pile->making->entries,
				   pile->entry_bytes, pile->making)
			     : err;
}

static uint64_t
length_of(const struct growing *growing)
{
	return growing->written + growing->buf.len;
}

enum err
shelf_pile_add(struct shelf_pile *pile, struct span codein, struct span record)
{
	const struct shelf_making *making = pile->making;

	/* With the entry that ends the shelf. */
	if (length_of(&making->records) + record.len > pile->bytes ||
	    length_of(&making->entries) + 2 * sizeof(struct shelf_entry) >
		pile->entry_bytes)
		return ERR_DAMAGED;
	return shelf_add(pile->making, codein, record);
}

enum err
shelf_pile_end(struct shelf *shelf, struct shelf_pile *pile)
{
	struct shelf_making *making = pile->making;
	enum err err;

	if (length_of(&making->entries) + sizeof(struct shelf_entry) >
	    pile->entry_bytes)
		return ERR_DAMAGED;
	add_entry(making, 0);
	err = growing_flush(&making->records, making);
	if (err == ERR_OK)
		err = growing_flush(&making->entries, making);
	if (err != ERR_OK)
		return err;
	*shelf = (struct shelf){.records = pile->records,
	    .entries =
		(const struct shelf_entry *)((const char *)pile->entries +
		    pile->first),
	    .count = making->count};
	pile->first = making->entries.written;
	making->count = 0;
	return ERR_OK;
}

void
shelf_pile_free(struct shelf_pile *pile)
{
	if (pile == NULL)
		return;
	if (pile->records != NULL)
		munmap((void *)(uintptr_t)pile->records, pile->bytes);
	if (pile->entries != NULL)
		munmap((void *)(uintptr_t)pile->entries, pile->entry_bytes);
	making_free(pile->making);
	free(pile);
}

/* --- reading -------------------------------------------------------------- */

struct span
shelf_record(const struct shelf *shelf, uint32_t place)
{
	const struct shelf_entry *entry = &shelf->entries[place];

	assert(place < shelf->count);
	return span_make(shelf->records + entry->at, entry[1].at - entry->at);
}

struct span
shelf_codein(const struct shelf *shelf, uint32_t place)
{
	struct unpack from;

	unpack_init(&from, shelf_record(shelf, place));
	return unpack_text(&from);
}

uint32_t
shelf_find(const struct shelf *shelf, uint32_t from, uint32_t count,
    struct span codein)
{
	uint64_t prefix = prefix_of(codein);
	uint32_t low = from, high = from + count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		uint64_t other = shelf->entries[middle].prefix;
		int order = other < prefix ? -1 : other > prefix;

		if (order == 0)
			order = span_cmp(shelf_codein(shelf, middle), codein);
		if (order == 0)
			return middle;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return UINT32_MAX;
}
