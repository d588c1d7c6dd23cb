#include "lmdb-schema/upkeep/log_version.h"

#include "common/kv/kv.h"
#include "common/log.h"
#include "lmdb-schema/store/engine.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/store/write_log.h"

#define NS_A_S INT64_C(1000000000)

static enum err
version_of(uint64_t *version, struct store *store)
{
	struct kv_txn *txn;
	enum err err = kv_read(&txn, store_state(store));

	if (err != ERR_OK)
		return err;
	err = write_log_version(version, txn);
	kv_abort(txn);
	return err;
}

static enum err
add_node(void *context, const struct engine_node *node)
{
	struct log_version *now = context;

	if (node->log_version < now->least)
		now->least = node->log_version;
	now->nodes++;
	return ERR_OK;
}

static enum err
raise(void *context, struct kv_txn *txn)
{
	return write_log_raise(txn, *(const uint64_t *)context);
}

enum err
log_version_look(struct log_version *seen, struct store *store, int64_t now_ns)
{
	struct log_version now = {
	    .least = write_log_newest(), .since_ns = now_ns};
	struct engine *engine = store_engine(store);
	uint64_t version;
	enum err err = version_of(&version, store);

	if (err != ERR_OK || version >= now.least)
		return err;
	err = engine->nodes(engine, add_node, &now);
	if (err != ERR_OK)
		return err;
	if (now.least != seen->least || now.nodes != seen->nodes)
		*seen = now;
	if (now.least <= version ||
	    now_ns - seen->since_ns < LOG_VERSION_WAIT_S * NS_A_S)
		return ERR_OK;
	err = store_write(store, STORE_STATE, raise, &now.least);
	if (err == ERR_OK)
		log_info("the nodes write version %llu of the log from now on",
		    (unsigned long long)now.least);
	return err;
}
