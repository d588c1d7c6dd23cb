#include "fcgi/rowset.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define LISTS 24
#define KEY_MAX_BYTES (1u << 20) /* as much as folded words may have */

struct rowlists {
	pthread_mutex_t lock;
	uint64_t clock;
	struct rowlist *list[LISTS]; /* one use of each is ours */
};

struct rowlists *
rowlists_new(void)
{
	struct rowlists *lists = calloc(1, sizeof(*lists));

	if (lists != NULL)
		pthread_mutex_init(&lists->lock, NULL);
	return lists;
}

static void
rowlist_release(struct rowlist *list)
{
	if (list != NULL && atomic_fetch_sub(&list->users, 1) == 1) {
		free(list->key_text);
		free(list);
	}
}

void
rowlists_free(struct rowlists *lists)
{
	if (lists == NULL)
		return;
	for (unsigned i = 0; i < LISTS; i++)
		rowlist_release(lists->list[i]);
	pthread_mutex_destroy(&lists->lock);
	free(lists);
}

/* --- which rows match --------------------------------------------------------
 */

/* Each filter leaves 1 where the row still matches. */
static void
match_code(uint8_t *mask, const uint32_t *code3, uint32_t rows,
    const struct code_filter *filter)
{
	uint32_t low = filter->code * filter->divisor;
	uint32_t width = filter->divisor;

	/* One comparison: what is below `low` wraps round to far above. */
	for (uint32_t i = 0; i < rows; i++)
		mask[i] &= code3[i] - low < width;
}

static void
match_gamme(uint8_t *mask, const uint8_t *gammes, uint32_t rows, uint8_t gamme)
{
	for (uint32_t i = 0; i < rows; i++)
		mask[i] &= gammes[i] == gamme;
}

/* While nothing has changed since the computation, nothing is pending. */
static void
match_pending(uint8_t *mask, const struct ranges *ranges, uint32_t rows)
{
	for (uint32_t i = 0; i < rows; i++)
		mask[i] &=
		    ranges != NULL && ranges->pending[i] != ROW_GAMME_NONE;
}

/* The word in each of the rows that still match. */
static void
check_word(uint8_t *mask, uint32_t rows, struct span text, const uint32_t *at,
    struct span word)
{
	for (uint32_t i = 0; i < rows; i++)
		if (mask[i] != 0 &&
		    memmem(text.ptr + at[i], at[i + 1] - at[i], word.ptr,
			word.len) == NULL)
			mask[i] = 0;
}

