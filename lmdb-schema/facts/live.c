#include "lmdb-schema/facts/live.h"

#include <assert.h>
#include <stdlib.h>

#include "common/kv/kv.h"
#include "lmdb-schema/facts/live_priv.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/row.h"
#include "lmdb-schema/store/store.h"

#define NO_COMMIT UINT64_MAX

static uint64_t
number_of(struct live_view *view, const char *name)
{
	uint64_t number;

	return store_number(view->txn, name, &number) == ERR_OK ? number
								: LIVE_UNKNOWN;
}

/*
 * A record that cannot be read is tried again by the next call; the log has the
 * failure.
 */
static void
read_numbers(struct live_view *view)
{
	uint64_t commit = live_view_version(view);

	if (commit == view->commit)
		return;
	view->facts = number_of(view, "facts");
	view->network = number_of(view, "network");
	view->apart = number_of(view, "apart");
	view->since = since_is_valid(view->txn, view->facts, view->network);
	view->commit =
	    view->facts == LIVE_UNKNOWN || view->network == LIVE_UNKNOWN
	    ? NO_COMMIT
	    : commit;
}

enum err
live_view_open(struct live_view **out, struct store *store)
{
	struct live_view *view = calloc(1, sizeof(*view));
	enum err err;

	*out = NULL;
	if (view == NULL)
		return ERR_NO_MEMORY;
	err = kv_read(&view->txn, store_live(store));
	if (err != ERR_OK) {
		free(view);
		return err;
	}
	view->commit = NO_COMMIT;
	read_numbers(view);
	*out = view;
	return ERR_OK;
}

void
live_view_close(struct live_view *view)
{
	if (view == NULL)
		return;
	kv_abort(view->txn);
	free(view);
}

void
live_view_rest(struct live_view *view)
{
	kv_rest(view->txn);
}

enum err
live_view_renew(struct live_view *view)
{
	enum err err = kv_renew(view->txn);

	if (err == ERR_OK)
		read_numbers(view);
	return err;
}

uint64_t
live_view_version(const struct live_view *view)
{
	return kv_txn_id(view->txn);
}

uint64_t
live_facts(struct live_view *view)
{
	return view->facts;
}

uint64_t
live_network_generation(struct live_view *view)
{
	return view->network;
}

uint64_t
live_gamme_generation(struct live_view *view, struct span supplier)
{
	struct span value;
	enum err err = ERR_NOT_FOUND;

	if (key_code_ok(supplier))
		err = kv_get(view->txn, LIVE_GAMMEGEN, supplier, &value);
	if (err != ERR_OK)
		return err == ERR_NOT_FOUND ? 0 : LIVE_UNKNOWN;
	return key_value_u64(value);
}

enum err
live_network_raw(struct live_view *view, struct span code, struct span *value)
{
	if (!key_code_ok(code))
		return ERR_NOT_FOUND;
	return kv_get(view->txn, LIVE_NETWORK, code, value);
}

enum err
live_network(struct live_view *view, struct span code, struct network *out)
{
	struct span value;
	enum err err = live_network_raw(view, code, &value);

	return err == ERR_OK ? network_read(out, value) : err;
}

enum err
live_gamme(struct live_view *view, struct span supplier, struct span codein,
    uint8_t *gamme)
{
	struct key key = key_pair(supplier, codein);

	return live_gamme_at(view, key_span(&key), gamme);
}

enum err
live_gamme_at(struct live_view *view, struct span key, uint8_t *gamme)
{
	struct span value;
	enum err err = kv_get(view->txn, LIVE_GAMMES, key, &value);

	assert(key.len > 0);
	*gamme = ROW_GAMME_NONE;
	if (err == ERR_OK)
		*gamme = row_gamme(value);
	if (*gamme == ROW_GAMME_BAD)
		return ERR_DAMAGED;
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

enum err
live_gammes(struct live_view *view, struct span supplier,
    enum err (*each)(void *context, struct span codein, uint8_t gamme),
    void *context)
{
	struct key prefix = key_prefix(supplier);
	struct kv_walk *walk =
	    kv_walk_begin(view->txn, LIVE_GAMMES, key_span(&prefix), SPAN(""));
	struct span key, value;
	enum err err;

	assert(each != NULL);
	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK) {
		uint8_t gamme = row_gamme(value);

		err = gamme == ROW_GAMME_BAD
		    ? ERR_DAMAGED
		    : each(context, key_second(key), gamme);
		if (err != ERR_OK)
			break;
	}
	return kv_walk_done(walk, err);
}

enum err
live_networks(struct live_view *view,
    enum err (*each)(
	void *context, struct span code, const struct network *network),
    void *context)
{
	struct kv_walk *walk =
	    kv_walk_begin(view->txn, LIVE_NETWORK, SPAN(""), SPAN(""));
	struct network network;
	struct span key, value;
	enum err err;

	assert(each != NULL);
	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK) {
		err = network_read(&network, value);
		if (err == ERR_OK)
			err = each(context, key, &network);
		if (err != ERR_OK)
			break;
	}
	return kv_walk_done(walk, err);
}
