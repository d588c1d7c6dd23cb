#include "lmdb-schema/facts/live.h"

#include <assert.h>
#include <stdlib.h>

#include "common/kv/kv.h"
#include "lmdb-schema/codemap.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/row.h"
#include "lmdb-schema/store/store.h"

struct live_view {
	struct kv_txn *txn;
	/* Records that every request reads, cached for one commit. */
	uint64_t facts, network;
	uint64_t commit; /* the commit that they belong to */
};

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
	if (walk == NULL)
		return ERR_NO_MEMORY;
	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK) {
		uint8_t gamme = row_gamme(value);

		err = gamme == ROW_GAMME_BAD
		    ? ERR_DAMAGED
		    : each(context, key_second(key), gamme);
		if (err != ERR_OK)
			break;
	}
	kv_walk_end(walk);
	return err == ERR_NOT_FOUND ? ERR_OK : err;
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
	if (walk == NULL)
		return ERR_NO_MEMORY;
	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK) {
		err = network_read(&network, value);
		if (err == ERR_OK)
			err = each(context, key, &network);
		if (err != ERR_OK)
			break;
	}
	kv_walk_end(walk);
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

/* --- changing ----------------------------------------------------------- */

struct live_change {
	struct kv_txn *txn;
	struct codemap *suppliers; /* whose ranges changed */
	struct codemap *networks; /* codes that were put */
	struct buf value;
	struct live_counts counts;
};

static void
change_free(struct live_change *change)
{
	codemap_free(change->suppliers);
	codemap_free(change->networks);
	buf_fini(&change->value);
	free(change);
}

enum err
live_change_begin(struct live_change **out, struct store *store)
{
	struct live_change *change = calloc(1, sizeof(*change));
	enum err err = ERR_NO_MEMORY;

	*out = NULL;
	if (change == NULL)
		return ERR_NO_MEMORY;
	buf_init(&change->value, 64 * 1024);
	change->suppliers = codemap_new();
	change->networks = codemap_new();
	if (change->suppliers != NULL && change->networks != NULL)
		err = kv_write(&change->txn, store_live(store));
	if (err != ERR_OK) {
		change_free(change);
		return err;
	}
	*out = change;
	return ERR_OK;
}

void
live_change_abort(struct live_change *change)
{
	if (change == NULL)
		return;
	kv_abort(change->txn);
	change_free(change);
}

enum err
live_set_facts(struct live_change *change, uint64_t generation)
{
	assert(generation != LIVE_UNKNOWN);
	return store_set_number(change->txn, "facts", generation);
}

/*
 * Marks each supplier whose ranges have a generation; with `damaged`, only
 * those whose generation cannot be read, so that any change repairs it.
 */
