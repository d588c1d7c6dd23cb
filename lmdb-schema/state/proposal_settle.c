#include <assert.h>

#include "common/kv/kv.h"
#include "lmdb-schema/codemap.h"
#include "lmdb-schema/state/proposal_priv.h"
#include "lmdb-schema/store/store.h"

struct settle {
	struct store *store;
	struct span actor;
	bool imported;
	struct proposal_settled *settled;
};

static bool
has_arrived(const struct standing *standing)
{
	return standing->validated == standing->server &&
	    (standing->sent.last == ROW_GAMME_NONE ||
		standing->sent.last == standing->validated);
}

/* True when no other range can be on its way to the server. */
static bool
has_surely_arrived(const struct standing *standing)
{
	return standing->validated == standing->server &&
	    !standing_other_sent(standing, standing->validated);
}

static bool
all_have_arrived(const struct standing *standing)
{
	return standing->sent.last == standing->server && !standing->sent.mixed;
}

static enum err
nothing_is_on_its_way(struct proposing *op, struct standing *standing)
{
	return proposing_set_sent(
	    op, standing, (struct sent){ROW_GAMME_NONE, false});
}

static bool
is_recorded(const struct standing *standing)
{
	return standing->pending == standing_recorded(standing);
}

/*
 * Collects the keys (supplier 00 codein) of a table whose articles pass
 * `stands_so`.
 */
static enum err
collect(struct codemap *keys, struct proposing *op, unsigned table,
    bool (*stands_so)(const struct standing *standing))
{
	struct key prefix = key_prefix(PROPOSING_SENT);
	bool sent = table == STATE_META;
	struct kv_walk *walk = kv_walk_begin(
	    op->txn, table, sent ? key_span(&prefix) : SPAN(""), SPAN(""));
	struct standing standing;
	struct span key, value;
	uint32_t number;
	enum err err;

	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK) {
		if (sent)
			key = key_second(key);
		op->supplier = key_first(key);
		err = proposing_look(&standing, op, key_second(key));
		if (err == ERR_OK && stands_so(&standing))
			err = codemap_add(keys, key, &number);
		if (err != ERR_OK)
			break;
	}
	kv_walk_end(walk);
	op->supplier = SPAN("");
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

/* Keys are in order, so each supplier's version is marked once, at its end. */
static enum err
settle_one(struct proposing *op, struct span key,
    enum err (*step)(struct proposing *op, struct standing *standing))
{
	struct standing standing;
	enum err err = ERR_OK;

	if (!span_eq(op->supplier, key_first(key)))
		err = proposing_mark(op);
	op->supplier = key_first(key);
	if (err == ERR_OK)
		err = proposing_look(&standing, op, key_second(key));
	return err == ERR_OK ? step(op, &standing) : err;
}

/*
 * Collects all articles before altering the first: a walk must not see its own
 * changes.
 */
static enum err
settle_table(uint64_t *count, struct proposing *op, unsigned table,
    bool (*stands_so)(const struct standing *standing),
    enum err (*step)(struct proposing *op, struct standing *standing))
{
	struct codemap *keys = codemap_new();
	enum err err = ERR_NO_MEMORY;

	if (keys != NULL)
		err = collect(keys, op, table, stands_so);
	for (uint32_t i = 0; err == ERR_OK && i < codemap_count(keys); i++)
		err = settle_one(op, codemap_code(keys, i), step);
	if (err == ERR_OK) {
		*count = codemap_count(keys);
		err = proposing_mark(op);
	}
	codemap_free(keys);
	return err;
}

/*
 * The order matters: arrivals do not change recorded ranges, with which the
 * last step compares.
 */
static enum err
settle(void *context, struct kv_txn *txn)
{
	const struct settle *work = context;
	struct proposing op = {.actor = work->actor};
	uint64_t all;
	enum err err = proposing_begin(&op, txn, work->store);

	*work->settled = (struct proposal_settled){0, 0};
	if (err == ERR_OK)
		err =
		    settle_table(&work->settled->arrived, &op, STATE_VALIDATED,
			work->imported ? has_arrived : has_surely_arrived,
			proposing_arrive);
	if (err == ERR_OK)
		err = settle_table(&all, &op, STATE_META, all_have_arrived,
		    nothing_is_on_its_way);
	if (err == ERR_OK)
		err = settle_table(&work->settled->withdrawn, &op,
		    STATE_PENDING, is_recorded, proposing_withdraw);
	return proposing_end(&op, err);
}

enum err
proposal_settle(struct store *store, struct span actor, bool imported,
    struct proposal_settled *settled)
{
	struct settle work = {store, actor, imported, settled};

	assert(settled != NULL && actor.len > 0);
	return store_write(store, STORE_STATE, settle, &work);
}
