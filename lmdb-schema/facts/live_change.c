/* Changes of the live data, each a transaction. */
#include <assert.h>
#include <stdlib.h>

#include "common/kv/kv.h"
#include "lmdb-schema/facts/live_priv.h"
#include "lmdb-schema/facts/source.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/row.h"
#include "lmdb-schema/store/store.h"

static void
change_free(struct live_change *change)
{
	codemap_free(change->suppliers);
	codemap_free(change->networks);
	buf_fini(&change->value);
	buf_fini(&change->products);
	free(change);
}

enum err
change_begin(struct live_change **out, struct kv_txn *txn)
{
	struct live_change *change = calloc(1, sizeof(*change));

	*out = NULL;
	if (change == NULL)
		return ERR_NO_MEMORY;
	change->txn = txn;
	buf_init(&change->value, 64 * 1024);
	buf_init(&change->products, (size_t)4 << 30);
	change->suppliers = codemap_new();
	change->networks = codemap_new();
	if (change->suppliers == NULL || change->networks == NULL) {
		change_free(change);
		return ERR_NO_MEMORY;
	}
	if (store_number(change->txn, "facts", &change->facts) != ERR_OK)
		change->facts = LIVE_UNKNOWN;
	if (store_number(change->txn, "network", &change->network) != ERR_OK)
		change->network = LIVE_UNKNOWN;
	change->since =
	    since_is_valid(change->txn, change->facts, change->network);
	*out = change;
	return ERR_OK;
}

enum err
live_set_facts(struct live_change *change, uint64_t generation)
{
	bool sums;
	enum err err = store_has_sums(&sums, change->txn);

	assert(generation != LIVE_UNKNOWN);
	change->facts_set = true;
	if (err == ERR_OK && sums)
		err = store_raise_version(change->txn, SCHEMA_LIVE_SHARES);
	return err == ERR_OK
	    ? store_set_number(change->txn, "facts", generation)
	    : err;
}

/* Marks the supplier of a range that changes. */
static enum err
add_supplier(struct live_change *change, struct span supplier)
{
	uint32_t number;
	enum err err = codemap_add(change->suppliers, supplier, &number);

	return err == ERR_EXISTS ? ERR_OK : err;
}

/*
 * Marks each supplier whose generation of ranges cannot be read, so that any
 * change repairs it.
 */
static enum err
add_damaged(struct live_change *change)
{
	struct kv_walk *walk =
	    kv_walk_begin(change->txn, LIVE_GAMMEGEN, SPAN(""), SPAN(""));
	struct span key, value;
	enum err err = ERR_OK;

	while (err == ERR_OK) {
		err = kv_walk_next(walk, &key, &value);
		if (err == ERR_DAMAGED && key.len > 0)
			err = add_supplier(change, key);
	}
	return kv_walk_done(walk, err);
}

enum err
live_forget_gammes(struct live_change *change,
    bool (*keeps)(void *context, struct span key), void *context)
{
	struct kv_walk *walk =
	    kv_walk_begin(change->txn, LIVE_GAMMES, SPAN(""), SPAN(""));
	struct span key, value;
	enum err err = ERR_OK;

	assert(keeps != NULL);
	while (err == ERR_OK) {
		err = kv_walk_next(walk, &key, &value);
		if (err == ERR_DAMAGED && key.len > 0)
			err = ERR_OK; /* to be deleted, or replaced */
		if (err != ERR_OK || keeps(context, key))
			continue;
		err = add_supplier(change, key_first(key));
		if (err == ERR_OK)
			err = kv_walk_del(walk);
	}
	return kv_walk_done(walk, err);
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
	buf_add_u64(&change->products, source_product_hash(code));
	return kv_put(
	    change->txn, LIVE_NETWORK, code, buf_span(&change->value));
}

enum err
live_forget_networks(struct live_change *change)
{
	struct kv_walk *walk =
	    kv_walk_begin(change->txn, LIVE_NETWORK, SPAN(""), SPAN(""));
	struct span key, value;
	enum err err = ERR_OK;

	while (err == ERR_OK) {
		err = kv_walk_next(walk, &key, &value);
		if (err == ERR_DAMAGED && key.len > 0)
			err = ERR_OK; /* to be deleted, or replaced */
		if (err == ERR_OK &&
		    codemap_find(change->networks, key) == CODEMAP_NONE) {
			buf_add_u64(
			    &change->products, source_product_hash(key));
			err = kv_walk_del(walk);
			change->counts.networks_gone++;
		}
	}
	return kv_walk_done(walk, err);
}

enum err
live_put_gamme(struct live_change *change, struct span supplier,
    struct span codein, uint8_t gamme)
{
	struct key key = key_pair(supplier, codein);
	struct span old = SPAN(""), value = row_gamme_text(gamme);
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
	err = add_supplier(change, supplier);
	if (err != ERR_OK)
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
change_end(struct live_change *change, enum err err)
{
	assert(change->txn != NULL);
	if (err == ERR_OK)
		err = add_damaged(change);
	if (err == ERR_OK)
		err = mark_suppliers(change);
	if (err == ERR_OK)
		err = mark_network(change);
	if (err == ERR_OK && change->kept)
		err = since_validate(change->txn);
	/* The live data are no edition of a cluster from now on. */
	if (err == ERR_OK)
		err = kv_del(change->txn, LIVE_META, SPAN("edition"));
	if (err == ERR_NOT_FOUND)
		err = ERR_OK;
	change_free(change);
	return err;
}

struct live_counts
live_change_counts(const struct live_change *change)
{
	return change->counts;
}

enum err
change_run(void *context, struct kv_txn *txn)
{
	const struct change_running *running = context;
	struct live_change *change;
	enum err err = change_begin(&change, txn);

	if (err != ERR_OK)
		return err;
	err = running->work(running->context, change);
	if (running->counts != NULL)
		*running->counts = change->counts;
	return change_end(change, err);
}

enum err
live_change_run(struct store *store,
    enum err (*work)(void *context, struct live_change *change), void *context,
    struct live_counts *counts)
{
	struct change_running running = {work, context, counts};

	assert(work != NULL);
	return store_write(store, STORE_LIVE, change_run, &running);
}
