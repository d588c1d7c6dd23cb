/*
 * store: an open data directory: its environments and how each is opened, the
 * paths of its files, and the locks between processes.
 *
 * Open it once a process, after fork(). Several threads may use it at once.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/kv/kv.h"
#include "common/span.h"

struct buf;
struct store;

/* Tables of live.mdb, catalog.mdb, facts/G.mdb, state.mdb (state.h). */
enum { LIVE_META, LIVE_NETWORK, LIVE_GAMMES, LIVE_GAMMEGEN };
enum { CATALOG_META, CATALOG_CURRENT, CATALOG_RETIRED };
enum {
	FACTS_META,
	FACTS_SUPPLIERS,
	FACTS_STORES,
	FACTS_CLASSES,
	FACTS_WHERE,
	FACTS_ARTICLES
};
enum {
	STATE_META,
	STATE_KEYS,
	STATE_USERS,
	STATE_SESSIONS,
	STATE_PENDING,
	STATE_VALIDATED,
	STATE_AUDIT,
	STATE_VERSIONS,
	STATE_TABLES
};

extern const char *const state_tables[STATE_TABLES];

/*
 * Makes an empty data directory, or completes one that a crash left half made.
 * ERR_EXISTS when it is complete already.
 */
enum err store_create(const char *dir, struct fault *fault);

/*
 *   ERR_NOT_FOUND  no store there: `gridctl init` makes one
 *   ERR_DENIED     this user may not look
 *   ERR_VERSION    made by another version; the fault says which
 *   ERR_DAMAGED    an environment cannot be read
 *   ERR_BAD_INPUT  its cluster.conf is not right (cluster.h)
 *
 * Where it has a cluster.conf, state.mdb is shared with other nodes. A state of a
 * node whose cluster.conf is missing is read, and store_write() refuses to change
 * it: ERR_CUT_OFF, until it has left (store_leave_log()) and is opened anew.
 */
enum err store_open(struct store **out, const char *dir, struct fault *fault);

/* The words for a user that may not use `place`, the directory or a file. */
void store_denied(const char *place, struct fault *fault);

/*
 * For a short look: verifies the pages that are read, and not, in a time that
 * grows with the store, all of them (kv.h: piecemeal). Views are not renewed.
 */
enum err store_open_piecemeal(
    struct store **out, const char *dir, struct fault *fault);
void store_close(struct store *store);

/*
 * The steps of making a store, for a copy: make its folders; write the marker
 * that makes it a data directory; open it while it has no marker yet.
 */
enum err store_prepare(const char *dir);
enum err store_mark(const char *dir);
enum err store_open_unmarked(
    struct store **out, const char *dir, struct fault *fault);

const char *store_dir(const struct store *store);

/*
 * A text that tells the data directories of one machine apart, for a header of
 * /readyz; "" where the directory cannot be looked at.
 */
#define STORE_IDENTITY_MAX 40
void store_identity(char text[STORE_IDENTITY_MAX], const char *dir);

/*
 * From now on detects writes into the environments other than commits
 * (kv_watch()). Call it before starting threads.
 */
enum err store_watch(struct store *store);

/*
 * Frees the reader slots of processes that died while reading; returns their
 * number.
 */
int store_reap(struct store *store);

/* For lmdb-schema's own files only: no layer above uses an environment. */
struct kv *store_live(struct store *store);
struct kv *store_catalog(struct store *store);
struct kv *store_state(struct store *store);

/*
 * For lmdb-schema's own files only. The way to write shared data: runs `work` in
 * a write transaction of the environment; with ERR_OK all of its writes are on
 * disk, otherwise none is stored. `work` may be called more than once, each time
 * on a transaction without its earlier writes: when the map was full and has
 * grown, and when another job of the same commit failed (write_queue.h).
 */
enum store_env { STORE_LIVE, STORE_CATALOG, STORE_STATE, STORE_ENVS };
enum err store_write(struct store *store, enum store_env env,
    enum err (*work)(void *context, struct kv_txn *txn), void *context);

/* The same for what concerns this machine's files alone. */
enum err store_write_local(struct store *store, enum store_env env,
    enum err (*work)(void *context, struct kv_txn *txn), void *context);

/* Whether a write waits for other machines. */
bool store_is_shared(const struct store *store);

/* Whether it is a node's whose cluster.conf was missing when it was opened. */
bool store_is_cut_off(const struct store *store);

/* For one without a cluster.conf: cluster_cut_off(), or cluster_untold(). */
enum err store_untold(const struct store *store, struct fault *fault);

/* The same of a directory that this process has not open. */
enum err store_untold_in(const char *dir, struct fault *fault);

/*
 * Takes in what other nodes have written until now; nothing to do where the
 * store is not shared. See write_log_catch_up() for what fails.
 */
enum err store_follow(struct store *store);

/*
 * From now on what store_write() stores is in the log of `engine`, which
 * outlives the store, before it is here (write_log.h). Call it before starting
 * threads.
 */
