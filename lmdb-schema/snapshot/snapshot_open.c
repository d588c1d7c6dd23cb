/*
 * Opening a file reads everything that leads to a section: the head with the
 * table of sections, and the checksums of their blocks, are copied and then
 * verified; the address of each section is looked up once. From then on only
 * the sections' own bytes are read in the map.
 */
#include <assert.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/log.h"
#include "lmdb-schema/deflate.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/snapshot/snapshot_priv.h"
#include "lmdb-schema/store/sealed.h"
#include "lmdb-schema/store/store.h"

/* --- the head ------------------------------------------------------------- */

/* The checksum is at the same place in each version, and of the whole value. */
static bool
head_is_sound(const struct snap_head *head, struct span value)
{
	return memcmp(head->magic, SNAP_MAGIC, sizeof(head->magic)) == 0 &&
	    head->crc ==
	    sealed_head_crc(value, offsetof(struct snap_head, crc), SPAN(""));
}

static bool
head_fits(const struct snap_head *head, struct span value)
{
	uint64_t slices;

	if (head->slice_rows == 0 ||
	    (head->slice_rows & (head->slice_rows - 1)) != 0 ||
	    head->columns != ROW_COLUMNS || head->code_len > SCHEMA_CODE_MAX ||
	    head->name_len > value.len - sizeof(*head))
		return false;
	slices =
	    ((uint64_t)head->rows + head->slice_rows - 1) / head->slice_rows;
	return head->sections == SNAP_SLICE + 2 * slices &&
	    head->sections <= UINT16_MAX &&
	    value.len ==
	    sizeof(*head) + head->name_len +
		head->sections * sizeof(struct snap_section);
}

/* Copies first and verifies the copy: the map could change between the two. */
static enum err
read_head(struct snapshot *snap)
{
	struct key key = key_u16(SNAP_HEAD);
	struct snap_head *head;
	struct span value, copy;
	enum err err = kv_get(snap->txn, 0, key_span(&key), &value);

	if (err != ERR_OK)
		return err == ERR_NOT_FOUND ? ERR_DAMAGED : err;
	if (value.len < sizeof(*head))
		return ERR_DAMAGED;
	head = malloc(value.len);
	if (head == NULL)
		return ERR_NO_MEMORY;
	fs_expect_map(value.ptr, value.len);
	memcpy(head, value.ptr, value.len);
	snap->head = head;
	copy = span_make((const char *)head, value.len);
	if (!head_is_sound(head, copy))
		return ERR_DAMAGED;
	if (head->version != SNAP_VERSION)
		return ERR_VERSION;
	if (!head_fits(head, copy))
		return ERR_DAMAGED;
	snap->name = span_make((const char *)(head + 1), head->name_len);
	return ERR_OK;
}

/* Copies the table: the name before it breaks its alignment. */
static enum err
copy_table(struct snapshot *snap)
{
	unsigned count = snap->head->sections;

	snap->table = calloc(count, sizeof(*snap->table));
	snap->blocks = calloc(count, sizeof(*snap->blocks));
	snap->copies = calloc(count, sizeof(*snap->copies));
	if (snap->table == NULL || snap->blocks == NULL || snap->copies == NULL)
		return ERR_NO_MEMORY;
	memcpy(snap->table, snap->name.ptr + snap->name.len,
	    count * sizeof(*snap->table));
	return ERR_OK;
}

/* --- the sections --------------------------------------------------------- */

/* True for sections with checksums in SNAP_SUMS. */
static bool
has_sums(unsigned section)
{
	return section != SNAP_HEAD && section != SNAP_SUMS;
}

static uint64_t
count_blocks(const struct snapshot *snap)
{
	uint64_t count = 0;

	for (unsigned i = 0; i < snap->head->sections; i++)
		if (has_sums(i))
			count += blocks_count(snap->table[i].bytes);
	return count;
}

static enum err
deal_blocks(struct snapshot *snap)
{
	uint64_t count = count_blocks(snap), at = 0;

	/* Bounds the allocation by the size of the file. */
	if (count > (uint64_t)snap->stamp.bytes + snap->head->sections)
		return ERR_DAMAGED;
	snap->sums = calloc(count + 1, sizeof(*snap->sums));
	snap->seen = calloc(count + 1, sizeof(*snap->seen));
	if (snap->sums == NULL || snap->seen == NULL)
		return ERR_NO_MEMORY;
	for (unsigned i = 0; i < snap->head->sections; i++) {
		struct blocks *blocks = &snap->blocks[i];

		blocks->file = &snap->file;
		blocks->number = (uint16_t)i;
		blocks->bytes = snap->table[i].bytes;
		blocks->sums = snap->sums + at;
		blocks->seen = snap->seen + at;
		if (has_sums(i))
			at += blocks_count(blocks->bytes);
	}
	return ERR_OK;
}

