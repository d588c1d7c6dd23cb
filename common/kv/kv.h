/*
 * kv: ordered keys and values on disk. The door to LMDB: nothing else than
 * kv.c and kv_open.c includes lmdb.h.
 *
 * Rules that LMDB asks for and this file keeps: an environment is opened once
 * a process and after fork(); its map has a fixed size; its tables are opened
 * with it. What a reader is given stays put until its transaction ends.
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
	 * The same, but a commit reaches the disk with kv_sync(). It survives
	 * the process in any case, but a power cut before the kv_sync() may
	 * ruin the file: for what can be imported or computed again.
	 */
	KV_SHARED_LAZY,
	/*
	 * A fresh file that nobody else sees yet: no locks, synced by
	 * kv_finish() at the end. What a transaction holds stays in memory
	 * until it commits, so a large file is written by many of them.
	 */
	KV_BUILD,
	/* An immutable file: read only, no lock file. */
	KV_FROZEN
};

struct kv_spec {
	const char *path; /* the data file; its lock is path + "-lock" */
	enum kv_mode mode;
	/*
	 * Ceiling of the file, the same in each process; beyond it writing is
	 * ERR_NO_SPACE. KV_FROZEN: 0, as it is.
	 */
	size_t map_bytes;
	const char *const
	    *tables; /* names; made all at once in a file that has none */
	unsigned table_count; /* 0: the one unnamed table, number 0 */
	unsigned readers; /* slots for concurrent readers; 0: 1024 */
};

/*
 *   ERR_NOT_FOUND  KV_FROZEN or a read-only disk, and there is no file
 *   ERR_DAMAGED    not an environment, shorter than it says, with pages that
 *                  cannot be walked, or without one of its tables
 *   ERR_EXISTS     KV_BUILD, and the file is there and not empty
 *   ERR_INTERNAL   this process has it open already
 *   ERR_BUSY       no reader's slot is free
 *   ERR_VERSION, ERR_DENIED, ERR_NO_SPACE, ERR_SYSTEM
 *
 * The file is measured before any page is looked at: one that was cut short
 * is ERR_DAMAGED, and never a SIGBUS. The index pages are looked over
 * before they are walked (kvpages.h); a value that was spoilt is
 * not found so: that is what kv_keep_sums() is for. A KV_FROZEN file may be opened
 * again, with the same tables: both get the same environment, and each closes
 * it.
 */
enum err kv_open(struct kv **out, const struct kv_spec *spec);
void kv_close(struct kv *kv);

/*
 * Checksums, for an environment whose values can be overwritten and so have
 * none of their own: from now on each value is followed on the disk by four
 * bytes, which kv_put() and kv_append() add and which nobody sees. They are
 * `sum` of the key and then the value, little-endian; `sum` goes on from the
 * sum before it, 0 at the beginning, as zlib's crc32_z() does. Whoever reads
 * a pair that has changed since is told ERR_DAMAGED; the log names it, once
 * when it is met again and again. A reader for whom a key is not there is told
 * so, too, when a pair beside its place has changed: it may be that one, with
 * another key. So is a walk with a prefix at its end, once.
 *
 * To be called before anything else is read or put, and in each process alike:
 * nothing in the file says so. Such an environment has no kv_reserve().
 */
void kv_keep_sums(struct kv *kv,
    uint32_t (*sum)(uint32_t sum, const void *bytes, size_t len));

/*
 * A key for a person: as it is, but bytes that are no ASCII letters, digits or
 * signs as \xNN. A long one ends in "...".
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

/* The writer; waits for another one, in whatever process, to finish. */
enum err kv_write(struct kv_txn **out, struct kv *kv);

/*
 * Ends it and frees it, whatever comes back; only then is it stored. After a
 * write that failed nothing is, and that failure comes back once more.
 */
enum err kv_commit(struct kv_txn *txn);

/* Ends it without effect. NULL is fine; readers end here too. */
void kv_abort(struct kv_txn *txn);

/*
 * A reader kept between uses: kv_rest() lets its view go without freeing it,
 * kv_renew() takes the newest one. 0.2 us instead of malloc and free.
 */
