/*
 * Each file is written in key order in one pass, with MDB_APPEND, so that it is
 * dense and each page is written once.
 */
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/kv/kv.h"
#include "common/log.h"
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

	writing->twice->kind = kind;
	writing->twice->supplier = writing->supplier;
	writing->twice->codein = codein;
	writing->twice->store = codemap_code(
	    intake->stores.codes, intake->store_order[record->store]);
	writing->twice->month = record->month;
}

/* The records of an article in this import, as one series. */
static enum err
fresh_series(struct writing *writing, enum series_kind kind,
    const struct written *article, struct span *out)
{
	const struct span *parts;
	struct series_record twice;
	unsigned count;
	enum err err = spool_parts(
	    writing->intake->spools[kind], article->number, &parts, &count);

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
		if (writing->at != NULL && writing->done++ % 1024 == 0)
			writing->at(writing->context, writing->done);
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

static void
writing_init(
    struct writing *writing, struct intake *intake, struct intake_twice *twice)
{
	memset(writing, 0, sizeof(*writing));
	writing->intake = intake;
	writing->twice = twice;
	writing->supplier = SPAN("");
	buf_init(&writing->block, SERIES_BYTES_MAX);
	buf_init(&writing->record, SERIES_BYTES_MAX);
	buf_init(&writing->fresh, SERIES_BYTES_MAX);
	for (unsigned i = 0; i < SERIES_KINDS; i++) {
		buf_init(&writing->old[i], SERIES_BYTES_MAX);
		buf_init(&writing->merged[i], SERIES_BYTES_MAX);
	}
}

static void
writing_fini(struct writing *writing)
{
	source_walk_end(writing->base_walk);
	marks_free(writing->marks);
	free(writing->sums);
	buf_fini(&writing->block);
	buf_fini(&writing->record);
	buf_fini(&writing->fresh);
	for (unsigned i = 0; i < SERIES_KINDS; i++) {
		buf_fini(&writing->old[i]);
		buf_fini(&writing->merged[i]);
	}
}

/* --- files ---------------------------------------------------------------- */

/* The file of a share: its own, unless all is in the base file. */
static enum err
share_path(char path[FS_PATH_MAX], const struct intake *intake,
    const char *base, unsigned share)
{
	return intake->shares == 1 ? fs_path(path, "%s", base)
				   : source_share_path(path, base, 0, share);
}

/* Begins the file that write_file() is given; ends it, synced or removed. */
static enum err
open_file(struct writing *writing, const char *path)
{
	enum err err = fs_unlink(path);

	if (err == ERR_OK)
		err = store_facts_create(&writing->kv, path);
	return err == ERR_OK ? kv_write(&writing->txn, writing->kv) : err;
}

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

static enum err
write_share(struct writing *writing, unsigned share)
{
	struct intake *intake = writing->intake;
	enum err err = sorter_new(
	    &writing->listings, store_dir(intake->store), &intake->budget);

	if (err == ERR_OK)
		err = write_articles(writing, share);
	if (err == ERR_OK)
		err = writing_share(writing, share);
	sorter_free(writing->listings);
	writing->listings = NULL;
	return err;
}

static enum err
write_shares(struct writing *writing, const char *base)
{
	struct intake *intake = writing->intake;
	char path[FS_PATH_MAX];
	enum err err = ERR_OK;

	for (unsigned i = 0; i < intake->shares && err == ERR_OK; i++) {
		if (!intake->share_written[i])
			continue;
		err = share_path(path, intake, base, i);
		if (err == ERR_OK)
			err = open_file(writing, path);
		if (err == ERR_OK)
			err = write_share(writing, i);
		err = close_file(writing, path, err);
	}
	return err;
}

static enum err
write_all(struct writing *writing, const char *base)
{
	enum err err = ERR_OK;

	if (writing->intake->shares > 1)
		err = write_shares(writing, base);
	if (err != ERR_OK)
		return err;
	err = open_file(writing, base);
	if (err == ERR_OK && writing->intake->shares == 1)
		err = write_share(writing, 0);
	if (err == ERR_OK)
		err = writing_base(writing);
	return close_file(writing, base, err);
}

void
intake_discard(struct intake *intake, const char *path)
{
	char name[FS_PATH_MAX];

	(void)fs_unlink(path);
	for (unsigned i = 0; i < intake->shares && intake->shares > 1; i++)
		if (intake->share_written != NULL && intake->share_written[i] &&
		    source_share_path(name, path, 0, i) == ERR_OK)
			(void)fs_unlink(name);
}

enum err
intake_publish(struct intake *intake, const char *from, const char *to)
{
	char made[FS_PATH_MAX], name[FS_PATH_MAX];
	enum err err = ERR_OK;

	for (unsigned i = 0;
	     i < intake->shares && intake->shares > 1 && err == ERR_OK; i++) {
		if (!intake->share_written[i])
			continue;
		err = source_share_path(made, from, 0, i);
		if (err == ERR_OK)
			err = source_share_path(name, to, 0, i);
		if (err == ERR_OK && rename(made, name) != 0) {
			err = err_from_errno(errno);
			log_error("cannot rename a share: from=%s to=%s "
				  "error=%s",
			    made, name, err_text(err));
		}
	}
	/* Syncs the folder, which is that of the shares, too. */
	return err == ERR_OK ? fs_publish(from, to) : err;
}

/* Of this import, and of what it is merged into. */
static int32_t
find_newest_month(struct intake *intake)
{
	struct source_header *header = &intake->header;

	header->newest_month = intake->base == NULL
	    ? 0
	    : source_header(intake->base)->newest_month;
	for (unsigned i = 0; i < SERIES_KINDS; i++)
		if (intake->newest[i] > header->newest_month)
			header->newest_month = intake->newest[i];
	return header->newest_month;
}

enum err
intake_write(struct intake *intake, const char *path,
    struct intake_twice *twice, void (*at)(void *context, uint64_t done),
    void *context)
{
	struct writing writing;
	enum err err;

	assert(intake->sealed && twice != NULL);
	writing_init(&writing, intake, twice);
	writing.at = at;
	writing.context = context;
	writing.sums = calloc(intake->shares, sizeof(*writing.sums));
	err =
	    writing.sums == NULL ? ERR_NO_MEMORY : intake_load_changed(intake);
	if (err == ERR_OK)
		err = marks_new(
		    &writing.marks, intake, find_newest_month(intake));
	if (err == ERR_OK)
		err = write_all(&writing, path);
	writing_fini(&writing);
	if (err != ERR_OK)
		intake_discard(intake, path);
	return err;
}
