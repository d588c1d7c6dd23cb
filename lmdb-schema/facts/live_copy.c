#include "lmdb-schema/facts/live_copy.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/kv/kv.h"
#include "lmdb-schema/facts/live_priv.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/schema.h"
#include "lmdb-schema/store/store.h"

static const char facts_name[] = "facts";
static const char apart_name[] = "apart";
static const char schema_name[] = "schema";
static const char edition_name[] = "edition";

/* --- the edition ---------------------------------------------------------- */

static enum err
get_edition(struct live_edition *out, struct kv_txn *txn)
{
	struct span value;
	enum err err = kv_get(txn, LIVE_META, span_of(edition_name), &value);

	memset(out, 0, sizeof(*out));
	if (err == ERR_NOT_FOUND)
		return ERR_OK;
	if (err != ERR_OK)
		return err;
	if (value.len != sizeof(uint64_t) + sizeof(out->hash))
		return ERR_DAMAGED;
	out->number = key_value_u64(span_sub(value, 0, sizeof(uint64_t)));
	memcpy(out->hash, value.ptr + sizeof(uint64_t), sizeof(out->hash));
	return ERR_OK;
}

static enum err
put_edition(struct kv_txn *txn, const struct live_edition *edition)
{
	struct key number = key_of_u64(edition->number);
	char value[sizeof(uint64_t) + sizeof(edition->hash)];

	memcpy(value, number.bytes, sizeof(uint64_t));
	memcpy(value + sizeof(uint64_t), edition->hash, sizeof(edition->hash));
	return kv_put(txn, LIVE_META, span_of(edition_name),
	    span_make(value, sizeof(value)));
}

enum err
live_edition(struct live_edition *out, struct store *store)
{
	struct kv_txn *txn;
	enum err err = kv_read(&txn, store_live(store));

	memset(out, 0, sizeof(*out));
	if (err != ERR_OK)
		return err;
	err = get_edition(out, txn);
	kv_abort(txn);
	/* An edition whose record is damaged is taken anew. */
	return err == ERR_DAMAGED ? ERR_OK : err;
}

/* --- making --------------------------------------------------------------- */

/* Each beginning enlarges a map that was full by half. */
#define TRIES 40

static enum err
change_copy(struct kv *copy, struct change_running *running)
{
	enum err err = ERR_MAP_FULL;

	for (unsigned i = 0; i < TRIES && err == ERR_MAP_FULL; i++) {
		struct kv_txn *txn;

		err = kv_write(&txn, copy);
		if (err != ERR_OK)
			return err;
		err = change_run(running, txn);
		if (err == ERR_OK)
			err = kv_commit(txn);
		else
			kv_abort(txn);
	}
	return err;
}

static enum err
facts_of(uint64_t *facts, struct kv *copy)
{
	struct kv_txn *txn;
	enum err err = kv_read(&txn, copy);

	if (err != ERR_OK)
		return err;
	err = store_number(txn, facts_name, facts);
	kv_abort(txn);
	return err;
}

static void
remove_lock(const char *path)
{
	char lock[FS_PATH_MAX];

	if (fs_path(lock, "%s-lock", path) == ERR_OK)
		unlink(lock);
}

enum err
live_copy_make(struct store *store, const char *path,
    enum err (*work)(void *context, struct live_change *change), void *context,
    struct live_counts *counts, uint64_t *facts)
{
	struct change_running running = {work, context, counts};
	struct kv *copy = NULL;
	enum err err = kv_copy(store_live(store), path);

	*facts = 0;
	if (err != ERR_OK)
		return err;
	err = store_copy_open(&copy, path, STORE_LIVE, true);
	if (err == ERR_OK && work != NULL)
		err = change_copy(copy, &running);
	if (err == ERR_OK)
		err = facts_of(facts, copy);
	kv_close(copy);
	remove_lock(path);
	if (err != ERR_OK)
		unlink(path);
	return err;
}

enum err
live_copy_facts(uint64_t *facts, const char *path)
{
	struct kv *copy;
	enum err err = store_copy_open(&copy, path, STORE_LIVE, false);

	*facts = 0;
	if (err != ERR_OK)
		return err;
	err = facts_of(facts, copy);
	kv_close(copy);
	return err;
}

/* --- taking --------------------------------------------------------------- */

struct taking {
	struct kv_txn *from; /* of the copy */
	const struct live_edition *edition;
	bool own;
};

