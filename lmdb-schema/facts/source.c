#include "lmdb-schema/facts/source.h"

#include <assert.h>
#include <endian.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/kv/kv.h"
#include "common/log.h"
#include "lmdb-schema/deflate.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/store/store.h"

struct source_store {
	struct span code, name;
};

struct source {
	struct kv *kv;
	struct kv_txn *txn; /* lookups share it, under the lock */
	pthread_mutex_t lock;
	uint64_t generation;
	struct source_header header;
	struct source_store *stores;
};

struct source_walk {
	struct kv_txn *txn;
	struct kv_walk *walk;
	struct unpack block;
	struct span raw;
};

enum err
source_current(uint64_t *generation, struct store *store)
{
	struct kv_txn *txn;
	enum err err = kv_read(&txn, store_live(store));

	*generation = 0;
	if (err != ERR_OK)
		return err;
	err = store_number(txn, "facts", generation);
	kv_abort(txn);
	return err;
}

/* Facts of before have no checksum of their header behind it. */
static bool
header_is_sound(struct unpack *from, struct span value)
{
	struct span summed = value;

	if (unpack_done(from))
		return true;
	if (from->bad)
		return false;
	summed.len -= (size_t)(from->end - from->at);
	return unpack_unsigned(from) ==
	    source_pair_crc(0, SPAN("header"), summed) &&
	    unpack_done(from);
}

static enum err
read_header(struct source *source)
{
	struct source_header *header = &source->header;
	struct unpack from;
	struct span value;
	uint64_t version;
	enum err err = store_number(source->txn, "schema", &version);

	if (err == ERR_OK && version != SCHEMA_FACTS_VERSION &&
	    version != SCHEMA_FACTS_VERSION_BARE)
		err = ERR_VERSION;
	if (err == ERR_OK)
		err = kv_get(source->txn, FACTS_META, SPAN("header"), &value);
	if (err != ERR_OK)
		return err == ERR_NOT_FOUND ? ERR_DAMAGED : err;
	unpack_init(&from, value);
	header->newest_month = (int32_t)unpack_unsigned(&from);
	header->suppliers = unpack_unsigned(&from);
	header->stores = unpack_unsigned(&from);
	header->classes = unpack_unsigned(&from);
	header->articles = unpack_unsigned(&from);
	for (unsigned i = 0; i < SERIES_KINDS; i++)
		header->records[i] = unpack_unsigned(&from);
	header->tables_crc = (uint32_t)unpack_unsigned(&from);
	if (!header_is_sound(&from, value) ||
	    header->stores > SCHEMA_STORES_MAX ||
	    header->newest_month > SCHEMA_MONTH_MAX)
		return ERR_DAMAGED;
	return ERR_OK;
}

static enum err
read_stores(struct source *source)
{
	source->stores =
	    calloc(source->header.stores + 1, sizeof(*source->stores));
	if (source->stores == NULL)
		return ERR_NO_MEMORY;
	for (uint32_t i = 0; i < source->header.stores; i++) {
		struct key key = key_u16((uint16_t)i);
		struct unpack from;
		struct span value;
		enum err err =
		    kv_get(source->txn, FACTS_STORES, key_span(&key), &value);

		if (err != ERR_OK)
			return err == ERR_NOT_FOUND ? ERR_DAMAGED : err;
		unpack_init(&from, value);
		source->stores[i].code = unpack_text(&from);
		source->stores[i].name = unpack_text(&from);
		if (!unpack_done(&from))
			return ERR_DAMAGED;
	}
	return ERR_OK;
}

enum err
source_open_file(struct source **out, const char *path, uint64_t generation)
{
	struct source *source = calloc(1, sizeof(*source));
	enum err err;

	*out = NULL;
	if (source == NULL)
		return ERR_NO_MEMORY;
	pthread_mutex_init(&source->lock, NULL);
	source->generation = generation;
	err = store_facts_open(&source->kv, path);
	if (err == ERR_OK)
		err = kv_read(&source->txn, source->kv);
	if (err == ERR_OK)
		err = read_header(source);
	if (err == ERR_OK)
		err = read_stores(source);
	if (err != ERR_OK) {
		log_error("facts file cannot be used: file=%s error=%s", path,
		    err_text(err));
		source_close(source);
		return err;
	}
	*out = source;
	return ERR_OK;
}

enum err
source_open(struct source **out, struct store *store)
{
	char path[FS_PATH_MAX];
	uint64_t generation;
	enum err err;

	*out = NULL;
	/*
	 * A new import may have unlinked the file that was current: look again.
	 */
	for (unsigned tries = 0; tries < 3; tries++) {
		err = source_current(&generation, store);
		if (err == ERR_OK && generation == 0)
			err = ERR_NOT_FOUND;
		if (err == ERR_OK)
			err = store_facts_path(path, store, generation, "");
		if (err != ERR_OK)
			return err;
		err = source_open_file(out, path, generation);
		if (err != ERR_NOT_FOUND)
			return err;
	}
	return ERR_DAMAGED;
}

