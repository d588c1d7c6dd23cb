/*
 * write_log: a commit as an entry of an engine's log (engine.h), and such an
 * entry applied to another node's environment.
 *
 *	entry   u8      the version of the format, from 1 on
 *	        16      the id by which a repeated append is told
 *	        32      chain: SHA-256 of the chain before (zeros before the
 *	                first) and of the writes
 *	        u64     when it was made, ms
 *	        u32     length of the writes
 *	        the writes (kv_ops.h), as a zstd frame
 *
 * An environment knows which entry it has reached, by the record "log" in meta:
 * u64 number, 32 bytes chain; without one it is at 0. The record is part of the
 * commit that the entry describes, so that a crash leaves both or neither.
 *
 * Entries are written in the version that the record "log-version" in meta says,
 * a u64, 1 without one. It is raised by an entry, once all nodes read the next
 * version (upkeep/log_version.h): all nodes write the same one from there on, and
 * a node that does not read it writes nothing.
 */
#pragma once

#include <stdint.h>

#include "common/buf.h"
#include "common/digest.h"
#include "common/err.h"
#include "common/span.h"
#include "lmdb-schema/store/engine.h"

struct kv;
struct kv_txn;

/* The newest version that this program reads and writes. */
unsigned write_log_newest(void);

/* The version that entries are written in; and raises it, in an entry. */
enum err write_log_version(uint64_t *out, struct kv_txn *txn);
enum err write_log_raise(struct kv_txn *txn, uint64_t version);

#define WRITE_LOG_OPS_MAX ((size_t)1 << 30)

struct write_log_place {
	uint64_t number;
	uint8_t chain[DIGEST_SHA256_LEN];
};

enum err write_log_place(struct write_log_place *out, struct kv_txn *txn);

/* For the beginning of a log, and of a copy; entries move it themselves. */
enum err write_log_put_place(
    struct kv_txn *txn, const struct write_log_place *place);
enum err write_log_place_of(struct write_log_place *out, struct kv *kv);

/*
 * Commits the transaction, whose writes are `ops`: as the engine's next entry
 * first, then here. Without writes nothing is appended, and the engine is asked
 * whether an entry is missing here. It frees the transaction, as kv_commit() does.
 * Beside that function's failures:
 *
 *   ERR_BEHIND   another node has written: write_log_follow(), then do the
 *                work again. Nothing was stored.
 *   ERR_AWAY     nothing was stored
 *   ERR_UNKNOWN  it may be in the log, and then comes with
 *                write_log_follow()
 *   ERR_STORED   it is in the log, and the commit failed here: the disk is
 *                full, for one. It comes with write_log_follow(), too
 *   ERR_OUTRUN   nothing was stored: entries are trimmed that are missing here,
 *                or the log has ended
 *   ERR_FORKED   nothing was stored: the log has not the entries that are here
 *   ERR_VERSION  nothing was stored: the nodes write a later version
 */
enum err write_log_commit(struct engine *engine, enum store_env log,
    struct kv_txn *txn, struct buf *ops);

/*
 * Applies what other nodes have appended, each entry in a commit of its own.
 * ERR_AWAY; ERR_OUTRUN when the next one is trimmed; ERR_VERSION for an entry of
 * a later version, ERR_FORKED for one that does not follow the chain, ERR_DAMAGED
 * for one that cannot be read: what came before it is applied.
 */
enum err write_log_follow(
    struct engine *engine, enum store_env log, struct kv *kv);

/*
 * The same, after a look at the log's number, which it has then reached.
 * ERR_FORKED also when the log ends before the environment's place: it has lost
 * entries. ERR_OUTRUN also when it has ended, and the cluster has begun a later
 * epoch than the environment's.
 */
enum err write_log_catch_up(
    struct engine *engine, enum store_env log, struct kv *kv);

/*
 * Applies one entry. ERR_EXISTS where it is applied already, ERR_NOT_FOUND
 * where one before it is missing; and see write_log_follow().
 */
enum err write_log_apply(struct kv *kv, uint64_t number, struct span entry);

/*
 * Whether the entry is the next one behind this place: ERR_FORKED, ERR_DAMAGED,
 * ERR_VERSION.
 */
enum err write_log_check(
    const struct write_log_place *place, struct span entry);
