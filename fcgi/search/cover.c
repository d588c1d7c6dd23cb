#include "fcgi/search/cover.h"

#include <stdlib.h>
#include <string.h>

#include "common/arena.h"
#include "common/date.h"
#include "fcgi/call.h"
#include "fcgi/metrics.h"
#include "fcgi/rows/shared_source.h"
#include "fcgi/search/part.h"
#include "fcgi/search/peers.h"
#include "lmdb-schema/facts/source.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/state/state.h"
#include "lmdb-schema/upkeep/computed.h"

/* As long as the log takes to see that a node has gone. */
#define REST_NS INT64_C(10000000000)

/* --- who is there --------------------------------------------------------- */

static uint64_t
resting(struct cover *cover)
{
	struct peers *peers = cover->call->server->peers;
	int64_t now = date_monotonic_ns();
	uint64_t down = 0;

	if (atomic_load(&peers->changes) != cover->share.changes)
		return 0;
	for (unsigned i = 0; i < cover->share.count; i++)
		if (atomic_load(&peers->rests_ns[i]) > now)
			down |= UINT64_C(1) << i;
	return down;
}

enum err
cover_begin(struct cover *cover, struct call *call)
{
	struct share *share = &cover->share;
	enum err err;

	cover->call = call;
	cover->count = cover->left_count = 0;
	err = share_read(share, state_view_txn(call->serving->views.state));
	if (err != ERR_OK)
		return err;
	cover->own = share_find(share, call->server->node);
	cover->down =
	    metrics_nodes_away(call->server->metrics, share->changes) |
	    resting(cover);
	if (cover->own < share->count)
		cover->down &= ~(UINT64_C(1) << cover->own);
	return ERR_OK;
}

void
cover_answers(struct cover *cover, unsigned node)
{
	if (node < cover->share.count)
		atomic_store(&cover->call->server->peers->answered_ns[node],
		    date_monotonic_ns());
}

bool
cover_has_answered(const struct cover *cover, unsigned node, int64_t since_ns)
{
	return node < cover->share.count &&
	    atomic_load(&cover->call->server->peers->answered_ns[node]) >
	    since_ns;
}

void
cover_is_down(struct cover *cover, unsigned node, bool for_others)
{
	struct peers *peers = cover->call->server->peers;

	if (node >= cover->share.count)
		return; /* this one, without a record */
	cover->down |= UINT64_C(1) << node;
	if (!for_others)
		return;
	/* Times of another list do no harm: a node rests for some seconds. */
	atomic_store(&peers->changes, cover->share.changes);
	atomic_store(&peers->rests_ns[node], date_monotonic_ns() + REST_NS);
}

/* --- suppliers ------------------------------------------------------------ */

