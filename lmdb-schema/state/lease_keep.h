/*
 * lease_keep: a thread that renews a lease (lease.h) while its holder works.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "lmdb-schema/state/lease.h"

struct lease_keeper {
	struct store *store;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct lease lease;
	pthread_t thread;
	bool runs, ends;
};

/*
 * Takes over a lease that is held. A failed renewal ends nothing: the holder's
 * write compares the token. A lease that is lost is not taken again.
 */
enum err lease_keep(struct lease_keeper *keeper, struct store *store,
    const struct lease *lease);

/* A copy, for lease_check(): the thread changes its own. */
void lease_keep_copy(struct lease_keeper *keeper, struct lease *out);

/* A write of the holder has given it back: lease_give_back(). */
void lease_keep_given_back(struct lease_keeper *keeper);

/* Ends the thread, and gives the lease back. */
void lease_keep_end(struct lease_keeper *keeper);
