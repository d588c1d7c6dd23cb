#include "fcgi/rows/rowset.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fcgi/rows/filter.h"
#include "fcgi/rows/match.h"
#include "fcgi/rows/shown.h"
#include "fcgi/rows/sort_keys.h"

#define LISTS 24
#define KEY_MAX_BYTES (1u << 20) /* the most that folded words may have */

struct rowlists {
	struct rowlists *next;
	pthread_mutex_t lock;
	struct rowlist *list[LISTS]; /* one reference to each is ours */
};

/*
 * Counts the lists of the process: filters of many large suppliers would
 * otherwise be kept until each snapshot is closed. Its lock is taken before
 * that of a rowlists.
 */
static struct {
	pthread_mutex_t lock;
	struct rowlists *first;
	atomic_size_t bytes; /* of all lists, kept or in use */
	atomic_uint_fast64_t clock;
	atomic_size_t most;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER, .most = ROWLISTS_BYTES};

void
rowlists_limit(size_t bytes)
{
	atomic_store(&shared.most, bytes);
}

size_t
rowlists_bytes(void)
{
	return atomic_load(&shared.bytes);
}

struct rowlists *
rowlists_new(void)
{
	struct rowlists *lists = calloc(1, sizeof(*lists));

	if (lists == NULL)
		return NULL;
	pthread_mutex_init(&lists->lock, NULL);
	pthread_mutex_lock(&shared.lock);
	lists->next = shared.first;
	shared.first = lists;
	pthread_mutex_unlock(&shared.lock);
	return lists;
}

static void
rowlist_release(struct rowlist *list)
{
	assert(list == NULL || atomic_load(&list->users) > 0);
	if (list != NULL && atomic_fetch_sub(&list->users, 1) == 1) {
		atomic_fetch_sub(&shared.bytes, list->bytes);
		free(list->key_text);
		free(list->rows);
		free(list);
	}
}

void
rowlists_free(struct rowlists *lists)
{
	struct rowlists **at = &shared.first;

	if (lists == NULL)
		return;
	pthread_mutex_lock(&shared.lock);
	while (*at != lists)
		at = &(*at)->next;
	*at = lists->next;
	pthread_mutex_unlock(&shared.lock);
	for (unsigned i = 0; i < LISTS; i++)
		rowlist_release(lists->list[i]);
	pthread_mutex_destroy(&lists->lock);
	free(lists);
}

/* --- in which order ------------------------------------------------------- */

static enum err
order_of(const uint32_t **order, struct snapshot *snap,
    const struct rowset_query *query)
{
	unsigned column = rowset_column(query);

	*order = NULL;
	if (column == COL_totalCa && query->descending)
		return ERR_OK; /* the order of the file */
	*order = snapshot_order(snap, column, query->descending);
	return *order == NULL ? ERR_DAMAGED : ERR_OK;
}

/* The array has room for one more than `most`. */
static uint32_t
list_rows(uint32_t *out, const uint8_t *mask, const uint32_t *order,
    uint32_t rows, uint32_t most)
{
	uint32_t count = 0;

	/* Always written, counted on a match: no branch to mispredict. */
	for (uint32_t i = 0; i < rows && count < most; i++) {
		uint32_t row = order == NULL ? i : order[i];

		out[count] = row;
		count += row < rows && mask[row] != 0;
	}
	return count;
}

static enum err
order_as_stored(uint32_t *rows, uint32_t count, struct snapshot *snap,
    const struct rowset_query *query)
{
	const uint32_t *order;
	uint32_t all;
	uint8_t *mask;
	enum err err = order_of(&order, snap, query);

	if (err != ERR_OK || order == NULL || count < 2)
		return err;
	all = snapshot_rows(snap);
	mask = calloc(all, 1);
	if (mask == NULL)
		return ERR_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++)
		mask[rows[i]] = 1;
	/* The order has each row once, so the result has all of them. */
	if (list_rows(rows, mask, order, all, count) != count)
		err = ERR_DAMAGED;
	free(mask);
	return err;
}

enum err
rowset_order(uint32_t *rows, uint32_t count, struct snapshot *snap,
    const struct ranges *ranges, const struct rowset_query *query)
{
	assert(rows != NULL || count == 0);
	if (count == 0)
		return ERR_OK; /* there may be no rows */
	if (rowset_has_keys(query))
		return sort_keys_order(rows, count, snap, ranges, query);
	return shown_differs(snap, ranges, query)
	    ? shown_sort(rows, count, snap, ranges, query)
	    : order_as_stored(rows, count, snap, query);
}

