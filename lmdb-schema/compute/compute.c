#include "lmdb-schema/compute/compute.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/date.h"
#include "lmdb-schema/compute/begun.h"
#include "lmdb-schema/compute/compute_priv.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/store/store.h"

#define SLICE_ROWS 4096
#define SLICE_BYTES_MAX ((size_t)2 << 30)
#define THREADS_MAX 64

/* --- threads ------------------------------------------------------------ */

struct crew {
	struct computing *c;
	unsigned count;
	atomic_uint next;
	enum err (*run)(struct computing *c, unsigned task, struct buf *flats,
	    struct buf *maps);
};

static void
fail(struct computing *c, enum err err)
{
	enum err none = ERR_OK;

	atomic_compare_exchange_strong(&c->err, &none, err);
}

static void *
work(void *context)
{
	struct crew *crew = context;
	struct computing *c = crew->c;
	struct buf flats, maps;
	unsigned task;

	buf_init(&flats, SLICE_BYTES_MAX);
	buf_init(&maps, SLICE_BYTES_MAX);
	while (atomic_load(&c->err) == ERR_OK &&
	    (task = atomic_fetch_add(&crew->next, 1)) < crew->count) {
		enum err err = crew->run(c, task, &flats, &maps);

		if (err != ERR_OK)
			fail(c, err);
	}
	buf_fini(&flats);
	buf_fini(&maps);
	return NULL;
}

enum err
computing_parallel(struct computing *c, unsigned count,
    enum err (*run)(struct computing *c, unsigned task, struct buf *flats,
	struct buf *maps))
{
	struct crew crew = {.c = c, .count = count, .run = run};
	pthread_t threads[THREADS_MAX];
	unsigned started = 0;

	assert(run != NULL && c->options->threads >= 1);
	/*
	 * The calling thread works too, so a failure to start another is
	 * harmless.
	 */
	while (started + 1 < c->options->threads && started < THREADS_MAX &&
	    started + 1 < count &&
	    pthread_create(&threads[started], NULL, work, &crew) == 0)
		started++;
	work(&crew);
	for (unsigned i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	return atomic_load(&c->err);
}

/* --- one computation ---------------------------------------------------- */

static enum err
set_up(struct computing *c)
{
	const struct source_header *header;
	enum err err = live_view_open(&c->live, c->store);

	if (err == ERR_OK)
		err = source_open_verified(&c->source, c->store);
	if (err == ERR_OK)
		err = source_supplier(c->source, c->supplier, &c->info);
	if (err != ERR_OK)
		return err;
	if (c->info.articles == 0)
		return ERR_EXISTS;
	if (c->info.articles >= UINT32_MAX / 2)
		return ERR_TOO_LARGE;
	header = source_header(c->source);
	c->count = (uint32_t)c->info.articles;
	c->period.as_of_day = c->options->as_of_day;
	if (c->options->as_of_day == DATE_NULL) {
		c->period.last_month = header->newest_month;
		c->period.as_of_day = date_month_last_day(header->newest_month);
	} else
		c->period.last_month = date_month_of_day(c->options->as_of_day);
	c->period.oldest_sales = header->oldest_sales;
	return rowjson_init(&c->json, c->source, &c->period);
}

static void
fill_head(struct computing *c, uint64_t last_generation)
{
	struct snap_head *head = &c->head;

	head->rows = c->count;
	head->slice_rows = SLICE_ROWS;
	while (c->count / head->slice_rows > 128)
		head->slice_rows *= 2;
	head->generation = key_generation_next(last_generation);
	head->facts = source_generation(c->source);
	head->network = live_network_generation(c->live);
	head->gamme = live_gamme_generation(c->live, c->supplier);
	head->computed_ms = date_now_ms();
	head->as_of_day = c->period.as_of_day;
	head->last_month = c->period.last_month;
	head->oldest_sales = c->period.oldest_sales;
}

static enum err
write_task(
    struct computing *c, unsigned task, struct buf *flats, struct buf *maps)
{
	enum err err = computing_task(c, task, flats, maps);
	unsigned done = atomic_fetch_add(&c->done, 1) + 1;

