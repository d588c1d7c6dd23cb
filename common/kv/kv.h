/*
 * kv: ordered keys and values on disk. The door to LMDB: only files of this
 * folder include lmdb.h.
 *
 * LMDB's rules, which this folder keeps: an environment is opened once a
 * process and after fork(); its map has a fixed size; its tables are opened
 * with it. A value that a reader gets stays valid until its transaction ends.
 * Each failure is logged here once, with its operands.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/span.h"

#define KV_TABLES_MAX 12
#define KV_KEY_MAX 511

struct kv; /* an open environment */
struct kv_txn; /* one transaction: a reader's view, or the writer's */
struct kv_walk; /* a position in one table */

enum kv_mode {
	/* Shared, locked, every commit on disk before it returns. */
	KV_SHARED,
	/*
	 * As KV_SHARED, but a commit reaches the disk with kv_sync(). A commit
	 * survives the death of the process, but a power cut before the
	 * kv_sync() may ruin the file: for data that can be imported or
	 * computed again.
	 */
	KV_SHARED_LAZY,
	/*
	 * A fresh file that no other process sees yet: no locks, synced by
	 * kv_finish() at the end. A transaction's writes stay in memory until
	 * it commits, so a large file is written in many transactions.
	 */
	KV_BUILD,
	/* An immutable file: read only, no lock file. */
	KV_FROZEN
};

struct kv_spec {
	const char *path; /* the data file; its lock is path + "-lock" */
	enum kv_mode mode;
	/*
	 * Ceiling of the file, in address space; beyond it writing is
	 * ERR_MAP_FULL. KV_FROZEN: 0, the file's size.
	 */
	size_t map_bytes;
	/*
	 * The ceiling moves: it is at least twice the file, lower under a limit
	 * on addresses (ulimit -v), and rises when a writer has met it.
	 */
	bool grows;
	const char *const
	    *tables; /* names; made all at once in a file that has none */
	unsigned table_count; /* 0: the one unnamed table, number 0 */
	unsigned readers; /* slots for concurrent readers; 0: 1024 */
	/*
	 * Of an environment with tables: opening does not verify it; a reader
	 * verifies the index pages on its way, so that a look-up costs the same
	 * in a file of any size. The first writer, or copy, verifies all of it.
	 * kv_renew() and kv_watch() are not for it.
	 */
	bool piecemeal;
};

/*
 *   ERR_NOT_FOUND  KV_FROZEN or a read-only disk, and there is no file
 *   ERR_DAMAGED    not an environment, shorter than it says, with pages that
 *                  cannot be walked, or without one of its tables
 *   ERR_EXISTS     KV_BUILD, and the file is there and not empty
 *   ERR_INTERNAL   this process has the file open already
 *   ERR_BUSY       no reader's slot is free
 *   ERR_NO_ADDRESS the file is larger than a limit on addresses (ulimit -v)
 *                  leaves room for
 *   ERR_VERSION, ERR_DENIED, ERR_NO_SPACE, ERR_SYSTEM
 *
 * The file is measured before any page is read: a truncated file is
 * ERR_DAMAGED, never a SIGBUS. The index pages are verified before they are
 * walked (kvpages.h): all at once, unless `piecemeal`; those of a KV_FROZEN file
 * with tables a table at a time, when it is first read: a table that nobody reads
 * costs nothing, and a damaged one is ERR_DAMAGED at each look-up or step in it.
 * Damaged values are not found that way: see kv_keep_sums(). A KV_FROZEN file may
 * be opened again, with the same tables: both callers get the same environment,
 * and each closes it.
 */
enum err kv_open(struct kv **out, const struct kv_spec *spec);
void kv_close(struct kv *kv);

/*
 * Turns on checksums, for an environment whose values can be overwritten: from
 * now on each value on the disk is followed by four bytes, which kv_put() and
 * kv_append() add and reading removes. The bytes are `sum` over the key and
 * then the value, little-endian; `sum` continues from the sum it is given, 0 at
 * the beginning, as zlib's crc32_z() does. Reading a pair that does not match
 * is ERR_DAMAGED; the log names the pair, once even if it is read repeatedly.
 * Looking up a key that is not found is ERR_DAMAGED, too, when a pair next to
 * its place does not match: that pair may be the missing one, with a damaged
 * key. So is the end of a walk with a prefix, once.
 *
 * Call it before any read or write, and in every process: the file itself does
 * not say that it has checksums. kv_reserve() cannot be used with them.
 */
void kv_keep_sums(struct kv *kv,
    uint32_t (*sum)(uint32_t sum, const void *bytes, size_t len));

/*
 * Formats a key for a person: bytes other than ASCII letters, digits and signs
 * as \xNN. A long key ends in "...".
 */
#define KV_KEY_TEXT_MAX 200
void kv_key_text(char text[KV_KEY_TEXT_MAX], struct span key);

/* A table's name; "" for the unnamed one. */
const char *kv_table_name(const struct kv *kv, unsigned table);

/*
 * A reader never blocks and is never blocked. ERR_BUSY when all slots are
 * taken. A transaction belongs to one thread at a time; a writer's to the one
 * that began it.
 */
enum err kv_read(struct kv_txn **out, struct kv *kv);

