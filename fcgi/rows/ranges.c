#include "fcgi/rows/ranges.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lmdb-schema/state/proposal.h"

#define NO_COMMIT UINT64_MAX

/* The store's last answer for the supplier, and its commit. */
struct said {
	uint64_t commit, generation;
};

struct ranges_slot {
	pthread_mutex_t lock;
	struct ranges *present; /* one reference is the slot's own */
	struct said gamme, state;
};

struct ranges_slot *
ranges_slot_new(void)
{
	struct ranges_slot *slot = calloc(1, sizeof(*slot));

	if (slot == NULL)
		return NULL;
	pthread_mutex_init(&slot->lock, NULL);
	slot->gamme.commit = slot->state.commit = NO_COMMIT;
	return slot;
}

void
ranges_slot_free(struct ranges_slot *slot)
{
	if (slot == NULL)
		return;
	ranges_release(slot->present);
	pthread_mutex_destroy(&slot->lock);
	free(slot);
}

void
ranges_release(struct ranges *ranges)
{
	assert(ranges == NULL || atomic_load(&ranges->users) > 0);
	if (ranges != NULL && atomic_fetch_sub(&ranges->users, 1) == 1)
		free(ranges);
}

/* While the ranges are made, their arrays are written. */
struct making {
	struct ranges *ranges;
	struct snapshot *snap;
	uint8_t *server, *shown, *raw, *pending, *differs;
	uint32_t place; /* entries come in the order of the codein */
	enum err err;
};

/* A single allocation: the struct and its five arrays. */
static struct ranges *
allocate(struct making *making, struct snapshot *snap)
{
	size_t rows = snapshot_rows(snap);
	struct ranges *ranges = calloc(1, sizeof(*ranges) + 5 * rows);
	uint8_t *bytes;

	if (ranges == NULL)
		return NULL;
	bytes = (uint8_t *)(ranges + 1);
	making->ranges = ranges;
	making->snap = snap;
	making->server = bytes;
	making->shown = bytes + rows;
	making->pending = bytes + 2 * rows;
	making->differs = bytes + 3 * rows;
	making->raw = bytes + 4 * rows;
	ranges->server = making->server;
	ranges->shown = making->shown;
	ranges->raw = making->raw;
	ranges->pending = making->pending;
	ranges->differs = making->differs;
	ranges->rows = (uint32_t)rows;
	atomic_store(&ranges->users, 1);
	return ranges;
}

/* The row of an article; false when the snapshot does not have it. */
static bool
row_of(struct making *making, struct span codein, uint32_t *row)
{
	enum err err =
	    snapshot_find_next(making->snap, codein, &making->place, row);

	if (err != ERR_OK && err != ERR_NOT_FOUND)
		making->err = err;
	return err == ERR_OK;
}

static enum err
take_server(void *context, struct span codein, uint8_t gamme)
{
	struct making *making = context;
	uint32_t row;

	if (row_of(making, codein, &row))
		making->server[row] = gamme;
	return ERR_OK;
}

static enum err
take_validated(
    void *context, struct span codein, const struct proposal *proposal)
{
	struct making *making = context;
	uint32_t row;

	if (row_of(making, codein, &row))
		making->shown[row] = making->raw[row] = proposal->gamme;
	return ERR_OK;
}

static enum err
take_pending(void *context, struct span codein, const struct proposal *proposal)
{
	struct making *making = context;
	uint32_t row;

	if (row_of(making, codein, &row)) {
		making->pending[row] = proposal->gamme;
		making->ranges->pending_count++;
	}
	return ERR_OK;
}

static enum err
fill(struct making *making, const uint8_t *computed, struct live_view *live,
    struct state_view *state)
{
	struct span supplier = snapshot_supplier(making->snap);
	uint32_t rows = making->ranges->rows;
	enum err err = ERR_OK;

	if (making->ranges->gamme == snapshot_head(making->snap)->gamme)
		memcpy(making->server, computed, rows);
	else
		err = live_gammes(live, supplier, take_server, making);
	memcpy(making->shown, making->server, rows);
	memcpy(making->raw, computed, rows);
	making->place = 0;
	if (err == ERR_OK)
		err =
		    proposal_validated(state, supplier, take_validated, making);
	making->place = 0;
	if (err == ERR_OK)
		err = proposal_pending(state, supplier, take_pending, making);
	if (err == ERR_OK)
		err = making->err;
	for (uint32_t row = 0; row < rows; row++)
		making->differs[row] = making->server[row] != computed[row] ||
		    making->shown[row] != computed[row] ||
		    making->pending[row] != ROW_GAMME_NONE;
	return err;
}

static enum err
make(struct ranges **out, struct snapshot *snap, uint64_t gamme,
    uint64_t version, struct live_view *live, struct state_view *state)
{
	const uint8_t *computed = snapshot_gammes(snap);
	struct making making = {0};
	enum err err;

	if (computed == NULL)
		return ERR_DAMAGED;
	if (allocate(&making, snap) == NULL)
		return ERR_NO_MEMORY;
	making.ranges->gamme = gamme;
	making.ranges->state = version;
	err = fill(&making, computed, live, state);
	if (err == ERR_OK)
		*out = making.ranges;
	else
		ranges_release(making.ranges);
	return err;
}

/* Read once for each commit; after a failure it is read again. */
static void
ask(struct ranges_slot *slot, struct span supplier, struct live_view *live,
    struct state_view *state)
{
	uint64_t commit = live_view_version(live);

	if (slot->gamme.commit != commit) {
		slot->gamme.generation = live_gamme_generation(live, supplier);
		slot->gamme.commit =
		    slot->gamme.generation == LIVE_UNKNOWN ? NO_COMMIT : commit;
	}
	commit = state_view_version(state);
	if (slot->state.commit != commit) {
		slot->state.generation = proposal_version(state, supplier);
		slot->state.commit =
		    slot->state.generation == PROPOSAL_VERSION_UNKNOWN
		    ? NO_COMMIT
		    : commit;
	}
}

/* Makes new ranges when the generations have changed. */
static enum err
bring_up(struct ranges_slot *slot, struct snapshot *snap,
    struct live_view *live, struct state_view *state)
{
	uint64_t gamme = slot->gamme.generation;
	uint64_t version = slot->state.generation;
	struct ranges *fresh = NULL;
	enum err err;

	if (slot->present != NULL && slot->present->gamme == gamme &&
	    slot->present->state == version)
		return ERR_OK;
	err = make(&fresh, snap, gamme, version, live, state);
	if (err != ERR_OK)
		return err;
	ranges_release(slot->present);
	slot->present = fresh;
	return ERR_OK;
}

enum err
ranges_get(struct ranges **out, struct ranges_slot *slot, struct snapshot *snap,
    struct live_view *live, struct state_view *state)
{
	enum err err = ERR_OK;

	assert(slot != NULL && live != NULL && state != NULL);
	*out = NULL;
	pthread_mutex_lock(&slot->lock);
	ask(slot, snapshot_supplier(snap), live, state);
	if (slot->gamme.generation != snapshot_head(snap)->gamme ||
	    slot->state.generation != 0) {
		err = bring_up(slot, snap, live, state);
		if (err == ERR_OK) {
			*out = slot->present;
			atomic_fetch_add(&slot->present->users, 1);
		}
	}
	pthread_mutex_unlock(&slot->lock);
	return err;
}
