#include "fcgi/rows/holder.h"

#include <assert.h>
#include <stdio.h>

#include "common/arena.h"
#include "common/log.h"
#include "fcgi/call.h"
#include "fcgi/metrics.h"
#include "fcgi/route.h"
#include "fcgi/rows/ensure.h"
#include "fcgi/rows/negotiate.h"
#include "fcgi/rows/rowset.h"
#include "lmdb-schema/state/share.h"
#include "lmdb-schema/state/state.h"
#include "lmdb-schema/upkeep/computed.h"

#define HOLDERS_MAX 3
#define RETRY_SECONDS 1

struct holder_list {
	const char *addresses[HOLDERS_MAX];
	unsigned count;
	const char *location; /* of nginx, which asks them */
};

struct holders {
	struct share share;
	unsigned own; /* this node's number */
};

/* As of the state that the request finds; once for each. */
static enum err
look(struct holders **out, struct call *call)
{
	struct holders *holders = call->holders;
	enum err err;

	*out = holders;
	if (holders != NULL)
		return ERR_OK;
	holders = arena_alloc(call->serving->arena, sizeof(*holders));
	*out = call->holders = holders;
	if (holders == NULL)
		return ERR_NO_MEMORY;
	err = share_read(
	    &holders->share, state_view_txn(call->serving->views.state));
	holders->own = share_find(&holders->share, call->server->node);
	return err;
}

static bool
keeps_all(const struct share *share, unsigned node,
    const struct span *suppliers, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (!share_keeps(share, node, suppliers[i]))
			return false;
	return true;
}

enum err
holder_is_here(bool *is, struct call *call, struct span supplier)
{
	struct holders *holders;
	enum err err;

	*is = true;
	if (!call->server->keeps_part)
		return ERR_OK;
	err = look(&holders, call);
	if (err == ERR_OK)
		*is = share_keeps(&holders->share, holders->own, supplier);
	return err;
}

/* Misdirected: nginx of the node that passes it on asks the next one. */
static enum err
refuse(struct call *call, const char *why)
{
	static const struct holder_list nobody = {.count = 0};

	call->passed = &nobody;
	reply_fail(call->reply, 421, CODE_INTERNAL, "%s",
	    reply_words(call->reply, why));
	reply_header(call->reply, "Retry-After", "%d", RETRY_SECONDS);
	return ERR_ANSWERED;
}

static const char not_kept[] =
    "This node does not keep that supplier: ask without X-Grid-Passed.";
static const char not_to_be_had[] =
    "This node cannot have what is to be shown of that supplier now: ask "
    "another one.";
static const char no_import[] =
    "The last import of all nodes does not come to this one: ask another one.";
static const char no_room[] =
    "Nothing was stored: this node takes no writes now. Ask another one.";

struct listing {
	const struct share *share;
	const struct span *suppliers;
	unsigned count;
	struct holder_list *found;
};

static void
add_holder(struct listing *listing, unsigned node)
{
	const char *address = listing->share->nodes[node].address;

	if (listing->found->count < HOLDERS_MAX && address[0] != '\0' &&
	    keeps_all(listing->share, node, listing->suppliers, listing->count))
		listing->found->addresses[listing->found->count++] = address;
}

/* In the first supplier's order, or any; nodes that are away come last. */
static void
list_holders(
    struct listing *listing, const struct holders *holders, struct call *call)
{
	const struct share *share = &holders->share;
	uint64_t away =
	    metrics_nodes_away(call->server->metrics, share->changes);
	unsigned order[SHARE_NODES_MAX];

	listing->share = share;
	share_order(order, share,
	    listing->count == 0 ? SPAN("") : listing->suppliers[0]);
	for (unsigned turn = 0; turn < 2; turn++)
		for (unsigned i = 0; i < share->count; i++)
			if (order[i] != holders->own &&
			    (away >> order[i] & 1) == turn)
				add_holder(listing, order[i]);
}

/* Rows of a snapshot that there is, so few that no node needs its slow pool. */
static bool
is_page(struct call *call, const struct span *suppliers, unsigned count)
{
	const struct params *params = &call->params;
	struct catalog_entry entry;

	if (params->limit == 0 || params->since_generation != 0 ||
	    params->limit > negotiate_rows(call, ROWSET_DUMP))
		return false;
	for (unsigned i = 0; i < count; i++)
		if (computed_newest(&entry,
			state_view_txn(call->serving->views.state),
			suppliers[i]) != ERR_OK)
			return false;
	return true;
}

static const char *
location_of(struct call *call, const struct span *suppliers, unsigned count)
{
	if (!route_reads(call->request))
		return "@writer";
	return is_page(call, suppliers, count) ? "@page" : "@holder";
}

