/* Walks a supplier's articles; reads and writes their records. */
#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "common/kv/kv.h"
#include "common/log.h"
#include "lmdb-schema/facts/source_priv.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/store/store.h"

struct source_walk {
	struct kv_txn *txn;
	struct kv_walk *walk;
	struct unpack block;
	struct span raw;
	uint64_t left; /* articles that the supplier's record counts */
};

enum err
source_walk_begin(
    struct source_walk **out, struct source *source, struct span supplier)
{
	struct source_walk *walk;
	struct key prefix = key_prefix(supplier);
	struct source_supplier info = {.at = 0};
	enum err err = source_supplier(source, supplier, &info);

	*out = NULL;
	if (err != ERR_OK && err != ERR_NOT_FOUND)
		return err;
	source = source->share_count > 0 ? source_home(source, supplier)
					 : source_part(source, info.at);
	if (source == NULL)
		return ERR_DAMAGED;
	walk = calloc(1, sizeof(*walk));
	if (walk == NULL)
		return ERR_NO_MEMORY;
	walk->left = info.articles;
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

/*
 * A block's checksum does not cover its key: a flipped bit there takes the block
 * away from the supplier, or gives it to another, and only the count tells.
 */
static enum err
end_of_blocks(const struct source_walk *walk)
{
	if (walk->left == 0)
		return ERR_NOT_FOUND;
	log_error("facts are damaged: articles_missing=%llu",
	    (unsigned long long)walk->left);
	return ERR_DAMAGED;
}

static enum err
next_block(struct source_walk *walk)
{
	struct span key, value;
	uint32_t crc;
	enum err err = kv_walk_next(walk->walk, &key, &value);

	if (err != ERR_OK)
		return err == ERR_NOT_FOUND ? end_of_blocks(walk) : err;
	if (value.len < sizeof(crc) || walk->left == 0)
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
	if (len > (size_t)(walk->block.end - walk->block.at) || walk->left == 0)
		return ERR_DAMAGED;
	walk->left--;
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
