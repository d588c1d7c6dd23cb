#include "lmdb-schema/snapshot/snapwrite.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/fs.h"
#include "common/kv/kv.h"
#include "lmdb-schema/deflate.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/store/blocks.h"
#include "lmdb-schema/store/sealed.h"
#include "lmdb-schema/store/store.h"

#define SNAP_MAP_BYTES ((size_t)64 << 30)

/*
 * A transaction's pages stay in memory until it commits, so every few sections
 * are committed; the file stays invisible until it is renamed.
 */
#define SUMS_MAX ((size_t)1 << 30)
#define COMMIT_BYTES ((size_t)8 << 20)

struct snapwrite {
	pthread_mutex_t lock;
	enum err err;
	struct kv *kv;
	struct kv_txn *txn; /* NULL after a commit that failed */
	size_t pending; /* bytes put since the last commit */
	struct snap_head head;
	char *name;
	struct snap_section *sections;
	uint32_t **sums; /* of each section's blocks */
	char path[FS_PATH_MAX], temporary[FS_PATH_MAX];
};

static unsigned
section_count(const struct snap_head *head)
{
	unsigned slices = 0;

	if (head->rows > 0)
		slices = (head->rows - 1) / head->slice_rows + 1;
	return SNAP_SLICE + 2 * slices;
}

static enum err
fill_head(struct snapwrite *write, struct span supplier, struct span name)
{
	struct snap_head *head = &write->head;

	memcpy(head->magic, SNAP_MAGIC, sizeof(head->magic));
	head->version = SNAP_VERSION;
	head->columns = ROW_COLUMNS;
	head->crc = 0;
	head->code_len = (uint32_t)supplier.len;
	memset(head->code, 0, sizeof(head->code));
	memcpy(head->code, supplier.ptr, supplier.len);
	head->sections = section_count(head);
	head->name_len = (uint32_t)name.len;
	write->name = span_dup(name);
	write->sections = calloc(head->sections, sizeof(*write->sections));
	write->sums = calloc(head->sections, sizeof(*write->sums));
	return write->name == NULL || write->sections == NULL ||
		write->sums == NULL
	    ? ERR_NO_MEMORY
	    : ERR_OK;
}

static enum err
open_file(struct snapwrite *write, struct store *store, struct span supplier)
{
	char folder[FS_PATH_MAX];
	struct kv_spec spec = {.path = write->temporary,
	    .mode = KV_BUILD,
	    .map_bytes = SNAP_MAP_BYTES,
	    .grows = true};
	enum err err = store_snapshot_folder(folder, store, supplier);

	if (err == ERR_OK)
		err = fs_mkdir(folder);
	if (err == ERR_OK)
		err = store_snapshot_path(
		    write->path, store, supplier, write->head.generation, "");
	if (err == ERR_OK)
		err = store_snapshot_path(write->temporary, store, supplier,
		    write->head.generation, ".tmp");
	if (err == ERR_OK)
		err = fs_unlink(write->temporary);
	if (err == ERR_OK)
		err = kv_open(&write->kv, &spec);
	if (err == ERR_OK)
		err = kv_write(&write->txn, write->kv);
	return err;
}

enum err
snapwrite_begin(struct snapwrite **out, struct store *store,
    struct span supplier, struct span name, const struct snap_head *head)
{
	struct snapwrite *write = calloc(1, sizeof(*write));
	enum err err;

	assert(supplier.len > 0 && supplier.len <= SCHEMA_CODE_MAX);
	assert(head->generation != 0);
	assert(__builtin_popcount(head->slice_rows) == 1);
	*out = NULL;
	if (write == NULL)
		return ERR_NO_MEMORY;
	pthread_mutex_init(&write->lock, NULL);
	write->head = *head;
	err = fill_head(write, supplier, name);
	if (err == ERR_OK)
		err = open_file(write, store, supplier);
	if (err != ERR_OK) {
		snapwrite_abort(write);
		return err;
	}
	*out = write;
	return ERR_OK;
}

static enum err
commit(struct snapwrite *write)
{
	struct kv_txn *txn = write->txn;

	write->txn = NULL;
	write->pending = 0;
	return kv_commit(txn);
}

/* Commits, and begins a transaction for a section of so many bytes. */
static enum err
begin_again(struct snapwrite *write, size_t len)
{
	enum err err = commit(write);

	kv_expect(write->kv, len);
	return err == ERR_OK ? kv_write(&write->txn, write->kv) : err;
}

static void
put_locked(
    struct snapwrite *write, unsigned section, const void *data, size_t len)
{
	struct key key = key_u16((uint16_t)section);

