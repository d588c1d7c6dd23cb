#include "lmdb-schema/facts/source.h"

#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/kv/kv.h"
#include "common/log.h"
#include "lmdb-schema/deflate.h"
#include "lmdb-schema/facts/source_priv.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/store/store.h"

uint64_t
source_generation(const struct source *source)
{
	return source->generation;
}

/* --- shares --------------------------------------------------------------- */

unsigned
source_shares(const struct source *source)
{
	return source->share_count;
}

unsigned
source_share_of(struct span supplier, unsigned count)
{
	assert(count > 0);
	return (unsigned)((source_product_hash(supplier) >> 16) % count);
}

struct source *
source_home(struct source *source, struct span supplier)
{
	return source->share_count == 0
	    ? source
	    : source->shares[source_share_of(supplier, source->share_count)];
}

uint32_t
source_share_sum(const struct source *source, unsigned share)
{
	assert(share < source->share_count);
	return source->shares[share]->share.sum;
}

uint64_t
source_share_generation(const struct source *source, unsigned share)
{
	assert(share < source->share_count);
	return source->shares[share]->generation;
}

uint64_t
source_share_articles(const struct source *source, unsigned share)
{
	assert(share < source->share_count);
	return source->shares[share]->share.articles;
}

/* --- look-ups ------------------------------------------------------------- */

const struct source_header *
source_header(const struct source *source)
{
	return &source->header;
}

/*
 * The file never changes, so results stay valid; only the transaction needs the
 * lock.
 */
static enum err
lookup(
    struct source *source, unsigned table, struct span key, struct span *value)
{
	enum err err;

	pthread_mutex_lock(&source->lock);
	err = kv_get(source->txn, table, key, value);
	pthread_mutex_unlock(&source->lock);
	return err;
}

struct span
source_common(struct source *source)
{
	struct span value;

	return lookup(source, FACTS_META, SOURCE_COMMON_KEY, &value) == ERR_OK
	    ? value
	    : SPAN("");
}

/* `own`: the generation of the file that the record stands in. */
static enum err
read_supplier(struct source_supplier *out, uint64_t own, struct span code,
    struct span value)
{
	struct unpack from;

	unpack_init(&from, value);
	out->code = code;
	out->articles = unpack_unsigned(&from);
	out->name = unpack_text(&from);
	out->digest = out->products = SPAN("");
	out->at = own;
	if (unpack_done(&from)) /* of version SCHEMA_FACTS_VERSION_BARE */
		return ERR_OK;
	out->digest = unpack_text(&from);
	out->products = unpack_text(&from);
	if (!unpack_done(&from)) {
		uint64_t at = unpack_unsigned(&from);

		out->at = at == 0 ? own : at;
	}
	return unpack_done(&from) && out->digest.len == SCHEMA_DIGEST &&
		out->products.len % sizeof(uint64_t) == 0
	    ? ERR_OK
	    : ERR_DAMAGED;
}

enum err
source_supplier(
    struct source *source, struct span code, struct source_supplier *out)
{
	struct span value;
	enum err err;

	if (!key_code_ok(code))
		return ERR_NOT_FOUND;
	source = source_home(source, code);
	err = lookup(source, FACTS_SUPPLIERS, code, &value);
	return err == ERR_OK
	    ? read_supplier(out, source->generation, code, value)
	    : err;
}

struct span
source_store_code(const struct source *source, uint16_t store)
{
	return store < source->header.stores ? source->stores[store].code
					     : SPAN("");
}

struct span
source_store_name(const struct source *source, uint16_t store)
{
	return store < source->header.stores ? source->stores[store].name
					     : SPAN("");
}

struct span
source_class(struct source *source, struct span code)
{
	struct span label;

	if (lookup(source, FACTS_CLASSES, code, &label) != ERR_OK)
		return SPAN("");
	return label;
}

