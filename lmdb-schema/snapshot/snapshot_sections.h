/*
 * snapshot_sections: an open snapshot, and its sections as they lie in the
 * file. For snapshot*.c only.
 */
#pragma once

#include <pthread.h>

#include "common/kv/kv.h"
#include "lmdb-schema/snapshot/snapshot.h"
#include "lmdb-schema/store/blocks.h"

struct snapshot {
	struct kv *kv;
	struct kv_txn *txn; /* its view; nothing is looked up in it later */
	pthread_mutex_t lock; /* for `copies`, and while it is looked at */
	struct snap_head *head; /* these are copies: they were compared once, */
	struct snap_section *table; /* and cannot be changed under us */
	uint32_t *sums;
	struct span name;
	unsigned slice_shift; /* slice_rows = 1 << slice_shift */
	int8_t number_place[ROW_COLUMNS];
	struct blocks_file file;
	struct blocks *blocks; /* by section */
	const struct snap_flat *flats; /* NULL: damaged; blocks ask for each */
	const struct snap_maps *maps;
	atomic_ushort *seen; /* of all blocks */
	_Atomic(const char *) *copies; /* of sections on an odd address */
	char *room; /* for these, `used` bytes full */
	size_t used;
	struct fs_stamp stamp; /* the file's, when it was last looked at */
	bool young; /* it was written so lately that the times cannot tell */
	char *path;
};

/* On an address that is none for its integers: a copy is used. */
static inline bool
snapshot_is_odd(const struct blocks *blocks)
{
	return (uintptr_t)blocks->base % 8 != 0;
}

/* What a copy takes, so that the next one is on its place too. */
static inline size_t
snapshot_copy_room(const struct blocks *blocks)
{
	return (blocks->bytes + 7) & ~(size_t)7;
}

/* Of a section on an odd address, all of which is as it was written. */
const char *snapshot_copy(struct snapshot *snap, unsigned section);

/* A section's bytes when all of it is as it was written; NULL otherwise. */
static inline const char *
snapshot_whole(struct snapshot *snap, unsigned section)
{
	struct blocks *blocks = &snap->blocks[section];

	if (!blocks_all(blocks))
		return NULL;
	if (__builtin_expect(snapshot_is_odd(blocks), 0))
		return snapshot_copy(snap, section);
	return blocks->base;
}
