/*
 * One file at a time, in key order in one pass, with MDB_APPEND, so that it is
 * dense and each page is written once.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/kv/kv.h"
#include "lmdb-schema/facts/intake_priv.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/store/store.h"

#define SERIES_BYTES_MAX ((size_t)256 << 20)

/* A transaction's writes stay in memory until its commit: commit this often. */
#define COMMIT_BYTES ((size_t)16 << 20)

static enum err
commit(struct writing *writing)
{
	struct kv_txn *txn = writing->txn;

	writing->txn = NULL;
	writing->pending = 0;
	return kv_commit(txn);
}

enum err
writing_put(struct writing *writing, size_t bytes)
{
	enum err err;

	writing->pending += bytes;
	if (writing->pending < COMMIT_BYTES)
		return ERR_OK;
	err = commit(writing);
	return err == ERR_OK ? kv_write(&writing->txn, writing->kv) : err;
}

/* A block begins with the checksum of the bytes that follow. */
static enum err
put_block(struct writing *writing)
{
	struct buf *block = &writing->block;
	size_t bytes = block->len;
	struct key key;
	uint32_t crc;
	enum err err = buf_end(block);

	if (err != ERR_OK || block->len == 0)
		return err;
	crc = source_block_crc(buf_span(block));
	memcpy(block->data, &crc, sizeof(crc));
	key = key_pair_u32(writing->supplier, writing->block_number++);
	err = kv_append(
	    writing->txn, FACTS_ARTICLES, key_span(&key), buf_span(block));
	buf_clear(block);
	return err == ERR_OK ? writing_put(writing, bytes) : err;
}

