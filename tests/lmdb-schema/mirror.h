/*
 * mirror: a second copy of a test's store, kept by the entries of its log alone
 * (write_log.h). It follows from mirror_begin() on; mirror_end() finds all
 * tables equal. A store that is written to in another way, or damaged, meanwhile
 * says so with mirror_drop().
 */
#pragma once

#include "common/err.h"
#include "lmdb-schema/store/store.h"

void mirror_begin(struct store *store);
void mirror_end(struct store *store);
void mirror_drop(void);

/* As store_write() does, for a writer that the test began and commits. */
void mirror_keep(struct kv_txn *txn);
enum err mirror_commit(enum store_env env, struct kv_txn *txn);
void mirror_abort(struct kv_txn *txn);
