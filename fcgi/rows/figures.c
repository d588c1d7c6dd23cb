#include "fcgi/rows/figures.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/date.h"
#include "fcgi/rows/map_cells.h"

struct figures {
	struct figures *next;
	unsigned users; /* requests */
	int64_t used_ns;
	uint64_t generation;
	uint32_t code_len;
	char code[SCHEMA_CODE_MAX]; /* the supplier's */
	enum snap_measure measure;
	unsigned width;
	int64_t unit;
	uint32_t rows;
	size_t bytes;
	char
	    *values; /* NULL: more bytes than are kept, so nobody tries again */
};

struct figures_cache {
	pthread_mutex_t lock; /* of the list */
	pthread_mutex_t making; /* one at a time; taken before `lock` */
	size_t most, bytes;
	struct figures *first;
};

struct figures_cache *
figures_cache_new(size_t most)
{
	struct figures_cache *cache = calloc(1, sizeof(*cache));

	if (cache == NULL)
		return NULL;
	pthread_mutex_init(&cache->lock, NULL);
	pthread_mutex_init(&cache->making, NULL);
	cache->most = most;
	return cache;
}

static void
drop(struct figures_cache *cache, struct figures *figures)
{
	struct figures **at = &cache->first;

	assert(figures->users == 0);
	while (*at != figures)
		at = &(*at)->next;
	*at = figures->next;
	cache->bytes -= figures->bytes;
	free(figures->values);
	free(figures);
}