enum err
cover_is_computed(bool *is, struct cover *cover, struct span supplier)
{
	struct catalog_entry entry;
	enum err err = computed_newest(&entry,
	    state_view_txn(cover->call->serving->views.state), supplier);

	*is = err == ERR_OK || part_is_here(cover->call, supplier);
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

struct listing {
	struct cover *cover;
	struct span *codes;
	unsigned count, room;
	int64_t absent;
};

static enum err
add_supplier(void *context, const struct source_supplier *supplier)
{
	struct listing *listing = context;
	struct arena *arena = listing->cover->call->serving->arena;
	bool computed;
	enum err err;

	if (supplier->articles == 0)
		return ERR_OK;
	err = cover_is_computed(&computed, listing->cover, supplier->code);
	if (err != ERR_OK)
		return err;
	if (!computed || listing->count == listing->room) {
		listing->absent++;
		return ERR_OK;
	}
	listing->codes[listing->count] = arena_copy(arena, supplier->code);
	return listing->codes[listing->count++].ptr == NULL ? ERR_NO_MEMORY
							    : ERR_OK;
}

enum err
cover_suppliers(
    struct span **codes, unsigned *count, int64_t *absent, struct cover *cover)
{
	struct listing listing = {.cover = cover};
	struct call *call = cover->call;
	struct shared_source *source;
	enum err err = shared_source_get(&source, call);
	uint64_t all = 0;

	if (err == ERR_OK) {
		all = source_header(source->source)->suppliers;
		listing.room = all < PART_SUPPLIERS_MAX ? (unsigned)all
							: PART_SUPPLIERS_MAX;
	}
	listing.codes = arena_array(
	    call->serving->arena, listing.room + 1u, sizeof(*listing.codes));
	if (err == ERR_OK && listing.codes == NULL)
		err = ERR_NO_MEMORY;
	if (err == ERR_OK)
		err = source_suppliers(source->source, add_supplier, &listing);
	shared_source_release(source);
	*codes = listing.codes;
	*count = listing.count;
	*absent = listing.absent;
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

/* --- parts ---------------------------------------------------------------- */

static void
make_orders(uint8_t *out, const struct share *share, const struct span *codes,
    unsigned count)
{
	unsigned order[SHARE_NODES_MAX];

	for (unsigned i = 0; i < count; i++) {
		share_order(order, share, codes[i]);
		for (unsigned k = 0; k < share->count; k++)
			*out++ = (uint8_t)order[k];
	}
}

/* Few are not worth it; no memory is no failure. */
#define KEPT_FROM 8u

static void
keep_orders(struct peers *peers, uint64_t changes, uint64_t hash,
    const uint8_t *orders, size_t bytes)
{
	uint8_t *copy = malloc(bytes), *old;

	if (copy == NULL)
		return;
	memcpy(copy, orders, bytes);
	pthread_mutex_lock(&peers->lock);
	old = peers->orders;
	peers->orders = copy;
	peers->orders_changes = changes;
	peers->orders_hash = hash;
	peers->orders_bytes = bytes;
	pthread_mutex_unlock(&peers->lock);
	free(old);
}

/* The orders of all codes, one behind the other: kept ones, or new ones. */
static void
find_orders(
    uint8_t *out, struct cover *cover, const struct span *codes, unsigned count)
{
	struct peers *peers = cover->call->server->peers;
	struct scope_wanted all = {.codes = codes, .count = count};
	size_t bytes = (size_t)count * cover->share.count;
	bool found;

	if (count < KEPT_FROM) {
		make_orders(out, &cover->share, codes, count);
		return;
	}
	part_hash(&all);
	pthread_mutex_lock(&peers->lock);
	found = peers->orders != NULL && peers->orders_hash == all.hash &&
	    peers->orders_bytes == bytes &&
	    peers->orders_changes == cover->share.changes;
	if (found)
		memcpy(out, peers->orders, bytes);
	pthread_mutex_unlock(&peers->lock);
	if (found)
		return;
	make_orders(out, &cover->share, codes, count);
	keep_orders(peers, cover->share.changes, all.hash, out, bytes);
}

/* The node's number, or the count of nodes for nobody. */
static unsigned
choose(struct cover *cover, struct span supplier, const uint8_t *order)
{
	const struct share *share = &cover->share;

	if (cover->own == share->count)
		return cover->own; /* without a record it keeps all */
	for (unsigned i = 0; i < share->count; i++) {
		const struct share_node *node = &share->nodes[order[i]];
		bool reached =
		    order[i] == cover->own || node->address[0] != '\0';

		if ((node->keep == 0 || i < node->keep) && reached &&
		    (cover->down >> order[i] & 1) == 0)
			return order[i];
	}
	/* A node may have more: what it was asked for, or is to give up. */
	return (cover->down >> cover->own & 1) == 0 &&
		part_is_here(cover->call, supplier)
	    ? cover->own
	    : share->count;
}

/* Makes room for the codes of each node that has some. */
static enum err
make_parts(struct cover *cover, const unsigned *counts)
{
	struct arena *arena = cover->call->serving->arena;

	cover->count = cover->left_count = 0;
	for (unsigned node = 0; node <= cover->share.count; node++) {
		struct cover_part *part = &cover->parts[cover->count];
		bool own = node == cover->own;

		if (counts[node] == 0)
			continue;
		*part = (struct cover_part){
		    .address = own || node == cover->share.count
			? NULL
			: cover->share.nodes[node].address,
		    .node = node};
		part->codes =
		    arena_array(arena, counts[node], sizeof(*part->codes));
		if (part->codes == NULL)
			return ERR_NO_MEMORY;
		part->wanted.codes = part->codes;
		if (node == cover->share.count && !own)
			cover->left = part->codes;
		else
			cover->count++;
	}
	return ERR_OK;
}

static void
deal(struct cover *cover, unsigned node, struct span code)
{
	for (unsigned i = 0; i < cover->count; i++) {
		struct cover_part *part = &cover->parts[i];

		if (part->node == node) {
			part->codes[part->wanted.count++] = code;
			return;
		}
	}
	cover->left[cover->left_count++] = code;
}

enum err
cover_make(struct cover *cover, const struct span *codes, unsigned count)
{
	unsigned counts[SHARE_NODES_MAX + 1] = {0};
	struct arena *arena = cover->call->serving->arena;
	unsigned *nodes = arena_array(arena, count + 1u, sizeof(*nodes));
	unsigned all = cover->share.count;
	uint8_t *orders = arena_array(arena, count + 1u, all + 1u);
	enum err err;

	if (nodes == NULL || orders == NULL)
		return ERR_NO_MEMORY;
	if (all > 0)
		find_orders(orders, cover, codes, count);
	for (unsigned i = 0; i < count; i++) {
		nodes[i] = choose(cover, codes[i], orders + (size_t)i * all);
		counts[nodes[i]]++;
	}
	err = make_parts(cover, counts);
	for (unsigned i = 0; i < count && err == ERR_OK; i++)
		deal(cover, nodes[i], codes[i]);
	for (unsigned i = 0; i < cover->count && err == ERR_OK; i++)
		part_hash(&cover->parts[i].wanted);
	return err;
}
