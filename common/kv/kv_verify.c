/*
 * A file that lives is written by every commit, so its times say little: they
 * change with each commit, and also when anything else writes into it. LMDB's
 * number of the last commit grows with the former alone. So a change of the
 * times is looked into at once when no commit came with it, and at leisure when
 * one did; both within a share of the processor that stays small however large
 * the file is.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/date.h"
#include "common/kv/kv_env.h"
#include "common/kv/kvpages.h"
#include "common/log.h"

#define TRIES_MAX 100
#define LOOK_NS 10000000

/* Between two verifications, in times of what one took. */
#define REST_URGENT 20
#define REST_COMMIT 1000

struct kv_watch {
	_Atomic int64_t looked_ns;
	atomic_bool damaged;
	pthread_mutex_t lock; /* for all below */
	int fd;
	struct fs_stamp stamp; /* at the last look, and */
	uint64_t commit; /* the last commit then */
	bool due; /* something has been written since it was verified, */
	bool urgent; /* and not by a commit */
	int64_t ended_ns, took_ns; /* of the last verification */
	uint64_t least_bytes; /* of the file: shorter is cut */
};

/* --- one verification ----------------------------------------------------- */

/* A table whose name is spoilt would be an empty one to those who read. */
static enum err
find_tables(struct kv_txn *txn, const struct kv *kv)
{
	enum err err = ERR_OK;
	uint64_t count;

	for (unsigned i = 0; i < kv->table_count && err == ERR_OK; i++)
		if (kv->opened)
			err = kv_count(txn, i, &count);
	return err == ERR_NOT_FOUND ? ERR_DAMAGED : err;
}

/* One reader's view; *again when writers were faster. */
static enum err
look(struct kv *kv, int fd, bool *again)
{
	struct kv_txn *txn;
	enum err err = kv_read_unwatched(&txn, kv);

	*again = false;
	if (err != ERR_OK)
		return err; /* which has been logged */
	err = kvpages_check_view(fd, kv_txn_id(txn));
	if (err == ERR_OK)
		err = find_tables(txn, kv);
	*again = err == ERR_BUSY ||
	    /* What is read while a commit overwrites it tells nothing. */
	    (err == ERR_DAMAGED && kv_last_commit(kv) > kv_txn_id(txn));
	kv_abort(txn);
	return err;
}

static enum err
verify(struct kv *kv, int fd)
{
	enum err err = ERR_BUSY;
	bool again = true;

	for (int i = 0; again && i < TRIES_MAX; i++)
		err = look(kv, fd, &again);
	return err;
}

static void
tell(const struct kv *kv, enum err err)
{
	if (err != ERR_OK && err != ERR_BUSY)
		log_error("storage: the file's pages cannot be walked: file=%s "
			  "error=%s",
		    kv->path, err_text(err));
}

enum err
kv_verify(struct kv *kv)
{
	/* Closing it loses no lock: LMDB's are all on the lock file. */
	int fd = open(kv->path, O_RDONLY | O_CLOEXEC);
	enum err err;

	if (fd < 0)
		return kv_failed(kv, "opening", errno);
	err = verify(kv, fd);
	tell(kv, err);
	close(fd);
	return err;
}

/* --- watching ------------------------------------------------------------- */

enum err
kv_watch(struct kv *kv)
{
	struct kv_watch *watch = calloc(1, sizeof(*watch));
	int64_t began_ns = date_monotonic_ns();
	enum err err = watch == NULL ? ERR_NO_MEMORY : kv_file(&watch->fd, kv);

	if (err == ERR_OK)
		err = fs_stamp(&watch->stamp, watch->fd);
	if (err == ERR_OK)
		err = verify(kv, watch->fd);
	tell(kv, err);
	if (err != ERR_OK) {
		free(watch);
		return err;
	}
	pthread_mutex_init(&watch->lock, NULL);
	watch->ended_ns = date_monotonic_ns();
	watch->took_ns = watch->ended_ns - began_ns;
	watch->due = fs_stamp_is_young(&watch->stamp);
	watch->least_bytes = watch->stamp.bytes;
	kv->watch = watch;
	return ERR_OK;
}

void
kv_unwatch(struct kv *kv)
{
	if (kv->watch == NULL)
		return;
	pthread_mutex_destroy(&kv->watch->lock);
	free(kv->watch);
	kv->watch = NULL;
}

/* What was written within the tick of its time is looked at once more. */
static void
verify_now(struct kv *kv, int64_t now_ns)
{
	struct kv_watch *watch = kv->watch;
	struct fs_stamp stamp = watch->stamp;
	enum err err = verify(kv, watch->fd);

	watch->ended_ns = date_monotonic_ns();
	watch->took_ns = watch->ended_ns - now_ns;
	if (err == ERR_BUSY)
		return;
	watch->due = fs_stamp_is_young(&stamp);
	watch->urgent = false;
	if (atomic_exchange(&watch->damaged, err != ERR_OK) != (err != ERR_OK))
		tell(kv, err);
}

/* Shorter than it was: its pages must not be touched. */
static bool
is_cut(struct kv *kv, const struct fs_stamp *stamp)
{
	struct kv_watch *watch = kv->watch;

	if (stamp->bytes >= watch->least_bytes)
		return false;
	watch->due = watch->urgent = true;
	if (!atomic_exchange(&watch->damaged, true))
		log_error("storage: the file is cut short: file=%s bytes=%llu "
			  "of=%llu",
		    kv->path, (unsigned long long)stamp->bytes,
		    (unsigned long long)watch->least_bytes);
	return true;
}

enum err
kv_look_begin(struct kv_look *look, struct kv *kv)
{
	struct kv_watch *watch = kv->watch;

	look->kv = NULL;
	if (watch == NULL)
		return ERR_OK;
	look->now_ns = date_monotonic_ns();
	if (look->now_ns - atomic_load(&watch->looked_ns) < LOOK_NS ||
	    pthread_mutex_trylock(&watch->lock) != 0)
		return atomic_load(&watch->damaged) ? ERR_DAMAGED : ERR_OK;
	atomic_store(&watch->looked_ns, look->now_ns);
	if (fs_stamp(&look->stamp, watch->fd) != ERR_OK ||
	    is_cut(kv, &look->stamp)) {
		pthread_mutex_unlock(&watch->lock);
		return ERR_DAMAGED;
	}
	watch->least_bytes = look->stamp.bytes;
	look->kv = kv;
	return ERR_OK;
}

/* Only who may look is here: with the lock. */
static void
compare(struct kv_watch *watch, const struct kv_look *look, uint64_t commit)
{
	if (!fs_stamp_eq(&look->stamp, &watch->stamp)) {
		watch->due = true;
		watch->urgent |= commit == watch->commit;
		watch->stamp = look->stamp;
	}
	watch->commit = commit;
	if (watch->due &&
	    look->now_ns - watch->ended_ns >=
		watch->took_ns * (watch->urgent ? REST_URGENT : REST_COMMIT))
		verify_now(look->kv, look->now_ns);
}

enum err
kv_look_end(struct kv_look *look, uint64_t commit)
{
	struct kv_watch *watch;

	if (look->kv == NULL)
		return ERR_OK;
	watch = look->kv->watch;
	if (commit != KV_NO_COMMIT)
		compare(watch, look, commit);
	pthread_mutex_unlock(&watch->lock);
	return atomic_load(&watch->damaged) ? ERR_DAMAGED : ERR_OK;
}
