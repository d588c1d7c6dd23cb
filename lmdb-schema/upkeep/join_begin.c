/* The beginning of a cluster, and of its next epoch. */
#include <string.h>

#include "lmdb-schema/store/engine.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/join.h"
#include "lmdb-schema/upkeep/join_priv.h"
#include "lmdb-schema/upkeep/standing.h"

static struct span
chain_of(const struct write_log_place *place)
{
	return span_make((const char *)place->chain, sizeof(place->chain));
}

static enum err
refuse_begun(const struct engine *engine, struct fault *fault)
{
	fault_set(fault, engine->title,
	    "has this cluster: 'gridctl cluster join' on a further node");
	return ERR_EXISTS;
}

/* The log of epoch 0 may have ended with an epoch that a kill left half begun. */
static enum err
check_first(struct store *store, uint64_t epoch,
    const struct write_log_place *place, struct fault *fault)
{
	struct engine *engine = store_engine(store);
	uint64_t heads[STORE_ENVS];
	enum err err;

	if (place->number > 0 || (epoch > 1 && epoch != STORE_EPOCH_LEFT)) {
		fault_set(fault, store_dir(store),
		    "has a state of a cluster, at entry %llu: where %s has "
		    "lost it, --from %llu begins again",
		    (unsigned long long)place->number, engine->title,
		    (unsigned long long)place->number);
		return ERR_BAD_INPUT;
	}
	if (epoch == 1)
		return ERR_OK;
	err = engine->heads(engine, true, heads);
	return err == ERR_OK && heads[STORE_STATE] > 0 &&
		heads[STORE_STATE] < ENGINE_ENDED
	    ? refuse_begun(engine, fault)
	    : err;
}

/* By its chain the state of another beginning is told from this one. */
static enum err
mark_first(void *context, struct kv_txn *txn)
{
	const struct write_log_place *place = context;

	return write_log_put_place(txn, place);
}

/* Whether the epoch that there is began with this state. */
static enum err
check_begun(struct engine *engine, const struct buf *now, struct fault *fault)
{
	struct buf known;
	enum err err;

	buf_init(&known, ENGINE_EPOCH_TEXT_MAX);
	err = engine->epoch(engine, &known);
	if (err == ERR_OK && !span_eq(buf_span(&known), buf_span(now)))
		err = refuse_begun(engine, fault);
	buf_fini(&known);
	return err;
}

static enum err
begin_first(struct store *store, uint64_t epoch, struct write_log_place *place,
    struct buf *now, struct fault *fault)
{
	static const struct write_log_place none;
	struct engine *engine = store_engine(store);
	enum err err = ERR_OK;

	if (memcmp(place->chain, none.chain, sizeof(none.chain)) == 0) {
		err = digest_random(place->chain, sizeof(place->chain));
		if (err == ERR_OK)
			err = store_write_local(
			    store, STORE_STATE, mark_first, place);
	}
	standing_epoch_text(now, 1, place);
	/* A kill may have come before the checkpoint, or before the number. */
	if (err == ERR_OK && epoch == 1)
		return check_begun(engine, now, fault);
	if (err == ERR_OK)
		err = engine->begin(
		    engine, SPAN(""), buf_span(now), 0, chain_of(place));
	return err == ERR_EXISTS || err == ERR_UNKNOWN
	    ? check_begun(engine, now, fault)
	    : err;
}

enum err
join_begin(const char *dir, struct fault *fault)
{
	struct write_log_place place;
	struct store *store = NULL;
	uint64_t epoch = 0;
	struct buf now;
	enum err err = join_check_told(dir, fault);

	buf_init(&now, ENGINE_EPOCH_TEXT_MAX);
	if (err == ERR_OK)
		err = join_check_unused(dir, fault);
	if (err == ERR_OK)
		err = join_open_place(&store, &epoch, &place, dir, fault);
	if (err == ERR_OK)
		err = check_first(store, epoch, &place, fault);
	if (err == ERR_OK)
		err = begin_first(store, epoch, &place, &now, fault);
	if (err == ERR_OK)
		err = store_set_epoch(store, 1);
	buf_fini(&now);
	return join_end_with(store, err, fault);
}

/* The next epoch, as etcd is to have it, or has it already after a kill. */
struct again {
	struct store *store;
	uint64_t epoch; /* of the state */
	struct write_log_place place;
	struct buf before, now;
	struct fault *fault;
};

static enum err
check_lost(struct again *again)
{
	struct engine *engine = store_engine(again->store);
	uint64_t heads[STORE_ENVS];
	enum err err = engine->heads(engine, true, heads);

	if (err != ERR_OK || heads[STORE_STATE] < again->place.number)
		return err;
	if (standing_of(engine, &again->place) == ERR_FORKED)
		fault_set(again->fault, engine->title,
		    "has lost entries that this node has, and has others "
		    "instead: to give up this node's, 'gridctl cluster join "
		    "--anew' here; to give up the log's, another name in all "
		    "cluster.conf, and this command again");
	else
		fault_set(again->fault, engine->title,
		    "has all entries that this node has: nothing is lost");
	return ERR_EXISTS;
}

static enum err
begin_next(struct again *again)
{
	struct engine *engine = store_engine(again->store);
	uint64_t known;
	enum err err = engine->epoch(engine, &again->before);

	standing_epoch_text(&again->now, again->epoch + 1, &again->place);
	if (err == ERR_OK)
		err = buf_end(&again->now);
	/* A kill may have come before the number was put here. */
	if (err != ERR_OK ||
	    span_eq(buf_span(&again->before), buf_span(&again->now)))
		return err;
	known = engine_epoch_number(buf_span(&again->before));
	if (known > again->epoch) {
		fault_set(again->fault, engine->title,
		    "has begun epoch %llu from another node: 'gridctl cluster "
		    "join --anew' here",
		    (unsigned long long)known);
		return ERR_EXISTS;
	}
	/* A text of an epoch before: of an old copy of etcd's. */
	err = check_lost(again);
	return err == ERR_OK ? engine->begin(engine, buf_span(&again->before),
				   buf_span(&again->now), again->place.number,
				   chain_of(&again->place))
			     : err;
}

static enum err
begin_again(struct again *again, uint64_t number)
{
	enum err err;

	if (again->place.number != number || number == 0) {
		fault_set(again->fault, store_dir(again->store),
		    "is at entry %llu: where no other node is further, "
		    "'gridctl cluster init --from %llu' begins here",
		    (unsigned long long)again->place.number,
		    (unsigned long long)again->place.number);
		return ERR_BAD_INPUT;
	}
	err = begin_next(again);
	return err == ERR_OK ? store_set_epoch(again->store, again->epoch + 1)
			     : err;
}

enum err
join_begin_again(
    uint64_t *epoch, const char *dir, uint64_t number, struct fault *fault)
{
	struct again again = {.fault = fault};
	enum err err = join_check_told(dir, fault);

	buf_init(&again.before, ENGINE_EPOCH_TEXT_MAX);
	buf_init(&again.now, ENGINE_EPOCH_TEXT_MAX);
	if (err == ERR_OK)
		err = join_check_unused(dir, fault);
	if (err == ERR_OK)
		err = join_open_place(
		    &again.store, &again.epoch, &again.place, dir, fault);
	if (err == ERR_OK)
		err = begin_again(&again, number);
	*epoch = again.epoch + 1;
	buf_fini(&again.before);
	buf_fini(&again.now);
	return join_end_with(again.store, err, fault);
}
