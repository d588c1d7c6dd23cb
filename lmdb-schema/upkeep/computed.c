/* The records of snapshots that nodes share. */
#include "lmdb-schema/upkeep/computed.h"

#include <string.h>

#include "common/kv/kv.h"
#include "lmdb-schema/codemap.h"
#include "lmdb-schema/facts/source.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/snapshot/snapfile.h"
#include "lmdb-schema/state/lease.h"
#include "lmdb-schema/store/cluster.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/computed_priv.h"
#include "lmdb-schema/upkeep/edition_priv.h"
#include "lmdb-schema/upkeep/keeping.h"

static const char name[] = "computed";

#define RECORD_MAX 1024

static bool
read_record(struct computed *out, struct span value)
{
	struct catalog_entry *entry = &out->entry;
	struct unpack from;
	bool fits;

	memset(out, 0, sizeof(*out));
	unpack_init(&from, value);
	out->edition = unpack_unsigned(&from);
	out->format = unpack_unsigned(&from);
	catalog_entry_take(entry, &from);
	out->file.bytes = entry->bytes;
	fits = span_copy(
	    out->file.name, sizeof(out->file.name), unpack_text(&from));
	fits &= span_copy(out->node, sizeof(out->node), unpack_text(&from));
	fits &=
	    span_copy(out->address, sizeof(out->address), unpack_text(&from));
	if (fits && unpack_done(&from) && out->edition > 0 &&
	    entry->generation > 0 && files_is_name(span_of(out->file.name)))
		return true;
	memset(out, 0, sizeof(*out));
	return false;
}

enum err
computed_get(struct computed *out, struct kv_txn *txn, struct span supplier)
{
	struct key key = key_pair(span_of(name), supplier);
	struct span value;
	enum err err = kv_get(txn, STATE_META, key_span(&key), &value);

	memset(out, 0, sizeof(*out));
	if (err == ERR_OK)
		read_record(out, value);
	return err == ERR_NOT_FOUND || err == ERR_DAMAGED ? ERR_OK : err;
}

enum err
computed_read(struct computed *out, struct store *store, struct span supplier)
{
	struct kv_txn *txn;
	enum err err = kv_read(&txn, store_state(store));

	memset(out, 0, sizeof(*out));
	if (err != ERR_OK)
		return err;
	err = computed_get(out, txn, supplier);
	kv_abort(txn);
	return err;
}

static enum err
count_one(struct kv_txn *txn)
{
	uint64_t count;
	enum err err = store_number(txn, name, &count);

	return err == ERR_OK ? store_set_number(txn, name, count + 1) : err;
}

enum err
computed_put(
    struct kv_txn *txn, struct span supplier, const struct computed *computed)
{
	struct key key = key_pair(span_of(name), supplier);
	struct buf value;
	enum err err;

	buf_init(&value, RECORD_MAX);
	pack_add_unsigned(&value, computed->edition);
	pack_add_unsigned(&value, computed->format);
	catalog_entry_add(&value, &computed->entry);
	pack_add_text(&value, span_of(computed->file.name));
	pack_add_text(&value, span_of(computed->node));
	pack_add_text(&value, span_of(computed->address));
	err = store_put(txn, STATE_META, key_span(&key), &value);
	return err == ERR_OK ? count_one(txn) : err;
}

/* --- what fits this node --------------------------------------------------- */

enum err
computed_share(
    struct computed_share *out, struct store *store, struct fault *fault)
{
	struct cluster_sharing sharing;
	struct editions editions;
	enum err err = ERR_OK;

	memset(out, 0, sizeof(*out));
	if (!store_is_shared(store))
		return ERR_OK;
	err = cluster_sharing(&sharing, store_dir(store), fault);
	if (err != ERR_OK || !sharing.files)
		return err;
	err = cluster_node(&out->own, store_dir(store), fault);
	if (err == ERR_OK)
		err = edition_look(&editions, store);
	if (err == ERR_OK && editions.is_current && editions.now.number > 0) {
		out->edition = editions.now;
		out->shares = true;
	}
	return err;
}

bool
computed_fits(
    const struct computed *computed, const struct computed_share *share)
{
	return computed->edition > 0 && computed->format == SNAP_VERSION &&
	    share->shares && computed->edition <= share->edition.number;
}

bool
computed_is_fresh(
    const struct computed *computed, struct store *store, struct span supplier)
{
	bool stale = true;

	return computed->edition > 0 &&
	    compute_is_stale(&stale, store, supplier, &computed->entry) ==
	    ERR_OK &&
	    !stale;
}

/* --- all of them ----------------------------------------------------------- */

enum err
computed_each_in(struct kv_txn *txn,
    enum err (*each)(
	void *context, struct span supplier, const struct computed *computed),
    void *context)
{
	struct key prefix = key_prefix(span_of(name));
	struct computed computed;
	struct kv_walk *walk;
	struct span key, value;
	enum err err = ERR_OK;

	walk = kv_walk_begin(txn, STATE_META, key_span(&prefix), SPAN(""));
	while (err == ERR_OK) {
		err = kv_walk_next(walk, &key, &value);
		if (err == ERR_OK && read_record(&computed, value))
			err = each(context, key_second(key), &computed);
	}
	return kv_walk_done(walk, err);
}

