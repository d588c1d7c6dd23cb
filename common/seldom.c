#include "common/seldom.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

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

/* --- many causes ----------------------------------------------------------- */

#define CAUSES 64

static struct cause {
	uint64_t hash; /* of its text */
	int64_t told_ns;
	uint64_t untold;
	bool used;
} causes[CAUSES];

static pthread_mutex_t causes_lock = PTHREAD_MUTEX_INITIALIZER;

/* FNV-1a */
static uint64_t
hash_of(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *text != '\0'; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

static bool
is_older(const struct cause *cause, const struct cause *than)
{
	return than->used && (!cause->used || cause->told_ns < than->told_ns);
}

/* The cause's place; or, not of that hash, the one that it may have. */
static struct cause *
place_of(uint64_t hash)
{
	struct cause *oldest = &causes[0];

	for (unsigned i = 0; i < CAUSES; i++) {
		if (causes[i].used && causes[i].hash == hash)
			return &causes[i];
		if (is_older(&causes[i], oldest))
			oldest = &causes[i];
	}
	oldest->used = false;
	return oldest;
}

bool
seldom_fails_of(const char *cause, uint64_t *untold, int64_t now_ns)
{
	const uint64_t hash = hash_of(cause);
	struct cause *place;
	bool due;

	assert(untold != NULL);
	pthread_mutex_lock(&causes_lock);
	place = place_of(hash);
	due = !place->used || now_ns - place->told_ns >= SELDOM_EVERY_NS;
	if (due) {
		*untold = place->used ? place->untold : 0;
		*place = (struct cause){hash, now_ns, 0, true};
	} else
		place->untold++;
	pthread_mutex_unlock(&causes_lock);
	return due;
}

void
seldom_forget(void)
{
	pthread_mutex_lock(&causes_lock);
	memset(causes, 0, sizeof(causes));
	pthread_mutex_unlock(&causes_lock);
}
