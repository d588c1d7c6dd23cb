/*
 * Since when a supplier's rows are as they are: schema.h, "since". An import or
 * a network file changes few suppliers, and only those are computed again.
 *
 * A program that does not know these records leaves them as they are, and
 * changes the two numbers that they belong to: then they count no more.
 */
#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "common/kv/kv.h"
#include "lmdb-schema/facts/live_priv.h"
#include "lmdb-schema/facts/source.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/store/store.h"

static const char since_name[] = "since";

/* Stands for the current number: of a supplier that the last change altered. */
#define SINCE_NOW UINT64_MAX

struct since {
	uint64_t facts, network;
};

static const struct since all_now = {SINCE_NOW, SINCE_NOW};

static enum err
read_since(struct kv_txn *txn, struct span key, struct since *since)
{
	struct span value;
	enum err err = kv_get(txn, LIVE_META, key, &value);

	*since = all_now;
	if (err != ERR_OK)
		return err;
	if (value.len != sizeof(*since))
		return ERR_DAMAGED;
	memcpy(since, value.ptr, sizeof(*since));
	since->facts = le64toh(since->facts);
	since->network = le64toh(since->network);
	return ERR_OK;
}

static enum err
write_since(struct kv_txn *txn, struct span key, struct since since)
{
	since.facts = htole64(since.facts);
	since.network = htole64(since.network);
	return kv_put(
	    txn, LIVE_META, key, span_make((char *)&since, sizeof(since)));
}

static uint64_t
meant(uint64_t number, uint64_t current)
{
	return number == SINCE_NOW ? current : number;
}

bool
since_is_valid(struct kv_txn *txn, uint64_t facts, uint64_t network)
{
	struct since since;

	return read_since(txn, span_of(since_name), &since) == ERR_OK &&
	    since.facts == facts && since.network == network;
}

enum err
since_validate(struct kv_txn *txn)
{
	struct since since;
	enum err err = store_number(txn, "facts", &since.facts);

	if (err == ERR_OK)
		err = store_number(txn, "network", &since.network);
	return err == ERR_OK ? write_since(txn, span_of(since_name), since)
			     : err;
}

bool
live_is_unchanged(struct live_view *view, struct span supplier, uint64_t facts,
    uint64_t network)
{
	struct key key = key_pair(span_of(since_name), supplier);
	struct since since;

	if (facts == view->facts && network == view->network)
		return true;
	if (!view->since || !key_code_ok(supplier) ||
	    (view->apart != 0 && facts <= view->apart) ||
	    read_since(view->txn, key_span(&key), &since) != ERR_OK)
		return false;
	since.facts = meant(since.facts, view->facts);
	since.network = meant(since.network, view->network);
	/* Numbers of another store's, or of a backup's, may be later. */
	return since.facts <= facts && facts <= view->facts &&
	    since.network <= network && network <= view->network;
}

/* --- changing ------------------------------------------------------------ */

struct keeping {
	struct live_change *change;
	struct source *before;
	const uint64_t *products; /* that changed */
	size_t count;
	bool network; /* any did, or may have */
	bool common; /* what all rows share is as it was */
};

static bool
same_facts(struct keeping *keeping, const struct source_supplier *now)
{
	struct source_supplier before;

	if (!keeping->change->facts_set)
		return true;
	return keeping->common && now->digest.len > 0 &&
	    source_supplier(keeping->before, now->code, &before) == ERR_OK &&
	    span_eq(before.digest, now->digest);
}

static bool
same_network(struct keeping *keeping, const struct source_supplier *now)
{
	return !keeping->network ||
	    (keeping->change->network != LIVE_UNKNOWN &&
		!source_lists_product(now, keeping->products, keeping->count));
}

static enum err
keep_supplier(void *context, const struct source_supplier *now)
{
	struct keeping *keeping = context;
	struct live_change *change = keeping->change;
	struct key key = key_pair(span_of(since_name), now->code);
	struct since since = all_now;
	bool facts = same_facts(keeping, now);
	bool network = same_network(keeping, now);
	enum err err = ERR_OK;

	if (change->since)
		err = read_since(change->txn, key_span(&key), &since);
	if (err == ERR_DAMAGED) /* counts as changed */
		facts = network = false;
	else if (err != ERR_OK && err != ERR_NOT_FOUND)
		return err;
	if (change->facts_set)
		since.facts =
		    facts ? meant(since.facts, change->facts) : SINCE_NOW;
	if (keeping->network)
		since.network =
		    network ? meant(since.network, change->network) : SINCE_NOW;
	if (facts && network)
		change->counts.suppliers_same++;
	else
		change->counts.suppliers++;
	if (err == ERR_DAMAGED)
		since = all_now;
	return write_since(change->txn, key_span(&key), since);
}

/* Forgets the suppliers that the facts do not have any more. */
static enum err
forget_gone(struct live_change *change, struct source *now)
{
	struct key prefix = key_prefix(span_of(since_name));
	struct kv_walk *walk =
	    kv_walk_begin(change->txn, LIVE_META, key_span(&prefix), SPAN(""));
	struct source_supplier info;
	struct span key, value;
	enum err err = ERR_OK;

	while (err == ERR_OK) {
		err = kv_walk_next(walk, &key, &value);
		if (err == ERR_DAMAGED && key.len > 0)
			err = ERR_OK; /* written anew, or deleted */
		if (err == ERR_OK &&
		    source_supplier(now, key_second(key), &info) != ERR_OK)
			err = kv_walk_del(walk);
	}
	return kv_walk_done(walk, err);
}

static int
by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

enum err
live_keep_unchanged(
    struct live_change *change, struct source *before, struct source *now)
{
	struct keeping keeping = {.change = change, .before = before};
	enum err err = buf_end(&change->products);

	assert(!change->kept);
	if (err != ERR_OK || now == NULL)
		return err;
	keeping.network = change->network == LIVE_UNKNOWN ||
	    change->counts.networks + change->counts.networks_gone > 0;
	keeping.products = (const uint64_t *)change->products.data;
	keeping.count = change->products.len / sizeof(uint64_t);
	if (!change->facts_set && !keeping.network)
		return ERR_OK;
	if (keeping.count > 1)
		qsort(change->products.data, keeping.count, sizeof(uint64_t),
		    by_value);
	keeping.common = before != NULL &&
	    span_eq(source_common(before), source_common(now));
	change->kept = true;
	err = source_suppliers(now, keep_supplier, &keeping);
	return err == ERR_OK ? forget_gone(change, now) : err;
}

enum err
live_forget_since(struct live_change *change)
{
	enum err err = kv_del(change->txn, LIVE_META, span_of(since_name));

	return err == ERR_NOT_FOUND ? ERR_OK : err;
}
