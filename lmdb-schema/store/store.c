#include "lmdb-schema/store/store.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buf.h"
#include "lmdb-schema/deflate.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/schema.h"
#include "lmdb-schema/store/cluster.h"
#include "lmdb-schema/store/write_log.h"
#include "lmdb-schema/store/write_queue.h"

struct store {
	char *dir;
	struct kv *envs[STORE_ENVS];
	struct write_queue *queues[STORE_ENVS];
	struct engine *engine; /* its own; NULL: a machine on its own */
	int use; /* store_lock_use(); -1 */
	bool cut_off;
};

static const char *const live_tables[] = {
    "meta", "network", "gammes", "gammegen"};
static const char *const catalog_tables[] = {"meta", "current", "retired"};
static const char *const facts_tables[] = {
    "meta", "suppliers", "stores", "classes", "where", "articles"};
const char *const state_tables[STATE_TABLES] = {"meta", "keys", "users",
    "sessions", "pending", "validated", "audit", "versions"};

#define GIB ((size_t)1 << 30)

/* Map sizes are address space, not disk, and grow: kv.h. */
static const struct env {
	const char *file;
	const char *const *tables;
	unsigned table_count;
	size_t map_bytes;
	unsigned newest; /* version that is read */
	const char *remedy; /* of a machine on its own, when it is damaged */
} envs[STORE_ENVS] = {
    {"live.mdb", live_tables, 4, 16 * GIB, SCHEMA_LIVE_SHARES,
	"stop gridapi, and restore a backup; or remove it and the file "
	"'store', then 'gridctl init', import and compute --all; then start "
	"gridapi"},
    {"catalog.mdb", catalog_tables, 3, 4 * GIB, SCHEMA_VERSION,
	"stop gridapi, remove it and the file 'store', then 'gridctl init' "
	"and 'gridctl compute --all', and start gridapi"},
    {"state.mdb", state_tables, STATE_TABLES, 16 * GIB, SCHEMA_STATE_PARTS,
	"restore a backup: keys, users and proposals are nowhere else"},
};

#define FACTS_MAP_BYTES (64 * GIB)

static enum err
open_env(struct store *store, unsigned which, bool piecemeal)
{
	char path[FS_PATH_MAX];
	struct kv_spec spec = {.path = path,
	    .mode = KV_SHARED,
	    .map_bytes = envs[which].map_bytes,
	    .grows = true,
	    .piecemeal = piecemeal,
	    .tables = envs[which].tables,
	    .table_count = envs[which].table_count};
	enum err err = fs_path(path, "%s/%s", store->dir, envs[which].file);

	if (err == ERR_OK)
		err = kv_open(&store->envs[which], &spec);
	return err;
}

const char *
store_remedy(const char *dir, enum store_env which)
{
	struct cluster_sharing sharing;

	if (!cluster_is_told(dir))
		return envs[which].remedy;
	if (which == STORE_STATE)
		return "the other nodes have all of it: stop gridapi here, "
		       "then 'gridctl cluster join --anew'";
	return cluster_sharing(&sharing, dir, NULL) == ERR_OK && sharing.files
	    ? "the other nodes have it: stop gridapi here, remove it and the "
	      "file 'store', then 'gridctl init' and 'gridctl cluster pull', "
	      "and start gridapi"
	    : envs[which].remedy;
}

/* --- versions ------------------------------------------------------------- */

/*
 * The first table of each environment, meta, names its schema in eight bytes.
 * In version 1 they are the u64 1; since version 2, a u32 and the record's
 * checksum, which an older program reads as an unknown version. So any value
 * but exactly 1 must match its checksum.
 */
static const char version_name[] = "schema";

/*
 * Reads the version, 0 when there is none, and turns checksums on if the
 * version has them.
 */
