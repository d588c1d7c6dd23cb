/* The small tables and records of a share, behind its articles, and of a base file. */
#include <assert.h>
#include <stdlib.h>

#include "common/kv/kv.h"
#include "lmdb-schema/facts/intake_priv.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/store/store.h"

/* Puts a pair of the small tables, which share one checksum. */
static enum err
put_pair(
    struct writing *writing, unsigned table, struct span key, struct span value)
{
	enum err err;

	writing->tables_crc = source_pair_crc(writing->tables_crc, key, value);
	err = kv_append(writing->txn, table, key, value);
	return err == ERR_OK ? writing_put(writing, key.len + value.len) : err;
}

/* A supplier whose articles were written, or that has none. */
static enum err
add_written(struct writing *writing, uint32_t number)
{
	struct intake *intake = writing->intake;

	pack_add_unsigned(&writing->record, intake->supplier_articles[number]);
	pack_add_text(&writing->record, intake->suppliers.values[number]);
	return marks_write(writing->marks, number, &writing->record);
}

/* A supplier whose articles were copied as they are in the base. */
static enum err
add_kept(struct writing *writing, uint32_t number)
{
	struct intake *intake = writing->intake;
	struct source_supplier kept;
	enum err err = source_supplier(
	    intake->base, codemap_code(intake->suppliers.codes, number), &kept);

	if (err != ERR_OK)
		return err == ERR_NOT_FOUND ? ERR_DAMAGED : err;
	pack_add_unsigned(&writing->record, kept.articles);
	pack_add_text(&writing->record, kept.name);
	pack_add_text(&writing->record, kept.digest);
	pack_add_text(&writing->record, kept.products);
	intake->supplier_articles[number] = kept.articles;
	return ERR_OK;
}

static enum err
write_suppliers(struct writing *writing, unsigned share)
{
	struct intake *intake = writing->intake;
	enum err err = ERR_OK;

	for (uint32_t i = intake->share_from[share];
	     i < intake->share_from[share + 1] && err == ERR_OK; i++) {
		uint32_t number = intake->supplier_order[i];

		buf_clear(&writing->record);
		err = intake->ranges[number].loaded
		    ? add_written(writing, number)
		    : add_kept(writing, number);
		if (err == ERR_OK)
			err = buf_end(&writing->record);
		if (err == ERR_OK)
			err = put_pair(writing, FACTS_SUPPLIERS,
			    codemap_code(intake->suppliers.codes, number),
			    buf_span(&writing->record));
	}
	return err;
}

static enum err
write_stores(struct writing *writing)
{
	struct intake *intake = writing->intake;
	uint32_t count = codemap_count(intake->stores.codes);
	enum err err = ERR_OK;

	for (uint32_t i = 0; i < count && err == ERR_OK; i++) {
		uint32_t number = intake->store_order[i];
		struct key key = key_u16((uint16_t)i);

		buf_clear(&writing->record);
		pack_add_text(&writing->record,
		    codemap_code(intake->stores.codes, number));
		pack_add_text(&writing->record, intake->stores.values[number]);
		err = buf_end(&writing->record);
		if (err == ERR_OK)
			err = put_pair(writing, FACTS_STORES, key_span(&key),
			    buf_span(&writing->record));
	}
	return err;
}

static enum err
write_classes(struct writing *writing)
{
	struct intake_table *table = &writing->intake->classes;
	uint32_t *order = codemap_sorted(table->codes);
	uint32_t count = codemap_count(table->codes);
	enum err err = order == NULL ? ERR_NO_MEMORY : ERR_OK;

	for (uint32_t i = 0; i < count && err == ERR_OK; i++)
		err = put_pair(writing, FACTS_CLASSES,
		    codemap_code(table->codes, order[i]),
		    table->values[order[i]]);
	free(order);
	return err;
}

/* Codein 00 supplier, as writing_listing() has taken them. */
static enum err
write_listings(struct writing *writing)
{
	struct span key, value;
	enum err err = sorter_seal(writing->listings);

	while (err == ERR_OK && sorter_next(writing->listings, &key, &value))
		err = put_pair(writing, FACTS_WHERE, key, SPAN(""));
	return err;
}

/* Puts a record of meta, with its checksum behind it. */
static enum err
put_summed(struct writing *writing, struct span key, uint32_t *sum)
{
	struct buf *buf = &writing->record;

	*sum = source_pair_crc(0, key, buf_span(buf));
	pack_add_unsigned(buf, *sum);
	return buf_end(buf) == ERR_OK
	    ? kv_put(writing->txn, FACTS_META, key, buf_span(buf))
	    : buf_end(buf);
}

