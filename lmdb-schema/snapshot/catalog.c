#include "lmdb-schema/snapshot/catalog.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/date.h"
#include "common/kv/kv.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/snapshot/catalog_format.h"
#include "lmdb-schema/store/store.h"

#define NO_COMMIT UINT64_MAX

struct catalog_view {
	struct kv_txn *txn;
	/*
	 * Caches the last entry: consecutive requests mostly page through one
	 * supplier.
	 */
	uint64_t commit; /* the commit that it was read at */
	char supplier[SCHEMA_CODE_MAX];
	size_t supplier_len;
	struct catalog_entry entry;
};

enum err
catalog_view_open(struct catalog_view **out, struct store *store)
{
	struct catalog_view *view = calloc(1, sizeof(*view));
	enum err err;

	*out = NULL;
	if (view == NULL)
		return ERR_NO_MEMORY;
	err = kv_read(&view->txn, store_catalog(store));
	if (err != ERR_OK) {
		free(view);
		return err;
	}
	view->commit = NO_COMMIT;
	*out = view;
	return ERR_OK;
}

void
catalog_view_close(struct catalog_view *view)
{
	if (view == NULL)
		return;
	kv_abort(view->txn);
	free(view);
}

void
catalog_view_rest(struct catalog_view *view)
{
	kv_rest(view->txn);
}

enum err
catalog_view_renew(struct catalog_view *view)
{
	return kv_renew(view->txn);
}

uint64_t
catalog_view_version(const struct catalog_view *view)
{
	return kv_txn_id(view->txn);
}

void
catalog_entry_take(struct catalog_entry *entry, struct unpack *from)
{
	entry->generation = unpack_unsigned(from);
	entry->computed_ms = (int64_t)unpack_unsigned(from);
	entry->rows = unpack_unsigned(from);
	entry->facts = unpack_unsigned(from);
	entry->network = unpack_unsigned(from);
	entry->gamme = unpack_unsigned(from);
	entry->bytes = unpack_unsigned(from);
}

void
catalog_entry_add(struct buf *value, const struct catalog_entry *entry)
{
	pack_add_unsigned(value, entry->generation);
	pack_add_unsigned(value, (uint64_t)entry->computed_ms);
	pack_add_unsigned(value, entry->rows);
	pack_add_unsigned(value, entry->facts);
	pack_add_unsigned(value, entry->network);
	pack_add_unsigned(value, entry->gamme);
	pack_add_unsigned(value, entry->bytes);
}

static enum err
read_entry(struct catalog_entry *entry, struct span value)
{
	struct unpack from;

	unpack_init(&from, value);
	catalog_entry_take(entry, &from);
	return unpack_done(&from) ? ERR_OK : ERR_DAMAGED;
}

static enum err
get_entry(struct kv_txn *txn, struct span supplier, struct catalog_entry *entry)
{
	struct span value;
	enum err err;

	if (!key_code_ok(supplier))
		return ERR_NOT_FOUND;
	err = kv_get(txn, CATALOG_CURRENT, supplier, &value);
	return err == ERR_OK ? read_entry(entry, value) : err;
}

enum err
catalog_get(struct catalog_view *view, struct span supplier,
    struct catalog_entry *entry)
{
	uint64_t commit = catalog_view_version(view);
	enum err err;

	if (view->commit == commit &&
	    span_eq(supplier, span_make(view->supplier, view->supplier_len))) {
		*entry = view->entry;
		return ERR_OK;
	}
	err = get_entry(view->txn, supplier, entry);
	if (err != ERR_OK)
		return err;
	memcpy(view->supplier, supplier.ptr, supplier.len);
	view->supplier_len = supplier.len;
	view->entry = *entry;
	view->commit = commit;
	return ERR_OK;
}

bool
catalog_keeps(
    struct catalog_view *view, struct span supplier, uint64_t generation)
{
	struct catalog_entry entry;
	struct key key;
	struct span value;

	if (get_entry(view->txn, supplier, &entry) == ERR_OK &&
	    entry.generation == generation)
		return true;
	key = key_pair_u64(supplier, generation);
	return key_code_ok(supplier) &&
	    kv_get(view->txn, CATALOG_RETIRED, key_span(&key), &value) ==
	    ERR_OK;
}