enum err
computed_each(struct store *store,
    enum err (*each)(
	void *context, struct span supplier, const struct computed *computed),
    void *context)
{
	struct kv_txn *txn;
	enum err err = kv_read(&txn, store_state(store));

	if (err != ERR_OK)
		return err;
	err = computed_each_in(txn, each, context);
	kv_abort(txn);
	return err;
}

struct counting {
	struct catalog_view *view;
	struct computed_counts *counts;
	struct keeping keeping;
};

static enum err
count_record(
    void *context, struct span supplier, const struct computed *computed)
{
	struct counting *counting = context;
	struct catalog_entry entry;

	counting->counts->snapshots++;
	if (!keeping_keeps(&counting->keeping, supplier))
		return ERR_OK;
	counting->counts->kept++;
	counting->counts->kept_bytes += computed->entry.bytes;
	if (catalog_get(counting->view, supplier, &entry) == ERR_OK &&
	    catalog_is_same(&entry, &computed->entry))
		counting->counts->here++;
	return ERR_OK;
}

enum err
computed_count_of(uint64_t *count, struct kv_txn *txn)
{
	return store_number(txn, name, count);
}

enum err
computed_published(uint64_t *count, struct store *store)
{
	struct kv_txn *txn;
	enum err err = kv_read(&txn, store_state(store));

	*count = 0;
	if (err != ERR_OK)
		return err;
	err = computed_count_of(count, txn);
	kv_abort(txn);
	return err;
}

enum err
computed_count(struct computed_counts *out, struct store *store)
{
	struct counting counting = {.counts = out};
	enum err err;

	memset(out, 0, sizeof(*out));
	err = computed_published(&out->published, store);
	if (err == ERR_OK)
		err = keeping_look(&counting.keeping, store);
	if (err == ERR_OK)
		err = catalog_view_open(&counting.view, store);
	if (err == ERR_OK)
		err = computed_each(store, count_record, &counting);
	catalog_view_close(counting.view);
	return err;
}

enum err
computed_newest(
    struct catalog_entry *out, struct kv_txn *txn, struct span supplier)
{
	struct computed computed;
	enum err err = computed_get(&computed, txn, supplier);

	*out = computed.entry;
	return err == ERR_OK && computed.edition == 0 ? ERR_NOT_FOUND : err;
}

struct naming {
	enum err (*each)(void *context, const struct files_id *id);
	void *context;
};

static enum err
name_file(void *context, struct span supplier, const struct computed *computed)
{
	const struct naming *naming = context;

	(void)supplier;
	return naming->each(naming->context, &computed->file);
}

enum err
computed_each_file(struct store *store,
    enum err (*each)(void *context, const struct files_id *id), void *context)
{
	struct naming naming = {each, context};

	return computed_each(store, name_file, &naming);
}

/* --- suppliers that are gone ------------------------------------------------ */

struct forgetting {
	struct source *facts;
	struct codemap *gone;
	struct computed_share share;
};

static enum err
note_gone(void *context, struct span supplier, const struct computed *computed)
{
	struct forgetting *forgetting = context;
	struct source_supplier info;
	uint32_t number;

	(void)computed;
	return source_supplier(forgetting->facts, supplier, &info) ==
		ERR_NOT_FOUND
	    ? codemap_add(forgetting->gone, supplier, &number)
	    : ERR_OK;
}

/* A holder of the lease that wakes up later is refused by the import. */
static enum err
forget_one(struct kv_txn *txn, struct span supplier)
{
	struct key key = key_pair(span_of(name), supplier);
	enum err err = kv_del(txn, STATE_META, key_span(&key));

	return err == ERR_OK || err == ERR_NOT_FOUND
	    ? lease_forget(txn, COMPUTED_LEASE, supplier)
	    : err;
}

static enum err
forget_all(void *context, struct kv_txn *txn)
{
	const struct forgetting *forgetting = context;
	struct edition now;
	enum err err = edition_get(&now, txn, edition_now);

	if (err != ERR_OK ||
	    strcmp(now.text.name, forgetting->share.edition.text.name) != 0)
		return err;
	for (uint32_t i = 0;
	     i < codemap_count(forgetting->gone) && err == ERR_OK; i++)
		err = forget_one(txn, codemap_code(forgetting->gone, i));
	return err;
}

static enum err
list_gone(struct forgetting *forgetting, struct store *store)
{
	enum err err;

	forgetting->gone = codemap_new();
	if (forgetting->gone == NULL)
		return ERR_NO_MEMORY;
	err = source_open(&forgetting->facts, store);
	if (err == ERR_OK)
		err = computed_each(store, note_gone, forgetting);
	source_close(forgetting->facts);
	return err;
}

/* The facts are opened behind the look at the import: they are its, or later. */
enum err
computed_forget_gone(struct store *store)
{
	struct forgetting forgetting = {.facts = NULL};
	enum err err = computed_share(&forgetting.share, store, NULL);

	if (err != ERR_OK || !forgetting.share.shares)
		return err;
	err = list_gone(&forgetting, store);
	if (err == ERR_OK && codemap_count(forgetting.gone) > 0)
		err = store_write(store, STORE_STATE, forget_all, &forgetting);
	codemap_free(forgetting.gone);
	return err;
}
