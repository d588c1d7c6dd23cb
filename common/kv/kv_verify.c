/*
 * Every commit writes a live file, so a change of its times does not by itself
 * mean that another program wrote into it. LMDB's number of the last commit
 * grows with commits alone. So a change of the times without a new commit is
 * verified at once, and one with a new commit later; either way verification
 * takes a small share of the processor, however large the file.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/date.h"
#include "common/kv/kv_priv.h"
#include "common/kv/kvpages.h"
#include "common/log.h"

#define TRIES_MAX 100
#define LOOK_NS 10000000

/*
 * The pause between verifications, as a multiple of a verification's duration.
 */
#define REST_URGENT 20
#define REST_COMMIT 1000

struct kv_watch {
	_Atomic int64_t looked_ns;
	atomic_bool damaged;
	pthread_mutex_t lock; /* protects the members below */
	int fd;
	struct fs_stamp stamp; /* at the last check */
	uint64_t commit; /* the last commit at that check */
	bool due; /* written since the last verification, */
	bool urgent; /* and not only by commits */
	int64_t ended_ns, took_ns; /* of the last verification */
	uint64_t least_bytes; /* smallest size of an intact file */
};

/* --- one verification ----------------------------------------------------- */

/*
 * Check the tables by name: readers would take a table with a damaged name for
 * an empty one.
 */
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

/*
 * Verifies one reader's view; sets *again when writers overwrote it meanwhile.
 */
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
	    /* Damage seen while a commit overwrites the view is not real. */
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

/* Not again where nobody has written since kv_open() did so. */
static enum err
verify_unless_done(struct kv_watch *watch, struct kv *kv)
{
	int64_t began_ns = date_monotonic_ns();
	enum err err;

	watch->took_ns = kv->verify_ns;
	if (kv->verify_ns > 0 && fs_stamp_eq(&watch->stamp, &kv->stamp))
		return ERR_OK;
	err = verify(kv, watch->fd);
	watch->took_ns = date_monotonic_ns() - began_ns;
	return err;
}

enum err
kv_watch(struct kv *kv)
{
	struct kv_watch *watch = calloc(1, sizeof(*watch));
	enum err err = watch == NULL ? ERR_NO_MEMORY : kv_file(&watch->fd, kv);

	assert(!kv->piecemeal);
	if (err == ERR_OK)
		err = fs_stamp(&watch->stamp, watch->fd);
	if (err == ERR_OK)
		err = verify_unless_done(watch, kv);
	tell(kv, err);
	if (err != ERR_OK) {
		free(watch);
		return err;
	}
	pthread_mutex_init(&watch->lock, NULL);
	watch->ended_ns = date_monotonic_ns();
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

/*
 * A file written within the last tick is checked once more: its times may not
 * show a further write.
 */
static void
verify_now(struct kv *kv, int64_t now_ns)
{
	struct kv_watch *watch = kv->watch;
	struct fs_stamp stamp = watch->stamp;
	enum err err = verify(kv, watch->fd);

	watch->ended_ns = date_monotonic_ns();
	watch->took_ns = watch->ended_ns - now_ns;
	/* Both tell nothing of the file, which stays due. */
	if (err == ERR_BUSY || err == ERR_NO_MEMORY)
		return;
	watch->due = fs_stamp_is_young(&stamp);
	watch->urgent = false;
	if (atomic_exchange(&watch->damaged, err != ERR_OK) != (err != ERR_OK))
		tell(kv, err);
}

/* The file is shorter than before: its pages must not be touched. */
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

/* The caller holds the lock. */
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
