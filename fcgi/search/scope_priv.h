/* Shared by scope.c, which keeps scopes, and scope_make.c, which makes them. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "fcgi/search/scope.h"

/* The versions of the data in a request's views. */
struct versions {
	uint64_t catalog, live, state;
};

struct scope_kept {
	struct scope scope; /* first: a scope's address is its kept's */
	atomic_uint users;
	struct versions versions;
	uint64_t wanted; /* the hash of those, or 0 */
	struct snapcache *snapcache;
	pthread_mutex_t lock; /* held while a view is opened */
	atomic_uchar *open; /* by place */
	uint64_t *generations; /* of the views, by place */
	struct span *codes; /* of those in the index, whose bytes they are */
	uint64_t rows, loose_rows;
};

/*
 * Makes the part of all suppliers that begins at `from`, of `room` entries of
 * the catalogue. Takes over the word index; that, and `wanted`, may be NULL.
 */
enum err scope_make(struct scope **out, struct call *call, unsigned from,
    unsigned room, const struct scope_wanted *wanted, struct word_index *index);

/*
 * Whether so many rows are missing in its word index that a new one should be
 * made.
 */
bool scope_wants_index(const struct scope *scope);