/*
 * Begins the writer; waits for a writer in any process to finish. After an
 * ERR_MAP_FULL of an environment that grows, it first makes the map larger, so
 * the work that failed can be done again. That waits up to two seconds for the
 * other transactions of this process: ERR_BUSY when one does not end, and
 * ERR_NO_ADDRESS when a limit on addresses does not allow it.
 */
enum err kv_write(struct kv_txn **out, struct kv *kv);

/* KV_BUILD: the next transaction will write a value of so many bytes. */
void kv_expect(struct kv *kv, size_t bytes);

/*
 * Commits and frees the transaction, whatever the result. After a write that
 * failed nothing is stored, and that failure is returned again.
 */
enum err kv_commit(struct kv_txn *txn);

/* Ends the transaction without effect. NULL is fine; readers end here too. */
void kv_abort(struct kv_txn *txn);

/*
 * Reuse of a reader: kv_rest() releases its view without freeing it, kv_renew()
 * takes the newest view. Costs 0.2 us instead of malloc and free.
 */
void kv_rest(struct kv_txn *reader);
enum err kv_renew(struct kv_txn *reader);

/*
 * Gets the value, borrowed until the transaction ends. ERR_NOT_FOUND is quiet;
 * for ERR_DAMAGED see kv_keep_sums().
 */
enum err kv_get(
    struct kv_txn *txn, unsigned table, struct span key, struct span *value);

/* ERR_TOO_LARGE: an empty key, a key over KV_KEY_MAX, or a value over 4 GiB. */
enum err kv_put(
    struct kv_txn *txn, unsigned table, struct span key, struct span value);

/*
 * Keys must come in order: the fast way to fill a fresh table. A key that is
 * not after the last is ERR_EXISTS, quietly, and nothing changes.
 */
enum err kv_append(
    struct kv_txn *txn, unsigned table, struct span key, struct span value);

/*
 * Reserves `len` bytes for the value of `key`, which the caller fills before
 * the transaction's next call.
 */
enum err kv_reserve(struct kv_txn *txn, unsigned table, struct span key,
    size_t len, void **room);

/* ERR_NOT_FOUND is quiet and harmless. */
enum err kv_del(struct kv_txn *txn, unsigned table, struct span key);

/* Empties a table. */
enum err kv_clear(struct kv_txn *txn, unsigned table);

/* Counts the keys of a table. */
enum err kv_count(struct kv_txn *txn, unsigned table, uint64_t *count);

/*
 * Walks the keys that begin with `prefix`, in order, from the first one that
 * is not before `from` (an empty `from` starts at the prefix). NULL when
 * memory is out: the next step then says so.
 *
 *	struct kv_walk *walk = kv_walk_begin(txn, TABLE, prefix, SPAN(""));
 *	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK)
 *		...
 *	return kv_walk_done(walk, err);
 *
 * kv_walk_next() gives ERR_NOT_FOUND at the end, which kv_walk_done() turns
 * into ERR_OK; it passes any other code on.
 *
 * ERR_DAMAGED with a key concerns that pair alone: the walk may go on. The
 * writer may kv_walk_del() the current pair and go on. A walk must end before
 * its transaction does.
 */
struct kv_walk *kv_walk_begin(
    struct kv_txn *txn, unsigned table, struct span prefix, struct span from);
enum err kv_walk_next(
    struct kv_walk *walk, struct span *key, struct span *value);
enum err kv_walk_del(struct kv_walk *walk);
void kv_walk_end(struct kv_walk *walk);
enum err kv_walk_done(struct kv_walk *walk, enum err err);

/* The number of the last commit that the view sees: grows with each commit. */
uint64_t kv_txn_id(const struct kv_txn *txn);

/*
 * Verifies the index pages of a KV_SHARED environment, as one reader sees them:
 * ERR_DAMAGED when they cannot be walked safely. Writers are not delayed.
 * Values are not checked.
 */
enum err kv_verify(struct kv *kv);

/*
 * From now on this process checks the file's times and size when a transaction
 * begins, at most every 10 ms. When they have changed, it verifies the file as
 * kv_verify() does: at once if no commit explains the change, otherwise within
 * a thousand times the duration of a verification. While the file is found
 * damaged, kv_read(), kv_renew() and kv_write() are ERR_DAMAGED.
 */
enum err kv_watch(struct kv *kv);

/* Flushes all commits to the disk. */
enum err kv_sync(struct kv *kv);

/* Gets the times of the file's last changes, and its size. */
enum err kv_stamp(struct fs_stamp *stamp, struct kv *kv);

/* Bytes of the file that hold pages, 0 .. this; the rest is sparse tail. */
size_t kv_used_bytes(struct kv *kv);

/*
 * Ends a KV_BUILD: closes the file, cuts off its sparse tail, syncs it. After a
 * failure (in `err`, or here) the file is removed instead, except a file that
 * kv_open() found there (ERR_EXISTS). Returns the first failure. `kv` may be
 * NULL if `err` is a failure.
 */
enum err kv_finish(struct kv *kv, const char *path, enum err err);

/*
 * Writes a consistent copy of the live environment into a new file, synced.
 * ERR_EXISTS when the file exists; a copy that failed is removed.
 */
enum err kv_copy(struct kv *kv, const char *path);

/*
 * Frees the reader slots of processes that died; returns their number, for the
 * log.
 */
int kv_reap_readers(struct kv *kv);
