#include "fcgi/rows/snapcache.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/date.h"
#include "fcgi/rows/packed.h"
#include "fcgi/rows/ranges.h"
#include "fcgi/rows/rowset.h"

#define BUCKETS 4096

/* The time between two checks of the same file: most pages need none. */
#define LOOK_NS 1000000

struct entry {
	struct pinned pinned; /* first: a pinned's address is its entry's */
	struct entry *chain; /* of its bucket */
	struct entry *newer, *older; /* by last use */
	uint64_t generation;
	unsigned pins;
	int64_t used_ns;
};

struct snapcache {
	pthread_mutex_t lock;
	struct store *store;
	struct metrics *metrics;
	unsigned most, count;
	struct entry *buckets[BUCKETS];
	struct entry *newest, *oldest;
};

struct snapcache *
snapcache_new(struct store *store, unsigned most, struct metrics *metrics)
{
	struct snapcache *cache = calloc(1, sizeof(*cache));

	assert(store != NULL && most > 0);
	if (cache == NULL)
		return NULL;
	pthread_mutex_init(&cache->lock, NULL);
	cache->store = store;
	cache->most = most;
	cache->metrics = metrics;
	return cache;
}

/* A generation is almost certainly unique over all suppliers. */
static struct entry **
bucket_of(struct snapcache *cache, uint64_t generation)
{
	uint64_t hash = generation * UINT64_C(0x9e3779b97f4a7c15);

	return &cache->buckets[hash >> 52 & (BUCKETS - 1)];
}

static void
unlink_use(struct snapcache *cache, struct entry *entry)
{
	*(entry->newer == NULL ? &cache->newest : &entry->newer->older) =
	    entry->older;
	*(entry->older == NULL ? &cache->oldest : &entry->older->newer) =
	    entry->newer;
}

static void
link_newest(struct snapcache *cache, struct entry *entry)
{
	entry->newer = NULL;
	entry->older = cache->newest;
	*(cache->newest == NULL ? &cache->oldest : &cache->newest->newer) =
	    entry;
	cache->newest = entry;
}

static void
free_slots(struct entry *entry)
{
	ranges_slot_free(entry->pinned.ranges);
	rowlists_free(entry->pinned.lists);
	packed_slot_free(entry->pinned.packed);
	free(entry);
}

static void
free_entry(struct snapcache *cache, struct entry *entry)
{
	struct entry **at = bucket_of(cache, entry->generation);

	while (*at != entry)
		at = &(*at)->chain;
	*at = entry->chain;
	unlink_use(cache, entry);
	cache->count--;
	metrics_mine(cache->metrics)->snapshots_open--;
	snapshot_close(entry->pinned.snap);
	free_slots(entry);
}

void
snapcache_free(struct snapcache *cache)
{
	if (cache == NULL)
		return;
	while (cache->oldest != NULL)
		free_entry(cache, cache->oldest);
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

/*
 * A snapshot that was found damaged stays for the requests that have it pinned: in
 * a cluster the same generation comes anew from another node.
 */
static struct entry *
find(struct snapcache *cache, struct span supplier, uint64_t generation)
{
	struct entry *entry = *bucket_of(cache, generation);

	while (entry != NULL &&
	    (entry->generation != generation ||
		snapshot_is_damaged(entry->pinned.snap) ||
		!span_eq(snapshot_supplier(entry->pinned.snap), supplier)))
		entry = entry->chain;
	return entry;
}

static enum err
new_entry(struct entry **out, struct snapcache *cache, struct span supplier,
    uint64_t generation)
{
	struct entry *entry = calloc(1, sizeof(*entry));
	enum err err;

	if (entry == NULL)
		return ERR_NO_MEMORY;
	entry->generation = generation;
	entry->pinned.ranges = ranges_slot_new();
	entry->pinned.lists = rowlists_new();
	entry->pinned.packed = packed_slot_new();
	err = entry->pinned.ranges == NULL || entry->pinned.lists == NULL ||
		entry->pinned.packed == NULL
	    ? ERR_NO_MEMORY
	    : snapshot_open(
		  &entry->pinned.snap, cache->store, supplier, generation);
	if (err != ERR_OK) {
		free_slots(entry);
		return err;
	}
	*out = entry;
	return ERR_OK;
}

static void
evict(struct snapcache *cache)
{
	struct entry *entry = cache->oldest;

	while (cache->count > cache->most && entry != NULL) {
		struct entry *newer = entry->newer;

		if (entry->pins == 0)
			free_entry(cache, entry);
		entry = newer;
	}
}

/*
 * Opening takes some tens of microseconds, which is short enough under the
 * lock.
 */
enum err
snapcache_pin(struct pinned **out, struct snapcache *cache,
    struct span supplier, uint64_t generation)
{
	int64_t now_ns = date_monotonic_ns();
	struct entry *entry;
	enum err err = ERR_OK;

	assert(supplier.len > 0 && generation != 0);
	*out = NULL;
	pthread_mutex_lock(&cache->lock);
	entry = find(cache, supplier, generation);
	if (entry == NULL) {
		err = new_entry(&entry, cache, supplier, generation);
		if (err == ERR_OK) {
			struct entry **at = bucket_of(cache, generation);

			atomic_init(&entry->pinned.looked_ns, now_ns);
			entry->chain = *at;
			*at = entry;
			cache->count++;
			metrics_mine(cache->metrics)->snapshots_open++;
		}
	} else
		unlink_use(cache, entry);
	if (err == ERR_OK) {
		link_newest(cache, entry);
		entry->pins++;
		entry->used_ns = now_ns;
		*out = &entry->pinned;
		if (cache->count > cache->most)
			evict(cache);
	}
	pthread_mutex_unlock(&cache->lock);
	if (err == ERR_OK)
		snapcache_look(*out, now_ns);
	return err;
}

void
snapcache_look(struct pinned *pinned, int64_t now_ns)
{
	if (now_ns -
		atomic_load_explicit(&pinned->looked_ns, memory_order_relaxed) <
	    LOOK_NS)
		return;
	snapshot_look(pinned->snap);
	/*
	 * Set after the check, so that concurrent requests check for
	 * themselves.
	 */
	atomic_store_explicit(&pinned->looked_ns, now_ns, memory_order_relaxed);
}

void
snapcache_unpin(struct snapcache *cache, struct pinned *pinned)
{
	struct entry *entry = (struct entry *)pinned;

	if (pinned == NULL)
		return;
	pthread_mutex_lock(&cache->lock);
	assert(entry->pins > 0);
	entry->pins--;
	pthread_mutex_unlock(&cache->lock);
}

void
snapcache_tick(struct snapcache *cache, int64_t seconds)
{
	int64_t before = date_monotonic_ns() - seconds * 1000000000;

	pthread_mutex_lock(&cache->lock);
	for (struct entry *entry = cache->oldest;
	     entry != NULL && entry->used_ns < before;) {
		struct entry *newer = entry->newer;

		if (entry->pins == 0)
			free_entry(cache, entry);
		entry = newer;
	}
	pthread_mutex_unlock(&cache->lock);
}
