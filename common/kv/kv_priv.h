/* kv_priv: internals shared by kv*.c. No other file includes it. */
#pragma once

#include <stdatomic.h>
#include <sys/types.h>

#include "common/kv/kv.h"

struct MDB_env;
struct kv_watch;

struct kv {
	struct MDB_env *env;
	char *path;
	char **names; /* of the tables */
	unsigned tables[KV_TABLES_MAX];
	unsigned table_count;
	enum kv_mode mode;
	bool read_only;
	atomic_bool told_panic;
	uint32_t (*sum)(uint32_t sum, const void *bytes, size_t len);
	atomic_uint told_sum; /* of the last damaged record logged */

	/* Links in the list of open environments. */
	struct kv *next;
	unsigned users;
	pid_t pid;
	dev_t dev;
	ino_t ino;
	struct fs_stamp
	    stamp; /* of an immutable one, when it was looked over */
	bool opened; /* its tables are */
	struct kv_watch *watch; /* NULL: nobody asked for it */
};

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

/*
 * Maps LMDB's code to ours. A failure (neither success, nor not found, nor
 * exists) is logged with the operation `doing`.
 */
enum err kv_failed(struct kv *kv, const char *doing, int code);

/* As kv_failed(), for a failure with another file than the environment's. */
enum err kv_failed_at(
    struct kv *kv, const char *path, const char *doing, int code);