void
source_close(struct source *source)
{
	if (source == NULL)
		return;
	kv_abort(source->txn);
	kv_close(source->kv);
	free(source->stores);
	pthread_mutex_destroy(&source->lock);
	free(source);
}

uint64_t
source_generation(const struct source *source)
{
	return source->generation;
}

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

static enum err
read_supplier(struct source_supplier *out, struct span code, struct span value)
{
	struct unpack from;

	unpack_init(&from, value);
	out->code = code;
	out->articles = unpack_unsigned(&from);
	out->name = unpack_text(&from);
	out->digest = out->products = SPAN("");
	if (unpack_done(&from)) /* of version SCHEMA_FACTS_VERSION_BARE */
		return ERR_OK;
	out->digest = unpack_text(&from);
	out->products = unpack_text(&from);
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
	err = lookup(source, FACTS_SUPPLIERS, code, &value);
	return err == ERR_OK ? read_supplier(out, code, value) : err;
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
};

static enum err
call_supplier(void *context, struct span key, struct span value)
{
	struct supplier_call *call = context;
	struct source_supplier supplier;
	enum err err = read_supplier(&supplier, key, value);

	return err == ERR_OK ? call->each(call->context, &supplier) : err;
}

enum err
source_suppliers(struct source *source,
    enum err (*each)(void *context, const struct source_supplier *supplier),
    void *context)
{
	struct supplier_call call = {each, context};

	assert(each != NULL);
	return each_pair(
	    source, FACTS_SUPPLIERS, SPAN(""), call_supplier, &call);
}

enum err
source_classes(struct source *source,
    enum err (*each)(void *context, struct span code, struct span label),
    void *context)
{
	assert(each != NULL);
	return each_pair(source, FACTS_CLASSES, SPAN(""), each, context);
}

struct where_call {
	enum err (*each)(void *context, struct span supplier);
	void *context;
};

static enum err
call_where(void *context, struct span key, struct span value)
{
	struct where_call *call = context;

	(void)value;
	return call->each(call->context, key_second(key));
}

enum err
source_where(struct source *source, struct span codein,
    enum err (*each)(void *context, struct span supplier), void *context)
{
	struct where_call call = {each, context};
	struct key prefix = key_prefix(codein);

	assert(each != NULL);
	if (!key_code_ok(codein))
		return ERR_OK;
	return each_pair(
	    source, FACTS_WHERE, key_span(&prefix), call_where, &call);
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

bool
source_lists(struct source *source, struct span supplier, struct span codein)
{
	struct key key = key_pair(codein, supplier);
	struct span value;

	return key_code_ok(codein) && key_code_ok(supplier) &&
	    lookup(source, FACTS_WHERE, key_span(&key), &value) == ERR_OK;
}

/* --- checksums ----------------------------------------------------------- */

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

enum err
source_verify(struct source *source)
{
	/* The order in which the importer writes the tables. */
	static const unsigned tables[] = {
	    FACTS_SUPPLIERS, FACTS_STORES, FACTS_CLASSES, FACTS_WHERE};
	uint32_t crc = 0;
	enum err err = ERR_OK;

	for (unsigned i = 0; i < 4 && err == ERR_OK; i++)
		err =
		    each_pair(source, tables[i], SPAN(""), add_pair_crc, &crc);
	if (err == ERR_OK && crc != source->header.tables_crc)
		err = ERR_DAMAGED;
	return err;
}

/*
 * The facts file that this process verified last: only one is current at a
 * time.
 */
static struct {
	pthread_mutex_t lock;
	uint64_t generation;
	struct fs_stamp stamp;
} verified = {.lock = PTHREAD_MUTEX_INITIALIZER};

static enum err
verify_once(struct source *source)
{
	struct fs_stamp stamp;
	enum err err = kv_stamp(&stamp, source->kv);

	if (err != ERR_OK)
		return err;
	pthread_mutex_lock(&verified.lock);
	if (verified.generation != source->generation ||
	    !fs_stamp_eq(&verified.stamp, &stamp)) {
		err = source_verify(source);
		if (err == ERR_OK && !fs_stamp_is_young(&stamp)) {
			verified.generation = source->generation;
			verified.stamp = stamp;
		}
	}
	pthread_mutex_unlock(&verified.lock);
	return err;
}

enum err
source_open_verified(struct source **out, struct store *store)
{
	enum err err = source_open(out, store);

	if (err == ERR_OK)
		err = verify_once(*out);
	if (err == ERR_OK || *out == NULL)
		return err;
	log_error("damage: the facts are not as they were written, import "
		  "again: generation=%llu error=%s",
	    (unsigned long long)source_generation(*out), err_text(err));
	source_close(*out);
	*out = NULL;
	return err;
}

enum err
source_touched(
    bool *touched, const struct source *source, struct fs_stamp *stamp)
{
	struct fs_stamp now;
	enum err err = kv_stamp(&now, source->kv);

	*touched = err == ERR_OK && !fs_stamp_eq(&now, stamp);
	*stamp = now;
	return err;
}

/* --- articles ------------------------------------------------------------ */

enum err
source_walk_begin(
    struct source_walk **out, struct source *source, struct span supplier)
{
	struct source_walk *walk = calloc(1, sizeof(*walk));
	struct key prefix = key_prefix(supplier);
	enum err err;