/* The address of an empty section. */
static const char nothing[8] __attribute__((aligned(8)));

/*
 * LMDB stores values of less than half a page at any alignment: such a section
 * is copied on first use. The room is allocated here, so that a later use
 * cannot fail for lack of memory, only for damage.
 */
static enum err
make_room(struct snapshot *snap)
{
	size_t room = 0;

	for (unsigned i = 0; i < snap->head->sections; i++)
		if (snapshot_is_odd(&snap->blocks[i]))
			room += snapshot_copy_room(&snap->blocks[i]);
	if (room == 0)
		return ERR_OK;
	snap->room = malloc(room);
	return snap->room == NULL ? ERR_NO_MEMORY : ERR_OK;
}

/*
 * Asks for the sums, and for the ranges, which every page shows: together they
 * are one turn of the disk.
 */
static void
expect_first(const struct snapshot *snap)
{
	static const unsigned sections[] = {SNAP_SUMS, SNAP_GAMME};

	for (unsigned i = 0; i < sizeof(sections) / sizeof(*sections); i++)
		if (snap->blocks[sections[i]].base != NULL)
			fs_expect_map(snap->blocks[sections[i]].base,
			    snap->blocks[sections[i]].bytes);
}

/*
 * Looks up each section's address; a section of the wrong length counts as
 * missing.
 */
static enum err
find_sections(struct snapshot *snap)
{
	struct kv_walk *walk = kv_walk_begin(snap->txn, 0, SPAN(""), SPAN(""));
	struct span key, value;
	enum err err;

	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK) {
		unsigned section;

		if (key.len != 2)
			continue;
		section = (unsigned char)key.ptr[0] * 256u +
		    (unsigned char)key.ptr[1];
		if (section < snap->head->sections &&
		    value.len == snap->table[section].bytes)
			snap->blocks[section].base =
			    value.len == 0 ? nothing : value.ptr;
	}
	kv_walk_end(walk);
	if (err != ERR_NOT_FOUND)
		return err;
	expect_first(snap);
	return make_room(snap);
}

static enum err
read_sums(struct snapshot *snap)
{
	const struct snap_section *section = &snap->table[SNAP_SUMS];
	const char *bytes = snap->blocks[SNAP_SUMS].base;
	uint64_t count = count_blocks(snap);

	if (bytes == NULL || section->bytes != count * sizeof(*snap->sums))
		return ERR_DAMAGED;
	memcpy(snap->sums, bytes, section->bytes);
	return deflate_crc(0, snap->sums, section->bytes) == section->crc
	    ? ERR_OK
	    : ERR_DAMAGED;
}

/* --- opening -------------------------------------------------------------- */

static enum err
open_kv(struct snapshot *snap)
{
	struct kv_spec spec = {.path = snap->path, .mode = KV_FROZEN};
	enum err err = kv_open(&snap->kv, &spec);

	if (err == ERR_OK) /* the stamp must be taken before any byte is read */
		err = kv_stamp(&snap->stamp, snap->kv);
	if (err == ERR_OK)
		snap->young = fs_stamp_is_young(&snap->stamp);
	if (err == ERR_OK)
		err = kv_read(&snap->txn, snap->kv);
	return err;
}

/*
 * Looks up an array that locates the rows, once, because every row access needs
 * it. With few rows it may be unaligned; it is then copied and compared.
 */
static const void *
rows_at(struct snapshot *snap, unsigned section, size_t each)
{
	const struct blocks *blocks = &snap->blocks[section];

	if (blocks->base == NULL ||
	    blocks->bytes != (uint64_t)snap->head->rows * each)
		return NULL;
	return snapshot_is_odd(blocks) ? snapshot_whole(snap, section)
				       : blocks->base;
}

static enum err
read_all(struct snapshot *snap)
{
	enum err err = open_kv(snap);

	if (err == ERR_OK)
		err = read_head(snap);
	if (err == ERR_OK)
		err = copy_table(snap);
	if (err == ERR_OK)
		err = deal_blocks(snap);
	if (err == ERR_OK)
		err = find_sections(snap);
	if (err == ERR_OK)
		err = read_sums(snap);
	if (err == ERR_OK) {
		snap->flats = rows_at(snap, SNAP_FLATS, sizeof(*snap->flats));
		snap->maps = rows_at(snap, SNAP_MAPS, sizeof(*snap->maps));
	}
	return err;
}