static enum err
find_version(struct kv *kv, uint64_t *version)
{
	struct kv_txn *txn;
	struct span value;
	uint32_t number = 0;
	enum err err = kv_read(&txn, kv);

	*version = 0;
	if (err != ERR_OK)
		return err;
	err = kv_get(txn, 0, span_of(version_name), &value);
	if (err == ERR_OK && key_value_u64(value) == SCHEMA_VERSION_PLAIN)
		*version = SCHEMA_VERSION_PLAIN;
	else {
		kv_keep_sums(kv, deflate_crc);
		if (err == ERR_OK)
			err = kv_get(txn, 0, span_of(version_name), &value);
		if (err == ERR_OK && value.len == sizeof(number))
			memcpy(&number, value.ptr, sizeof(number));
		if (err == ERR_OK)
			*version = le32toh(number);
	}
	kv_abort(txn);
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

static enum err
check_version(struct store *store, unsigned which, struct fault *fault)
{
	uint64_t version;
	enum err err = find_version(store->envs[which], &version);

	if (err == ERR_OK && version == 0) {
		err = ERR_NOT_FOUND;
		fault_set(fault, envs[which].file,
		    "has lost all that was in it: %s",
		    store_remedy(store->dir, which));
	} else if (err == ERR_OK && version != SCHEMA_VERSION_PLAIN &&
	    (version < SCHEMA_VERSION || version > envs[which].newest)) {
		err = ERR_VERSION;
		fault_set(fault, envs[which].file,
		    "has schema version %llu, this program reads %d to %u: "
		    "use the version of product-grid that wrote it",
		    (unsigned long long)version, SCHEMA_VERSION_PLAIN,
		    envs[which].newest);
	}
	return err;
}

enum err
store_raise_version(struct kv_txn *txn, uint32_t version)
{
	const uint32_t number = htole32(version);

	return kv_put(
	    txn, 0, span_of(version_name), span_make(&number, sizeof(number)));
}

enum err
store_has_sums(bool *sums, struct kv_txn *txn)
{
	struct span value;
	enum err err = kv_get(txn, 0, span_of(version_name), &value);

	*sums = err == ERR_OK && value.len == sizeof(uint32_t);
	return err;
}

static enum err
write_version(struct kv *kv)
{
	struct kv_txn *txn;
	enum err err = kv_write(&txn, kv);

	if (err != ERR_OK)
		return err;
	err = store_raise_version(txn, SCHEMA_VERSION);
	if (err != ERR_OK) {
		kv_abort(txn);
		return err;
	}
	return kv_commit(txn);
}

/*
 * An existing environment keeps its version, and with it the form of its
 * values.
 */
static enum err
complete_env(struct store *store, unsigned which, struct fault *fault)
{
	uint64_t version;
	enum err err = open_env(store, which, false);

	if (err == ERR_OK)
		err = find_version(store->envs[which], &version);
	if (err != ERR_OK)
		return err;
	return version == 0 ? write_version(store->envs[which])
			    : check_version(store, which, fault);
}

/* --- the directory -------------------------------------------------------- */

static enum err
new_store(struct store **out, const char *dir)
{
	struct store *store = calloc(1, sizeof(*store));

	*out = store;
	if (store == NULL)
		return ERR_NO_MEMORY;
	store->use = -1;
	store->dir = strdup(dir);
	for (unsigned i = 0; i < STORE_ENVS; i++) {
		store->queues[i] = write_queue_new((enum store_env)i);
		if (store->queues[i] == NULL)
			return ERR_NO_MEMORY;
	}
	return store->dir == NULL ? ERR_NO_MEMORY : ERR_OK;
}

enum err
store_prepare(const char *dir)
{
	static const char *const names[] = {"facts", "snapshots", "locks"};
	char path[FS_PATH_MAX];
	enum err err = fs_mkdir(dir);

	for (unsigned i = 0; i < 3 && err == ERR_OK; i++) {
		err = fs_path(path, "%s/%s", dir, names[i]);
		if (err == ERR_OK)
			err = fs_mkdir(path);
	}
	return err;
}

/* Write the marker last: without it a store counts as half made. */
static const char marker_text[] = "product-grid data directory, schema 1\n";

static enum err
marker_path(char path[FS_PATH_MAX], const char *dir)
{
	return fs_path(path, "%s/store", dir);
}

enum err
store_mark(const char *dir)
{
	char path[FS_PATH_MAX];
	enum err err = marker_path(path, dir);

	if (err == ERR_OK)
		err = fs_replace(path, span_of(marker_text), 0640);
	return err;
}

static bool
is_marked(const char *dir)
{
	char path[FS_PATH_MAX];

	return marker_path(path, dir) == ERR_OK && eaccess(path, F_OK) == 0;
}

enum err
store_create(const char *dir, struct fault *fault)
{
	struct store *store = NULL;
	enum err err;

	if (is_marked(dir)) {
		fault_set(fault, dir, "is a data directory already");
		return ERR_EXISTS;
	}
	err = store_prepare(dir);
	if (err == ERR_OK)
		err = new_store(&store, dir);
	for (unsigned i = 0; i < STORE_ENVS && err == ERR_OK; i++)
		err = complete_env(store, i, fault);
	if (err == ERR_OK)
		err = store_mark(dir);
	if (err != ERR_OK)
		fault_set(fault, dir, "cannot be made a data directory: %s",
		    err_text(err));
	store_close(store);
	return err;
}

static enum err
open_whole(
    struct store *store, unsigned which, bool piecemeal, struct fault *fault)
{
	enum err err = open_env(store, which, piecemeal);

	if (err == ERR_OK)
		err = check_version(store, which, fault);
	if (err == ERR_DAMAGED)
		fault_set(fault, envs[which].file, "is damaged: %s",
		    store_remedy(store->dir, which));
	return err;
}

static enum err
open_envs(
    struct store **out, const char *dir, bool piecemeal, struct fault *fault)
{
	struct store *store = NULL;
	enum err err = new_store(&store, dir);

	*out = NULL;
	if (err == ERR_OK && cluster_is_told(dir))
		err = store_lock_use(&store->use, dir, false);
	for (unsigned i = 0; i < STORE_ENVS && err == ERR_OK; i++)
		err = open_whole(store, i, piecemeal, fault);
	if (err != ERR_OK) {
		fault_set(fault, dir, "cannot be opened: %s", err_text(err));
		store_close(store);
		return err;
	}
	*out = store;
	return ERR_OK;
}

enum err
store_open_unmarked(struct store **out, const char *dir, struct fault *fault)
{
	return open_envs(out, dir, false, fault);
}

static const char epoch_name[] = "epoch";

/*
 * Without a cluster.conf. What a node wrote now would be in no log: with the file
 * back it would go on there, with contents that no other node has.
 */
static enum err
refuse_cut_off(struct store *store, uint64_t epoch)
{
	uint64_t number;
	enum err err = store_place(store, STORE_STATE, &number);

	if (err != ERR_OK || epoch == STORE_EPOCH_LEFT ||
	    (epoch == 0 && number == 0))
		return err;
	store->cut_off = true;
	write_queue_refuse(store->queues[STORE_STATE], ERR_CUT_OFF);
	return ERR_OK;
}

/* As its cluster.conf says; of the epoch that its state is of. */
static enum err
open_engine(struct store *store, struct fault *fault)
{
	uint64_t epoch;
	enum err err = store_epoch(store, &epoch);

	if (err == ERR_OK && !cluster_is_told(store->dir))
		return refuse_cut_off(store, epoch);
	if (err == ERR_OK)
		err = cluster_open(&store->engine, store->dir, epoch, fault);
	if (err == ERR_OK && epoch == STORE_EPOCH_LEFT)
		engine_end(store->engine);
	return err;
}

void
store_denied(const char *place, struct fault *fault)
{
	fault_set(fault, place,
	    "is closed to this user: run this as root (sudo), or as its owner");
}

/* After is_marked(), whose errno it reads. */
static enum err
unmarked(const char *dir, struct fault *fault)
{
	if (errno == EACCES) {
		store_denied(dir, fault);
		return ERR_DENIED;
	}
	fault_set(fault, dir,
	    "is not a data directory: 'gridctl --data %s init' makes one", dir);
	return ERR_NOT_FOUND;
}

static enum err
open_marked(
    struct store **out, const char *dir, bool piecemeal, struct fault *fault)
{
	enum err err;

	*out = NULL;
	err = is_marked(dir) ? open_envs(out, dir, piecemeal, fault)
			     : unmarked(dir, fault);
	if (err == ERR_OK)
		err = open_engine(*out, fault);
	/* live.mdb and catalog.mdb name files of this node. */
	if (err == ERR_OK)
		write_queue_share((*out)->queues[STORE_STATE], (*out)->engine);
	else {
		store_close(*out);
		*out = NULL;
	}
	return err;
}

enum err
store_open(struct store **out, const char *dir, struct fault *fault)
{
	return open_marked(out, dir, false, fault);
}

enum err
store_open_piecemeal(struct store **out, const char *dir, struct fault *fault)
{
	return open_marked(out, dir, true, fault);
}

void
store_close(struct store *store)
{
	if (store == NULL)
		return;
	for (unsigned i = 0; i < STORE_ENVS; i++) {
		kv_close(store->envs[i]);
		write_queue_free(store->queues[i]);
	}
	if (store->engine != NULL)
		store->engine->close(store->engine);
	if (store->use >= 0)
		close(store->use);
	free(store->dir);
	free(store);
}

enum err
store_watch(struct store *store)
{
	enum err err = ERR_OK;

	for (unsigned i = 0; i < STORE_ENVS && err == ERR_OK; i++)
		err = kv_watch(store->envs[i]);
	return err;
}

int
store_reap(struct store *store)
{
	int count = 0;

	for (unsigned i = 0; i < STORE_ENVS; i++)
		count += kv_reap_readers(store->envs[i]);
	return count;
}

const char *
store_dir(const struct store *store)
{
	return store->dir;
}

void
store_identity(char text[STORE_IDENTITY_MAX], const char *dir)
{
	struct stat st;

	text[0] = '\0';
	if (stat(dir, &st) == 0)
		snprintf(text, STORE_IDENTITY_MAX, "%llx-%llx",
		    (unsigned long long)st.st_dev,
		    (unsigned long long)st.st_ino);
}

struct kv *
store_live(struct store *store)
{
	return store->envs[STORE_LIVE];
}

struct kv *
store_catalog(struct store *store)
{
	return store->envs[STORE_CATALOG];
}

struct kv *
store_state(struct store *store)
{
	return store->envs[STORE_STATE];
}

enum err
store_write(struct store *store, enum store_env env,
    enum err (*work)(void *context, struct kv_txn *txn), void *context)
{
	assert(env < STORE_ENVS && work != NULL);
	return write_queue_run(
	    store->queues[env], store->envs[env], work, context, false);
}

enum err
store_write_local(struct store *store, enum store_env env,
    enum err (*work)(void *context, struct kv_txn *txn), void *context)
{
	assert(env < STORE_ENVS && work != NULL);
	return write_queue_run(
	    store->queues[env], store->envs[env], work, context, true);
}

void
store_share(struct store *store, struct engine *engine)
{
	store->cut_off = false;
	for (unsigned i = 0; i < STORE_ENVS; i++)
		write_queue_share(store->queues[i], engine);
}

static enum err
facts_kv(struct kv **out, const char *path, enum kv_mode mode, size_t map)
{
	struct kv_spec spec = {.path = path,
	    .mode = mode,
	    .map_bytes = map,
	    .grows = true,
	    .tables = facts_tables,
	    .table_count = 6};

	return kv_open(out, &spec);
}

enum err
store_facts_create(struct kv **out, const char *path)
{
	return facts_kv(out, path, KV_BUILD, FACTS_MAP_BYTES);
}

enum err
store_facts_open(struct kv **out, const char *path)
{
	return facts_kv(out, path, KV_FROZEN, 0);
}

bool
store_is_shared(const struct store *store)
{
	return store->engine != NULL;
}

struct engine *
store_engine(const struct store *store)
{
	return store->engine;
}

bool
store_is_cut_off(const struct store *store)
{
	return store->cut_off;
}

enum err
store_untold(const struct store *store, struct fault *fault)
{
	return store->cut_off ? cluster_cut_off(store->dir, fault)
			      : cluster_untold(store->dir, fault);
}

enum err
store_untold_in(const char *dir, struct fault *fault)
{
	struct store *store = NULL;
	enum err err = store_open_piecemeal(&store, dir, NULL) == ERR_OK
	    ? store_untold(store, fault)
	    : cluster_untold(dir, fault);

	store_close(store);
	return err;
}

enum err
store_place(struct store *store, enum store_env log, uint64_t *number)
{
	struct write_log_place place;
	enum err err = write_log_place_of(&place, store->envs[log]);

	*number = err == ERR_OK ? place.number : 0;
	return err;
}

enum err
store_places(struct store *store, uint64_t places[STORE_ENVS])
{
	enum err err = ERR_OK;

	for (unsigned i = 0; i < STORE_ENVS && err == ERR_OK; i++)
		err = store_place(store, (enum store_env)i, &places[i]);
	return err;
}

enum err
store_follow(struct store *store)
{
	if (store->engine == NULL)
		return ERR_OK;
	return write_log_catch_up(
	    store->engine, STORE_STATE, store->envs[STORE_STATE]);
}

enum err
store_epoch(struct store *store, uint64_t *epoch)
{
	struct kv_txn *txn;
	enum err err = kv_read(&txn, store->envs[STORE_STATE]);

	*epoch = 0;
	if (err != ERR_OK)
		return err;
	err = store_number(txn, epoch_name, epoch);
	kv_abort(txn);
	return err;
}

static enum err
put_epoch(void *context, struct kv_txn *txn)
{
	return store_set_number(txn, epoch_name, *(const uint64_t *)context);
}

enum err
store_set_epoch(struct store *store, uint64_t epoch)
{
	return store_write_local(store, STORE_STATE, put_epoch, &epoch);
}

static enum err
put_no_log(void *context, struct kv_txn *txn)
{
	const struct write_log_place none = {0};
	enum err err = store_set_number(txn, epoch_name, STORE_EPOCH_LEFT);

	(void)context;
	return err == ERR_OK ? write_log_put_place(txn, &none) : err;
}

enum err
store_leave_log(struct store *store)
{
	return store_write_local(store, STORE_STATE, put_no_log, NULL);
}

enum err
store_copy_open(
    struct kv **out, const char *path, enum store_env env, bool writes)
{
	struct kv_spec spec = {.path = path,
	    .mode = writes ? KV_SHARED : KV_FROZEN,
	    .map_bytes = writes ? envs[env].map_bytes : 0,
	    .grows = writes,
	    .tables = envs[env].tables,
	    .table_count = envs[env].table_count};
	uint64_t version;
	enum err err = kv_open(out, &spec);

	if (err != ERR_OK)
		return err;
	err = find_version(*out, &version);
	if (err == ERR_OK && version == 0)
		err = ERR_DAMAGED;
	else if (err == ERR_OK && version > envs[env].newest)
		err = ERR_VERSION;
	if (err != ERR_OK) {
		kv_close(*out);
		*out = NULL;
	}
	return err;
}

bool
store_is_there(const char *dir)
{
	return is_marked(dir);
}

bool
store_lost_state(const char *dir)
{
	struct store *store = NULL;
	struct fault fault;
	enum err err = new_store(&store, dir);

	fault_clear(&fault);
	if (err == ERR_OK)
		err = open_whole(store, STORE_STATE, false, &fault);
	store_close(store);
	return err == ERR_DAMAGED || err == ERR_NOT_FOUND;
}

enum err
store_put(
    struct kv_txn *txn, unsigned table, struct span key, struct buf *value)
{
	enum err err = buf_end(value);

	assert(txn != NULL);
	if (err == ERR_OK)
		err = kv_put(txn, table, key, buf_span(value));
	buf_fini(value);
	return err;
}

enum err
store_number(struct kv_txn *txn, const char *name, uint64_t *out)
{
	struct span value;
	enum err err = kv_get(txn, 0, span_of(name), &value);

	assert(name != NULL && out != NULL);
	*out = 0;
	if (err == ERR_NOT_FOUND)
		return ERR_OK;
	if (err == ERR_OK)
		*out = key_value_u64(value);
	return err;
}

enum err
store_set_number(struct kv_txn *txn, const char *name, uint64_t number)
{
	struct key value = key_of_u64(number);

	assert(name != NULL);
	return kv_put(txn, 0, span_of(name), key_span(&value));
}
