/* The small tables of a facts file, and its header, behind the articles. */
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
	writing->tables_crc = source_pair_crc(writing->tables_crc, key, value);
	return kv_append(writing->txn, table, key, value);
}

static enum err
write_suppliers(struct writing *writing)
{
	struct intake_table *table = &writing->intake->suppliers;
	uint32_t *order = codemap_sorted(table->codes);
	uint32_t count = codemap_count(table->codes);
	enum err err = order == NULL ? ERR_NO_MEMORY : ERR_OK;

	for (uint32_t i = 0; i < count && err == ERR_OK; i++) {
		buf_clear(&writing->record);
		pack_add_unsigned(&writing->record,
		    writing->intake->supplier_articles[order[i]]);
		pack_add_text(&writing->record, table->values[order[i]]);
		err = marks_write(writing->marks, order[i], &writing->record);
		if (err == ERR_OK)
			err = buf_end(&writing->record);
		if (err == ERR_OK)
			err = put_pair(writing, FACTS_SUPPLIERS,
			    codemap_code(table->codes, order[i]),
			    buf_span(&writing->record));
	}
	free(order);
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

/*
 * Writes codein 00 supplier, in order: the articles' keys with their parts
 * swapped.
 */
static enum err
write_where(struct writing *writing)
{
	struct codemap *articles = writing->intake->articles.codes;
	struct codemap *turned = codemap_new();
	uint32_t *order = NULL;
	enum err err = turned == NULL ? ERR_NO_MEMORY : ERR_OK;

	for (uint32_t i = 0; i < codemap_count(articles) && err == ERR_OK;
	     i++) {
		struct span code = codemap_code(articles, i);
		struct key key = key_pair(key_second(code), key_first(code));
		uint32_t number;

		err = codemap_add(turned, key_span(&key), &number);
	}
	if (err == ERR_OK) {
		order = codemap_sorted(turned);
		err = order == NULL ? ERR_NO_MEMORY : ERR_OK;
	}
	for (uint32_t i = 0; err == ERR_OK && i < codemap_count(turned); i++)
		err = put_pair(writing, FACTS_WHERE,
		    codemap_code(turned, order[i]), SPAN(""));
	free(order);
	codemap_free(turned);
	return err;
}

static enum err
write_header(struct writing *writing)
{
	struct intake *intake = writing->intake;
	struct source_header *header = &intake->header;
	struct buf *buf = &writing->record;
	enum err err;

	for (unsigned i = 0; i < SERIES_KINDS; i++)
		header->records[i] = intake->base != NULL
		    ? writing->records[i]
		    : spool_records(intake->spools[i]);
	header->suppliers = codemap_count(intake->suppliers.codes);
	header->stores = codemap_count(intake->stores.codes);
	header->classes = codemap_count(intake->classes.codes);
	header->articles = codemap_count(intake->articles.codes);
	buf_clear(buf);
	pack_add_unsigned(buf, (uint64_t)header->newest_month);
	pack_add_unsigned(buf, header->suppliers);
	pack_add_unsigned(buf, header->stores);
	pack_add_unsigned(buf, header->classes);
	pack_add_unsigned(buf, header->articles);
	for (unsigned i = 0; i < SERIES_KINDS; i++)
		pack_add_unsigned(buf, header->records[i]);
	pack_add_unsigned(buf, writing->tables_crc);
	pack_add_unsigned(
	    buf, source_pair_crc(0, SPAN("header"), buf_span(buf)));
	err = buf_end(buf);
	if (err == ERR_OK)
		err = kv_put(
		    writing->txn, FACTS_META, SPAN("header"), buf_span(buf));
	if (err == ERR_OK)
		err = store_set_number(
		    writing->txn, "schema", SCHEMA_FACTS_VERSION);
	return err;
}

enum err
writing_tables(struct writing *writing)
{
	enum err err = write_suppliers(writing);

	if (err == ERR_OK)
		err = write_stores(writing);
	if (err == ERR_OK)
		err = write_classes(writing);
	if (err == ERR_OK)
		err = write_where(writing);
	if (err == ERR_OK)
		err = write_header(writing);
	return err;
}
