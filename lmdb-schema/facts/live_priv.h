/*
 * live_priv: views and changes of the live data. For live*.c only, and tests.
 */
#pragma once

#include "lmdb-schema/codemap.h"
#include "lmdb-schema/facts/live.h"

struct kv_txn;

struct live_view {
	struct kv_txn *txn;
	/* Records that every request reads, cached for one commit. */
	uint64_t facts, network;
	uint64_t apart; /* facts up to these are not of the cluster's */
	bool since; /* the suppliers' records belong to these two */
	uint64_t commit; /* the commit that they belong to */
};

struct live_change {
	struct kv_txn *txn;
	struct codemap *suppliers; /* whose ranges changed */
	struct codemap *networks; /* codes that were put */
	struct buf products; /* u64 source_product_hash() of what changed */
	struct buf value;
	struct live_counts counts;
	uint64_t facts, network; /* as they were; LIVE_UNKNOWN: unreadable */
	bool since; /* the suppliers' records belong to these two */
	bool facts_set;
	bool kept; /* live_keep_unchanged() was called */
};

/*
 * A change in a transaction that the caller began. change_end() marks what
 * changed, unless `err` is a failure, and frees the change; the transaction is
 * still the caller's, to be committed only after ERR_OK.
 */
enum err change_begin(struct live_change **out, struct kv_txn *txn);
enum err change_end(struct live_change *change, enum err err);

/* A whole change in such a transaction; `context` is one of these. */
struct change_running {
	enum err (*work)(void *context, struct live_change *change);
	void *context;
	struct live_counts *counts; /* may be NULL */
};
enum err change_run(void *context, struct kv_txn *txn);

/*
 * live_since.c: whether the suppliers' records belong to these two numbers, and
 * the record that says that they belong to the present ones.
 */
bool since_is_valid(struct kv_txn *txn, uint64_t facts, uint64_t network);
enum err since_validate(struct kv_txn *txn);