static enum err
pass(struct call *call, const struct holder_list *list)
{
	uint64_t seen = call->reply->seen;
	char name[32];

	ensure_hand_over_to(call, list->location);
	for (unsigned i = 0; i < list->count; i++) {
		snprintf(name, sizeof(name), "X-Grid-Holder-%u", i + 1);
		reply_header_text(
		    call->reply, name, span_of(list->addresses[i]));
	}
	reply_header(call->reply, "X-Grid-Holder-Seen", "state:%llu",
	    (unsigned long long)seen);
	call->passed = list;
	return ERR_ANSWERED;
}

static enum err
pass_on(struct call *call, const struct holders *holders,
    const struct span *suppliers, unsigned count)
{
	struct listing listing = {.suppliers = suppliers, .count = count};

	listing.found =
	    arena_alloc(call->serving->arena, sizeof(*listing.found));
	if (listing.found == NULL)
		return ERR_NO_MEMORY;
	listing.found->count = 0;
	listing.found->location = location_of(call, suppliers, count);
	list_holders(&listing, holders, call);
	return listing.found->count == 0 ? ERR_OK : pass(call, listing.found);
}

/* Once, until it does. */
static void
tell_passing(struct server *server, bool passes)
{
	bool told = atomic_load(&server->told_no_passing);

	if (told == !passes ||
	    !atomic_compare_exchange_strong(
		&server->told_no_passing, &told, !passes))
		return;
	if (passes)
		log_info("nginx passes on requests for suppliers of other "
			 "nodes");
	else
		log_error(
		    "nginx does not pass on requests for suppliers that other "
		    "nodes keep, so that this node gets or computes their "
		    "snapshots: put what 'gridctl cluster nginx' prints into "
		    "/etc/product-grid/cluster-nginx.conf, and reload nginx");
}

/* No request is passed on, or none that came back, or nginx has not how. */
static bool
answers_itself(const struct call *call)
{
	const struct request *request = call->request;
	bool passes = request->grid_passes.len > 0;

	if (!call->server->keeps_part || request->grid_alone.len > 0)
		return true;
	if (request->grid_passed.len > 0)
		return false;
	tell_passing(call->server, passes);
	return !passes;
}

enum err
holder_refuse_import(struct call *call)
{
	return metrics_import_fails(call->server->metrics)
	    ? refuse(call, no_import)
	    : ERR_OK;
}

enum err
holder_pass_import(struct call *call)
{
	struct holders *holders;
	enum err err;

	if (answers_itself(call) ||
	    !metrics_import_fails(call->server->metrics))
		return ERR_OK;
	if (call->request->grid_passed.len > 0)
		return refuse(call, no_import);
	err = look(&holders, call);
	return err == ERR_OK ? pass_on(call, holders, NULL, 0) : err;
}

enum err
holder_pass_write(struct call *call, enum err err)
{
	struct holders *holders;

	if (answers_itself(call) ||
	    (err != ERR_NO_SPACE && err != ERR_READ_ONLY && err != ERR_OUTRUN &&
		err != ERR_VERSION))
		return ERR_OK;
	if (call->request->grid_passed.len > 0)
		return refuse(call, no_room);
	err = look(&holders, call);
	return err == ERR_OK ? pass_on(call, holders, NULL, 0) : err;
}

enum err
holder_pass_all(struct call *call, const struct span *suppliers, unsigned count)
{
	struct holders *holders;
	enum err err;

	assert(count > 0);
	if (answers_itself(call))
		return ERR_OK;
	err = look(&holders, call);
	if (err != ERR_OK)
		return err;
	if (keeps_all(&holders->share, holders->own, suppliers, count))
		return holder_pass_import(call);
	if (call->request->grid_passed.len > 0)
		return count == 1 ? refuse(call, not_kept) : ERR_OK;
	return pass_on(call, holders, suppliers, count);
}

enum err
holder_fall_back(struct call *call, struct span supplier)
{
	struct holders *holders;
	enum err err;

	if (answers_itself(call))
		return ERR_OK;
	if (call->request->grid_passed.len > 0)
		return refuse(call, not_to_be_had);
	err = look(&holders, call);
	return err == ERR_OK ? pass_on(call, holders, &supplier, 1) : err;
}

enum err
holder_pass(struct call *call, struct span supplier)
{
	return holder_pass_all(call, &supplier, 1);
}

enum err
holder_pass_on(struct call *call, const struct holder_list *list)
{
	return list->count == 0 ? refuse(call, not_kept) : pass(call, list);
}
