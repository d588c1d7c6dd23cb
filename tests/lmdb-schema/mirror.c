#include "tests/lmdb-schema/mirror.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "common/kv/kv_ops.h"
#include "lmdb-schema/deflate.h"
#include "lmdb-schema/store/write_log.h"
#include "tests/support/scratch.h"

static const struct {
	const char *file;
	unsigned tables;
	struct kv *(*of)(struct store *store);
} envs[STORE_ENVS] = {
    {"mirror-live.mdb", LIVE_GAMMEGEN + 1, store_live},
    {"mirror-catalog.mdb", CATALOG_RETIRED + 1, store_catalog},
    {"mirror-state.mdb", STATE_TABLES, store_state},
};

static struct kv *copies[STORE_ENVS];
static struct store *mirrored; /* NULL: none is */
static uint64_t last[STORE_ENVS]; /* entries */

static enum err
append(struct engine *engine, enum store_env log, uint64_t after,
    struct span chain, struct span id, struct span entry)
{
	(void)engine;
	(void)chain;
	ck_assert_uint_eq(id.len, ENGINE_ID_LEN);
	if (mirrored != NULL)
		ck_assert_int_eq(
		    write_log_apply(copies[log], after + 1, entry), ERR_OK);
	last[log] = after + 1;
	return ERR_OK;
}

static enum err
get_heads(struct engine *engine, bool sure, uint64_t heads[STORE_ENVS])
{
	(void)engine;
	ck_assert(sure);
	memcpy(heads, last, sizeof(last));
	return ERR_OK;
}

static struct engine engine = {.append = append, .heads = get_heads};

static void
copy_env(enum store_env env, struct kv *from)
{
	const char *names[KV_TABLES_MAX];
	struct kv_spec spec = {.path = scratch_path(envs[env].file),
	    .mode = KV_SHARED_LAZY,
	    .map_bytes = (size_t)1 << 30,
	    .grows = true,
	    .tables = names,
	    .table_count = envs[env].tables};

	for (unsigned i = 0; i < envs[env].tables; i++)
		names[i] = kv_table_name(from, i);
	ck_assert_int_eq(kv_copy(from, spec.path), ERR_OK);
	ck_assert_int_eq(kv_open(&copies[env], &spec), ERR_OK);
	kv_keep_sums(copies[env], deflate_crc);
}

void
mirror_begin(struct store *store)
{
	struct write_log_place place;

	ck_assert_ptr_null(mirrored);
	for (unsigned i = 0; i < STORE_ENVS; i++) {
		copy_env((enum store_env)i, envs[i].of(store));
		ck_assert_int_eq(write_log_place_of(&place, copies[i]), ERR_OK);
		last[i] = place.number;
	}
	mirrored = store;
	store_share(store, &engine);
}

void
mirror_drop(void)
{
	if (mirrored != NULL)
		for (unsigned i = 0; i < STORE_ENVS; i++)
			kv_close(copies[i]);
	mirrored = NULL;
}

/* Of this node alone: catalog.h. */
static bool
is_local(unsigned env, unsigned table, struct span key)
{
	return env == STORE_CATALOG &&
	    (table != CATALOG_META || span_eq(key, SPAN("words")) ||
		span_eq(key, SPAN("made")) || span_eq(key, SPAN("taken")) ||
		span_starts(key, SPAN("file")) ||
		span_starts(key, SPAN("format")) ||
		span_starts(key, SPAN("damaged")));
}

static enum err
next_shared(struct kv_walk *walk, unsigned env, unsigned table,
    struct span *key, struct span *value)
{
	enum err err;

	do
		err = kv_walk_next(walk, key, value);
	while (err == ERR_OK && is_local(env, table, *key));
	return err;
}

static void
compare_table(unsigned env, unsigned table, struct kv_txn *a, struct kv_txn *b)
{
	struct kv_walk *first = kv_walk_begin(a, table, SPAN(""), SPAN(""));
	struct kv_walk *second = kv_walk_begin(b, table, SPAN(""), SPAN(""));
	struct span keys[2], values[2];
	enum err err = ERR_OK;

	while (err == ERR_OK) {
		err = next_shared(first, env, table, &keys[0], &values[0]);
		ck_assert_int_eq(
		    err, next_shared(second, env, table, &keys[1], &values[1]));
		ck_assert(span_eq(keys[0], keys[1]));
		ck_assert(span_eq(values[0], values[1]));
	}
	kv_walk_end(first);
	kv_walk_end(second);
}

void
mirror_end(struct store *store)
{
	struct kv_txn *a, *b;

	if (mirrored == NULL || mirrored != store)
		return;
	for (unsigned i = 0; i < STORE_ENVS; i++) {
		ck_assert_int_eq(kv_read(&a, envs[i].of(store)), ERR_OK);
		ck_assert_int_eq(kv_read(&b, copies[i]), ERR_OK);
		for (unsigned t = 0; t < envs[i].tables; t++)
			compare_table(i, t, a, b);
		kv_abort(a);
		kv_abort(b);
	}
	mirror_drop();
}

static struct buf ops;

void
mirror_keep(struct kv_txn *txn)
{
	buf_init(&ops, WRITE_LOG_OPS_MAX);
	if (mirrored != NULL)
		kv_keep_ops(txn, &ops);
}

enum err
mirror_commit(enum store_env env, struct kv_txn *txn)
{
	enum err err = mirrored == NULL
	    ? kv_commit(txn)
	    : write_log_commit(&engine, env, txn, &ops);

	buf_fini(&ops);
	return err;
}

void
mirror_abort(struct kv_txn *txn)
{
	kv_abort(txn);
	buf_fini(&ops);
}