	if (write->err == ERR_OK && len > COMMIT_BYTES)
		write->err = begin_again(write, len);
	if (write->err != ERR_OK)
		return;
	write->err =
	    kv_put(write->txn, 0, key_span(&key), span_make(data, len));
	write->pending += len;
	if (write->err == ERR_OK && write->pending >= COMMIT_BYTES)
		write->err = begin_again(write, 0);
}

/* Combines the checksums of a section's blocks into the section's. */
static uint32_t
sum_of(const uint32_t *sums, uint64_t len)
{
	uint32_t sum = 0;

	for (; len > 0; sums++) {
		uint64_t part = len < BLOCKS_BYTES ? len : BLOCKS_BYTES;

		sum = deflate_crc_both(sum, *sums, part);
		len -= part;
	}
	return sum;
}

void
snapwrite_put(
    struct snapwrite *write, unsigned section, const void *data, size_t len)
{
	uint64_t count = blocks_count(len);
	uint32_t *sums = malloc((count + 1) * sizeof(*sums));
	uint32_t crc = 0;

	assert(section != SNAP_HEAD && section < write->head.sections);
	if (sums != NULL) {
		blocks_sum(sums, data, len);
		crc = sum_of(sums, len);
	}
	pthread_mutex_lock(&write->lock);
	if (sums == NULL && write->err == ERR_OK)
		write->err = ERR_NO_MEMORY;
	put_locked(write, section, data, len);
	write->sections[section].bytes = len;
	write->sections[section].crc = crc;
	free(write->sums[section]);
	write->sums[section] = sums;
	pthread_mutex_unlock(&write->lock);
}

void
snapwrite_left_out(struct snapwrite *write, uint32_t count)
{
	write->sections[SNAP_HEAD].reserved = count;
}

/* Puts SNAP_SUMS: the block checksums of all sections, concatenated. */
static void
put_sums(struct snapwrite *write)
{
	struct buf all;
	enum err err;

	buf_init(&all, SUMS_MAX);
	for (unsigned i = 0; i < write->head.sections; i++)
		if (write->sums[i] != NULL && write->sections[i].bytes > 0)
			buf_add(&all, (const char *)write->sums[i],
			    blocks_count(write->sections[i].bytes) *
				sizeof(**write->sums));
	err = buf_end(&all);
	if (err == ERR_OK)
		snapwrite_put(write, SNAP_SUMS, all.data, all.len);
	else if (write->err == ERR_OK)
		write->err = err;
	buf_fini(&all);
}

/*
 * Puts the head; its checksum covers the table with the checksums of all
 * sections.
 */
static void
put_head(struct snapwrite *write)
{
	size_t table = write->head.sections * sizeof(*write->sections);
	size_t len = sizeof(write->head) + write->head.name_len + table;
	char *bytes = malloc(len), *at = bytes;
	uint32_t crc;

	if (bytes == NULL) {
		write->err = ERR_NO_MEMORY;
		return;
	}
	memcpy(at, &write->head, sizeof(write->head));
	at += sizeof(write->head);
	memcpy(at, write->name, write->head.name_len);
	at += write->head.name_len;
	memcpy(at, write->sections, table);
	crc = sealed_head_crc(
	    span_make(bytes, len), offsetof(struct snap_head, crc), SPAN(""));
	memcpy(bytes + offsetof(struct snap_head, crc), &crc, sizeof(crc));
	put_locked(write, SNAP_HEAD, bytes, len);
	free(bytes);
}

static void
snapwrite_free(struct snapwrite *write)
{
	pthread_mutex_destroy(&write->lock);
	for (unsigned i = 0; write->sums != NULL && i < write->head.sections;
	     i++)
		free(write->sums[i]);
	free(write->sums);
	free(write->name);
	free(write->sections);
	free(write);
}

enum err
snapwrite_end(struct snapwrite *write, uint64_t *bytes)
{
	enum err err;
	uint64_t on_disk;

	assert(bytes != NULL);
	put_sums(write);
	put_head(write);
	if (write->err == ERR_OK)
		write->err = commit(write);
	else
		kv_abort(write->txn);
	err = kv_finish(write->kv, write->temporary, write->err);
	if (err == ERR_OK)
		err = fs_publish(write->temporary, write->path);
	if (err == ERR_OK)
		err = fs_size(write->path, bytes, &on_disk);
	snapwrite_free(write);
	return err;
}

void
snapwrite_abort(struct snapwrite *write)
{
	if (write == NULL)
		return;
	kv_abort(write->txn);
	if (write->temporary[0] != '\0')
		kv_finish(write->kv, write->temporary, ERR_INTERNAL);
	snapwrite_free(write);
}
