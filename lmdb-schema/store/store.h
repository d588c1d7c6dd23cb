/*
 * store: a data directory, open. It says which environments there are, how
 * each is opened, where the files are, and which locks stand between
 * processes.
 *
 * Opened once a process, after fork(). All of it may be used by several
 * threads at once.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/kv/kv.h"
#include "common/span.h"

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
 * Makes an empty data directory, or completes one that a crash left half
 * made. ERR_EXISTS when there is a whole one.
 */
enum err store_create(const char *dir, struct fault *fault);

/*
 *   ERR_NOT_FOUND  there is no store: `gridctl init` makes one
 *   ERR_VERSION    made by another version; the fault says which
 *   ERR_DAMAGED    an environment that cannot be read
 */
enum err store_open(struct store **out, const char *dir, struct fault *fault);
void store_close(struct store *store);

/*
 * The parts of making one, for a copy: its folders; the marker that makes it
 * a data directory; opening it before it has one.
 */
enum err store_prepare(const char *dir);
enum err store_mark(const char *dir);
enum err store_open_unmarked(
    struct store **out, const char *dir, struct fault *fault);

const char *store_dir(const struct store *store);

/*
 * Looks from now on whether anything but a commit writes into the environments
 * (kv_watch()). Only before there are threads.
 */
enum err store_watch(struct store *store);

/*
 * Lets go what processes that died while they read still hold back; how many
 * readers that were.
 */
int store_reap(struct store *store);

/* For lmdb-schema's own files only: nobody above sees an environment. */
struct kv *store_live(struct store *store);
struct kv *store_catalog(struct store *store);
struct kv *store_state(struct store *store);
struct write_queue *store_state_queue(struct store *store);

/* Opens a facts file in the making, or one that is finished. */
enum err store_facts_create(struct kv **out, const char *path);
enum err store_facts_open(struct kv **out, const char *path);

/* Reads or writes a number under meta; absent is 0. */
enum err store_number(struct kv_txn *txn, const char *name, uint64_t *out);
enum err store_set_number(struct kv_txn *txn, const char *name, uint64_t value);

/* Paths; `suffix` is "" or ".tmp". */
enum err store_facts_path(char path[FS_PATH_MAX], const struct store *store,
    uint64_t generation, const char *suffix);
enum err store_snapshot_path(char path[FS_PATH_MAX], const struct store *store,
    struct span supplier, uint64_t generation, const char *suffix);
enum err store_snapshot_folder(
    char path[FS_PATH_MAX], const struct store *store, struct span supplier);

/*
 * Locks, which the kernel drops when their holder dies; close() lets go.
 * ERR_BUSY when `wait` is false and somebody has it.
 */
enum err store_lock_import(int *fd, struct store *store, bool wait);
enum err store_lock_supplier(
    int *fd, struct store *store, struct span supplier, bool wait);

/* Rows of one snapshot at a time are packed (zip.h): it takes all threads. */
enum err store_lock_zip(int *fd, struct store *store, bool wait);

/* One process at a time makes the wordbook. */
enum err store_lock_words(int *fd, struct store *store, bool wait);

/*
 * One of `slots` places for a computation, over all processes. ERR_BUSY when
 * all are taken; with `wait`, the call sleeps until one is free.
 */
enum err store_lock_slot(
    int *fd, struct store *store, unsigned slots, bool wait);

/*
 * One of STORE_LOGINS places for working out a password's hash, which takes
 * 64 MB, over all processes. When all are taken, as many more may wait for
 * one, up to `wait_ms`. ERR_BUSY for the others, and when none came free.
 */
#define STORE_LOGINS 2
enum err store_lock_login(int *fd, struct store *store, unsigned wait_ms);