void kv_rest(struct kv_txn *reader);
enum err kv_renew(struct kv_txn *reader);

/*
 * The value, borrowed until the transaction ends. ERR_NOT_FOUND is quiet;
 * ERR_DAMAGED is also that of kv_keep_sums().
 */
enum err kv_get(
    struct kv_txn *txn, unsigned table, struct span key, struct span *value);

/* ERR_TOO_LARGE: no key, one over KV_KEY_MAX, or a value over 4 GiB. */
enum err kv_put(
    struct kv_txn *txn, unsigned table, struct span key, struct span value);

/*
 * Keys must come in order: the fast way to fill a fresh table. One that is not
 * after the last is ERR_EXISTS, quietly, and the others are as they were.
 */
enum err kv_append(
    struct kv_txn *txn, unsigned table, struct span key, struct span value);

/*
 * Room of `len` bytes for the value of `key`, to be filled before the
 * transaction's next call.
 */
enum err kv_reserve(struct kv_txn *txn, unsigned table, struct span key,
    size_t len, void **room);

/* ERR_NOT_FOUND is quiet and harmless. */
enum err kv_del(struct kv_txn *txn, unsigned table, struct span key);

/* Empties a table. */
enum err kv_clear(struct kv_txn *txn, unsigned table);

/* How many keys it has. */
enum err kv_count(struct kv_txn *txn, unsigned table, uint64_t *count);

/*
 * Walks the keys that begin with `prefix`, in order, from the first one that
 * is not before `from` (an empty `from` starts at the prefix). NULL when
 * memory is out.
 *
 *	struct kv_walk *walk = kv_walk_begin(txn, TABLE, prefix, SPAN(""));
 *	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK)
 *		...
 *	kv_walk_end(walk);	/- ERR_NOT_FOUND was the end -/
 *
 * ERR_DAMAGED with a key is about that pair alone: the walk may go on. The
 * writer may kv_walk_del() the pair it stands on and go on. A walk ends before
 * its transaction does.
 */
struct kv_walk *kv_walk_begin(
    struct kv_txn *txn, unsigned table, struct span prefix, struct span from);
enum err kv_walk_next(
    struct kv_walk *walk, struct span *key, struct span *value);
enum err kv_walk_del(struct kv_walk *walk);
void kv_walk_end(struct kv_walk *walk);

/* The number of the view's last committed write: grows with each commit. */
uint64_t kv_txn_id(const struct kv_txn *txn);

/*
 * Looks over the index pages of a KV_SHARED environment, as one reader sees
 * them: ERR_DAMAGED when walking it could lead astray. Whoever writes is not
 * held up. What the values say is not looked at.
 */
enum err kv_verify(struct kv *kv);

/*
 * From now on this process looks at the file's times and size when a
 * transaction begins, at most each 10 ms, and verifies it as kv_verify() does
 * when they have changed: at once where no commit was the reason, within a
 * thousand times what it takes where one was. As long as it is found unsound,
 * kv_read(), kv_renew() and kv_write() are ERR_DAMAGED.
 */
enum err kv_watch(struct kv *kv);

/* Flushes all that was committed to the disk. */
enum err kv_sync(struct kv *kv);

/* When the file was last written, and its bytes. */
enum err kv_stamp(struct fs_stamp *stamp, struct kv *kv);

/* Bytes of the file that hold pages, 0 .. this; the rest is sparse tail. */
size_t kv_used_bytes(struct kv *kv);

/*
 * Ends a KV_BUILD: closed, its sparse tail cut off, synced. After a failure
 * (`err` is one, or this meets one) the file is removed instead; but what
 * kv_open() found there (ERR_EXISTS) stays. The first failure comes back. A
 * NULL `kv` is fine with a failure.
 */
enum err kv_finish(struct kv *kv, const char *path, enum err err);

/*
 * A consistent copy of the live environment into a new file, synced.
 * ERR_EXISTS when there is one; a copy that failed is removed.
 */
enum err kv_copy(struct kv *kv, const char *path);

/* Frees the reader slots of processes that died; how many, for the log. */
int kv_reap_readers(struct kv *kv);
