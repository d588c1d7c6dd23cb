#include "tests/lmdb-schema/upkeep/node_store.h"

#include <check.h>

#include "lmdb-schema/store/store.h"
#include "tests/support/scratch.h"

static struct store *
open_store(void)
{
	struct store *store;
	struct fault fault;

	fault_clear(&fault);
	ck_assert_int_eq(
	    store_open(&store, scratch_path("data"), &fault), ERR_OK);
	return store;
}

struct store *node_store_begin(
    enum err (*write)(void *context, struct kv_txn *txn))
{
	static const char conf[] = "[cluster]\netcd = http://127.0.0.1:1\n";
	struct store *store;
	struct fault fault;

	scratch_make();
	fault_clear(&fault);
	ck_assert_int_eq(store_create(scratch_path("data"), &fault), ERR_OK);
	store = open_store();
	ck_assert_int_eq(store_write(store, STORE_STATE, write, NULL), ERR_OK);
	store_close(store);
	scratch_write("data/cluster.conf", conf, sizeof(conf) - 1);
	return open_store();
}

void
node_store_end(struct store *store)
{
	store_close(store);
	scratch_remove();
}