void
figures_cache_free(struct figures_cache *cache)
{
	if (cache == NULL)
		return;
	while (cache->first != NULL)
		drop(cache, cache->first);
	pthread_mutex_destroy(&cache->making);
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

void
figures_cache_tick(struct figures_cache *cache, int64_t seconds)
{
	int64_t before = date_monotonic_ns() - seconds * 1000000000;
	struct figures *next;

	pthread_mutex_lock(&cache->lock);
	for (struct figures *at = cache->first; at != NULL; at = next) {
		next = at->next;
		if (at->users == 0 && at->used_ns < before)
			drop(cache, at);
	}
	pthread_mutex_unlock(&cache->lock);
}

struct plane
figures_plane(const struct figures *figures, unsigned store, unsigned month)
{
	size_t place = (size_t)store * SCHEMA_MONTHS + month;

	return (struct plane){
	    figures->values + place * figures->rows * figures->width,
	    figures->width, figures->unit};
}

/* --- making --------------------------------------------------------------- */

/* False when the figure is no whole number of units, or too large. */
static inline bool
put_figure(
    char *plane, const struct figures *figures, uint32_t row, int64_t micro)
{
	/* Faster than a division of whole numbers; proved in the end. */
	double units = (double)micro / (double)figures->unit;

	if (figures->width == 2 && units > INT16_MIN && units <= INT16_MAX)
		((int16_t *)(void *)plane)[row] = (int16_t)units;
	else if (figures->width == 4 && units > INT32_MIN && units <= INT32_MAX)
		((int32_t *)(void *)plane)[row] = (int32_t)units;
	else
		return false;
	return (int64_t)units * figures->unit == micro;
}

static void
put_none(char *plane, unsigned width, uint32_t row)
{
	if (width == 2)
		((int16_t *)(void *)plane)[row] = INT16_MIN;
	else
		((int32_t *)(void *)plane)[row] = INT32_MIN;
}

static bool
put_row(struct figures *figures, const struct map_cells *reader, uint32_t row)
{
	size_t step = (size_t)figures->rows * figures->width;
	char *plane = figures->values;

	for (unsigned i = 0; i < reader->count; i++, plane += step) {
		int64_t micro = reader->cells[i];

		if (figures->width == 8)
			((int64_t *)(void *)plane)[row] = micro;
		else if (micro == NUM_NULL)
			put_none(plane, figures->width, row);
		else if (!put_figure(plane, figures, row, micro))
			return false;
	}
	return true;
}

/* ERR_TOO_LARGE: a figure does not fit. */
static enum err
fill(struct figures *figures, struct map_cells *reader)
{
	enum err err = ERR_OK;

	for (uint32_t row = 0; row < figures->rows && err == ERR_OK; row++) {
		err = map_cells_read(reader, row);
		if (err == ERR_OK && !put_row(figures, reader, row))
			err = ERR_TOO_LARGE;
	}
	return err;
}

/* Makes room. ERR_TOO_LARGE: never; ERR_BUSY: those in use leave none. */
static enum err
take_bytes(struct figures_cache *cache, size_t bytes)
{
	enum err err = ERR_OK;

	if (bytes > cache->most)
		return ERR_TOO_LARGE;
	pthread_mutex_lock(&cache->lock);
	while (cache->bytes > cache->most - bytes && err == ERR_OK) {
		struct figures *oldest = NULL;

		for (struct figures *at = cache->first; at != NULL;
		     at = at->next)
			if (at->users == 0 &&
			    (oldest == NULL || at->used_ns < oldest->used_ns))
				oldest = at;
		if (oldest == NULL)
			err = ERR_BUSY;
		else
			drop(cache, oldest);
	}
	if (err == ERR_OK)
		cache->bytes += bytes;
	pthread_mutex_unlock(&cache->lock);
	return err;
}

static void
give_bytes(struct figures_cache *cache, size_t bytes)
{
	pthread_mutex_lock(&cache->lock);
	cache->bytes -= bytes;
	pthread_mutex_unlock(&cache->lock);
}

/* With this width; ERR_TOO_LARGE: a figure, or all of them, do not fit. */
static enum err
try_width(struct figures *figures, struct figures_cache *cache,
    struct map_cells *reader, unsigned width)
{
	size_t bytes = (size_t)reader->count * figures->rows * width;
	enum err err = take_bytes(cache, bytes);

	if (err != ERR_OK)
		return err;
	figures->width = width;
	figures->bytes = bytes;
	figures->values = malloc(bytes + 1);
	err = figures->values == NULL ? ERR_NO_MEMORY : fill(figures, reader);
	if (err != ERR_OK) {
		free(figures->values);
		give_bytes(cache, bytes);
	}
	return err;
}

/* Whole numbers in few bytes are likely; then the sums' unit; then all. */
static enum err
fill_any(struct figures *figures, struct figures_cache *cache,
    struct map_cells *reader, int64_t unit)
{
	const struct {
		unsigned width;
		int64_t unit;
	} tries[] = {{2, unit}, {4, unit}, {8, 1}};
	enum err err = ERR_TOO_LARGE;

	for (unsigned i = 0;
	     i < sizeof(tries) / sizeof(tries[0]) && err == ERR_TOO_LARGE;
	     i++) {
		figures->unit = tries[i].unit;
		err = try_width(figures, cache, reader, tries[i].width);
	}
	if (err != ERR_TOO_LARGE)
		return err;
	figures->values = NULL;
	figures->bytes = 0;
	return ERR_OK;
}

/* With a use by the caller. */
static void
keep(struct figures_cache *cache, struct figures *figures)
{
	pthread_mutex_lock(&cache->lock);
	figures->users = 1;
	figures->used_ns = date_monotonic_ns();
	figures->next = cache->first;
	cache->first = figures;
	pthread_mutex_unlock(&cache->lock);
}

static enum err
make_figures(struct figures **out, struct figures_cache *cache,
    struct snapshot *snap, enum snap_measure measure)
{
	const struct snap_head *head = snapshot_head(snap);
	struct figures *figures = calloc(1, sizeof(*figures));
	struct snapshot_narrow sums;
	struct map_cells reader;
	enum err err = map_cells_init(&reader, snap, measure);

	if (figures == NULL)
		err = ERR_NO_MEMORY;
	if (err == ERR_OK && !snapshot_month(snap, measure, 0, &sums))
		err = ERR_DAMAGED;
	if (err == ERR_OK) {
		figures->generation = head->generation;
		figures->code_len = head->code_len;
		memcpy(figures->code, head->code, sizeof(figures->code));
		figures->measure = measure;
		figures->rows = head->rows;
		err = fill_any(figures, cache, &reader, sums.unit);
	}
	map_cells_fini(&reader);
	if (err == ERR_OK)
		keep(cache, figures);
	else
		free(figures);
	*out = err == ERR_OK ? figures : NULL;
	return err == ERR_BUSY || err == ERR_NO_MEMORY ? ERR_OK : err;
}

/* --- kept ----------------------------------------------------------------- */

/* A use of those that are kept; NULL: they are not. */
static struct figures *
find(struct figures_cache *cache, const struct snapshot *snap,
    enum snap_measure measure)
{
	const struct snap_head *head = snapshot_head(snap);
	struct figures *at;

	pthread_mutex_lock(&cache->lock);
	for (at = cache->first; at != NULL; at = at->next)
		if (at->generation == head->generation &&
		    at->measure == measure && at->code_len == head->code_len &&
		    memcmp(at->code, head->code, head->code_len) == 0)
			break;
	if (at != NULL) {
		at->users++;
		at->used_ns = date_monotonic_ns();
	}
	pthread_mutex_unlock(&cache->lock);
	return at;
}

void
figures_release(struct figures_cache *cache, struct figures *figures)
{
	if (figures == NULL)
		return;
	pthread_mutex_lock(&cache->lock);
	assert(figures->users > 0);
	figures->users--;
	pthread_mutex_unlock(&cache->lock);
}

enum err
figures_get(struct figures **out, struct figures_cache *cache,
    struct snapshot *snap, enum snap_measure measure, bool make)
{
	enum err err = ERR_OK;

	assert(measure < SNAP_MEASURES);
	*out = find(cache, snap, measure);
	if (*out == NULL && make) {
		pthread_mutex_lock(&cache->making);
		*out = find(cache, snap, measure);
		if (*out == NULL)
			err = make_figures(out, cache, snap, measure);
		pthread_mutex_unlock(&cache->making);
	}
	if (*out != NULL && (*out)->values == NULL) {
		figures_release(cache, *out);
		*out = NULL;
	}
	return err;
}
