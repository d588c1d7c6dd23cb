/*
 * source_priv: an open facts file. For source*.c only.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "lmdb-schema/facts/source.h"

struct kv;
struct kv_txn;

struct source_store {
	struct span code, name;
};

/* The record "share" of a file that has one: schema.h. */
struct source_share {
	uint64_t number, count, stores, suppliers, articles;
	uint32_t suppliers_crc, where_crc;
	uint32_t sum; /* of the record itself */
};

/* The base file of a generation, or one of its shares. */
struct source {
	struct kv *kv;
	struct kv_txn *txn; /* lookups share it, under the lock */
	pthread_mutex_t lock;
	uint64_t generation, version;
	struct source_header header;
	struct source_store *stores;
	/* Itself, where there is but one; none in versions before 3: */
	struct source **shares;
	unsigned share_count;
	struct source_share share; /* of such a file */
	/* Versions before 3, which have parts instead: */
	struct source *parts[SOURCE_PARTS_MAX]; /* which have none themselves */
	unsigned part_count;
	struct source *listings; /* the table `where`: its own, or a part's */
	atomic_int compared; /* enum source_compared of the own listings */
};

enum source_compared { SOURCE_UNREAD, SOURCE_SOUND, SOURCE_DAMAGED };

/* To the log: what an operator does about a file that is not as it was. */
void source_tell_damage(const struct source *source, enum err err);

/* The file that has a supplier's record and, but for parts, all of it. */
struct source *source_home(struct source *source, struct span supplier);

/* The file of that generation: itself, for 0 too, a part, or NULL. */
struct source *source_part(struct source *source, uint64_t generation);
