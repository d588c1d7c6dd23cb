#include "common/seldom.h"

#include <assert.h>
#include <stddef.h>

static uint64_t
take_untold(struct seldom *seldom)
{
	uint64_t untold = seldom->untold;

	seldom->untold = 0;
	return untold;
}

bool
seldom_fails(struct seldom *seldom, uint64_t *untold, int64_t now_ns)
{
	bool due;

	assert(seldom != NULL && untold != NULL);
	pthread_mutex_lock(&seldom->lock);
	due = !atomic_load(&seldom->told) ||
	    now_ns - seldom->told_ns >= SELDOM_EVERY_NS;
	seldom->failed_ns = now_ns;
	if (due) {
		seldom->told_ns = now_ns;
		*untold = take_untold(seldom);
		atomic_store(&seldom->told, true);
	} else
		seldom->untold++;
	pthread_mutex_unlock(&seldom->lock);
	return due;
}

bool
seldom_works(struct seldom *seldom, uint64_t *untold, int64_t now_ns)
{
	bool due;

	assert(seldom != NULL && untold != NULL);
	/* A success is the rule: without the lock. */
	if (!atomic_load_explicit(&seldom->told, memory_order_relaxed))
		return false;
	pthread_mutex_lock(&seldom->lock);
	due = atomic_load(&seldom->told) &&
	    now_ns - seldom->failed_ns >= SELDOM_EVERY_NS;
	if (due) {
		*untold = take_untold(seldom);
		atomic_store(&seldom->told, false);
	}
	pthread_mutex_unlock(&seldom->lock);
	return due;
}
