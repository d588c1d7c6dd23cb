#include "lmdb-schema/state/state.h"

#include <assert.h>
#include <stdlib.h>

#include "common/kv/kv.h"
#include "lmdb-schema/state/trail_part.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/store/write_log.h"

struct state_view {
	struct kv_txn *txn;
	struct store *store;
	struct trail_part *part; /* trail_parts.h */
};

enum err
state_view_open(struct state_view **out, struct store *store)
{
	struct state_view *view = calloc(1, sizeof(*view));
	enum err err;

	*out = NULL;
	if (view == NULL)
		return ERR_NO_MEMORY;
	err = kv_read(&view->txn, store_state(store));
	if (err != ERR_OK) {
		free(view);
		return err;
	}
	view->store = store;
	*out = view;
	return ERR_OK;
}

void
state_view_close(struct state_view *view)
{
	if (view == NULL)
		return;
	trail_part_close(view->part);
	kv_abort(view->txn);
	free(view);
}

void
state_view_rest(struct state_view *view)
{
	trail_part_close(view->part);
	view->part = NULL;
	kv_rest(view->txn);
}

enum err
state_view_renew(struct state_view *view)
{
	return kv_renew(view->txn);
}

uint64_t
state_view_version(const struct state_view *view)
{
	return kv_txn_id(view->txn);
}

enum err
state_view_number(uint64_t *number, struct state_view *view)
{
	struct write_log_place place;
	enum err err = write_log_place(&place, view->txn);

	*number = place.number;
	return err;
}

struct kv_txn *
state_view_txn(struct state_view *view)
{
	return view->txn;
}

struct store *
state_view_store(struct state_view *view)
{
	return view->store;
}

struct trail_part **
state_view_part(struct state_view *view)
{
	return &view->part;
}