	*out = NULL;
	if (walk == NULL)
		return ERR_NO_MEMORY;
	err = kv_read(&walk->txn, source->kv);
	if (err == ERR_OK) {
		walk->walk = kv_walk_begin(
		    walk->txn, FACTS_ARTICLES, key_span(&prefix), SPAN(""));
		if (walk->walk == NULL)
			err = ERR_NO_MEMORY;
	}
	if (err != ERR_OK) {
		source_walk_end(walk);
		return err;
	}
	*out = walk;
	return ERR_OK;
}

void
source_walk_end(struct source_walk *walk)
{
	if (walk == NULL)
		return;
	kv_walk_end(walk->walk);
	kv_abort(walk->txn);
	free(walk);
}

static enum err
next_block(struct source_walk *walk)
{
	struct span key, value;
	uint32_t crc;
	enum err err = kv_walk_next(walk->walk, &key, &value);

	if (err != ERR_OK)
		return err;
	if (value.len < sizeof(crc))
		return ERR_DAMAGED;
	memcpy(&crc, value.ptr, sizeof(crc));
	if (crc != source_block_crc(value)) {
		log_error(
		    "facts are damaged: key=%.*s", SPAN_ARG(key_first(key)));
		return ERR_DAMAGED;
	}
	unpack_init(&walk->block, span_from(value, sizeof(crc)));
	return ERR_OK;
}

enum err
source_walk_next(struct source_walk *walk, struct source_article *article)
{
	uint32_t len;

	assert(walk != NULL && article != NULL);
	if (walk->block.at == walk->block.end) {
		enum err err = next_block(walk);

		if (err != ERR_OK)
			return err;
	}
	if (walk->block.end - walk->block.at < 4)
		return ERR_DAMAGED;
	memcpy(&len, walk->block.at, 4);
	len = le32toh(len);
	walk->block.at += 4;
	if (len > (size_t)(walk->block.end - walk->block.at))
		return ERR_DAMAGED;
	walk->raw = span_make(walk->block.at, len);
	walk->block.at += len;
	return source_article_read(walk->raw, article);
}

struct span
source_walk_raw(const struct source_walk *walk)
{
	assert(walk != NULL);
	return walk->raw;
}

enum err
source_article_read(struct span record, struct source_article *article)
{
	struct unpack from;
	uint64_t code3;

	unpack_init(&from, record);
	article->codein = unpack_text(&from);
	article->libelle1 = unpack_text(&from);
	article->libelle2 = unpack_text(&from);
	article->marque = unpack_text(&from);
	article->gtin = unpack_text(&from);
	article->reference = unpack_text(&from);
	article->code_centrale = unpack_text(&from);
	code3 = unpack_unsigned(&from);
	article->code3 = code3 == 0 ? SOURCE_NO_CODE3 : (uint32_t)code3 - 1;
	article->pcb = unpack_decimal(&from);
	article->prix_achat = unpack_decimal(&from);
	article->prix_vente = unpack_decimal(&from);
	article->tva = unpack_decimal(&from);
	for (unsigned i = 0; i < SERIES_KINDS; i++)
		article->series[i] = unpack_text(&from);
	if (!unpack_done(&from) || !key_code_ok(article->codein) ||
	    code3 > 1000000)
		return ERR_DAMAGED;
	return ERR_OK;
}

void
source_article_write(struct buf *buf, const struct source_article *article)
{
	uint64_t code3 = article->code3 == SOURCE_NO_CODE3
	    ? 0
	    : (uint64_t)article->code3 + 1;

	assert(article->codein.len <= SCHEMA_CODE_MAX);
	pack_add_text(buf, article->codein);
	pack_add_text(buf, article->libelle1);
	pack_add_text(buf, article->libelle2);
	pack_add_text(buf, article->marque);
	pack_add_text(buf, article->gtin);
	pack_add_text(buf, article->reference);
	pack_add_text(buf, article->code_centrale);
	pack_add_unsigned(buf, code3);
	pack_add_decimal(buf, article->pcb);
	pack_add_decimal(buf, article->prix_achat);
	pack_add_decimal(buf, article->prix_vente);
	pack_add_decimal(buf, article->tva);
	for (unsigned i = 0; i < SERIES_KINDS; i++)
		pack_add_text(buf, article->series[i]);
}