/* Walks a table with a transaction of its own: calls may nest. */
static enum err
each_pair(struct source *source, unsigned table, struct span prefix,
    enum err (*each)(void *context, struct span key, struct span value),
    void *context)
{
	struct kv_txn *txn;
	struct kv_walk *walk;
	struct span key, value;
	enum err err = kv_read(&txn, source->kv);

	if (err != ERR_OK)
		return err;
	walk = kv_walk_begin(txn, table, prefix, SPAN(""));
	if (walk == NULL) {
		kv_abort(txn);
		return ERR_NO_MEMORY;
	}
	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK) {
		err = each(context, key, value);
		if (err != ERR_OK)
			break;
	}
	kv_walk_end(walk);
	kv_abort(txn);
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

struct supplier_call {
	enum err (*each)(void *context, const struct source_supplier *supplier);
	void *context;
	uint64_t own;
};

static enum err
call_supplier(void *context, struct span key, struct span value)
{
	struct supplier_call *call = context;
	struct source_supplier supplier;
	enum err err = read_supplier(&supplier, call->own, key, value);

	return err == ERR_OK ? call->each(call->context, &supplier) : err;
}

/* An article's suppliers are few: they need no allocation. */
#define GATHERED_FEW 32

/* Suppliers of several shares, to be put in one order. */
struct gathering {
	struct source_supplier *more; /* NULL while there is room in `few` */
	size_t count, room;
	struct source_supplier few[GATHERED_FEW];
};

static void
begin_gathering(struct gathering *gathering)
{
	gathering->more = NULL;
	gathering->count = 0;
	gathering->room = GATHERED_FEW;
}

static struct source_supplier *
gathered(struct gathering *gathering)
{
	return gathering->more == NULL ? gathering->few : gathering->more;
}

static enum err
gather(void *context, const struct source_supplier *supplier)
{
	struct gathering *gathering = context;

	if (gathering->count == gathering->room) {
		size_t room = gathering->room * 2;
		struct source_supplier *more =
		    reallocarray(gathering->more, room, sizeof(*more));

		if (more == NULL)
			return ERR_NO_MEMORY;
		if (gathering->more == NULL)
			memcpy(more, gathering->few, sizeof(gathering->few));
		gathering->more = more;
		gathering->room = room;
	}
	gathered(gathering)[gathering->count++] = *supplier;
	return ERR_OK;
}

static int
by_code(const void *a, const void *b)
{
	const struct source_supplier *x = a, *y = b;

	return span_cmp(x->code, y->code);
}

static enum err
end_gathering(struct gathering *gathering, enum err err,
    enum err (*each)(void *context, const struct source_supplier *supplier),
    void *context)
{
	struct source_supplier *suppliers = gathered(gathering);

	if (gathering->count > 1)
		qsort(suppliers, gathering->count, sizeof(*suppliers), by_code);
	for (size_t i = 0; i < gathering->count && err == ERR_OK; i++)
		err = each(context, &suppliers[i]);
	free(gathering->more);
	return err;
}

static enum err
suppliers_of(struct source *file,
    enum err (*each)(void *context, const struct source_supplier *supplier),
    void *context)
{
	struct supplier_call call = {each, context, file->generation};

	return each_pair(file, FACTS_SUPPLIERS, SPAN(""), call_supplier, &call);
}

enum err
source_suppliers(struct source *source,
    enum err (*each)(void *context, const struct source_supplier *supplier),
    void *context)
{
	struct gathering gathering;
	enum err err = ERR_OK;

	assert(each != NULL);
	if (source->share_count < 2)
		return suppliers_of(source, each, context);
	begin_gathering(&gathering);
	for (unsigned i = 0; i < source->share_count && err == ERR_OK; i++)
		err = suppliers_of(source->shares[i], gather, &gathering);
	return end_gathering(&gathering, err, each, context);
}

enum err
source_classes(struct source *source,
    enum err (*each)(void *context, struct span code, struct span label),
    void *context)
{
	assert(each != NULL);
	return each_pair(source, FACTS_CLASSES, SPAN(""), each, context);
}

