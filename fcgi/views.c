#include "fcgi/views.h"

#include <assert.h>

#include "lmdb-schema/facts/live.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/state/state.h"

enum err
views_open(struct views *views, struct store *store)
{
	enum err err;

	assert(store != NULL);
	*views = (struct views){NULL, NULL, NULL};
	err = live_view_open(&views->live, store);
	if (err == ERR_OK)
		err = catalog_view_open(&views->catalog, store);
	if (err == ERR_OK)
		err = state_view_open(&views->state, store);
	if (err == ERR_OK)
		views_rest(views);
	return err;
}

void
views_close(struct views *views)
{
	live_view_close(views->live);
	catalog_view_close(views->catalog);
	state_view_close(views->state);
}

enum err
views_renew(struct views *views)
{
	enum err err;

	assert(views->live != NULL && views->state != NULL);
	err = live_view_renew(views->live);
	if (err == ERR_OK)
		err = catalog_view_renew(views->catalog);
	if (err == ERR_OK)
		err = state_view_renew(views->state);
	return err;
}

void
views_rest(struct views *views)
{
	assert(views->live != NULL && views->state != NULL);
	live_view_rest(views->live);
	catalog_view_rest(views->catalog);
	state_view_rest(views->state);
}