/* Steps to the base's next article of the current supplier. */
static enum err
step_base(struct writing *writing)
{
	enum err err =
	    source_walk_next(writing->base_walk, &writing->base_article);

	writing->base_left = err == ERR_OK;
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

static enum err
begin_supplier(struct writing *writing, struct span supplier)
{
	enum err err = put_block(writing);

	writing->supplier = supplier;
	writing->block_number = 0;
	source_walk_end(writing->base_walk);
	writing->base_walk = NULL;
	writing->base_left = false;
	return err;
}

static enum err
open_supplier(struct writing *writing, struct span supplier)
{
	struct source *base = writing->intake->base;
	enum err err = begin_supplier(writing, supplier);

	if (err == ERR_OK)
		err = marks_begin(writing->marks, supplier);
	if (err != ERR_OK || base == NULL)
		return err;
	err = source_walk_begin(&writing->base_walk, base, supplier);
	return err == ERR_OK ? step_base(writing) : err;
}

/*
 * The base's series with the new store numbers; both numberings follow the
 * order of the codes, so the order holds.
 */
static enum err
renumber(struct writing *writing, enum series_kind kind, struct span bytes)
{
	struct buf *out = &writing->old[kind];
	struct series_writer writer = {0};
	struct series_reader reader;
	struct series_record record;
	bool fits = true;

	series_begin(&writer, kind, out);
	series_open(&reader, kind, bytes);
	while (fits && series_next(&reader, &record)) {
		fits =
		    record.store < source_header(writing->intake->base)->stores;
		if (fits) {
			record.store =
			    writing->intake->base_store[record.store];
			fits = series_put(&writer, &record);
		}
	}
	series_end(&writer);
	series_fini(&writer);
	return !fits || series_bad(&reader) ? ERR_DAMAGED : buf_end(out);
}

/* The article being written. */
struct written {
	uint32_t number;
	struct span codein;
};

static void
tell_twice(struct writing *writing, enum series_kind kind, struct span codein,
    const struct series_record *record)
{
	struct intake *intake = writing->intake;

	writing->twice = (struct intake_twice){.kind = kind,
	    .supplier = writing->supplier,
	    .codein = codein,
	    .store = codemap_code(
		intake->stores.codes, intake->store_order[record->store]),
	    .month = record->month};
}

/* The records of an article in this import, as one series. */
static enum err
fresh_series(struct writing *writing, enum series_kind kind,
    const struct written *article, struct span *out)
{
	const struct span *parts;
	struct series_record twice;
	unsigned count;
	enum err err =
	    spool_read(writing->readers[kind], article->number, &parts, &count);

	*out = count == 0 ? SPAN("") : parts[0];
	if (err != ERR_OK || count < 2)
		return err;
	buf_clear(&writing->fresh);
	err = series_merge(&writing->fresh, kind, parts, count, false, &twice);
	*out = buf_span(&writing->fresh);
	if (err == ERR_EXISTS)
		tell_twice(writing, kind, article->codein, &twice);
	return err;
}

/* Merges the new facts over the old ones. `old` is NULL when there are none. */
static enum err
article_series(struct writing *writing, enum series_kind kind,
    const struct written *article, const struct source_article *old,
    struct span *out)
{
	struct buf *merged = &writing->merged[kind];
	struct series_record twice;
	struct span parts[2];
	enum err err;

	buf_clear(&writing->old[kind]);
	buf_clear(merged);
	err = fresh_series(writing, kind, article, &parts[1]);
	if (err == ERR_OK && old != NULL)
		err = renumber(writing, kind, old->series[kind]);
	if (err != ERR_OK)
		return err;
	parts[0] = buf_span(&writing->old[kind]);
	*out = parts[1].len == 0 ? parts[0] : parts[1];
	if (parts[0].len == 0 || parts[1].len == 0) {
		/* The next kind uses `fresh` again. */
		if (out->ptr == writing->fresh.data) {
			buf_add_span(merged, *out);
			*out = buf_span(merged);
		}
		return buf_end(merged);
	}
	err = series_merge(merged, kind, parts, 2, true, &twice);
	*out = buf_span(merged);
	return err;
}

/* Adds an article's record to the block, and to the listings. */
static enum err
add_raw(struct writing *writing, struct span codein, struct span record)
{
	struct key key = key_pair(codein, writing->supplier);
	uint32_t len = htole32((uint32_t)record.len);
	enum err err = sorter_add(writing->listings, key_span(&key), SPAN(""));

	if (err != ERR_OK)
		return err;
	if (writing->block.len == 0)
		buf_add_u32(&writing->block, 0); /* room for the checksum */
	buf_add(&writing->block, &len, sizeof(len));
	buf_add_span(&writing->block, record);
	return writing->block.len >= SCHEMA_BLOCK ? put_block(writing)
						  : buf_end(&writing->block);
}

static enum err
add_record(struct writing *writing, const struct source_article *article)
{
	enum err err;

	buf_clear(&writing->record);
	source_article_write(&writing->record, article);
	err = buf_end(&writing->record);
	if (err == ERR_OK)
		err = marks_take(
		    writing->marks, buf_span(&writing->record), article);
	return err == ERR_OK
	    ? add_raw(writing, article->codein, buf_span(&writing->record))
	    : err;
}

static enum err
write_article(
    struct writing *writing, const struct intake_range *range, uint32_t place)
{
	struct intake *intake = writing->intake;
	const struct source_article *old = NULL;
	struct source_article article;
	struct written written;
	enum err err = source_article_read(
	    shelf_record(range->shelf, range->from + place), &article);

	if (err != ERR_OK)
		return err;
	written.number = range->first + place;
	written.codein = article.codein;
	if (writing->base_left &&
	    span_eq(writing->base_article.codein, article.codein))
		old = &writing->base_article;
	for (unsigned i = 0; i < SERIES_KINDS && err == ERR_OK; i++) {
		err = article_series(
		    writing, i, &written, old, &article.series[i]);
		if (err == ERR_OK && intake->base != NULL)
			writing->records[i] +=
			    series_count(i, article.series[i]);
	}
	if (err == ERR_OK)
		err = add_record(writing, &article);
	return err == ERR_OK && old != NULL ? step_base(writing) : err;
}

/* Now and then, as threads take turns at telling. */
static void
tell_done(struct writing *writing)
{
	struct writing_progress *progress = writing->progress;

	pthread_mutex_lock(&progress->lock);
	progress->done += writing->untold;
	if (progress->at != NULL)
		progress->at(progress->context, progress->done);
	pthread_mutex_unlock(&progress->lock);
	writing->untold = 0;
}

static enum err
write_supplier(struct writing *writing, uint32_t supplier)
{
	struct intake *intake = writing->intake;
	const struct intake_range *range = &intake->ranges[supplier];
	enum err err = ERR_OK;

	if (range->count == 0)
		return ERR_OK;
	err = open_supplier(
	    writing, codemap_code(intake->suppliers.codes, supplier));
	for (uint32_t i = 0; i < range->count && err == ERR_OK; i++) {
		err = write_article(writing, range, i);
		if (++writing->untold == 1024)
			tell_done(writing);
	}
	intake->supplier_articles[supplier] = range->count;
	return err;
}

/* Copies a supplier that the import leaves as it is, in a share that it changes. */
static enum err
copy_supplier(struct writing *writing, struct span supplier)
{
	struct source_article article;
	enum err err = begin_supplier(writing, supplier);

	if (err == ERR_OK)
		err = source_walk_begin(
		    &writing->base_walk, writing->intake->base, supplier);
	while (err == ERR_OK) {
		err = source_walk_next(writing->base_walk, &article);
		if (err == ERR_OK)
			err = add_raw(writing, article.codein,
			    source_walk_raw(writing->base_walk));
	}
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

static enum err
write_articles(struct writing *writing, unsigned share)
{
	struct intake *intake = writing->intake;
	enum err err = ERR_OK;

	for (uint32_t i = intake->share_from[share];
	     i < intake->share_from[share + 1] && err == ERR_OK; i++) {
		uint32_t number = intake->supplier_order[i];

		err = intake->ranges[number].loaded
		    ? write_supplier(writing, number)
		    : copy_supplier(writing,
			  codemap_code(intake->suppliers.codes, number));
	}
	return err == ERR_OK ? put_block(writing) : err;
}

enum err
writing_init(struct writing *writing, struct intake *intake, uint32_t *sums,
    struct writing_progress *progress)
{
	memset(writing, 0, sizeof(*writing));
	writing->intake = intake;
	writing->sums = sums;
	writing->progress = progress;
	writing->supplier = SPAN("");
	buf_init(&writing->block, SERIES_BYTES_MAX);
	buf_init(&writing->record, SERIES_BYTES_MAX);
	buf_init(&writing->fresh, SERIES_BYTES_MAX);
	for (unsigned i = 0; i < SERIES_KINDS; i++) {
		buf_init(&writing->old[i], SERIES_BYTES_MAX);
		buf_init(&writing->merged[i], SERIES_BYTES_MAX);
	}
	return marks_new(&writing->marks, intake);
}

void
writing_fini(struct writing *writing)
{
	source_walk_end(writing->base_walk);
	marks_free(writing->marks);
	buf_fini(&writing->block);
	buf_fini(&writing->record);
	buf_fini(&writing->fresh);
	for (unsigned i = 0; i < SERIES_KINDS; i++) {
		buf_fini(&writing->old[i]);
		buf_fini(&writing->merged[i]);
	}
}

/* --- files ---------------------------------------------------------------- */

/* Begins the file at `path`. */
static enum err
open_file(struct writing *writing, const char *path)
{
	enum err err = fs_unlink(path);

	if (err == ERR_OK)
		err = store_facts_create(&writing->kv, path);
	return err == ERR_OK ? kv_write(&writing->txn, writing->kv) : err;
}

/* Ends it, synced or removed. */
static enum err
close_file(struct writing *writing, const char *path, enum err err)
{
	struct kv *kv = writing->kv;

	if (err == ERR_OK)
		err = commit(writing);
	else
		kv_abort(writing->txn);
	writing->kv = NULL;
	writing->txn = NULL;
	return kv_finish(kv, path, err);
}

/* The share's articles begin with this number, if it has any. */
static uint32_t
first_of(const struct intake *intake, unsigned share)
{
	uint32_t at = intake->share_from[share];

	return at == intake->share_from[share + 1]
	    ? INTAKE_NONE
	    : intake->ranges[intake->supplier_order[at]].first;
}

static enum err
open_spools(struct writing *writing, unsigned share)
{
	struct intake *intake = writing->intake;
	enum err err = ERR_OK;

	for (unsigned i = 0; i < SERIES_KINDS && err == ERR_OK; i++)
		err = spool_read_begin(&writing->readers[i], intake->spools[i],
		    first_of(intake, share));
	return err;
}

static void
close_spools(struct writing *writing)
{
	for (unsigned i = 0; i < SERIES_KINDS; i++) {
		spool_read_end(writing->readers[i]);
		writing->readers[i] = NULL;
	}
}

static enum err
write_share(struct writing *writing, unsigned share)
{
	struct intake *intake = writing->intake;
	enum err err = sorter_new(
	    &writing->listings, store_dir(intake->store), &intake->budget);

	if (err == ERR_OK)
		err = open_spools(writing, share);
	if (err == ERR_OK)
		err = write_articles(writing, share);
	close_spools(writing);
	tell_done(writing);
	if (err == ERR_OK)
		err = writing_share(writing, share);
	sorter_free(writing->listings);
	writing->listings = NULL;
	return err;
}

enum err
writing_share_file(struct writing *writing, const char *path, unsigned share)
{
	enum err err = open_file(writing, path);

	if (err == ERR_OK)
		err = write_share(writing, share);
	return close_file(writing, path, err);
}

enum err
writing_base_file(struct writing *writing, const char *path)
{
	enum err err = open_file(writing, path);

	if (err == ERR_OK && writing->intake->shares == 1)
		err = write_share(writing, 0);
	if (err == ERR_OK)
		err = writing_base(writing);
	return close_file(writing, path, err);
}