static enum err
put_share(struct writing *writing, unsigned share, uint32_t where_crc)
{
	struct intake *intake = writing->intake;
	struct buf *buf = &writing->record;
	uint32_t from = intake->share_from[share];
	uint32_t to = intake->share_from[share + 1];
	uint64_t articles = 0;
	enum err err;

	for (uint32_t i = from; i < to; i++)
		articles +=
		    intake->supplier_articles[intake->supplier_order[i]];
	writing->articles += articles;
	buf_clear(buf);
	pack_add_unsigned(buf, share);
	pack_add_unsigned(buf, intake->shares);
	pack_add_unsigned(buf, codemap_count(intake->stores.codes));
	pack_add_unsigned(buf, to - from);
	pack_add_unsigned(buf, articles);
	pack_add_unsigned(buf, writing->tables_crc);
	pack_add_unsigned(buf, where_crc);
	err = put_summed(writing, SOURCE_SHARE_KEY, &writing->sums[share]);
	return err == ERR_OK
	    ? store_set_number(writing->txn, "schema", SCHEMA_FACTS_VERSION)
	    : err;
}

enum err
writing_share(struct writing *writing, unsigned share)
{
	uint32_t where_crc;
	enum err err;

	writing->tables_crc = 0;
	err = write_listings(writing);
	where_crc = writing->tables_crc;
	writing->tables_crc = 0;
	if (err == ERR_OK)
		err = write_suppliers(writing, share);
	return err == ERR_OK ? put_share(writing, share, where_crc) : err;
}

/* --- the base file -------------------------------------------------------- */

/* Puts the file of each share: 0 for one of this generation. */
static enum err
put_shares(struct writing *writing)
{
	struct intake *intake = writing->intake;
	struct buf *buf = &writing->record;
	uint32_t sum;

	buf_clear(buf);
	pack_add_unsigned(buf, intake->shares);
	for (unsigned i = 0; i < intake->shares; i++) {
		bool kept = !intake->share_written[i];

		pack_add_unsigned(
		    buf, kept ? source_share_generation(intake->base, i) : 0);
		pack_add_unsigned(buf,
		    kept ? source_share_sum(intake->base, i)
			 : writing->sums[i]);
		if (kept)
			writing->articles +=
			    source_share_articles(intake->base, i);
	}
	return put_summed(writing, SOURCE_SHARES_KEY, &sum);
}

/* Of the whole: what is written, and what stays in the base's files. */
static uint64_t
count_records(const struct writing *writing, enum series_kind kind)
{
	const struct intake *intake = writing->intake;

	if (intake->base == NULL)
		return spool_records(intake->spools[kind]);
	return source_header(intake->base)->records[kind] -
	    intake->base_records[kind] + writing->records[kind];
}

static enum err
write_header(struct writing *writing)
{
	struct intake *intake = writing->intake;
	struct source_header *header = &intake->header;
	struct buf *buf = &writing->record;
	uint32_t sum;
	enum err err;

	for (unsigned i = 0; i < SERIES_KINDS; i++)
		header->records[i] = count_records(writing, i);
	header->suppliers = codemap_count(intake->suppliers.codes);
	header->stores = codemap_count(intake->stores.codes);
	header->classes = codemap_count(intake->classes.codes);
	header->articles = writing->articles;
	buf_clear(buf);
	pack_add_unsigned(buf, (uint64_t)header->newest_month);
	pack_add_unsigned(buf, header->suppliers);
	pack_add_unsigned(buf, header->stores);
	pack_add_unsigned(buf, header->classes);
	pack_add_unsigned(buf, header->articles);
	for (unsigned i = 0; i < SERIES_KINDS; i++)
		pack_add_unsigned(buf, header->records[i]);
	pack_add_unsigned(buf, writing->tables_crc);
	err = put_summed(writing, SPAN("header"), &sum);
	if (err == ERR_OK) {
		buf_clear(buf);
		pack_add_unsigned(buf, (uint64_t)header->oldest_sales);
		err = put_summed(writing, SOURCE_SINCE_KEY, &sum);
	}
	if (err == ERR_OK)
		err = kv_put(writing->txn, FACTS_META, SOURCE_COMMON_KEY,
		    marks_common(writing->marks));
	if (err == ERR_OK)
		err = store_set_number(
		    writing->txn, "schema", SCHEMA_FACTS_VERSION);
	return err;
}

enum err
writing_base(struct writing *writing)
{
	enum err err;

	writing->tables_crc = 0;
	err = write_stores(writing);
	if (err == ERR_OK)
		err = write_classes(writing);
	if (err == ERR_OK)
		err = put_shares(writing);
	return err == ERR_OK ? write_header(writing) : err;
}
