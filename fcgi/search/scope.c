#include "fcgi/search/scope.h"

#include <assert.h>
#include <stdlib.h>

#include "common/date.h"
#include "common/log.h"
#include "fcgi/rows/on_demand.h"
#include "fcgi/rows/snapview.h"
#include "fcgi/search/scope_priv.h"
#include "fcgi/settings.h"
#include "lmdb-schema/facts/live.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/snapshot/snapshot.h"
#include "lmdb-schema/state/state.h"
#include "lmdb-schema/store/store.h"

/* Suppliers in a part, when there are more than may be open. */
#define PART 64

struct scope_slot {
	pthread_mutex_t lock;
	struct scope_kept *present; /* one reference is the slot's own */
	struct word_index *index; /* as of this one */
	int64_t used_ns, looked_ns;
};

struct scope_slot *
scope_slot_new(void)
{
	struct scope_slot *slot = calloc(1, sizeof(*slot));

	if (slot != NULL)
		pthread_mutex_init(&slot->lock, NULL);
	return slot;
}

static void
close_view(struct scope_kept *kept, struct snapview *view)
{
	ranges_release(view->ranges);
	if (view->pinned != NULL)
		snapcache_unpin(kept->snapcache, view->pinned);
}

void
scope_release(struct scope *scope)
{
	struct scope_kept *kept = (struct scope_kept *)scope;

	assert(kept == NULL || atomic_load(&kept->users) > 0);
	if (kept == NULL || atomic_fetch_sub(&kept->users, 1) != 1)
		return;
	for (unsigned i = 0; i < scope->count; i++)
		close_view(kept, &scope->views[i]);
	word_index_close(scope->index);
	pthread_mutex_destroy(&kept->lock);
	free(scope->views);
	free(scope->hays);
	free(scope->loose);
	free(scope->place);
	free(scope->there);
	free(kept->open);
	free(kept->generations);
	free(kept->codes);
	free(kept);
}

static void
release_held(void *owner, void *scope)
{
	(void)owner;
	scope_release(scope);
}

enum err
scope_hold(struct scope *scope, struct call *call)
{
	return scope == NULL ? ERR_OK
			     : call_hold(call, release_held, NULL, scope);
}

void
scope_slot_free(struct scope_slot *slot)
{
	if (slot == NULL)
		return;
	if (slot->present != NULL)
		scope_release(&slot->present->scope);
	word_index_close(slot->index);
	pthread_mutex_destroy(&slot->lock);
	free(slot);
}

/*
 * A slot's scope and word index: taken out under its lock, released without it.
 */
struct taken_out {
	struct scope_kept *scope;
	struct word_index *index;
};

static struct taken_out
take_out(struct scope_slot *slot)
{
	struct taken_out out = {slot->present, slot->index};

	slot->present = NULL;
	slot->index = NULL;
	return out;
}

static void
let_go(struct taken_out out)
{
	if (out.scope != NULL)
		scope_release(&out.scope->scope);
	word_index_close(out.index);
}

void
scope_slot_tick(struct scope_slot *slot, int64_t seconds)
{
	struct taken_out out = {NULL, NULL};

	pthread_mutex_lock(&slot->lock);
	if (slot->used_ns < date_monotonic_ns() - seconds * 1000000000)
		out = take_out(slot);
	pthread_mutex_unlock(&slot->lock);
	let_go(out);
}

enum err
scope_view(const struct snapview **out, struct scope *scope, struct call *call,
    unsigned place)
{
	struct scope_kept *kept = (struct scope_kept *)scope;
	struct snapview *view = &scope->views[place];
	enum err err = ERR_OK;

	assert(place < scope->count);
	*out = view;
	if (atomic_load_explicit(&kept->open[place], memory_order_acquire)) {
		snapcache_look(view->pinned, call->request->start_ns);
		return ERR_OK;
	}
	pthread_mutex_lock(&kept->lock);
	if (!atomic_load_explicit(&kept->open[place], memory_order_relaxed)) {
		err = snapview_open_known(
		    view, call, kept->codes[place], kept->generations[place]);
		if (err == ERR_OK)
			atomic_store_explicit(
			    &kept->open[place], 1, memory_order_release);
	}
	pthread_mutex_unlock(&kept->lock);
	return err;
}

bool
scope_is_open(const struct scope *scope, unsigned place)
{
	const struct scope_kept *kept = (const struct scope_kept *)scope;

	assert(place < scope->count);
	return atomic_load_explicit(&kept->open[place], memory_order_acquire);
}

void
scope_expect(const struct scope *scope, struct call *call, unsigned place)
{
	const struct scope_kept *kept = (const struct scope_kept *)scope;

	if (!scope_is_open(scope, place))
		snapshot_expect_file(call->server->store, kept->codes[place],
		    kept->generations[place]);
}

/* --- one that is kept ----------------------------------------------------- */

static struct versions
versions_of(const struct serving *serving)
{
	return (struct versions){catalog_view_version(serving->views.catalog),
	    live_view_version(serving->views.live),
	    state_view_version(serving->views.state)};
}

static uint64_t
hash_of(const struct scope_wanted *wanted)
{
	return wanted == NULL ? 0 : wanted->hash;
}

static bool
is_of(const struct scope_kept *kept, const struct versions *versions,
    uint64_t wanted)
{
	return kept != NULL && kept->wanted == wanted &&
	    kept->versions.catalog == versions->catalog &&
	    kept->versions.live == versions->live &&
	    kept->versions.state == versions->state;
}