/* The row whose text holds the place: the last one that begins at or before. */
static uint32_t
row_at(const uint32_t *at, uint32_t low, uint32_t rows, size_t place)
{
	uint32_t high = low + 1, step = 1;

	while (high < rows && at[high] <= place) {
		low = high;
		high = rows - low > step ? low + step : rows;
		step *= 2;
	}
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (at[middle] <= place)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* The first word is looked for in all the text at once. */
static void
scan_word(uint8_t *mask, uint32_t rows, struct span text, const uint32_t *at,
    struct span word)
{
	const char *from = text.ptr, *end = text.ptr + text.len;
	uint32_t row = 0, next = 0;
	const char *hit;

	while (next < rows &&
	    (hit = memmem(from, (size_t)(end - from), word.ptr, word.len)) !=
		NULL) {
		row = row_at(at, next, rows, (size_t)(hit - text.ptr));
		memset(mask + next, 0, row - next);
		next = row + 1;
		from = text.ptr + at[next];
	}
	memset(mask + next, 0, rows - next);
}

static bool
places_fit(struct span text, const uint32_t *at, uint32_t rows)
{
	for (uint32_t i = 0; i < rows; i++)
		if (at[i] > at[i + 1])
			return false;
	return at[rows] == text.len;
}

/* The longest word first: it has the fewest hits. */
static enum err
match_words(
    uint8_t *mask, struct snapshot *snap, uint32_t rows, struct span words)
{
	struct span text, word, rest = words, longest = SPAN("");
	const uint32_t *at;

	if (!snapshot_text(snap, &text, &at) || !places_fit(text, at, rows))
		return ERR_DAMAGED;
	while (span_cut(&word, &rest, ' '))
		if (word.len > longest.len)
			longest = word;
	scan_word(mask, rows, text, at, longest);
	rest = words;
	while (span_cut(&word, &rest, ' '))
		if (word.ptr != longest.ptr && word.len > 0)
			check_word(mask, rows, text, at, word);
	return ERR_OK;
}

static enum err
make_mask(uint8_t *mask, struct snapshot *snap, const struct ranges *ranges,
    const struct rowset_query *query)
{
	uint32_t rows = snapshot_rows(snap);
	const uint8_t *gammes =
	    ranges == NULL ? snapshot_gammes(snap) : ranges->shown;
	const uint32_t *code3 = snapshot_code3(snap);

	if (gammes == NULL || code3 == NULL)
		return ERR_DAMAGED;
	memset(mask, 1, rows);
	for (unsigned i = 0; i < query->code_count; i++)
		if (query->codes[i].code != PARAMS_NO_CODE)
			match_code(mask, code3, rows, &query->codes[i]);
	if (query->gamme != ROW_GAMME_NONE)
		match_gamme(mask, gammes, rows, query->gamme);
	if (query->pending)
		match_pending(mask, ranges, rows);
	if (query->words.len > 0)
		return match_words(mask, snap, rows, query->words);
	return ERR_OK;
}

/* --- in which order
 * ----------------------------------------------------------- */

static enum err
order_of(const uint32_t **order, struct snapshot *snap,
    const struct rowset_query *query)
{
	unsigned column = query->sort < 0 ? COL_totalCa : (unsigned)query->sort;

	*order = NULL;
	if (column == COL_totalCa && query->descending)
		return ERR_OK; /* the rows' own */
	*order = snapshot_order(snap, column, query->descending);
	return *order == NULL ? ERR_DAMAGED : ERR_OK;
}

static uint32_t
list_rows(
    uint32_t *out, const uint8_t *mask, const uint32_t *order, uint32_t rows)
{
	uint32_t count = 0;

	/* Written always, counted when it matches: no branch to mispredict. */
	for (uint32_t i = 0; i < rows; i++) {
		uint32_t row = order == NULL ? i : order[i];

		out[count] = row;
		count += row < rows && mask[row] != 0;
	}
	return count;
}

static enum err
make_list(struct rowlist **out, struct snapshot *snap,
    const struct ranges *ranges, const struct rowset_query *query)
{
	uint32_t rows = snapshot_rows(snap);
	uint8_t *mask = malloc(rows + 1u);
	struct rowlist *list =
	    malloc(sizeof(*list) + ((size_t)rows + 1) * sizeof(uint32_t));
	const uint32_t *order;
	enum err err = ERR_NO_MEMORY;

	if (mask != NULL && list != NULL)
		err = make_mask(mask, snap, ranges, query);
	if (err == ERR_OK)
		err = order_of(&order, snap, query);
	if (err == ERR_OK) {
		atomic_init(&list->users, 1);
		list->key_text = NULL;
		list->count = list_rows(list->rows, mask, order, rows);
		/* Shrinking may move it; if it cannot, it stays as it is. */
		*out = realloc(list,
		    sizeof(*list) +
			((size_t)list->count + 1) * sizeof(uint32_t));
		if (*out == NULL)
			*out = list;
		list = NULL;
	}
	free(mask);
	free(list);
	return err;
}

/* --- lists that are kept
 * --------------------------------------------------------- */

/* All that decides a list, as bytes. */
static void
write_key(struct buf *key, const struct ranges *ranges,
    const struct rowset_query *query)
{
	buf_add_u64(key, ranges == NULL ? 0 : ranges->gamme);
	buf_add_u64(key, ranges == NULL ? 0 : ranges->state);
	buf_add_char(key, (char)query->gamme);
	buf_add_char(key, (char)query->pending);
	buf_add_char(key, (char)query->sort);
	buf_add_char(key, (char)query->descending);
	for (unsigned i = 0; i < query->code_count; i++) {
		buf_add_u32(key, query->codes[i].code);
		buf_add_u32(key, query->codes[i].divisor);
	}
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
		found->used = ++lists->clock;
	}
	pthread_mutex_unlock(&lists->lock);
	return found;
}

/* In the place of the one that was used least recently. */
static void
keep_list(struct rowlists *lists, struct rowlist *list, struct span key)
{
	unsigned place = 0;

	list->key_text = span_dup(key);
	list->key_len = key.len;
	if (list->key_text == NULL)
		return; /* it serves this request, and is not kept */
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
	list->used = ++lists->clock;
	atomic_fetch_add(&list->users, 1);
	pthread_mutex_unlock(&lists->lock);
}

static enum err
get_list(struct rowlist **out, struct pinned *pinned,
    const struct ranges *ranges, const struct rowset_query *query)
{
	struct buf key;
	enum err err = ERR_OK;

	buf_init(&key, KEY_MAX_BYTES);
	write_key(&key, ranges, query);
	if (buf_end(&key) != ERR_OK) {
		err = buf_end(&key);
		buf_fini(&key);
		return err;
	}
	*out = find_list(pinned->lists, buf_span(&key));
	if (*out == NULL) {
		err = make_list(out, pinned->snap, ranges, query);
		if (err == ERR_OK)
			keep_list(pinned->lists, *out, buf_span(&key));
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
	    query->words.len > 0;
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

	memset(set, 0, sizeof(*set));
	if (!filters(query)) {
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
rowset_release(struct rowset *set)
{
	rowlist_release(set->list);
	set->list = NULL;
}