/* Of this node alone, or put apart from the others. */
static bool
is_own_record(unsigned table, struct span key)
{
	return table == LIVE_META &&
	    (span_eq(key, span_of(edition_name)) ||
		span_eq(key, span_of(apart_name)) ||
		span_eq(key, SPAN("log")) ||
		span_eq(key, span_of(schema_name)));
}

/* A pair that cannot be read is replaced, or goes. */
static enum err
drop_gone(struct taking *taking, struct kv_txn *txn, unsigned table)
{
	struct kv_walk *walk = kv_walk_begin(txn, table, SPAN(""), SPAN(""));
	struct span key, value, other;
	enum err err = ERR_OK;

	while (err == ERR_OK) {
		err = kv_walk_next(walk, &key, &value);
		if (err == ERR_DAMAGED && key.len > 0)
			err = ERR_OK;
		if (err != ERR_OK || is_own_record(table, key))
			continue;
		err = kv_get(taking->from, table, key, &other);
		if (err == ERR_NOT_FOUND)
			err = kv_walk_del(walk);
	}
	return kv_walk_done(walk, err);
}

static enum err
put_new(struct taking *taking, struct kv_txn *txn, unsigned table)
{
	struct kv_walk *walk =
	    kv_walk_begin(taking->from, table, SPAN(""), SPAN(""));
	struct span key, value, old;
	enum err err = ERR_OK;

	while (err == ERR_OK) {
		err = kv_walk_next(walk, &key, &value);
		if (err != ERR_OK || is_own_record(table, key))
			continue;
		err = kv_get(txn, table, key, &old);
		if (err == ERR_OK && span_eq(old, value))
			continue;
		if (err == ERR_NOT_FOUND || err == ERR_DAMAGED)
			err = ERR_OK;
		if (err == ERR_OK)
			err = kv_put(txn, table, key, value);
	}
	return kv_walk_done(walk, err);
}

/* As live_set_facts(): an older program must not read what it does not know. */
static enum err
raise_version(struct taking *taking, struct kv_txn *txn)
{
	struct span value;
	bool sums = false;
	enum err err =
	    kv_get(taking->from, LIVE_META, span_of(schema_name), &value);

	if (err == ERR_OK)
		err = store_has_sums(&sums, txn);
	if (err != ERR_OK || !sums ||
	    key_value_u32(value) != SCHEMA_LIVE_SHARES)
		return err;
	return store_raise_version(txn, SCHEMA_LIVE_SHARES);
}

/* Editions that follow each other; or the same one. */
static bool
is_after(const struct live_edition *now, const struct live_edition *before)
{
	return before->number > 0 &&
	    (now->number > before->number ||
		memcmp(now, before, sizeof(*now)) == 0);
}

static enum err
note_apart(struct taking *taking, struct kv_txn *txn)
{
	struct live_edition before;
	uint64_t facts;
	enum err err = get_edition(&before, txn);

	if (err == ERR_DAMAGED)
		before.number = 0;
	else if (err != ERR_OK)
		return err;
	if (taking->own || is_after(taking->edition, &before))
		return ERR_OK;
	err = store_number(txn, facts_name, &facts);
	if (err == ERR_DAMAGED)
		facts = key_generation_lost();
	else if (err != ERR_OK || facts == 0)
		return err;
	return store_set_number(txn, apart_name, facts);
}

static enum err
take(void *context, struct kv_txn *txn)
{
	struct taking *taking = context;
	enum err err = note_apart(taking, txn);

	for (unsigned table = LIVE_META;
	     table <= LIVE_GAMMEGEN && err == ERR_OK; table++) {
		err = drop_gone(taking, txn, table);
		if (err == ERR_OK)
			err = put_new(taking, txn, table);
	}
	if (err == ERR_OK)
		err = raise_version(taking, txn);
	return err == ERR_OK ? put_edition(txn, taking->edition) : err;
}

enum err
live_copy_take(struct store *store, const char *path,
    const struct live_edition *edition, bool own)
{
	struct taking taking = {.edition = edition, .own = own};
	struct kv *copy;
	enum err err = store_copy_open(&copy, path, STORE_LIVE, false);

	assert(edition->number > 0);
	if (err != ERR_OK)
		return err;
	err = kv_read(&taking.from, copy);
	if (err == ERR_OK) {
		err = store_write_local(store, STORE_LIVE, take, &taking);
		kv_abort(taking.from);
	}
	kv_close(copy);
	return err;
}
