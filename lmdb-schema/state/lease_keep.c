#include "lmdb-schema/state/lease_keep.h"

#include <string.h>
#include <time.h>

#include "common/date.h"

#define RENEW_MS 500
#define SECOND_NS 1000000000

static void *
keep(void *context)
{
	struct lease_keeper *keeper = context;
	struct timespec until;

	pthread_mutex_lock(&keeper->lock);
	while (!keeper->ends) {
		(void)lease_renew(
		    &keeper->lease, keeper->store, date_monotonic_ns());
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += RENEW_MS * 1000000;
		if (until.tv_nsec >= SECOND_NS) {
			until.tv_nsec -= SECOND_NS;
			until.tv_sec++;
		}
		pthread_cond_timedwait(&keeper->changed, &keeper->lock, &until);
	}
	pthread_mutex_unlock(&keeper->lock);
	return NULL;
}

enum err
lease_keep(
    struct lease_keeper *keeper, struct store *store, const struct lease *lease)
{
	pthread_condattr_t monotonic;

	memset(keeper, 0, sizeof(*keeper));
	keeper->store = store;
	keeper->lease = *lease;
	pthread_mutex_init(&keeper->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&keeper->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	keeper->runs = pthread_create(&keeper->thread, NULL, keep, keeper) == 0;
	if (keeper->runs)
		return ERR_OK;
	lease_keep_end(keeper);
	return ERR_NO_MEMORY;
}

void
lease_keep_copy(struct lease_keeper *keeper, struct lease *out)
{
	pthread_mutex_lock(&keeper->lock);
	*out = keeper->lease;
	pthread_mutex_unlock(&keeper->lock);
}

void
lease_keep_given_back(struct lease_keeper *keeper)
{
	pthread_mutex_lock(&keeper->lock);
	keeper->lease.token = 0;
	pthread_mutex_unlock(&keeper->lock);
}

void
lease_keep_end(struct lease_keeper *keeper)
{
	if (keeper->store == NULL)
		return; /* it has never begun */
	if (keeper->runs) {
		pthread_mutex_lock(&keeper->lock);
		keeper->ends = true;
		pthread_cond_signal(&keeper->changed);
		pthread_mutex_unlock(&keeper->lock);
		pthread_join(keeper->thread, NULL);
	}
	lease_release(&keeper->lease, keeper->store);
	pthread_cond_destroy(&keeper->changed);
	pthread_mutex_destroy(&keeper->lock);
	keeper->store = NULL;
}
