#include "lmdb-schema/snapshot/catalog_format.h"

#include <assert.h>

#include "common/buf.h"
#include "common/kv/kv.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/snapshot/snapfile.h"
#include "lmdb-schema/snapshot/snapshot.h"
#include "lmdb-schema/store/store.h"

/* For some hundred thousand suppliers. */
#define FOUND_MAX ((size_t)1 << 24)

struct format {
	uint64_t generation, version;
};

static const char format_name[] = "format";

/* Zeros where there is none, or one that cannot be read. */
static struct format
get(struct kv_txn *txn, struct span supplier)
{
	struct key key = key_pair(span_of(format_name), supplier);
	struct format format = {0, 0};
	struct unpack from;
	struct span value;

	if (kv_get(txn, CATALOG_META, key_span(&key), &value) != ERR_OK)
		return format;
	unpack_init(&from, value);
	format.generation = unpack_unsigned(&from);
	format.version = unpack_unsigned(&from);
	return unpack_done(&from) ? format : (struct format){0, 0};
}

static enum err
put(struct kv_txn *txn, struct span supplier, const struct format *format)
{
	struct key key = key_pair(span_of(format_name), supplier);
	struct buf value;

	buf_init(&value, 64);
	pack_add_unsigned(&value, format->generation);
	pack_add_unsigned(&value, format->version);
	return store_put(txn, CATALOG_META, key_span(&key), &value);
}

enum err
catalog_format_put(
    struct kv_txn *txn, struct span supplier, uint64_t generation)
{
	return put(txn, supplier, &(struct format){generation, SNAP_VERSION});
}

enum err
catalog_format_drop(struct kv_txn *txn, struct span supplier)
{
	struct key key = key_pair(span_of(format_name), supplier);
	enum err err = kv_del(txn, CATALOG_META, key_span(&key));

	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

uint64_t
catalog_format_noted(
    struct kv_txn *txn, struct span supplier, uint64_t generation)
{
	struct format format = get(txn, supplier);

	return format.generation == generation ? format.version : 0;
}

bool
catalog_is_foreign(bool *noted, struct catalog_view *view, struct store *store,
    struct span supplier, uint64_t generation)
{
	uint64_t version = catalog_format(view, supplier, generation);

	if (noted != NULL)
		*noted = version != 0;
	if (version == 0)
		version = snapshot_version(store, supplier, generation);
	return version != 0 && version != SNAP_VERSION;
}

/* --- what programs of before have left ------------------------------------- */

struct noting {
	struct store *store;
	struct catalog_view *view;
	struct buf found; /* text supplier, unsigned generation and version */
};

static enum err
look_at(void *context, struct span supplier, const struct catalog_entry *entry)
{
	struct noting *noting = context;
	uint64_t version;

	if (catalog_format(noting->view, supplier, entry->generation) != 0)
		return ERR_OK;
	version = snapshot_version(noting->store, supplier, entry->generation);
	if (version == 0)
		return ERR_OK;
	pack_add_text(&noting->found, supplier);
	pack_add_unsigned(&noting->found, entry->generation);
	pack_add_unsigned(&noting->found, version);
	return buf_end(&noting->found);
}

/* A supplier that was computed meanwhile has a newer record. */
static enum err
put_found(void *context, struct kv_txn *txn)
{
	const struct noting *noting = context;
	struct unpack from;
	enum err err = ERR_OK;

	unpack_init(&from, buf_span(&noting->found));
	while (err == ERR_OK && !unpack_done(&from)) {
		struct span supplier = unpack_text(&from);
		struct format format;

		format.generation = unpack_unsigned(&from);
		format.version = unpack_unsigned(&from);
		assert(!from.bad);
		if (get(txn, supplier).generation < format.generation)
			err = put(txn, supplier, &format);
	}
	return err;
}

enum err
catalog_note_formats(struct store *store)
{
	struct noting noting = {.store = store};
	enum err err = catalog_view_open(&noting.view, store);

	buf_init(&noting.found, FOUND_MAX);
	if (err == ERR_OK)
		err = catalog_each(noting.view, look_at, &noting);
	catalog_view_close(noting.view);
	if ((err == ERR_OK || err == ERR_DAMAGED) && noting.found.len > 0)
		err =
		    store_write_local(store, STORE_CATALOG, put_found, &noting);
	buf_fini(&noting.found);
	return err;
}