/* --- checksums ----------------------------------------------------------- */

/* Larger values have pages of their own. */
#define LARGE_BYTES 2048

uint32_t
source_block_crc(struct span block)
{
	struct span rest = span_from(block, sizeof(uint32_t));

	return htole32(deflate_crc(0, rest.ptr, rest.len));
}

uint32_t
source_pair_crc(uint32_t crc, struct span key, struct span value)
{
	uint32_t lengths[2] = {
	    htole32((uint32_t)key.len), htole32((uint32_t)value.len)};

	crc = deflate_crc(crc, lengths, sizeof(lengths));
	crc = deflate_crc(crc, key.ptr, key.len);
	if (value.len > 0)
		crc = deflate_crc(crc, value.ptr, value.len);
	return crc;
}

static enum err
add_pair_crc(void *context, struct span key, struct span value)
{
	uint32_t *crc = context;

	*crc = source_pair_crc(*crc, key, value);
	return ERR_OK;
}

static enum err
expect_value(void *context, struct span key, struct span value)
{
	(void)context;
	(void)key;
	if (value.len > LARGE_BYTES)
		fs_expect_map(value.ptr, value.len);
	return ERR_OK;
}

/* The tables in the order in which an import writes them. */
static enum err
verify_pairs(struct source *source, const unsigned *tables, unsigned count,
    uint32_t written)
{
	uint32_t crc = 0;
	enum err err = ERR_OK;

	for (unsigned i = 0; i < count && err == ERR_OK; i++)
		err =
		    each_pair(source, tables[i], SPAN(""), expect_value, NULL);
	for (unsigned i = 0; i < count && err == ERR_OK; i++)
		err =
		    each_pair(source, tables[i], SPAN(""), add_pair_crc, &crc);
	return err == ERR_OK && crc != written ? ERR_DAMAGED : err;
}

/* Of versions before 3: all in one file, or the listings in a part. */
static enum err
verify_unshared(struct source *source)
{
	static const unsigned tables[] = {
	    FACTS_SUPPLIERS, FACTS_STORES, FACTS_CLASSES, FACTS_WHERE};
	enum err err =
	    verify_pairs(source, tables, 4, source->header.tables_crc);

	if (err == ERR_OK && source->listings != source)
		err = verify_unshared(source->listings);
	return err;
}

enum err
source_verify_tables(struct source *source)
{
	static const unsigned tables[] = {FACTS_STORES, FACTS_CLASSES};
	static const unsigned suppliers[] = {FACTS_SUPPLIERS};
	enum err err;

	if (source->share_count == 0)
		return verify_unshared(source);
	err = verify_pairs(source, tables, 2, source->header.tables_crc);
	for (unsigned i = 0; i < source->share_count && err == ERR_OK; i++)
		err = verify_pairs(source->shares[i], suppliers, 1,
		    source->shares[i]->share.suppliers_crc);
	return err;
}

/* Of a share; in versions before 3 the tables have one checksum with them. */
static enum err
verify_listings(struct source *file)
{
	static const unsigned listings[] = {FACTS_WHERE};

	return file->share.count == 0
	    ? verify_unshared(file)
	    : verify_pairs(file, listings, 1, file->share.where_crc);
}

void
source_tell_damage(const struct source *source, enum err err)
{
	log_error("damage: the facts are not as they were written, import "
		  "again: generation=%llu error=%s",
	    (unsigned long long)source->generation, err_text(err));
}

/* Threads may do so side by side. */
static enum err
compare_listings(struct source *file)
{
	enum err err = ERR_OK;

	switch ((enum source_compared)atomic_load(&file->compared)) {
	case SOURCE_SOUND:
		return ERR_OK;
	case SOURCE_DAMAGED:
		return ERR_DAMAGED;
	case SOURCE_UNREAD:
		err = verify_listings(file);
	}
	if (err == ERR_OK)
		atomic_store(&file->compared, SOURCE_SOUND);
	if (err == ERR_DAMAGED &&
	    atomic_exchange(&file->compared, SOURCE_DAMAGED) == SOURCE_UNREAD)
		source_tell_damage(file, err);
	return err;
}

