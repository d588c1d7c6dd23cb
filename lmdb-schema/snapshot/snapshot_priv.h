/*
 * snapshot_priv: an open snapshot, and its sections as they lie in the
 * file. For snapshot*.c only.
 */
#pragma once

#include <pthread.h>

#include "common/kv/kv.h"
#include "lmdb-schema/snapshot/snapshot.h"
#include "lmdb-schema/store/blocks.h"

struct snapshot {
	struct kv *kv;
	struct kv_txn *txn; /* pins the pages; no look-ups after opening */
	pthread_mutex_t lock; /* for `copies` and snapshot_look() */
	struct snap_head *head; /* head and table are copies: verified once, */
	struct snap_section *table; /* they cannot change like the map */
	uint32_t *sums;
	struct span name;
	unsigned slice_shift; /* slice_rows = 1 << slice_shift */
	int8_t number_place[ROW_COLUMNS];
	struct blocks_file file;
	struct blocks *blocks; /* by section */
	const struct snap_flat *flats; /* NULL: damaged; blocks check each */
	const struct snap_maps *maps;
	atomic_ushort *seen; /* of all blocks */
	_Atomic(const char *) *copies; /* of unaligned sections */
	char *room; /* for the copies; `used` bytes are taken */
	size_t used;
	struct fs_stamp stamp; /* taken by the last snapshot_look() */
	bool young; /* a further write may not change the stamp */
	char *path;
};

/*
 * True when the section is not aligned for its integers, so that a copy is
 * used.
 */
static inline bool
snapshot_is_odd(const struct blocks *blocks)
{
	return (uintptr_t)blocks->base % 8 != 0;
}

/* The room of a copy, rounded up so that the next copy is aligned too. */
static inline size_t
snapshot_copy_room(const struct blocks *blocks)
{
	return (blocks->bytes + 7) & ~(size_t)7;
}

/* The aligned copy of a section whose checksums match. */
const char *snapshot_copy(struct snapshot *snap, unsigned section);

/* A section's bytes when all of them match their checksums; NULL otherwise. */
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
