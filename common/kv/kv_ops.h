/*
 * kv_ops: the writes of a transaction as bytes, so that they can be done again
 * in another environment with the same tables.
 *
 *	ops     op after op, in the order of the writes; integers little-endian
 *	op      u8 kind, u8 table, and:
 *	        KV_OP_PUT    u16 length of the key, u32 of the value, both texts
 *	        KV_OP_DEL    u16 length of the key, the key
 *	        KV_OP_CLEAR  nothing
 *
 * Values are without the checksums of kv_keep_sums(): each environment adds its
 * own.
 */
#pragma once

#include "common/buf.h"
#include "common/kv/kv.h"

enum kv_op { KV_OP_PUT = 1, KV_OP_DEL = 2, KV_OP_CLEAR = 3 };

/*
 * From now on the writer `txn` also appends its writes to `ops`, which outlives
 * the transaction. A write that changes nothing (ERR_EXISTS, ERR_NOT_FOUND) is
 * not in it. Where `ops` cannot grow, the writes go on and kv_commit() returns
 * its failure: nothing is stored. kv_reserve() cannot be used. With NULL, the
 * writes from now on are not appended.
 */
void kv_keep_ops(struct kv_txn *txn, struct buf *ops);

/*
 * Does the writes in `ops` again. ERR_BAD_INPUT, before the first write, when
 * `ops` is not as described above or names a table that is not there. To delete
 * a key that is not there is no failure.
 */
enum err kv_apply(struct kv_txn *txn, struct span ops);
