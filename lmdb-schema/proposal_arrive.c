#include "common/kv.h"
#include "lmdb-schema/codemap.h"
#include "lmdb-schema/proposing.h"

struct arrive {
	struct store *store;
	struct span actor;
	uint64_t *arrived;
};

/* The keys of the validated changes that the server has by now. */
static enum err
collect(struct codemap *arrived, struct proposing *op)
{
	struct kv_walk *walk =
	    kv_walk_begin(op->txn, STATE_VALIDATED, SPAN(""), SPAN(""));
	struct proposal validated;
	struct span key, value;
	uint32_t number;
	uint8_t server;
	enum err err;

	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK) {
		err = proposal_read(&validated, value);
		if (err == ERR_OK)
			err = live_gamme(
			    op->live, key_first(key), key_second(key), &server);
		if (err == ERR_OK && server == validated.gamme)
			err = codemap_add(arrived, key, &number);
		if (err != ERR_OK)
			break;
	}
	kv_walk_end(walk);
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

/* The keys are in order, so a supplier's stand together. */
static enum err
retire(struct proposing *op, struct span key)
{
	struct standing standing;
	enum err err = ERR_OK;

	if (!span_eq(op->supplier, key_first(key)))
		err = proposing_mark(op);
	op->supplier = key_first(key);
	if (err == ERR_OK)
		err = proposing_look(&standing, op, key_second(key));
	return err == ERR_OK ? proposing_arrive(op, &standing) : err;
}

static enum err
arrive(void *context, struct kv_txn *txn)
{
	const struct arrive *work = context;
	struct proposing op = {.actor = work->actor};
	struct codemap *arrived = codemap_new();
	enum err err;

	*work->arrived = 0;
	if (arrived == NULL)
		return ERR_NO_MEMORY;
	err = proposing_begin(&op, txn, work->store);
	if (err == ERR_OK)
		err = collect(arrived, &op);
	for (uint32_t i = 0; err == ERR_OK && i < codemap_count(arrived); i++)
		err = retire(&op, codemap_code(arrived, i));
	if (err == ERR_OK)
		*work->arrived = codemap_count(arrived);
	err = proposing_end(&op, err);
	codemap_free(arrived);
	return err;
}

enum err
proposal_arrive(struct store *store, struct span actor, uint64_t *arrived)
{
	struct arrive work = {store, actor, arrived};

	return state_write(store, arrive, &work);
}
