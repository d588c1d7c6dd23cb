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
	enum err err;

	writing->tables_crc = source_pair_crc(writing->tables_crc, key, value);
	err = kv_append(writing->txn, table, key, value);
	return err == ERR_OK ? writing_put(writing, key.len + value.len) : err;
}

static enum err
add_part(struct writing *writing, uint64_t generation)
{
	for (unsigned i = 0; i < writing->part_count; i++)
		if (writing->parts[i] == generation)
			return ERR_OK;
	if (writing->part_count == SOURCE_PARTS_MAX)
		return ERR_TOO_LARGE;
	writing->parts[writing->part_count++] = generation;
	return ERR_OK;
}

/* A supplier whose articles were written, or that has none. */
static enum err
add_written(struct writing *writing, uint32_t number)
{
	struct intake *intake = writing->intake;

	pack_add_unsigned(&writing->record, intake->supplier_articles[number]);
	pack_add_text(&writing->record, intake->suppliers.values[number]);
	intake->header.articles += intake->supplier_articles[number];
	return marks_write(writing->marks, number, &writing->record);
}

/* A supplier whose articles stay where they are. */
static enum err
add_kept(struct writing *writing, struct span code)
{
	struct source_supplier kept;
	enum err err = source_supplier(writing->intake->base, code, &kept);

	if (err != ERR_OK)
		return err == ERR_NOT_FOUND ? ERR_DAMAGED : err;
	pack_add_unsigned(&writing->record, kept.articles);
	pack_add_text(&writing->record, kept.name);
	pack_add_text(&writing->record, kept.digest);
	pack_add_text(&writing->record, kept.products);
	pack_add_unsigned(&writing->record, kept.at);
	writing->intake->header.articles += kept.articles;
	return add_part(writing, kept.at);
}

static enum err
write_suppliers(struct writing *writing)
{
	struct intake *intake = writing->intake;
	struct codemap *codes = intake->suppliers.codes;
	uint32_t *order = codemap_sorted(codes);
	uint32_t count = codemap_count(codes);
	enum err err = order == NULL ? ERR_NO_MEMORY : ERR_OK;

	for (uint32_t i = 0; i < count && err == ERR_OK; i++) {
		struct span code = codemap_code(codes, order[i]);

		buf_clear(&writing->record);
		err = intake_has_loaded(intake, code)
		    ? add_written(writing, order[i])
		    : add_kept(writing, code);
		if (err == ERR_OK)
			err = buf_end(&writing->record);
		if (err == ERR_OK)
			err = put_pair(writing, FACTS_SUPPLIERS, code,
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

/* The listings of suppliers that stay where they are. */
struct listing {
	const struct intake *intake;
	struct sorter *all;
};

static enum err
add_listing(void *context, struct span key, struct span value)
{
	struct listing *listing = context;

	(void)value;
	return intake_has_loaded(listing->intake, key_second(key))
	    ? ERR_OK
	    : sorter_add(listing->all, key, SPAN(""));
}

/* Codein 00 supplier: the articles' keys with their parts swapped. */
static enum err
add_listings_of(struct listing *listing, uint32_t supplier)
{
	const struct intake_range *range = &listing->intake->ranges[supplier];
	struct span code =
	    codemap_code(listing->intake->suppliers.codes, supplier);
	enum err err = ERR_OK;

	for (uint32_t i = 0; i < range->count && err == ERR_OK; i++) {
		struct key key =
		    key_pair(shelf_codein(range->shelf, range->from + i), code);

		err = sorter_add(listing->all, key_span(&key), SPAN(""));
	}
	return err;
}

static enum err
gather_listings(struct listing *listing)
{
	const struct intake *intake = listing->intake;
	uint32_t count = codemap_count(intake->suppliers.codes);
	enum err err = ERR_OK;

	for (uint32_t i = 0; i < count && err == ERR_OK; i++)
		err = add_listings_of(listing, i);
	if (err == ERR_OK && intake->base != NULL)
		err = source_each_listing(intake->base, add_listing, listing);
	return err == ERR_OK ? sorter_seal(listing->all) : err;
}

static enum err
write_listings(struct writing *writing)
{
	struct listing listing = {.intake = writing->intake};
	struct span key, value;
	enum err err = sorter_new(&listing.all,
	    store_dir(writing->intake->store), &writing->intake->budget);

	if (err == ERR_OK)
		err = gather_listings(&listing);
	while (err == ERR_OK && sorter_next(listing.all, &key, &value))
		err = put_pair(writing, FACTS_WHERE, key, SPAN(""));
	sorter_free(listing.all);
	return err;
}

/* The parts, and the listings unless they are those of an import before. */
static enum err
write_parts(struct writing *writing)
{
	struct intake *intake = writing->intake;
	struct buf *buf = &writing->record;
	uint64_t listings = 0;
	enum err err = ERR_OK;

	if (writing->part_count > 0 && !intake->listings_changed) {
		listings = source_listings(intake->base);
		err = add_part(writing, listings);
	} else
		err = write_listings(writing);
	if (err != ERR_OK || writing->part_count == 0)
		return err;
	buf_clear(buf);
	pack_add_unsigned(buf, listings);
	pack_add_unsigned(buf, writing->part_count);
	for (unsigned i = 0; i < writing->part_count; i++)
		pack_add_unsigned(buf, writing->parts[i]);
	pack_add_unsigned(
	    buf, source_pair_crc(0, SOURCE_PARTS_KEY, buf_span(buf)));
	err = buf_end(buf);
	return err == ERR_OK
	    ? kv_put(writing->txn, FACTS_META, SOURCE_PARTS_KEY, buf_span(buf))
	    : err;
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
	enum err err;

	for (unsigned i = 0; i < SERIES_KINDS; i++)
		header->records[i] = count_records(writing, i);
	header->suppliers = codemap_count(intake->suppliers.codes);
	header->stores = codemap_count(intake->stores.codes);
	header->classes = codemap_count(intake->classes.codes);
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
		err = kv_put(writing->txn, FACTS_META, SOURCE_COMMON_KEY,
		    marks_common(writing->marks));
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
		err = write_parts(writing);
	if (err == ERR_OK)
		err = write_header(writing);
	return err;
}