/* On failure *out is one that snapshot_close() takes. */
static enum err
begin(struct snapshot **out, const char *path)
{
	struct snapshot *snap = calloc(1, sizeof(*snap));

	*out = snap;
	if (snap == NULL)
		return ERR_NO_MEMORY;
	pthread_mutex_init(&snap->lock, NULL);
	snap->path = strdup(path);
	blocks_file_init(&snap->file, snap->path);
	return snap->path == NULL ? ERR_NO_MEMORY : ERR_OK;
}

uint64_t
snapshot_version(struct store *store, struct span supplier, uint64_t generation)
{
	struct snapshot *snap = NULL;
	char path[FS_PATH_MAX];
	uint64_t version = 0;
	enum err err =
	    store_snapshot_path(path, store, supplier, generation, "");

	if (err == ERR_OK)
		err = begin(&snap, path);
	if (err == ERR_OK)
		err = open_kv(snap);
	if (err == ERR_OK)
		err = read_head(snap);
	if (err == ERR_OK || err == ERR_VERSION)
		version = snap->head->version;
	snapshot_close(snap);
	return version;
}

enum err
snapshot_open_file(struct snapshot **out, const char *path)
{
	struct snapshot *snap;
	enum err err = begin(&snap, path);

	*out = NULL;
	if (err == ERR_OK)
		err = read_all(snap);
	if (err != ERR_OK) {
		/* Other failures are passing ones, and are logged already. */
		if (err == ERR_DAMAGED || err == ERR_VERSION)
			log_error("snapshot cannot be used, its supplier is to "
				  "be computed again: file=%s error=%s",
			    path, err_text(err));
		snapshot_close(snap);
		return err;
	}
	snap->slice_shift = (unsigned)__builtin_ctz(snap->head->slice_rows);
	for (unsigned i = 0; i < ROW_COLUMNS; i++)
		snap->number_place[i] = (int8_t)row_number_index(i);
	*out = snap;
	return ERR_OK;
}

/* The head and the sums are written last, before the pages that lead to them. */
#define FIRST_BYTES (8 << 10)
#define LAST_BYTES (64 << 10)

void
snapshot_expect_file(
    struct store *store, struct span supplier, uint64_t generation)
{
	char path[FS_PATH_MAX];
	struct fs_stamp stamp;
	int fd;

	assert(generation != 0);
	if (store_snapshot_path(path, store, supplier, generation, "") !=
	    ERR_OK)
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	fs_expect(fd, 0, FIRST_BYTES);
	if (fs_stamp(&stamp, fd) == ERR_OK && stamp.bytes > LAST_BYTES)
		fs_expect(fd, (uint64_t)stamp.bytes - LAST_BYTES, LAST_BYTES);
	close(fd);
}

enum err
snapshot_open(struct snapshot **out, struct store *store, struct span supplier,
    uint64_t generation)
{
	char path[FS_PATH_MAX];
	enum err err =
	    store_snapshot_path(path, store, supplier, generation, "");

	*out = NULL;
	if (err == ERR_OK)
		err = snapshot_open_file(out, path);
	if (err == ERR_OK &&
	    ((*out)->head->generation != generation ||
		!span_eq(snapshot_supplier(*out), supplier))) {
		log_error(
		    "snapshot is not the one it is called: file=%s", path);
		snapshot_close(*out);
		*out = NULL;
		err = ERR_DAMAGED;
	}
	return err;
}

void
snapshot_close(struct snapshot *snap)
{
	if (snap == NULL)
		return;
	kv_abort(snap->txn);
	kv_close(snap->kv);
	free(snap->copies);
	free(snap->room);
	free(snap->blocks);
	free(snap->seen);
	free(snap->sums);
	free(snap->table);
	free(snap->head);
	free(snap->path);
	pthread_mutex_destroy(&snap->lock);
	free(snap);
}

/* --- in use --------------------------------------------------------------- */

void
snapshot_look(struct snapshot *snap)
{
	struct fs_stamp stamp;
	bool cut;

	if (kv_stamp(&stamp, snap->kv) != ERR_OK)
		return; /* already logged; `snap` stays as it was */
	pthread_mutex_lock(&snap->lock);
	if (snap->young || !fs_stamp_eq(&stamp, &snap->stamp)) {
		cut = stamp.bytes < snap->stamp.bytes ||
		    atomic_load(&snap->file.cut);
		if (!fs_stamp_eq(&stamp, &snap->stamp))
			log_info("a snapshot's file was touched, and is "
				 "compared with its checksums anew: file=%s",
			    snap->path);
		/* Keep the larger size: the file may be cut in two steps. */
		if (!cut)
			snap->stamp = stamp;
		snap->young = fs_stamp_is_young(&stamp);
		blocks_forget(&snap->file, cut);
	}
	pthread_mutex_unlock(&snap->lock);
}
