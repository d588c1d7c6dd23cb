/*
 * source_priv: an open facts file. For source*.c only.
 */
#pragma once

#include <pthread.h>

#include "lmdb-schema/facts/source.h"

struct kv;
struct kv_txn;

struct source_store {
	struct span code, name;
};

struct source {
	struct kv *kv;
	struct kv_txn *txn; /* lookups share it, under the lock */
	pthread_mutex_t lock;
	uint64_t generation;
	struct source_header header;
	struct source_store *stores;
	struct source *parts[SOURCE_PARTS_MAX]; /* which have none themselves */
	unsigned part_count;
	struct source *listings; /* the table `where`: its own, or a part's */
};

/* The file of that generation: itself, for 0 too, a part, or NULL. */
struct source *source_part(struct source *source, uint64_t generation);
