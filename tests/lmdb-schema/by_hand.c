#include "tests/lmdb-schema/by_hand.h"

#include <check.h>

#include "common/kv/kv.h"
#include "lmdb-schema/facts/live_priv.h"
#include "lmdb-schema/store/store.h"
#include "tests/lmdb-schema/mirror.h"

struct live_change *
hand_begin(struct store *store)
{
	struct live_change *change;
	struct kv_txn *txn;

	ck_assert_int_eq(kv_write(&txn, store_live(store)), ERR_OK);
	mirror_keep(txn);
	ck_assert_int_eq(change_begin(&change, txn), ERR_OK);
	return change;
}

void
hand_commit(struct live_change *change)
{
	struct kv_txn *txn = change->txn;

	ck_assert_int_eq(change_end(change, ERR_OK), ERR_OK);
	ck_assert_int_eq(mirror_commit(STORE_LIVE, txn), ERR_OK);
}

void
hand_abort(struct live_change *change)
{
	struct kv_txn *txn = change->txn;

	ck_assert_int_eq(change_end(change, ERR_DENIED), ERR_DENIED);
	mirror_abort(txn);
}
