/*
 * A list is an array of texts, filled from its start, and for each row a place
 * in it: where the text begins, in units of eight bytes, and its length.
 *
 *	at[row]  22 bits place | 10 bits length	length 0: not there
 *
 * Readers take no lock: a place is stored when its text is. Two threads may
 * keep the same row at once; then it is there twice, and the later one stands.
 *
 * Room for as much text as a list may ever hold is mapped when there is a first
 * one: pages that nobody has written to take no memory. It comes from the
 * kernel and goes back there. malloc() would keep what was freed for the next
 * to ask, in each thread's heap, and the ceiling would know nothing of that.
 */
#include "fcgi/rows/excerpts.h"

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
#define SEEN (UINT32_C(1) << LEN_BITS) /* shown once, and not there */

_Static_assert(EXCERPT_MAX == (1 << LEN_BITS) - 1, "a length fits");
_Static_assert(
    EXCERPTS_BYTES / UNIT <= UINT32_C(1) << (32 - LEN_BITS), "a place fits");

struct excerpt {
	atomic_uint users; /* one is the table's */
	char supplier[SCHEMA_CODE_MAX];
	size_t supplier_len;
	uint64_t generation;
	struct columns columns;
	int64_t used_ns;
	uint32_t rows;
	_Atomic uint32_t *at;
	_Atomic(char *) text; /* NULL until there is some */
	size_t room;
	atomic_size_t full; /* bytes; beyond `room` when somebody found none */
};

struct excerpts {
	pthread_mutex_t lock;
	size_t most;
	struct excerpt *list[LISTS];
};

struct excerpts *
excerpts_new(size_t most)
{
	struct excerpts *excerpts = calloc(1, sizeof(*excerpts));

	assert(most > 0 && most <= EXCERPTS_BYTES);
	if (excerpts == NULL)
		return NULL;
	pthread_mutex_init(&excerpts->lock, NULL);
	excerpts->most = most;
	return excerpts;
}

void
excerpt_release(struct excerpt *excerpt)
{
	if (excerpt == NULL || atomic_fetch_sub(&excerpt->users, 1) != 1)
		return;
	if (atomic_load(&excerpt->text) != NULL)
		munmap(atomic_load(&excerpt->text), excerpt->room);
	free(excerpt->at);
	free(excerpt);
}

void
excerpts_free(struct excerpts *excerpts)
{
	if (excerpts == NULL)
		return;
	for (unsigned i = 0; i < LISTS; i++)
		excerpt_release(excerpts->list[i]);
	pthread_mutex_destroy(&excerpts->lock);
	free(excerpts);
}

static struct excerpt *
new_list(
    const struct snapshot *snap, const struct columns *columns, size_t most)
{
	struct span supplier = snapshot_supplier(snap);
	struct excerpt *list;
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
	room = (size_t)list->rows * (EXCERPT_MAX + 1);
	list->room = room < most ? room : most;
	list->at = calloc(list->rows + 1u, sizeof(*list->at));
	if (list->at != NULL)
		return list;
	excerpt_release(list);
	return NULL;
}

static bool
is_for(const struct excerpt *list, const struct snapshot *snap,
    const struct columns *columns)
{
	return list != NULL &&
	    list->generation == snapshot_head(snap)->generation &&
	    memcmp(&list->columns, columns, sizeof(*columns)) == 0 &&
	    span_eq(span_make(list->supplier, list->supplier_len),
		snapshot_supplier(snap));
}

static void
drop(struct excerpts *excerpts, unsigned place)
{
	excerpt_release(excerpts->list[place]);
	excerpts->list[place] = NULL;
}

/* An empty place, or that of the list which was used least recently. */
static unsigned
oldest(const struct excerpts *excerpts, bool or_empty)
{
	unsigned place = LISTS;

	for (unsigned i = 0; i < LISTS; i++) {
		const struct excerpt *list = excerpts->list[i];

		if (list == NULL && or_empty)
			return i;
		if (list != NULL &&
		    (place == LISTS ||
			list->used_ns < excerpts->list[place]->used_ns))
			place = i;
	}
	return place;
}

