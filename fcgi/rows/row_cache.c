/*
 * A list is an array of texts, filled from its start, and for each row a place
 * in it: where the text begins, in units of eight bytes, and its length.
 *
 *	at[row]  22 bits place | 10 bits length	length 0: not kept
 *
 * Readers take no lock: a place is stored after its text. Two threads may keep
 * the same row at once; the row is then stored twice, and the later place
 * counts.
 *
 * The first text of a list maps as much address space as the list may ever
 * fill; pages that nobody has written to take no memory. The map comes from the
 * kernel and returns to it. Memory freed to malloc() would stay in the heap of
 * each thread, outside the ceiling.
 */
#include "fcgi/rows/row_cache.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/date.h"
#include "lmdb-schema/snapshot/snapfile.h"

#define LISTS 8
#define UNIT 8
#define LEN_BITS 10
#define SEEN (UINT32_C(1) << LEN_BITS) /* shown once, not kept yet */

_Static_assert(ROW_CACHE_MAX == (1 << LEN_BITS) - 1, "a length fits");
_Static_assert(
    ROW_CACHE_BYTES / UNIT <= UINT32_C(1) << (32 - LEN_BITS), "a place fits");

struct cached_rows {
	atomic_uint users; /* one of them is the table */
	char supplier[SCHEMA_CODE_MAX];
	size_t supplier_len;
	uint64_t generation;
	struct columns columns;
	int64_t used_ns;
	uint32_t rows;
	_Atomic uint32_t *at;
	_Atomic(char *) text; /* NULL until the first text */
	size_t room;
	atomic_size_t full; /* bytes; beyond `room` after a failed try */
};

struct row_cache {
	pthread_mutex_t lock;
	size_t most;
	struct cached_rows *list[LISTS];
};

struct row_cache *
row_cache_new(size_t most)
{
	struct row_cache *row_cache = calloc(1, sizeof(*row_cache));

	assert(most > 0 && most <= ROW_CACHE_BYTES);
	if (row_cache == NULL)
		return NULL;
	pthread_mutex_init(&row_cache->lock, NULL);
	row_cache->most = most;
	return row_cache;
}

void
cached_rows_release(struct cached_rows *cached)
{
	assert(cached == NULL || atomic_load(&cached->users) > 0);
	if (cached == NULL || atomic_fetch_sub(&cached->users, 1) != 1)
		return;
	if (atomic_load(&cached->text) != NULL)
		munmap(atomic_load(&cached->text), cached->room);
	free(cached->at);
	free(cached);
}

void
row_cache_free(struct row_cache *row_cache)
{
	if (row_cache == NULL)
		return;
	for (unsigned i = 0; i < LISTS; i++)
		cached_rows_release(row_cache->list[i]);
	pthread_mutex_destroy(&row_cache->lock);
	free(row_cache);
}

static struct cached_rows *
new_list(
    const struct snapshot *snap, const struct columns *columns, size_t most)
{
	struct span supplier = snapshot_supplier(snap);
	struct cached_rows *list;
	size_t room;

	list = calloc(1, sizeof(*list));
	if (list == NULL)
		return NULL;
	atomic_init(&list->users, 1);
	memcpy(list->supplier, supplier.ptr, supplier.len);
	list->supplier_len = supplier.len;
	list->generation = snapshot_head(snap)->generation;
	list->columns = *columns;
	list->rows = snapshot_rows(snap);
	room = (size_t)list->rows * (ROW_CACHE_MAX + 1);
	list->room = room < most ? room : most;
	list->at = calloc(list->rows + 1u, sizeof(*list->at));
	if (list->at != NULL)
		return list;
	cached_rows_release(list);
	return NULL;
}

static bool
is_for(const struct cached_rows *list, const struct snapshot *snap,
    const struct columns *columns)
{
	return list != NULL &&
	    list->generation == snapshot_head(snap)->generation &&
	    memcmp(&list->columns, columns, sizeof(*columns)) == 0 &&
	    span_eq(span_make(list->supplier, list->supplier_len),
		snapshot_supplier(snap));
}

static void
drop(struct row_cache *row_cache, unsigned place)
{
	cached_rows_release(row_cache->list[place]);
	row_cache->list[place] = NULL;
}

/* An empty slot, or the slot of the least recently used list. */
static unsigned
oldest(const struct row_cache *row_cache, bool or_empty)
{
	unsigned place = LISTS;

	for (unsigned i = 0; i < LISTS; i++) {
		const struct cached_rows *list = row_cache->list[i];

		if (list == NULL && or_empty)
			return i;
		if (list != NULL &&
		    (place == LISTS ||
			list->used_ns < row_cache->list[place]->used_ns))
			place = i;
	}
	return place;
}