enum err
catalog_count(struct catalog_view *view, uint64_t *count)
{
	return kv_count(view->txn, CATALOG_CURRENT, count);
}

enum err
catalog_each(struct catalog_view *view,
    enum err (*each)(
	void *context, struct span supplier, const struct catalog_entry *entry),
    void *context)
{
	struct kv_walk *walk =
	    kv_walk_begin(view->txn, CATALOG_CURRENT, SPAN(""), SPAN(""));
	struct catalog_entry entry;
	enum err err, spoilt = ERR_OK;

	assert(each != NULL);
	do {
		struct span key, value;

		err = kv_walk_next(walk, &key, &value);
		if (err == ERR_OK)
			err = read_entry(&entry, value);
		if (err == ERR_OK)
			err = each(context, key, &entry);
		else if (err == ERR_DAMAGED && key.len > 0) {
			spoilt = err;
			err = ERR_OK;
		}
	} while (err == ERR_OK);
	kv_walk_end(walk);
	return err == ERR_NOT_FOUND ? spoilt : err;
}

enum err
catalog_each_kept(struct catalog_view *view,
    enum err (*each)(void *context, struct span supplier, uint64_t generation),
    void *context)
{
	struct kv_walk *walk =
	    kv_walk_begin(view->txn, CATALOG_RETIRED, SPAN(""), SPAN(""));
	struct span key, value;
	enum err err;

	assert(each != NULL);
	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK) {
		struct span supplier = key_first(key);
		struct span rest = span_from(key, supplier.len + 1);

		err = each(context, supplier, key_read_u64(rest));
		if (err != ERR_OK)
			break;
	}
	return kv_walk_done(walk, err);
}

enum err
catalog_current(
    struct store *store, struct span supplier, struct catalog_entry *entry)
{
	struct catalog_view *view;
	enum err err = catalog_view_open(&view, store);

	if (err == ERR_OK)
		err = catalog_get(view, supplier, entry);
	catalog_view_close(view);
	return err;
}

static enum err
retire(struct kv_txn *txn, struct span supplier, uint64_t generation)
{
	struct key key = key_pair_u64(supplier, generation);
	struct key now = key_of_u64((uint64_t)date_now_ms());

	return kv_put(txn, CATALOG_RETIRED, key_span(&key), key_span(&now));
}

static enum err
put_entry(
    struct kv_txn *txn, struct span supplier, const struct catalog_entry *entry)
{
	struct buf value;

	buf_init(&value, 256);
	catalog_entry_add(&value, entry);
	return store_put(txn, CATALOG_CURRENT, supplier, &value);
}

/*
 * In `meta`: whose current snapshot turned out to be damaged, and its
 * generation, until another one is published.
 */
static const char damaged_name[] = "damaged";

static enum err
note_damaged(struct kv_txn *txn, struct span supplier, uint64_t generation)
{
	struct key key = key_pair(span_of(damaged_name), supplier);
	struct key value = key_of_u64(generation);

	return kv_put(txn, CATALOG_META, key_span(&key), key_span(&value));
}

