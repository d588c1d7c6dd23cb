/*
 * kv_env: what kv*.c share. Nobody else includes it.
 */
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
	atomic_uint told_sum; /* of the last record told to be damaged */

	/* In the list of open environments. */
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
 * A look at a watched file, around each beginning of a transaction: first
 * whether it may be touched at all, then, with the view's last commit, whether
 * it is to be verified, which is done at once. Both are ERR_DAMAGED for one that
 * is not sound, and told in the log. After a good begin there is always an end,
 * with KV_NO_COMMIT when the transaction did not come about.
 */
#define KV_NO_COMMIT UINT64_MAX
struct kv_look {
	struct kv *kv; /* NULL: this is no time to look */
	struct fs_stamp stamp;
	int64_t now_ns;
};
enum err kv_look_begin(struct kv_look *look, struct kv *kv);
enum err kv_look_end(struct kv_look *look, uint64_t commit);
void kv_unwatch(struct kv *kv);

/* LMDB's own descriptor of the file. */
enum err kv_file(int *fd, struct kv *kv);

/* Of the newest meta page, whether it is sound or not. */
uint64_t kv_last_commit(struct kv *kv);

/* kv_read() without a look. */
enum err kv_read_unwatched(struct kv_txn **out, struct kv *kv);

#define KV_SUM_BYTES sizeof(uint32_t)

/* The sum of a pair, as it is stored; only where sums are kept. */
uint32_t kv_sum_of(const struct kv *kv, struct span key, struct span value);

/*
 * Takes the sum off the end of what is stored, and compares. ERR_DAMAGED is
 * told, and *value is empty then. Without sums *value is as it was.
 */
enum err kv_take_sum(
    struct kv *kv, unsigned table, struct span key, struct span *value);

/*
 * The code that stands for LMDB's. What is neither success nor an answer (not
 * found, there already) is logged, with what was being done.
 */
enum err kv_failed(struct kv *kv, const char *doing, int code);

/* The same, where the trouble is with another file than its own. */
enum err kv_failed_at(
    struct kv *kv, const char *path, const char *doing, int code);