static enum err
add_suppliers(struct live_change *change, bool damaged)
{
	struct kv_walk *walk =
	    kv_walk_begin(change->txn, LIVE_GAMMEGEN, SPAN(""), SPAN(""));
	struct span key, value;
	uint32_t number;
	enum err err = walk == NULL ? ERR_NO_MEMORY : ERR_OK;

	while (err == ERR_OK) {
		err = kv_walk_next(walk, &key, &value);
		if (err == ERR_OK && damaged)
			continue;
		if (err == ERR_OK || (err == ERR_DAMAGED && key.len > 0)) {
			err = codemap_add(change->suppliers, key, &number);
			err = err == ERR_EXISTS ? ERR_OK : err;
		}
	}
	kv_walk_end(walk);
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

/* Any supplier with ranges may have lost one: mark them all as changed. */
enum err
live_clear_gammes(struct live_change *change)
{
	enum err err = add_suppliers(change, false);

	return err == ERR_OK ? kv_clear(change->txn, LIVE_GAMMES) : err;
}

/*
 * `err` is from the kv_get() of the record to be replaced; replacing repairs a
 * damaged one.
 */
static bool
may_put(enum err err)
{
	return err == ERR_OK || err == ERR_NOT_FOUND || err == ERR_DAMAGED;
}

enum err
live_put_network(
    struct live_change *change, struct span code, const struct network *network)
{
	struct span old;
	uint32_t number;
	enum err err = codemap_add(change->networks, code, &number);

	assert(network->months <= LIVE_MONTHS_MAX);
	if (err != ERR_OK && err != ERR_EXISTS)
		return err;
	buf_clear(&change->value);
	network_write(&change->value, network);
	err = buf_end(&change->value);
	if (err == ERR_OK)
		err = kv_get(change->txn, LIVE_NETWORK, code, &old);
	if (err == ERR_OK && span_eq(old, buf_span(&change->value))) {
		change->counts.networks_same++;
		return ERR_OK;
	}
	if (!may_put(err))
		return err;
	change->counts.networks++;
	return kv_put(
	    change->txn, LIVE_NETWORK, code, buf_span(&change->value));
}

enum err
live_forget_networks(struct live_change *change)
{
	struct kv_walk *walk =
	    kv_walk_begin(change->txn, LIVE_NETWORK, SPAN(""), SPAN(""));
	struct span key, value;
	enum err err = walk == NULL ? ERR_NO_MEMORY : ERR_OK;

	while (err == ERR_OK) {
		err = kv_walk_next(walk, &key, &value);
		if (err == ERR_DAMAGED && key.len > 0)
			err = ERR_OK; /* to be deleted, or replaced */
		if (err == ERR_OK &&
		    codemap_find(change->networks, key) == CODEMAP_NONE) {
			err = kv_walk_del(walk);
			change->counts.networks_gone++;
		}
	}
	kv_walk_end(walk);
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

enum err
live_put_gamme(struct live_change *change, struct span supplier,
    struct span codein, uint8_t gamme)
{
	struct key key = key_pair(supplier, codein);
	struct span old = SPAN(""), value = row_gamme_text(gamme);
	uint32_t number;
	enum err err = kv_get(change->txn, LIVE_GAMMES, key_span(&key), &old);

	assert(gamme <= ROW_GAMMES);
	if (!may_put(err))
		return err;
	if (err == ERR_NOT_FOUND)
		old = SPAN("");
	if (err != ERR_DAMAGED && span_eq(old, value)) {
		change->counts.gammes_same++;
		return ERR_OK;
	}
	change->counts.gammes++;
	err = codemap_add(change->suppliers, supplier, &number);
	if (err != ERR_OK && err != ERR_EXISTS)
		return err;
	if (value.len == 0)
		return kv_del(change->txn, LIVE_GAMMES, key_span(&key));
	return kv_put(change->txn, LIVE_GAMMES, key_span(&key), value);
}

static enum err
mark_suppliers(struct live_change *change)
{
	enum err err = ERR_OK;

	for (uint32_t i = 0;
	     i < codemap_count(change->suppliers) && err == ERR_OK; i++) {
		struct span supplier = codemap_code(change->suppliers, i);
		struct span old;
		struct key value;

		err = kv_get(change->txn, LIVE_GAMMEGEN, supplier, &old);
		if (!may_put(err))
			return err;
		value = key_of_u64(
		    key_generation_next(key_generation_last(err, old)));
		err = kv_put(
		    change->txn, LIVE_GAMMEGEN, supplier, key_span(&value));
	}
	return err;
}

static enum err
mark_network(struct live_change *change)
{
	uint64_t last;
	enum err err = store_number(change->txn, "network", &last);

	if (!may_put(err))
		return err;
	if (err == ERR_OK && change->counts.networks == 0 &&
	    change->counts.networks_gone == 0)
		return ERR_OK;
	return store_set_number(change->txn, "network",
	    key_generation_next(err == ERR_OK ? last : key_generation_lost()));
}

enum err
live_change_commit(struct live_change *change)
{
	enum err err = add_suppliers(change, true);

	assert(change->txn != NULL);
	if (err == ERR_OK)
		err = mark_suppliers(change);
	if (err == ERR_OK)
		err = mark_network(change);
	if (err == ERR_OK)
		err = kv_commit(change->txn);
	else
		kv_abort(change->txn);
	change_free(change);
	return err;
}

struct live_counts
live_change_counts(const struct live_change *change)
{
	return change->counts;
}