enum err
source_verify(struct source *source)
{
	enum err err = source_verify_tables(source);

	for (unsigned i = 0; i < source->share_count && err == ERR_OK; i++)
		err = verify_listings(source->shares[i]);
	return err;
}

/* --- listings -------------------------------------------------------------- */

struct where_call {
	enum err (*each)(void *context, struct span supplier);
	void *context;
};

static enum err
call_where(void *context, const struct source_supplier *supplier)
{
	struct where_call *call = context;

	return call->each(call->context, supplier->code);
}

static enum err
gather_where(void *context, struct span key, struct span value)
{
	struct source_supplier supplier = {.code = key_second(key)};

	(void)value;
	return gather(context, &supplier);
}

/* The listings in one file. */
static enum err
gather_listings(
    struct gathering *gathering, struct source *file, struct span prefix)
{
	enum err err = compare_listings(file);

	return err == ERR_OK
	    ? each_pair(file, FACTS_WHERE, prefix, gather_where, gathering)
	    : err;
}

enum err
source_where(struct source *source, struct span codein,
    enum err (*each)(void *context, struct span supplier), void *context)
{
	struct gathering gathering;
	struct where_call call = {each, context};
	struct key prefix = key_prefix(codein);
	enum err err = ERR_OK;

	assert(each != NULL);
	if (!key_code_ok(codein))
		return ERR_OK;
	begin_gathering(&gathering);
	if (source->share_count == 0)
		err = gather_listings(
		    &gathering, source->listings, key_span(&prefix));
	for (unsigned i = 0; i < source->share_count && err == ERR_OK; i++)
		err = gather_listings(
		    &gathering, source->shares[i], key_span(&prefix));
	return end_gathering(&gathering, err, call_where, &call);
}

/* FNV-1a, mixed: codes differ in their last digits only. */
uint64_t
source_product_hash(struct span code)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < code.len; i++) {
		hash ^= (uint8_t)code.ptr[i];
		hash *= UINT64_C(0x100000001b3);
	}
	hash ^= hash >> 32;
	hash *= UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

static uint64_t
product_at(struct span products, size_t i)
{
	uint64_t hash;

	memcpy(&hash, products.ptr + i * sizeof(hash), sizeof(hash));
	return le64toh(hash);
}

static bool
has_product(struct span products, uint64_t hash)
{
	size_t low = 0, high = products.len / sizeof(hash);

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		uint64_t found = product_at(products, middle);

		if (found == hash)
			return true;
		if (found < hash)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

/* Walks the shorter list, and looks each up in the longer one. */
bool
source_lists_product(const struct source_supplier *supplier,
    const uint64_t *hashes, size_t count)
{
	struct span all =
	    span_make((const char *)hashes, count * sizeof(*hashes));
	size_t own = supplier->products.len / sizeof(uint64_t);
	bool found = supplier->digest.len == 0;

	assert(hashes != NULL || count == 0);
	if (own < count)
		for (size_t i = 0; i < own && !found; i++)
			found =
			    has_product(all, product_at(supplier->products, i));
	else
		for (size_t i = 0; i < count && !found; i++)
			found = has_product(supplier->products, hashes[i]);
	return found;
}

enum err
source_lists(bool *lists, struct source *source, struct span supplier,
    struct span codein)
{
	struct key key;
	struct span value;
	enum err err;

	*lists = false;
	if (!key_code_ok(codein) || !key_code_ok(supplier))
		return ERR_OK;
	key = key_pair(codein, supplier);
	source = source->share_count == 0 ? source->listings
					  : source_home(source, supplier);
	err = compare_listings(source);
	if (err == ERR_OK)
		err = lookup(source, FACTS_WHERE, key_span(&key), &value);
	*lists = err == ERR_OK;
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}
