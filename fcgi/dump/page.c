#include "fcgi/dump/page.h"

#include <assert.h>

#include "fcgi/call.h"
#include "fcgi/dump/gzip_dump.h"
#include "fcgi/http/coding.h"
#include "fcgi/rows/on_demand.h"
#include "fcgi/rows/packed.h"
#include "fcgi/rows/rowset.h"
#include "fcgi/rows/snapcache.h"
#include "fcgi/rows/snapview.h"
#include "fcgi/rows/splice.h"
#include "lmdb-schema/snapshot/packed_rows.h"
#include "lmdb-schema/snapshot/snapshot.h"

static void
release(void *owner, void *packed)
{
	(void)owner;
	packed_release(packed);
}

/* Only gathered answers: no byte is sent before damage is met. */
static bool
is_wanted(const struct call *call, const struct rowset *set)
{
	const struct splice *splice = call->serving->splice;

	return set->count > 0 && set->count <= ROWSET_GATHERED && splice->all &&
	    snapshot_rows(splice->snap) >= PACKED_ROWS_ROWS_MIN &&
	    coding_likes_gzip(call->request->accept_encoding);
}

static bool
get_packed(struct packed **out, struct call *call, const struct snapview *view)
{
	struct snapshot *snap = view->pinned->snap;
	enum err err = packed_get(
	    out, view->pinned->packed, call->server->store, snap, PACKED_PAGES);

	if (err == ERR_NOT_FOUND)
		on_demand_pack(call, snapshot_supplier(snap), PACKED_PAGES);
	return err == ERR_OK && call_hold(call, release, NULL, *out) == ERR_OK;
}

bool
page_put(enum err *out, struct call *call, const struct snapview *view,
    const struct rowset *set, struct span start, struct span tail)
{
	struct serving *serving = call->serving;
	struct snapshot *snap = view->pinned->snap;
	struct packed *packed;

	assert(!call->reply->streaming);
	if (!is_wanted(call, set) || !get_packed(&packed, call, view))
		return false;
	*out = gzip_dump_page(serving->gzip_dump, &call->reply->body,
	    serving->splice, packed_rows_of(packed), set, start, tail);
	if (*out == ERR_OK) {
		reply_is_coded(call->reply, CODING_GZIP);
		return true;
	}
	iovbuf_clear(&call->reply->body);
	if (*out == ERR_DAMAGED && snapshot_is_damaged(snap))
		return true;
	if (*out == ERR_DAMAGED) {
		call->server->metrics->damages++;
		packed_discard(
		    view->pinned->packed, packed, call->server->store, snap);
	}
	return *out != ERR_DAMAGED && *out != ERR_NOT_FOUND;
}