/* The bytes that a list takes: its places and its text so far. */
static size_t
bytes_of_list(const struct cached_rows *list)
{
	return list->rows * sizeof(*list->at) +
	    atomic_load_explicit(&list->full, memory_order_relaxed);
}

static size_t
bytes_of(const struct row_cache *row_cache)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < LISTS; i++)
		if (row_cache->list[i] != NULL)
			bytes += bytes_of_list(row_cache->list[i]);
	return bytes;
}

struct cached_rows *
row_cache_get(struct row_cache *row_cache, const struct snapshot *snap,
    const struct columns *columns)
{
	struct cached_rows *list;
	unsigned place = 0;

	assert(snap != NULL && columns != NULL);
	/* The places of so many rows would leave little room for text. */
	if (snapshot_rows(snap) > row_cache->most / 2 / sizeof(*list->at))
		return NULL;
	pthread_mutex_lock(&row_cache->lock);
	/* The requested list may be dropped as well; it then starts empty. */
	while (bytes_of(row_cache) >= row_cache->most)
		drop(row_cache, oldest(row_cache, false));
	while (place < LISTS && !is_for(row_cache->list[place], snap, columns))
		place++;
	if (place == LISTS) {
		place = oldest(row_cache, true);
		drop(row_cache, place);
		row_cache->list[place] =
		    new_list(snap, columns, row_cache->most);
	}
	list = row_cache->list[place];
	if (list != NULL) {
		atomic_fetch_add(&list->users, 1);
		list->used_ns = date_monotonic_ns();
	}
	pthread_mutex_unlock(&row_cache->lock);
	return list;
}

void
row_cache_tick(struct row_cache *row_cache, int64_t seconds)
{
	int64_t before = date_monotonic_ns() - seconds * 1000000000;

	pthread_mutex_lock(&row_cache->lock);
	for (unsigned i = 0; i < LISTS; i++)
		if (row_cache->list[i] != NULL &&
		    row_cache->list[i]->used_ns < before)
			drop(row_cache, i);
	pthread_mutex_unlock(&row_cache->lock);
}

struct span
cached_rows_row(const struct cached_rows *cached, uint32_t row)
{
	uint32_t at;

	if (row >= cached->rows)
		return SPAN("");
	at = atomic_load_explicit(&cached->at[row], memory_order_acquire);
	if ((at & ROW_CACHE_MAX) == 0)
		return SPAN("");
	return span_make(
	    atomic_load_explicit(&cached->text, memory_order_relaxed) +
		(size_t)(at >> LEN_BITS) * UNIT,
	    at & ROW_CACHE_MAX);
}

/* The map for all of its text; NULL without memory. */
static char *
text_of(struct cached_rows *list)
{
	char *text = atomic_load(&list->text), *others = NULL;

	if (text != NULL)
		return text;
	text = mmap(NULL, list->room, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (text == MAP_FAILED)
		return NULL;
	/*
	 * A huge page would take 2 MB for one row; a refusal of the advice is
	 * harmless.
	 */
	madvise(text, list->room, MADV_NOHUGEPAGE);
	if (atomic_compare_exchange_strong(&list->text, &others, text))
		return text;
	munmap(text, list->room);
	return others;
}

void
cached_rows_keep(struct cached_rows *cached, uint32_t row, struct span text)
{
	size_t len = (text.len + UNIT - 1) / UNIT * UNIT, place;
	char *to;

	assert(text.ptr != NULL);
	if (row >= cached->rows || text.len > ROW_CACHE_MAX ||
	    atomic_load(&cached->full) >= cached->room)
		return;
	if (atomic_load_explicit(&cached->at[row], memory_order_relaxed) == 0) {
		atomic_store_explicit(
		    &cached->at[row], SEEN, memory_order_relaxed);
		return;
	}
	to = text_of(cached);
	if (to == NULL)
		return;
	place = atomic_fetch_add(&cached->full, len);
	if (place + len > cached->room)
		return;
	memcpy(to + place, text.ptr, text.len);
	atomic_store_explicit(&cached->at[row],
	    (uint32_t)(place / UNIT << LEN_BITS | text.len),
	    memory_order_release);
}

void
cached_rows_expect(
    const struct cached_rows *cached, const uint32_t *rows, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (rows[i] < cached->rows)
			span_expect_line(&cached->at[rows[i]]);
}