	if (c->options->at != NULL)
		c->options->at(c->options->context,
		    (uint64_t)c->count * done / computing_tasks(c), c->count);
	return err;
}

static enum err
write_file(struct computing *c, uint64_t *bytes)
{
	enum err err = snapwrite_begin(
	    &c->write, c->store, c->supplier, c->info.name, &c->head);

	c->flat_at = calloc(c->count + 1u, sizeof(*c->flat_at));
	c->maps_at = calloc(c->count + 1u, sizeof(*c->maps_at));
	if (c->flat_at == NULL || c->maps_at == NULL)
		err = ERR_NO_MEMORY;
	if (err == ERR_OK) {
		snapwrite_left_out(c->write, c->left_out);
		err = computing_sums_begin(c);
	}
	if (err == ERR_OK)
		err = computing_parallel(c, computing_tasks(c), write_task);
	if (err == ERR_OK)
		err = computing_sums_put(c);
	if (err != ERR_OK) {
		snapwrite_abort(c->write);
		return err;
	}
	snapwrite_put(
	    c->write, SNAP_FLATS, c->flat_at, c->count * sizeof(*c->flat_at));
	snapwrite_put(
	    c->write, SNAP_MAPS, c->maps_at, c->count * sizeof(*c->maps_at));
	return snapwrite_end(c->write, bytes);
}

static void
remove_file(struct store *store, struct span supplier, uint64_t generation)
{
	char path[FS_PATH_MAX];

	if (store_snapshot_path(path, store, supplier, generation, "") ==
	    ERR_OK)
		unlink(path);
}

/* The caller holds the supplier's lock and a slot. */
static enum err
compute_now(struct catalog_entry *entry, struct store *store,
    struct span supplier, const struct compute_options *options,
    uint64_t last_generation, const struct compute_publisher *publisher)
{
	struct computing c = {
	    .store = store, .supplier = supplier, .options = options};
	enum err err = set_up(&c);

	if (err == ERR_OK)
		err = computing_load(&c);
	if (err == ERR_OK)
		err = computing_rank(&c);
	if (err == ERR_OK) {
		fill_head(&c, last_generation);
		err = write_file(&c, &entry->bytes);
	}
	if (err == ERR_OK) {
		entry->generation = c.head.generation;
		entry->computed_ms = c.head.computed_ms;
		entry->rows = c.count;
		entry->facts = c.head.facts;
		entry->network = c.head.network;
		entry->gamme = c.head.gamme;
		err = publisher->publish(publisher->context, entry);
		if (err != ERR_OK)
			remove_file(store, supplier, entry->generation);
	}
	computing_unload(&c);
	computing_sums_end(&c);
	free(c.flat_at);
	free(c.maps_at);
	rowjson_fini(&c.json);
	live_view_close(c.live);
	source_close(c.source);
	return err;
}

/* --- one at a time ------------------------------------------------------ */

static uint64_t
generation_now(struct store *store, struct span supplier)
{
	struct catalog_entry entry;

	if (catalog_current(store, supplier, &entry) != ERR_OK)
		return 0;
	return entry.generation;
}

/* Before any lock file is made. */
enum err
compute_known(struct store *store, struct span supplier)
{
	struct source_supplier info;
	struct source *source;
	enum err err = source_open(&source, store);

	if (err == ERR_NOT_FOUND)
		return ERR_NOT_READY;
	if (err == ERR_OK)
		err = source_supplier(source, supplier, &info);
	if (err == ERR_OK && info.articles == 0)
		err = ERR_EXISTS;
	source_close(source);
	return err;
}

/* Another process has published it meanwhile: then no work is left. */
bool
compute_was_done(struct store *store, struct span supplier, uint64_t before)
{
	struct catalog_entry entry;
	bool stale = true;

	return catalog_current(store, supplier, &entry) == ERR_OK &&
	    entry.generation > before &&
	    compute_is_stale(&stale, store, supplier, &entry) == ERR_OK &&
	    !stale;
}

enum err
compute_locked(struct compute_result *result, struct store *store,
    struct span supplier, const struct compute_options *options,
    uint64_t before, const struct compute_publisher *publisher)
{
	struct begun begun;
	enum err err;

	assert(options->threads >= 1);
	begun_note(&begun, store, supplier, before);
	result->noted = begun.fd >= 0;
	err = compute_now(
	    &result->entry, store, supplier, options, before, publisher);
	if (err == ERR_OK || compute_is_answer(err))
		begun_done(&begun);
	else
		begun_failed(&begun, compute_why(err));
	return err;
}

struct publishing {
	struct store *store;
	struct span supplier;
};

static enum err
publish(void *context, const struct catalog_entry *entry)
{
	const struct publishing *publishing = context;

	return catalog_publish(publishing->store, publishing->supplier, entry);
}

enum err
compute_supplier(struct compute_result *result, struct store *store,
    struct span supplier, const struct compute_options *options)
{
	struct publishing publishing = {store, supplier};
	const struct compute_publisher publisher = {publish, &publishing};
	int lock = -1, slot = -1;
	uint64_t before = generation_now(store, supplier);
	int64_t start = date_monotonic_ns();
	enum err err = compute_known(store, supplier);

	assert(options->threads >= 1 && options->slots >= 1);
	memset(result, 0, sizeof(*result));
	if (err == ERR_OK)
		err = store_lock_supplier(&lock, store, supplier, true);
	/*
	 * With a day given, a snapshot from another process has the wrong day.
	 */
	if (err == ERR_OK && options->as_of_day == DATE_NULL)
		result->shared = compute_was_done(store, supplier, before);
	if (err == ERR_OK && result->shared)
		err = catalog_current(store, supplier, &result->entry);
	else if (err == ERR_OK) {
		err = store_lock_slot(
		    &slot, store, options->slots, options->wait);
		if (err == ERR_OK)
			err = compute_locked(result, store, supplier, options,
			    generation_now(store, supplier), &publisher);
	}
	if (slot >= 0)
		close(slot);
	if (lock >= 0)
		close(lock);
	result->ms = (date_monotonic_ns() - start) / 1000000;
	return err;
}

bool
compute_is_answer(enum err err)
{
	return err == ERR_BUSY || err == ERR_NOT_FOUND || err == ERR_EXISTS ||
	    err == ERR_NOT_READY;
}

const char *
compute_why(enum err err)
{
	if (err == ERR_NOT_READY)
		return "nothing was imported yet";
	if (err == ERR_NOT_FOUND)
		return "there is no such supplier ('gridctl suppliers' lists "
		       "them)";
	if (err == ERR_EXISTS)
		return "it has no article: there is nothing to compute";
	if (err == ERR_BUSY)
		return "too many computations are running: try again later";
	if (err == ERR_DAMAGED)
		return "stored data is damaged ('gridctl check' says which): "
		       "import the facts again";
	return err_text(err);
}

enum err
compute_is_stale(bool *stale, struct store *store, struct span supplier,
    const struct catalog_entry *entry)
{
	struct live_view *live;
	enum err err = live_view_open(&live, store);

	assert(entry != NULL);
	if (err != ERR_OK)
		return err;
	*stale =
	    !live_is_unchanged(live, supplier, entry->facts, entry->network) ||
	    entry->gamme != live_gamme_generation(live, supplier);
	live_view_close(live);
	return ERR_OK;
}