struct engine;
void store_share(struct store *store, struct engine *engine);

/* The engine of its cluster.conf; NULL for a machine on its own. */
struct engine *store_engine(const struct store *store);

/* The number of the last entry of a log, or of each, that this node has. */
enum err store_place(struct store *store, enum store_env log, uint64_t *number);
enum err store_places(struct store *store, uint64_t places[STORE_ENVS]);

/*
 * The epoch of the cluster that its state is of (engine.h), 0 at first; setting
 * it concerns this node alone, and counts when the store is opened anew. A state
 * that has left is of none: with a cluster.conf its log has ended, so that what
 * it has written since is never taken for the cluster's.
 */
#define STORE_EPOCH_LEFT UINT64_MAX
enum err store_epoch(struct store *store, uint64_t *epoch);
enum err store_set_epoch(struct store *store, uint64_t epoch);

/* The state is of no log from now on: a machine's on its own. */
enum err store_leave_log(struct store *store);

/* Opens a copy of an environment that nobody else writes. */
enum err store_copy_open(
    struct kv **out, const char *path, enum store_env env, bool writes);

/* Whether there is a data directory. */
bool store_is_there(const char *dir);

/* Whether its state.mdb is damaged or empty; makes an empty one of none. */
bool store_lost_state(const char *dir);

/*
 * The remedy for an environment that is damaged as a whole, or empty: other nodes of a
 * cluster have what a machine on its own has to restore.
 */
const char *store_remedy(const char *dir, enum store_env which);

/* Opens a facts file for building, or a finished one. */
enum err store_facts_create(struct kv **out, const char *path);
enum err store_facts_open(struct kv **out, const char *path);

/* Puts a record that was packed into `value`, which ends with it. */
enum err store_put(
    struct kv_txn *txn, unsigned table, struct span key, struct buf *value);

/* Reads or writes a number under meta; absent is 0. */
enum err store_number(struct kv_txn *txn, const char *name, uint64_t *out);
enum err store_set_number(struct kv_txn *txn, const char *name, uint64_t value);

/*
 * Puts the environment's version in its meta: an earlier program refuses it from
 * then on. Not for one of SCHEMA_VERSION_PLAIN.
 */
enum err store_raise_version(struct kv_txn *txn, uint32_t version);

/* Whether the environment has checksums: SCHEMA_VERSION_PLAIN has none. */
enum err store_has_sums(bool *sums, struct kv_txn *txn);

/* Paths; `suffix` is "" or ".tmp". */
enum err store_facts_path(char path[FS_PATH_MAX], const struct store *store,
    uint64_t generation, const char *suffix);
enum err store_snapshot_path(char path[FS_PATH_MAX], const struct store *store,
    struct span supplier, uint64_t generation, const char *suffix);
enum err store_snapshot_folder(
    char path[FS_PATH_MAX], const struct store *store, struct span supplier);

/*
 * Locks, which the kernel drops when their holder dies; close() releases one.
 * ERR_BUSY when `wait` is false and another process holds it.
 */
enum err store_lock_import(int *fd, struct store *store, bool wait);

/*
 * Each store that is open in a directory with a cluster.conf shares it, and
 * waits for it; ERR_BUSY for the program that wants it `alone`, to put another
 * state.mdb in place.
 */
enum err store_lock_use(int *fd, const char *dir, bool alone);
/* Waits 2 s for a lock that is taken: removing old files takes moments. */
enum err store_lock_import_soon(int *fd, struct store *store);
enum err store_lock_supplier(
    int *fd, struct store *store, struct span supplier, bool wait);

/*
 * Held while packing rows (packed_rows.h): one snapshot at a time, as it uses all
 * threads.
 */
enum err store_lock_packing(int *fd, struct store *store, bool wait);

/* Held while making the word index, by one process at a time. */
enum err store_lock_words(int *fd, struct store *store, bool wait);

/* Held while closing months of the trail, and while copying them. */
enum err store_lock_trail(int *fd, struct store *store, bool wait);

/* Held by the process that sends to hooks: there is one. */
enum err store_lock_sender(int *fd, struct store *store, bool wait);

/*
 * Held while an event is under way to the hook with that id; and the lock's
 * file, of a hook that is no more, is removed.
 */
enum err store_lock_hook(int *fd, struct store *store, uint64_t id, bool wait);
void store_forget_hook(struct store *store, uint64_t id);

/*
 * Takes one of `slots` places for a computation, over all processes. ERR_BUSY
 * when all are taken; with `wait`, sleeps until one is free.
 */
enum err store_lock_slot(
    int *fd, struct store *store, unsigned slots, bool wait);

/*
 * Takes one of STORE_LOGINS places for computing a password's hash, which takes
 * 64 MB, over all processes. When all are taken, as many callers again may wait
 * up to `wait_ms`. ERR_BUSY for any more, and when the time is over.
 */
#define STORE_LOGINS 2
enum err store_lock_login(int *fd, struct store *store, unsigned wait_ms);
