#include "fcgi/dump/dump.h"

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
#include "lmdb-schema/snapshot/snapshot.h"
#include "lmdb-schema/snapshot/packed_rows.h"

static void
release(void *owner, void *packed)
{
	(void)owner;
	packed_release(packed);
}

static enum err
get_kind(struct packed **out, struct call *call, const struct snapview *view,
    enum packed_kind kind)
{
	enum err err = packed_get(out, view->pinned->packed,
	    call->server->store, view->pinned->snap, kind);

	return err == ERR_OK ? call_hold(call, release, NULL, *out) : err;
}

/* An operator decides whether there are any for zstd, which takes minutes. */
static bool
get_zstd(struct packed **out, struct call *call, const struct snapview *view)
{
	return coding_best(call->request->accept_encoding) == CODING_ZSTD &&
	    get_kind(out, call, view, PACKED_ZSTD) == ERR_OK;
}

bool
dump_get(struct packed **out, struct call *call, const struct snapview *view,
    const struct rowset *set)
{
	struct snapshot *snap = view->pinned->snap;
	enum err err;

	assert(set->count <= snapshot_rows(snap));
	if (set->order != NULL || set->count < PACKED_ROWS_ROWS_MIN ||
	    set->count != snapshot_rows(snap) || !call->serving->splice->all)
		return false;
	if (get_zstd(out, call, view))
		return true;
	if (!coding_takes_gzip(call->request->accept_encoding))
		return false;
	err = get_kind(out, call, view, PACKED_DUMPS);
	if (err == ERR_NOT_FOUND)
		on_demand_pack(call, snapshot_supplier(snap), PACKED_DUMPS);
	return err == ERR_OK;
}

enum err
dump_send(struct call *call, const struct snapview *view, struct packed *packed,
    struct span start, struct span tail)
{
	struct serving *serving = call->serving;
	int64_t length = -1;
	enum err err = ERR_OK;

	assert(packed != NULL && !call->reply->streaming);
	if (splice_is_unchanged(serving->splice))
		length = gzip_dump_length(
		    packed_rows_of(packed), start.len, tail.len);
	reply_is_coded(call->reply,
	    packed_rows_kind(packed_rows_of(packed)) == PACKED_ZSTD
		? CODING_ZSTD
		: CODING_GZIP);
	reply_stream(call->reply, length);
	if (!call->reply->head_only)
		err = gzip_dump_dump(serving->gzip_dump, call->reply,
		    serving->splice, packed_rows_of(packed), start, tail);
	if (err != ERR_DAMAGED || snapshot_is_damaged(view->pinned->snap))
		return err;
	call->server->metrics->damages++;
	packed_discard(view->pinned->packed, packed, call->server->store,
	    view->pinned->snap);
	return ERR_DAMAGED_BESIDE;
}