static enum err
find_by_columns(struct matches *found, struct snapshot *snap,
    const struct ranges *ranges, const struct rowset_query *query,
    const uint32_t *order)
{
	uint32_t rows = snapshot_rows(snap);
	uint8_t *mask = malloc(rows + 1u);
	enum err err = ERR_NO_MEMORY;

	found->rows = malloc((rows + 1u) * sizeof(*found->rows));
	if (mask != NULL && found->rows != NULL)
		err = match_mask(mask, snap, ranges, query);
	if (err == ERR_OK)
		found->count = list_rows(found->rows, mask, order, rows, rows);
	free(mask);
	return err;
}

/* Frees unused memory. */
static void
shrink(struct matches *found)
{
	uint32_t *less =
	    realloc(found->rows, (found->count + 1u) * sizeof(*less));

	if (less != NULL)
		found->rows = less;
}

static enum err
find_rows(struct matches *found, struct snapshot *snap,
    const struct ranges *ranges, const struct rowset_query *query)
{
	bool words = query->words.len > 0;
	const uint32_t *order = NULL;
	enum err err;

	if (!words && !rowset_has_keys(query) &&
	    !shown_differs(snap, ranges, query)) {
		err = order_of(&order, snap, query);
		return err == ERR_OK
		    ? find_by_columns(found, snap, ranges, query, order)
		    : err;
	}
	err = words ? match_words(found, snap, ranges, query)
		    : find_by_columns(found, snap, ranges, query, NULL);
	return err == ERR_OK
	    ? rowset_order(found->rows, found->count, snap, ranges, query)
	    : err;
}

/* Takes over the rows found. */
static enum err
make_list(struct rowlist **out, struct matches *found)
{
	struct rowlist *list = calloc(1, sizeof(*list));

	if (list == NULL)
		return ERR_NO_MEMORY;
	shrink(found);
	atomic_init(&list->users, 1);
	list->count = found->count;
	list->bytes = sizeof(*list) + (list->count + 1u) * sizeof(*list->rows);
	atomic_fetch_add(&shared.bytes, list->bytes);
	list->rows = found->rows;
	found->rows = NULL;
	*out = list;
	return ERR_OK;
}

/* --- lists that are kept -------------------------------------------------- */

/* Everything that determines a list, as bytes. */
static void
write_key(struct buf *key, struct snapshot *snap, const struct ranges *ranges,
    const struct rowset_query *query)
{
	bool network = (!row_is_gamme(rowset_column(query)) &&
			   shown_differs(snap, ranges, query)) ||
	    sort_keys_differ(snap, ranges, query) ||
	    filter_is_live(snap, ranges, query);

	buf_add_u64(key, network ? live_network_generation(query->live) : 0);
	buf_add_u64(key, ranges == NULL ? 0 : ranges->gamme);
	buf_add_u64(key, ranges == NULL ? 0 : ranges->state);
	buf_add_char(key, (char)query->gamme);
	buf_add_char(key, (char)query->pending);
	buf_add_char(key, (char)query->raw);
	buf_add_char(key, (char)query->sort);
	buf_add_u32(key, (uint32_t)query->month);
	buf_add_char(key, (char)query->descending);
	for (unsigned i = 0; i < query->code_count; i++) {
		buf_add_u32(key, query->codes[i].code);
		buf_add_u32(key, query->codes[i].divisor);
	}
	for (unsigned i = 0; i < query->more_count; i++) {
		buf_add_char(key, (char)query->more[i].column);
		buf_add_u32(key, (uint32_t)query->more[i].month);
		buf_add_char(key, (char)query->more[i].descending);
	}
	buf_add_char(key, (char)query->more_count);
	buf_add_u32(key, (uint32_t)query->condition_key.len);
	buf_add_span(key, query->condition_key);
	buf_add_span(key, query->words);
}

static struct rowlist *
find_list(struct rowlists *lists, struct span key)
{
	struct rowlist *found = NULL;

	pthread_mutex_lock(&lists->lock);
	for (unsigned i = 0; i < LISTS && found == NULL; i++) {
		struct rowlist *list = lists->list[i];

		if (list != NULL &&
		    span_eq(key, span_make(list->key_text, list->key_len)))
			found = list;
	}
	if (found != NULL) {
		atomic_fetch_add(&found->users, 1);
		found->used = atomic_fetch_add(&shared.clock, 1);
	}
	pthread_mutex_unlock(&lists->lock);
	return found;
}

