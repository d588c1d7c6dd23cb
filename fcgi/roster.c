#include "fcgi/roster.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "common/date.h"

/* Suppliers in a part, when all are more than may be open. */
#define PART 64

/* The versions of the views that a request has. */
struct versions {
	uint64_t catalog, live, state;
};

struct kept {
	struct roster roster; /* first: a roster is its kept */
	atomic_uint users;
	struct versions versions;
	struct snapcache *snapcache;
};

struct roster_slot {
	pthread_mutex_t lock;
	struct kept *present; /* one use of it is the slot's own */
	int64_t used_ns;
};

struct roster_slot *
roster_slot_new(void)
{
	struct roster_slot *slot = calloc(1, sizeof(*slot));

	if (slot != NULL)
		pthread_mutex_init(&slot->lock, NULL);
	return slot;
}

void
roster_release(struct roster *roster)
{
	struct kept *kept = (struct kept *)roster;

	if (kept == NULL || atomic_fetch_sub(&kept->users, 1) != 1)
		return;
	for (unsigned i = 0; i < roster->count; i++) {
		ranges_release(roster->views[i].ranges);
		snapcache_unpin(kept->snapcache, roster->views[i].pinned);
	}
	free(roster->views);
	free(roster->hays);
	free(kept);
}

enum err
roster_hold(struct roster *roster, struct call *call)
{
	return server_hold_roster(call, roster);
}

void
roster_slot_free(struct roster_slot *slot)
{
	if (slot == NULL)
		return;
	if (slot->present != NULL)
		roster_release(&slot->present->roster);
	pthread_mutex_destroy(&slot->lock);
	free(slot);
}

void
roster_slot_tick(struct roster_slot *slot, int64_t seconds)
{
	struct kept *old = NULL;

	pthread_mutex_lock(&slot->lock);
	if (slot->used_ns < date_monotonic_ns() - seconds * 1000000000) {
		old = slot->present;
		slot->present = NULL;
	}
	pthread_mutex_unlock(&slot->lock);
	if (old != NULL)
		roster_release(&old->roster);
}

/* --- making --------------------------------------------------------------- */

struct making {
	struct call *call;
	struct kept *kept;
	unsigned from, room, seen; /* entries of the catalogue */
};

static enum err
begin(struct making *making, struct call *call, unsigned room)
{
	struct kept *kept = calloc(1, sizeof(*kept));

	*making = (struct making){.call = call, .kept = kept, .room = room};
	if (kept == NULL)
		return ERR_NO_MEMORY;
	atomic_init(&kept->users, 1);
	kept->snapcache = call->server->snapcache;
	kept->roster.views = calloc(room + 1u, sizeof(struct rows_view));
	kept->roster.hays = calloc(room + 1u, sizeof(struct haystack));
	return kept->roster.views == NULL || kept->roster.hays == NULL
	    ? ERR_NO_MEMORY
	    : ERR_OK;
}

static enum err
end(struct roster **out, struct making *making, enum err err)
{
	*out = NULL;
	if (err == ERR_OK) {
		struct roster *roster = &making->kept->roster;

		roster->tag = rows_mix(
		    roster->tag, &roster->absent, sizeof(roster->absent));
		*out = roster;
	} else if (making->kept != NULL)
		roster_release(&making->kept->roster);
	return err;
}

static void
mix(struct roster *roster, const struct rows_view *view)
{
	const uint64_t parts[] = {snapshot_head(view->pinned->snap)->generation,
	    view->ranges == NULL ? 0 : view->ranges->gamme,
	    view->ranges == NULL ? 0 : view->ranges->state};

	roster->tag = rows_mix(roster->tag, parts, sizeof(parts));
}

/* `generation` is what the catalogue has, or 0 to ask it. */
static enum err
add(struct making *making, struct span supplier, uint64_t generation)
{
	struct roster *roster = &making->kept->roster;
	struct rows_view *view = &roster->views[roster->count];
	enum err err = generation == 0
	    ? rows_open(view, making->call, supplier, 0)
	    : rows_open_known(view, making->call, supplier, generation);

	if (err != ERR_OK)
		return err;
	err = rows_blame(making->call, view,
	    haystack_of(&roster->hays[roster->count], view->pinned->snap));
	if (err != ERR_OK) {
		rows_drop(view, making->call);
		return err;
	}
	roster->count++;
	mix(roster, view);
	return ERR_OK;
}

/* One supplier's damage does not stop a search through the others. */
static enum err
add_or_count(struct making *making, struct span supplier, uint64_t generation)
{
	enum err err = add(making, supplier, generation);

	if (err != ERR_NOT_READY && err != ERR_DAMAGED)
		return err;
	making->kept->roster.absent++;
	return ERR_OK;
}

