/* kv_priv: internals shared by kv*.c. No other file but their tests includes it. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "common/kv/kv.h"
#include "common/seldom.h"

struct buf;
struct MDB_cursor;
struct MDB_env;
struct MDB_txn;
struct kv_watch;
struct kvpages_reach;
struct kvpages_view;

struct kv {
	struct MDB_env *env;
	char *path;
	char **names; /* of the tables */
	unsigned tables[KV_TABLES_MAX];
	unsigned table_count;
	enum kv_mode mode;
	bool read_only;
	atomic_bool told_panic;
	struct seldom refused; /* writes, by a disk that takes none */
	uint32_t (*sum)(uint32_t sum, const void *bytes, size_t len);
	atomic_uint told_sum; /* of the last damaged record logged */

	/* Links in the list of open environments. */
	struct kv *next;
	unsigned users;
	pid_t pid;
	dev_t dev;
	ino_t ino;
	struct fs_stamp stamp; /* before it was verified at opening */
	int64_t verify_ns; /* how long that took; 0: verify again */
	bool grows; /* kv_map.c: */
	atomic_bool full; /* a writer has met the end of the map */
	uint64_t expected; /* by kv_expect() */
	atomic_uint active; /* transactions of this process */
	atomic_bool growing;
	pthread_mutex_t grow_lock;
	bool opened; /* its tables are */
	struct kv_watch *watch; /* NULL: not requested */
	/* KV_FROZEN with tables, each verified at its first use: */
	struct kvpages_view *parts;
	pthread_mutex_t parts_lock;
	atomic_uint sound; /* a bit for each that has been verified */
	bool piecemeal;
	atomic_bool whole; /* it has been verified as a whole since */
};

struct kv_txn {
	struct kv *kv;
	struct MDB_txn *txn;
	struct MDB_cursor *cursors[KV_TABLES_MAX]; /* NULL: not used yet */
	unsigned stale; /* a bit for each table whose cursor is to be renewed */
	bool writer;
	bool resting;
	unsigned walks; /* walks that have not ended yet */
	enum err err; /* a write failed: nothing of it may be stored */
	struct buf *ops; /* gets each write; NULL: not wanted (kv_ops.h) */
	struct kvpages_view *pages; /* of a reader, piecemeal; else NULL */
};

/* kv_ops.c: appends a write to the ops that are kept. */
void kv_note_put(
    struct kv_txn *txn, unsigned table, struct span key, struct span value);
void kv_note_del(struct kv_txn *txn, unsigned table, struct span key);
void kv_note_clear(struct kv_txn *txn, unsigned table);

/* Closes the cursor of a table; a later use opens another. */
void kv_forget_cursor(struct kv_txn *txn, unsigned table);

/* ERR_DAMAGED, logged, for a file that is shorter than its pages say. */
enum err kv_refuse_cut(struct kv *kv);

/*
 * Checks a watched file around the beginning of each transaction: first whether
 * its pages may be touched at all, then, with the view's last commit, whether a
 * verification is due, which runs at once. Both return ERR_DAMAGED for a
 * damaged file, and log it. Every successful begin needs its end, with
 * KV_NO_COMMIT if the transaction failed to begin.
 */
#define KV_NO_COMMIT UINT64_MAX
struct kv_look {
	struct kv *kv; /* NULL: no check is due */
	struct fs_stamp stamp;
	int64_t now_ns;
};
enum err kv_look_begin(struct kv_look *look, struct kv *kv);
enum err kv_look_end(struct kv_look *look, uint64_t commit);
void kv_unwatch(struct kv *kv);

/*
 * kv_map.c. Between kv_enter() and kv_leave() the map stays where it is;
 * kv_map_follow() and kv_map_room() move it, when nobody is between the two.
 */
size_t kv_map_first(const struct kv_spec *spec, uint64_t file_bytes);
void kv_enter(struct kv *kv);
void kv_leave(struct kv *kv);
enum err kv_map_follow(struct kv *kv);
enum err kv_map_room(struct kv *kv);

/* The code of ENOMEM: memory, or a limit on addresses. */
enum err kv_no_memory(void);

/* LMDB's own descriptor of the file. */
enum err kv_file(int *fd, struct kv *kv);

/* The transaction of the newest meta page, damaged or not. */
uint64_t kv_last_commit(struct kv *kv);

/* kv_read() without checking the watched file. */
enum err kv_read_unwatched(struct kv_txn **out, struct kv *kv);

#define KV_SUM_BYTES sizeof(uint32_t)

/* Computes the stored checksum of a pair; only where sums are kept. */
uint32_t kv_sum_of(const struct kv *kv, struct span key, struct span value);

/*
 * Cuts the checksum off the end of a stored value, and compares it. ERR_DAMAGED
 * is logged and empties *value. Without sums *value stays as it is.
 */
enum err kv_take_sum(
    struct kv *kv, unsigned table, struct span key, struct span *value);

/* LMDB's code as ours, without a log. */
enum err kv_fold_code(int code);

/*
 * Maps LMDB's code to ours. A failure (neither success, nor not found, nor
 * exists) is logged with the operation `doing`.
 */
enum err kv_failed(struct kv *kv, const char *doing, int code);

/* Notes a commit; logs the first after a minute in which none was refused. */
void kv_works(struct kv *kv);

/* As kv_failed(), for a failure with another file than the environment's. */
enum err kv_failed_at(
    struct kv *kv, const char *path, const char *doing, int code);

/*
 * kv_piecemeal.c. kv_look_at() verifies the pages that a look-up of the key
 * needs, and those that a step from there needs; kv_look_on() does for the step
 * behind `key`. Both return ERR_OK at once where the file is verified as a whole.
 */
enum err kv_read_piecemeal(struct kv_txn **out, struct kv *kv);
enum err kv_look_at(struct kvpages_reach *reach, struct kv_txn *txn,
    unsigned table, struct span key);
enum err kv_look_on(struct kvpages_reach *reach, struct kv_txn *txn,
    unsigned table, struct span key);

/* Of an immutable file: forgets which tables were verified. */
enum err kv_parts_begin(struct kv *kv, int fd, uint64_t file_bytes);

/* Before a use that needs all pages: verifies them, once. */
enum err kv_verify_rest(struct kv *kv);