/* Checks the files that a search reads without further checks. */
static void
look(struct scope *scope, int64_t now_ns)
{
	for (unsigned i = 0; i < scope->loose_count; i++)
		snapcache_look(scope->views[scope->loose[i]].pinned, now_ns);
}

/* The slot's scope, when it has these versions and suppliers. */
static struct scope *
take(struct scope_slot *slot, const struct versions *versions, uint64_t wanted,
    int64_t now_ns)
{
	struct scope *scope = NULL;

	pthread_mutex_lock(&slot->lock);
	if (is_of(slot->present, versions, wanted)) {
		scope = &slot->present->scope;
		atomic_fetch_add(&slot->present->users, 1);
		slot->used_ns = date_monotonic_ns();
	}
	pthread_mutex_unlock(&slot->lock);
	if (scope != NULL)
		look(scope, now_ns);
	return scope;
}

/*
 * Replaces the current scope; requests that use the old one keep it to their
 * end.
 */
static void
keep(struct scope_slot *slot, struct scope *scope,
    const struct versions *versions)
{
	struct scope_kept *kept = (struct scope_kept *)scope;
	struct scope_kept *old;

	kept->versions = *versions;
	atomic_fetch_add(&kept->users, 1);
	pthread_mutex_lock(&slot->lock);
	old = slot->present;
	slot->present = kept;
	slot->used_ns = date_monotonic_ns();
	pthread_mutex_unlock(&slot->lock);
	if (old != NULL)
		scope_release(&old->scope);
}

/* --- the index ------------------------------------------------------------ */

/* Of successive searches, only some check. */
#define LOOK_NS 1000000

/* Drops a word index that was touched, and the scope that uses it. */
static void
look_at_index(struct scope_slot *slot, int64_t now_ns)
{
	struct taken_out out = {NULL, NULL};

	pthread_mutex_lock(&slot->lock);
	if (slot->index != NULL && now_ns - slot->looked_ns >= LOOK_NS) {
		slot->looked_ns = now_ns;
		if (word_index_is_touched(slot->index))
			out = take_out(slot);
	}
	pthread_mutex_unlock(&slot->lock);
	let_go(out);
}

static void
make_anew(struct call *call, bool damaged)
{
	if (damaged)
		call->server->metrics->damages++;
	word_index_discard(call->server->store);
	on_demand_index(call);
}

/*
 * The slot's word index, when it is the one that the catalogue names; else
 * opens it.
 */
static struct word_index *
take_index(struct scope_slot *slot, struct call *call)
{
	uint64_t generation = catalog_words(call->serving->views.catalog);
	struct word_index *index = NULL;
	enum err err = ERR_OK;

	if (generation == 0)
		return NULL;
	pthread_mutex_lock(&slot->lock);
	if (slot->index == NULL ||
	    word_index_head(slot->index)->generation != generation) {
		word_index_close(slot->index);
		err = word_index_open(&slot->index, call->server->store);
	}
	if (slot->index != NULL)
		index = word_index_share(slot->index);
	pthread_mutex_unlock(&slot->lock);
	if (err == ERR_NOT_FOUND)
		log_warn("the index of all suppliers' words is missing, "
			 "searches read each snapshot until 'gridctl index' "
			 "makes it again: file=%s/words.idx",
		    store_dir(call->server->store));
	if (err == ERR_DAMAGED || err == ERR_VERSION)
		make_anew(call, err == ERR_DAMAGED);
	return index;
}

/* --- all suppliers -------------------------------------------------------- */

static enum err
make_and_keep(struct scope **out, struct call *call, uint64_t suppliers,
    const struct scope_wanted *wanted, struct word_index *index)
{
	struct versions versions = versions_of(call->serving);
	enum err err =
	    scope_make(out, call, 0, (unsigned)suppliers, wanted, index);

	if (err != ERR_OK)
		return err;
	((struct scope_kept *)*out)->wanted = hash_of(wanted);
	keep(call->server->scope, *out, &versions);
	if (scope_wants_index(*out))
		on_demand_index(call);
	return ERR_OK;
}

enum err
scope_all(struct scope **out, struct call *call, unsigned from,
    const struct scope_wanted *wanted)
{
	struct server *server = call->server;
	struct versions versions = versions_of(call->serving);
	uint64_t suppliers, most = (uint64_t)server->settings->snapshots_open;
	enum err err;

	assert(server->scope != NULL);
	if (from == 0)
		look_at_index(server->scope, call->request->start_ns);
	*out = from == 0 ? take(server->scope, &versions, hash_of(wanted),
			       call->request->start_ns)
			 : NULL;
	if (*out != NULL)
		return ERR_OK;
	err = catalog_count(call->serving->views.catalog, &suppliers);
	if (err != ERR_OK)
		return err;
	if (suppliers > most)
		return scope_make(out, call, from,
		    most < PART ? (unsigned)most : PART, wanted, NULL);
	err = make_and_keep(
	    out, call, suppliers, wanted, take_index(server->scope, call));
	/* The index's rows. */
	return err == ERR_DAMAGED ? scope_plain(out, call, wanted, true) : err;
}

enum err
scope_plain(struct scope **out, struct call *call,
    const struct scope_wanted *wanted, bool damaged)
{
	uint64_t suppliers;
	enum err err = catalog_count(call->serving->views.catalog, &suppliers);

	*out = NULL;
	if (damaged)
		make_anew(call, true);
	return err == ERR_OK ? make_and_keep(out, call, suppliers, wanted, NULL)
			     : err;
}