/* Drops the oldest list of all snapshots; false when none is kept. */
static bool
drop_oldest(void)
{
	struct rowlists *where = NULL;
	uint64_t oldest = UINT64_MAX;
	unsigned place = 0;
	struct rowlist *list;

	for (struct rowlists *at = shared.first; at != NULL; at = at->next) {
		pthread_mutex_lock(&at->lock);
		for (unsigned i = 0; i < LISTS; i++)
			if (at->list[i] != NULL && at->list[i]->used < oldest) {
				oldest = at->list[i]->used;
				where = at;
				place = i;
			}
		pthread_mutex_unlock(&at->lock);
	}
	if (where == NULL)
		return false;
	pthread_mutex_lock(&where->lock);
	list = where->list[place];
	where->list[place] = NULL;
	pthread_mutex_unlock(&where->lock);
	rowlist_release(list);
	return true;
}

/* A list in use is freed when its last request ends. */
static void
make_room(void)
{
	pthread_mutex_lock(&shared.lock);
	while (atomic_load(&shared.bytes) > shared.most && drop_oldest())
		;
	pthread_mutex_unlock(&shared.lock);
}

/* Replaces the least recently used list. */
static void
keep_list(struct rowlists *lists, struct rowlist *list, struct span key)
{
	unsigned place = 0;

	list->key_text = span_dup(key);
	list->key_len = key.len;
	if (list->key_text == NULL)
		return; /* used for this request only, not kept */
	pthread_mutex_lock(&lists->lock);
	for (unsigned i = 0; i < LISTS; i++) {
		if (lists->list[i] == NULL) {
			place = i;
			break;
		}
		if (lists->list[i]->used < lists->list[place]->used)
			place = i;
	}
	rowlist_release(lists->list[place]);
	lists->list[place] = list;
	list->used = atomic_fetch_add(&shared.clock, 1);
	atomic_fetch_add(&list->users, 1);
	pthread_mutex_unlock(&lists->lock);
	if (atomic_load(&shared.bytes) > shared.most)
		make_room();
}

static enum err
get_list(struct rowlist **out, struct pinned *pinned,
    const struct ranges *ranges, const struct rowset_query *query)
{
	struct matches found = {NULL, 0};
	struct buf key;
	enum err err = ERR_OK;

	buf_init(&key, KEY_MAX_BYTES);
	write_key(&key, pinned->snap, ranges, query);
	if (buf_end(&key) != ERR_OK) {
		err = buf_end(&key);
		buf_fini(&key);
		return err;
	}
	*out = find_list(pinned->lists, buf_span(&key));
	if (*out == NULL) {
		err = find_rows(&found, pinned->snap, ranges, query);
		if (err == ERR_OK)
			err = make_list(out, &found);
		if (err == ERR_OK)
			keep_list(pinned->lists, *out, buf_span(&key));
		free(found.rows);
	}
	buf_fini(&key);
	return err;
}

static bool
filters(const struct rowset_query *query)
{
	for (unsigned i = 0; i < query->code_count; i++)
		if (query->codes[i].code != PARAMS_NO_CODE)
			return true;
	return query->gamme != ROW_GAMME_NONE || query->pending ||
	    query->condition_count > 0 || query->words.len > 0;
}

/* The page's place among `total` rows; limit 0 is all of them. */
static void
cut_page(struct rowset *set, int64_t page, int64_t limit)
{
	__int128 first = (__int128)(page - 1) * limit;

	if (limit == 0)
		first = page == 1 ? 0 : set->total;
	if (first > set->total)
		first = set->total;
	set->first = (uint32_t)first;
	set->count = set->total - set->first;
	if (limit > 0 && (int64_t)set->count > limit)
		set->count = (uint32_t)limit;
}

enum err
rowset_get(struct rowset *set, struct pinned *pinned,
    const struct ranges *ranges, const struct rowset_query *query, int64_t page,
    int64_t limit)
{
	enum err err;

	assert(pinned != NULL && page >= 1 && limit >= 0);
	memset(set, 0, sizeof(*set));
	if (!filters(query) && !rowset_has_keys(query) &&
	    !shown_differs(pinned->snap, ranges, query)) {
		set->total = snapshot_rows(pinned->snap);
		err = order_of(&set->order, pinned->snap, query);
	} else {
		err = get_list(&set->list, pinned, ranges, query);
		if (err == ERR_OK) {
			set->total = set->list->count;
			set->order = set->list->rows;
		}
	}
	if (err == ERR_OK)
		cut_page(set, page, limit);
	return err;
}

void
rowset_of(struct rowset *set, const uint32_t *rows, uint32_t total,
    int64_t page, int64_t limit)
{
	assert((rows != NULL || total == 0) && page >= 1 && limit >= 0);
	*set = (struct rowset){.total = total, .order = rows};
	cut_page(set, page, limit);
}

void
rowset_release(struct rowset *set)
{
	rowlist_release(set->list);
	set->list = NULL;
}
