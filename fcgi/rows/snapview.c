#include "fcgi/rows/snapview.h"

#include <assert.h>

#include "common/log.h"
#include "fcgi/metrics.h"
#include "fcgi/rows/on_demand.h"
#include "fcgi/rows/ranges.h"
#include "fcgi/rows/snapcache.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/snapshot/snapshot.h"

/* Counts the damage; starts a computation when the generation is current. */
static void
tell_damage(struct call *call, struct span supplier, bool current)
{
	call->server->metrics->damages++;
	if (current)
		on_demand_begin(call, supplier);
}

void
snapview_heal(struct call *call, struct span supplier)
{
	assert(supplier.len > 0);
	tell_damage(call, supplier, true);
}

void
snapview_disown(struct call *call, const struct snapview *view)
{
	struct snapshot *snap;
	uint64_t generation;
	bool was_current;

	if (view->pinned == NULL)
		return;
	snap = view->pinned->snap;
	generation = snapshot_head(snap)->generation;
	was_current = false;
	if (catalog_disown(call->server->store, snapshot_supplier(snap),
		generation, &was_current) == ERR_OK)
		log_error("a damaged snapshot is used no more: supplier=%.*s "
			  "generation=%016llx current=%s",
		    SPAN_ARG(snapshot_supplier(snap)),
		    (unsigned long long)generation, was_current ? "yes" : "no");
	tell_damage(call, snapshot_supplier(snap), was_current);
}

static enum err
pin_known(struct snapview *view, struct call *call, struct span supplier,
    uint64_t generation)
{
	enum err err;

	view->pinned = NULL;
	view->ranges = NULL;
	view->damaged = false;
	err = snapcache_pin(
	    &view->pinned, call->server->snapcache, supplier, generation);
	if (err == ERR_DAMAGED) {
		view->damaged = true;
		tell_damage(call, supplier, true);
	}
	if (err == ERR_NOT_FOUND || err == ERR_DAMAGED || err == ERR_VERSION)
		return ERR_NOT_READY; /* a computation heals it */
	if (err == ERR_OK && snapshot_gammes(view->pinned->snap) == NULL)
		err = snapview_drop(view, call, ERR_DAMAGED);
	return err;
}

enum err
snapview_add_ranges(struct snapview *view, struct call *call)
{
	struct serving *serving = call->serving;
	enum err err = ranges_get(&view->ranges, view->pinned->ranges,
	    view->pinned->snap, serving->views.live, serving->views.state);

	assert(view->pinned != NULL);
	if (err == ERR_OK)
		return ERR_OK;
	/* Damage of a proposal or of a range of today is not the snapshot's. */
	if (snapshot_is_damaged(view->pinned->snap))
		return snapview_drop(view, call, err);
	snapview_drop(view, call, ERR_OK);
	return err;
}

enum err
snapview_open_known(struct snapview *view, struct call *call,
    struct span supplier, uint64_t generation)
{
	enum err err = pin_known(view, call, supplier, generation);

	assert(supplier.len > 0 && generation != 0);
	return err == ERR_OK ? snapview_add_ranges(view, call) : err;
}

enum err
snapview_pin(struct snapview *view, struct call *call, struct span supplier,
    uint64_t generation)
{
	struct catalog_view *catalog = call->serving->views.catalog;
	struct catalog_entry entry;
	enum err err;

	assert(catalog != NULL);
	*view = (struct snapview){NULL, NULL, false};
	if (generation == 0) {
		err = catalog_get(catalog, supplier, &entry);
		if (err == ERR_DAMAGED) {
			view->damaged = true;
			snapview_heal(call, supplier);
			return ERR_NOT_READY;
		}
		if (err != ERR_OK)
			return err == ERR_NOT_FOUND ? ERR_NOT_READY : err;
		generation = entry.generation;
	} else if (!catalog_keeps(catalog, supplier, generation))
		return ERR_NOT_FOUND;
	return pin_known(view, call, supplier, generation);
}

enum err
snapview_open(struct snapview *view, struct call *call, struct span supplier,
    uint64_t generation)
{
	enum err err = snapview_pin(view, call, supplier, generation);

	assert(supplier.len > 0);
	return err == ERR_OK ? snapview_add_ranges(view, call) : err;
}

static void
unpin(void *cache, void *pinned)
{
	snapcache_unpin(cache, pinned);
}

enum err
snapview_close(struct snapview *view, struct call *call, enum err err)
{
	assert(view->pinned != NULL || view->ranges == NULL);
	ranges_release(view->ranges);
	snapview_blame(call, view, err);
	/* Without the hold the body would point to unmapped rows: fail it. */
	if (view->pinned != NULL &&
	    call_hold(call, unpin, call->server->snapcache, view->pinned) !=
		ERR_OK)
		call->reply->body.err = ERR_NO_MEMORY;
	view->ranges = NULL;
	view->pinned = NULL;
	return err;
}

enum err
snapview_drop(struct snapview *view, struct call *call, enum err err)
{
	assert(view->pinned != NULL || view->ranges == NULL);
	snapview_blame(call, view, err);
	ranges_release(view->ranges);
	snapcache_unpin(call->server->snapcache, view->pinned);
	view->ranges = NULL;
	view->pinned = NULL;
	return err;
}