static enum err
forget_damaged(struct kv_txn *txn, struct span supplier)
{
	struct key key = key_pair(span_of(damaged_name), supplier);
	enum err err = kv_del(txn, CATALOG_META, key_span(&key));

	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

enum err
catalog_lost(struct catalog_view *view, struct span supplier, bool *lost)
{
	struct key key = key_pair(span_of(damaged_name), supplier);
	struct span value;
	enum err err = ERR_NOT_FOUND;

	if (key_code_ok(supplier))
		err = kv_get(view->txn, CATALOG_META, key_span(&key), &value);
	*lost = err == ERR_OK;
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

enum err
catalog_count_lost(struct catalog_view *view, uint64_t *count)
{
	struct key prefix = key_prefix(span_of(damaged_name));
	struct kv_walk *walk =
	    kv_walk_begin(view->txn, CATALOG_META, key_span(&prefix), SPAN(""));
	struct span key, value;
	enum err err;

	*count = 0;
	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK)
		++*count;
	return kv_walk_done(walk, err);
}

/* A change of a supplier's current entry. */
struct changing {
	struct span supplier;
	const struct catalog_entry *entry;
	uint64_t generation; /* to be disowned */
	bool was_current;
	const char *file; /* that the nodes share, or NULL */
	bool taken;
};

/*
 * ERR_NOT_FOUND, and ERR_DAMAGED: such an entry cannot be retired. One of the
 * generation `next` stays current: its file has come anew.
 */
static enum err
retire_current(struct kv_txn *txn, struct span supplier, uint64_t next)
{
	struct catalog_entry old;
	enum err err = get_entry(txn, supplier, &old);

	return err == ERR_OK && old.generation != next
	    ? retire(txn, supplier, old.generation)
	    : err;
}

/*
 * In `meta` of a node of a cluster, "file" 00 supplier 00 generation: the name of
 * its file for the others, as text; and how many such snapshots it has made, and
 * taken.
 */
static const char file_name[] = "file", made_name[] = "made",
		  taken_name[] = "taken";

static struct key
file_key(struct span supplier, uint64_t generation)
{
	struct key pair = key_pair_u64(supplier, generation);

	return key_of_pair(span_of(file_name), &pair);
}

static enum err
count_one(struct kv_txn *txn, const char *name)
{
	uint64_t count;
	enum err err = store_number(txn, name, &count);

	return err == ERR_OK || err == ERR_DAMAGED
	    ? store_set_number(txn, name, err == ERR_OK ? count + 1 : 1)
	    : err;
}

static enum err
put_file(struct kv_txn *txn, const struct changing *changing)
{
	struct key key =
	    file_key(changing->supplier, changing->entry->generation);
	enum err err =
	    kv_put(txn, CATALOG_META, key_span(&key), span_of(changing->file));

	return err == ERR_OK
	    ? count_one(txn, changing->taken ? taken_name : made_name)
	    : err;
}

static enum err
publish(void *context, struct kv_txn *txn)
{
	const struct changing *changing = context;
	struct span supplier = changing->supplier;
	enum err err =
	    retire_current(txn, supplier, changing->entry->generation);

	if (err == ERR_OK || err == ERR_NOT_FOUND || err == ERR_DAMAGED)
		err = put_entry(txn, supplier, changing->entry);
	if (err == ERR_OK && changing->file != NULL)
		err = put_file(txn, changing);
	if (err == ERR_OK)
		err = catalog_format_put(
		    txn, supplier, changing->entry->generation);
	return err == ERR_OK ? forget_damaged(txn, supplier) : err;
}

enum err
catalog_publish(struct store *store, struct span supplier,
    const struct catalog_entry *entry)
{
	struct changing changing = {.supplier = supplier, .entry = entry};

	assert(entry->generation != 0);
	return store_write(store, STORE_CATALOG, publish, &changing);
}

enum err
catalog_publish_shared(struct store *store, struct span supplier,
    const struct catalog_entry *entry, const char *file, bool taken)
{
	struct changing changing = {
	    .supplier = supplier, .entry = entry, .file = file, .taken = taken};

	assert(entry->generation != 0 && files_is_name(span_of(file)));
	return store_write_local(store, STORE_CATALOG, publish, &changing);
}

enum err
catalog_file(struct catalog_view *view, struct span supplier,
    uint64_t generation, char file[FILES_NAME_LEN + 1])
{
	struct key key = file_key(supplier, generation);
	struct span value;
	enum err err = kv_get(view->txn, CATALOG_META, key_span(&key), &value);

	file[0] = '\0';
	if (err != ERR_OK)
		return err == ERR_NOT_FOUND ? ERR_OK : err;
	if (!files_is_name(value))
		return ERR_DAMAGED;
	span_copy(file, FILES_NAME_LEN + 1, value);
	return ERR_OK;
}

/* Whether the generation that such a key names is current, or retired. */
static bool
keeps_file(struct kv_txn *txn, struct span key)
{
	struct span pair = key_second(key), supplier = key_first(pair), value;
	struct catalog_entry entry;

	if (get_entry(txn, supplier, &entry) == ERR_OK &&
	    entry.generation == key_read_u64(span_from(pair, supplier.len + 1)))
		return true;
	return kv_get(txn, CATALOG_RETIRED, pair, &value) == ERR_OK;
}

enum err
catalog_forget_files(struct kv_txn *txn)
{
	struct key prefix = key_prefix(span_of(file_name));
	struct kv_walk *walk =
	    kv_walk_begin(txn, CATALOG_META, key_span(&prefix), SPAN(""));
	struct span key, value;
	enum err err = ERR_OK;

	while (err == ERR_OK) {
		err = kv_walk_next(walk, &key, &value);
		if (err == ERR_OK && !keeps_file(txn, key))
			err = kv_walk_del(walk);
	}
	return kv_walk_done(walk, err);
}

uint64_t
catalog_format(
    struct catalog_view *view, struct span supplier, uint64_t generation)
{
	return catalog_format_noted(view->txn, supplier, generation);
}

enum err
catalog_shared(struct catalog_view *view, uint64_t *made, uint64_t *taken)
{
	enum err err = store_number(view->txn, made_name, made);

	return err == ERR_OK ? store_number(view->txn, taken_name, taken) : err;
}

bool
catalog_is_same(
    const struct catalog_entry *one, const struct catalog_entry *two)
{
	return one->generation == two->generation &&
	    one->computed_ms == two->computed_ms && one->rows == two->rows &&
	    one->facts == two->facts && one->network == two->network &&
	    one->gamme == two->gamme && one->bytes == two->bytes;
}

static enum err
forget(void *context, struct kv_txn *txn)
{
	const struct changing *changing = context;
	struct span supplier = changing->supplier;
	enum err err = retire_current(txn, supplier, 0);

	if (err == ERR_OK || err == ERR_DAMAGED)
		err = kv_del(txn, CATALOG_CURRENT, supplier);
	if (err == ERR_OK || err == ERR_NOT_FOUND)
		err = catalog_format_drop(txn, supplier);
	return err == ERR_OK ? forget_damaged(txn, supplier) : err;
}

enum err
catalog_forget(struct store *store, struct span supplier)
{
	struct changing changing = {.supplier = supplier};

	return store_write(store, STORE_CATALOG, forget, &changing);
}

static enum err
disown(void *context, struct kv_txn *txn)
{
	struct changing *changing = context;
	struct span supplier = changing->supplier;
	struct key key = key_pair_u64(supplier, changing->generation);
	struct catalog_entry current;
	enum err err = get_entry(txn, supplier, &current);

	changing->was_current =
	    err == ERR_OK && current.generation == changing->generation;
	if (changing->was_current) {
		err = kv_del(txn, CATALOG_CURRENT, supplier);
		if (err == ERR_OK)
			err = catalog_format_drop(txn, supplier);
		if (err == ERR_OK)
			err = note_damaged(txn, supplier, changing->generation);
	} else if (err == ERR_OK || err == ERR_NOT_FOUND)
		err = kv_del(txn, CATALOG_RETIRED, key_span(&key));
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

enum err
catalog_disown(struct store *store, struct span supplier, uint64_t generation,
    bool *was_current)
{
	struct changing changing = {
	    .supplier = supplier, .generation = generation};
	enum err err =
	    store_write_local(store, STORE_CATALOG, disown, &changing);

	*was_current = changing.was_current;
	return err;
}

static enum err
note_words(void *context, struct kv_txn *txn)
{
	const uint64_t *generation = context;

	return store_set_number(txn, "words", *generation);
}

enum err
catalog_note_words(struct store *store, uint64_t generation)
{
	assert(generation != 0);
	return store_write_local(store, STORE_CATALOG, note_words, &generation);
}

/* A number that cannot be read counts as none: the index is then reopened. */
uint64_t
catalog_words(struct catalog_view *view)
{
	uint64_t generation;

	return store_number(view->txn, "words", &generation) == ERR_OK
	    ? generation
	    : 0;
}