static enum err
add_entry(
    void *context, struct span supplier, const struct catalog_entry *entry)
{
	struct making *making = context;
	unsigned place = making->seen++;

	if (place < making->from)
		return ERR_OK;
	if (place - making->from < making->room)
		return add_or_count(making, supplier, entry->generation);
	if (making->kept->roster.next == 0)
		making->kept->roster.next = place;
	return ERR_OK;
}

struct counting {
	struct catalog_view *catalog;
	int64_t absent;
};

static enum err
count_absent(void *context, const struct source_supplier *supplier)
{
	struct counting *counting = context;
	struct catalog_entry entry;
	enum err err;

	if (supplier->articles == 0)
		return ERR_OK;
	err = catalog_get(counting->catalog, supplier->code, &entry);
	if (err != ERR_NOT_FOUND && err != ERR_DAMAGED)
		return err;
	counting->absent++;
	return ERR_OK;
}

/*
 * Whose articles nobody can find yet. Only the facts know them: without these
 * a search goes on, as pages do, and the log has said what is wrong.
 */
static enum err
add_absent(struct roster *roster, struct call *call)
{
	struct counting counting = {.catalog = call->serving->catalog};
	struct shared_source *source;
	enum err err = server_source(&source, call);

	if (err == ERR_OK)
		err = source_suppliers(source->source, count_absent, &counting);
	server_release_source(source);
	roster->absent += counting.absent;
	return err == ERR_NO_MEMORY || err == ERR_NO_FILES ? err : ERR_OK;
}

/* Of all that is there: a damaged entry has no supplier to look at. */
static enum err
add_entries(struct making *making)
{
	enum err err =
	    catalog_each(making->call->serving->catalog, add_entry, making);

	return err == ERR_DAMAGED ? ERR_OK : err;
}

static enum err
make(struct roster **out, struct call *call, unsigned from, unsigned room)
{
	struct making making;
	enum err err = begin(&making, call, room);

	making.from = from;
	if (err == ERR_OK)
		err = add_entries(&making);
	if (err == ERR_OK && from == 0)
		err = add_absent(&making.kept->roster, call);
	return end(out, &making, err);
}

/* --- one that is kept ------------------------------------------------------ */

static struct versions
versions_of(const struct serving *serving)
{
	return (struct versions){catalog_view_version(serving->catalog),
	    live_view_version(serving->live),
	    state_view_version(serving->state)};
}

static bool
is_of(const struct kept *kept, const struct versions *versions)
{
	return kept != NULL && kept->versions.catalog == versions->catalog &&
	    kept->versions.live == versions->live &&
	    kept->versions.state == versions->state;
}

/* The slot's, when it is of these versions. */
static struct roster *
take(struct roster_slot *slot, const struct versions *versions)
{
	struct roster *roster = NULL;

	pthread_mutex_lock(&slot->lock);
	if (is_of(slot->present, versions)) {
		roster = &slot->present->roster;
		atomic_fetch_add(&slot->present->users, 1);
		slot->used_ns = date_monotonic_ns();
	}
	pthread_mutex_unlock(&slot->lock);
	return roster;
}

/* Takes its place; whoever still uses the one before has it to the end. */
static void
keep(struct roster_slot *slot, struct roster *roster,
    const struct versions *versions)
{
	struct kept *kept = (struct kept *)roster;
	struct kept *old;

	kept->versions = *versions;
	atomic_fetch_add(&kept->users, 1);
	pthread_mutex_lock(&slot->lock);
	old = slot->present;
	slot->present = kept;
	slot->used_ns = date_monotonic_ns();
	pthread_mutex_unlock(&slot->lock);
	if (old != NULL)
		roster_release(&old->roster);
}

enum err
roster_all(struct roster **out, struct call *call, unsigned from)
{
	struct server *server = call->server;
	struct versions versions = versions_of(call->serving);
	uint64_t suppliers, most = (uint64_t)server->settings->snapshots_open;
	enum err err;

	*out = from == 0 ? take(server->roster, &versions) : NULL;
	if (*out != NULL)
		return ERR_OK;
	err = catalog_count(call->serving->catalog, &suppliers);
	if (err != ERR_OK)
		return err;
	if (suppliers > most)
		return make(
		    out, call, from, most < PART ? (unsigned)most : PART);
	err = make(out, call, 0, (unsigned)suppliers);
	if (err == ERR_OK)
		keep(server->roster, *out, &versions);
	return err;
}

enum err
roster_one(struct roster **out, struct call *call, struct span supplier)
{
	struct making making;
	enum err err = begin(&making, call, 1);

	if (err == ERR_OK)
		err = add(&making, supplier, 0);
	if (err == ERR_NOT_READY) {
		making.kept->roster.absent = 1;
		err = ERR_OK;
	}
	return end(out, &making, err);
}