/* What a list has taken at most: its places and the text so far. */
static size_t
bytes_of_list(const struct excerpt *list)
{
	return list->rows * sizeof(*list->at) +
	    atomic_load_explicit(&list->full, memory_order_relaxed);
}

static size_t
bytes_of(const struct excerpts *excerpts)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < LISTS; i++)
		if (excerpts->list[i] != NULL)
			bytes += bytes_of_list(excerpts->list[i]);
	return bytes;
}

struct excerpt *
excerpts_get(struct excerpts *excerpts, const struct snapshot *snap,
    const struct columns *columns)
{
	struct excerpt *list;
	unsigned place = 0;

	/* The places of so many rows leave little for their text. */
	if (snapshot_rows(snap) > excerpts->most / 2 / sizeof(*list->at))
		return NULL;
	pthread_mutex_lock(&excerpts->lock);
	/* The one that is asked for may go too, and begins anew. */
	while (bytes_of(excerpts) >= excerpts->most)
		drop(excerpts, oldest(excerpts, false));
	while (place < LISTS && !is_for(excerpts->list[place], snap, columns))
		place++;
	if (place == LISTS) {
		place = oldest(excerpts, true);
		drop(excerpts, place);
		excerpts->list[place] = new_list(snap, columns, excerpts->most);
	}
	list = excerpts->list[place];
	if (list != NULL) {
		atomic_fetch_add(&list->users, 1);
		list->used_ns = date_monotonic_ns();
	}
	pthread_mutex_unlock(&excerpts->lock);
	return list;
}

void
excerpts_tick(struct excerpts *excerpts, int64_t seconds)
{
	int64_t before = date_monotonic_ns() - seconds * 1000000000;

	pthread_mutex_lock(&excerpts->lock);
	for (unsigned i = 0; i < LISTS; i++)
		if (excerpts->list[i] != NULL &&
		    excerpts->list[i]->used_ns < before)
			drop(excerpts, i);
	pthread_mutex_unlock(&excerpts->lock);
}

struct span
excerpt_row(const struct excerpt *excerpt, uint32_t row)
{
	uint32_t at;

	if (row >= excerpt->rows)
		return SPAN("");
	at = atomic_load_explicit(&excerpt->at[row], memory_order_acquire);
	if ((at & EXCERPT_MAX) == 0)
		return SPAN("");
	return span_make(
	    atomic_load_explicit(&excerpt->text, memory_order_relaxed) +
		(size_t)(at >> LEN_BITS) * UNIT,
	    at & EXCERPT_MAX);
}

/* Where all of its text goes; NULL when there is no memory. */
static char *
text_of(struct excerpt *list)
{
	char *text = atomic_load(&list->text), *others = NULL;

	if (text != NULL)
		return text;
	text = mmap(NULL, list->room, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (text == MAP_FAILED)
		return NULL;
	/* A huge page would take 2 MB for a row; where refused, it may. */
	madvise(text, list->room, MADV_NOHUGEPAGE);
	if (atomic_compare_exchange_strong(&list->text, &others, text))
		return text;
	munmap(text, list->room);
	return others;
}

void
excerpt_keep(struct excerpt *excerpt, uint32_t row, struct span text)
{
	size_t len = (text.len + UNIT - 1) / UNIT * UNIT, place;
	char *to;

	if (row >= excerpt->rows || text.len > EXCERPT_MAX ||
	    atomic_load(&excerpt->full) >= excerpt->room)
		return;
	if (atomic_load_explicit(&excerpt->at[row], memory_order_relaxed) ==
	    0) {
		atomic_store_explicit(
		    &excerpt->at[row], SEEN, memory_order_relaxed);
		return;
	}
	to = text_of(excerpt);
	if (to == NULL)
		return;
	place = atomic_fetch_add(&excerpt->full, len);
	if (place + len > excerpt->room)
		return;
	memcpy(to + place, text.ptr, text.len);
	atomic_store_explicit(&excerpt->at[row],
	    (uint32_t)(place / UNIT << LEN_BITS | text.len),
	    memory_order_release);
}

void
excerpt_expect(
    const struct excerpt *excerpt, const uint32_t *rows, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (rows[i] < excerpt->rows)
			__builtin_prefetch(&excerpt->at[rows[i]]);
}
