/*
 * The articles of an import: sorted by supplier and codein, then put on a shelf in
 * that order, where they are found by their code.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/kv/kv.h"
#include "lmdb-schema/facts/intake_priv.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/store/store.h"

void
intake_bare(struct buf *out, const struct source_article *article)
{
	struct source_article bare = *article;

	for (unsigned i = 0; i < SERIES_KINDS; i++)
		bare.series[i] = SPAN("");
	source_article_write(out, &bare);
}

/* A record to be sorted: u64 line, and the article. */
enum err
intake_article(struct intake *intake, struct span supplier,
    const struct source_article *article, uint64_t line)
{
	struct key key = key_pair(supplier, article->codein);
	struct buf buf;
	enum err err;

	assert(!intake->sealed);
	if (!intake_has_supplier(intake, supplier))
		return ERR_NOT_FOUND;
	buf_init(&buf, 64 * 1024);
	buf_add_u64(&buf, line);
	intake_bare(&buf, article);
	err = buf_end(&buf);
	if (err == ERR_OK)
		err = sorter_add(
		    intake->articles, key_span(&key), buf_span(&buf));
	buf_fini(&buf);
	return err;
}

/* --- sorting -------------------------------------------------------------- */

struct sorting {
	struct intake *intake;
	struct shelf_making *making;
	struct key before; /* of the article before */
	bool any_twice;
	void (*twice)(void *context, struct span codein, uint64_t line);
	void *context;
};

static void
tell_twice(struct sorting *sorting, struct span codein, uint64_t line)
{
	sorting->any_twice = true;
	if (sorting->twice != NULL)
		sorting->twice(sorting->context, codein, line);
}

static enum err
take_sorted(struct sorting *sorting, struct span key, struct span value)
{
	struct intake *intake = sorting->intake;
	struct span codein = key_second(key);
	struct intake_range *range;

	if (span_eq(key, key_span(&sorting->before))) {
		tell_twice(
		    sorting, codein, key_value_u64(span_sub(value, 0, 8)));
		return ERR_OK;
	}
	sorting->before = key_pair(key_first(key), codein);
	range = &intake->ranges[codemap_find(
	    intake->suppliers.codes, key_first(key))];
	range->fresh++;
	return shelf_add(sorting->making, codein, span_from(value, 8));
}

static enum err
take_all(struct sorting *sorting)
{
	struct sorter *sorter = sorting->intake->articles;
	struct span key, value;
	enum err err = sorter_seal(sorter);

	while (err == ERR_OK && sorter_next(sorter, &key, &value))
		err = take_sorted(sorting, key, value);
	return err;
}

/* --- shares --------------------------------------------------------------- */

/*
 * A store without checksums does not tell its version, see SCHEMA_LIVE_SHARES:
 * it has one file.
 */
static enum err
decide_shares(struct intake *intake)
{
	uint64_t articles = sorter_count(intake->articles);
	struct kv_txn *txn;
	bool sums;
	enum err err = kv_read(&txn, store_live(intake->store));

	if (err != ERR_OK)
		return err;
	err = store_has_sums(&sums, txn);
	kv_abort(txn);
	if (intake->base != NULL)
		articles += source_header(intake->base)->articles;
	if (!sums)
		intake->shares = 1;
	else if (intake->shares == 0)
		intake->shares = articles >=
			INTAKE_SHARES_MOST * (uint64_t)INTAKE_SHARE_ARTICLES
		    ? INTAKE_SHARES_MOST
		    : (unsigned)(articles / INTAKE_SHARE_ARTICLES) + 1;
	return err;
}

static unsigned
share_of(const struct intake *intake, uint32_t supplier)
{
	return source_share_of(
	    codemap_code(intake->suppliers.codes, supplier), intake->shares);
}

/* Suppliers by share, and in it in the order of their codes. */
static enum err
order_suppliers(struct intake *intake, const uint32_t *by_code)
{
	uint32_t count = codemap_count(intake->suppliers.codes);

	intake->share_from =
	    calloc(intake->shares + 1, sizeof(*intake->share_from));
	intake->share_written =
	    calloc(intake->shares, sizeof(*intake->share_written));
	intake->supplier_order =
	    calloc(count + 1, sizeof(*intake->supplier_order));
	if (intake->share_from == NULL || intake->share_written == NULL ||
	    intake->supplier_order == NULL)
		return ERR_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++)
		intake->share_from[share_of(intake, by_code[i]) + 1]++;
	for (unsigned i = 0; i < intake->shares; i++)
		intake->share_from[i + 1] += intake->share_from[i];
	/* From the last one on, the end of each share moves to its beginning. */
	for (uint32_t i = count; i-- > 0;) {
		unsigned share = share_of(intake, by_code[i]);

		intake->supplier_order[--intake->share_from[share + 1]] =
		    by_code[i];
	}
	memmove(intake->share_from, intake->share_from + 1,
	    intake->shares * sizeof(*intake->share_from));
	intake->share_from[intake->shares] = count;
	return ERR_OK;
}

/* --- numbers -------------------------------------------------------------- */

/*
 * Without a base, all articles are on the shelf. A merge may yet load those of
 * the base: their numbers are kept free.
 */
static enum err
number_range(struct intake *intake, uint32_t supplier, uint64_t *number)
{
	struct intake_range *range = &intake->ranges[supplier];
	struct source_supplier before = {.articles = 0};
	enum err err = ERR_NOT_FOUND;

	if (intake->base != NULL)
		err = source_supplier(intake->base,
		    codemap_code(intake->suppliers.codes, supplier), &before);
	if (err != ERR_OK && err != ERR_NOT_FOUND)
		return err;
	if (*number + before.articles + range->fresh >= INTAKE_NONE)
		return ERR_TOO_LARGE;
	range->first = (uint32_t)*number;
	range->room = (uint32_t)before.articles + range->fresh;
	*number += range->room;
	if (intake->base == NULL) {
		range->shelf = &intake->fresh;
		range->from = range->fresh_from;
		range->count = range->fresh;
		range->loaded = true;
	}
	return ERR_OK;
}

/* The shelf is in the order of the codes, the numbers are in that of the shares. */
static enum err
number_all(struct intake *intake)
{
	uint32_t count = codemap_count(intake->suppliers.codes), fresh = 0;
	uint32_t *by_code = codemap_sorted(intake->suppliers.codes);
	uint64_t number = 0;
	enum err err = by_code == NULL ? ERR_NO_MEMORY : ERR_OK;

	for (uint32_t i = 0; i < count && err == ERR_OK; i++) {
		struct intake_range *range = &intake->ranges[by_code[i]];

		range->fresh_from = fresh;
		fresh += range->fresh;
	}
	if (err == ERR_OK)
		err = order_suppliers(intake, by_code);
	free(by_code);
	for (uint32_t i = 0; i < count && err == ERR_OK; i++)
		err = number_range(intake, intake->supplier_order[i], &number);
	for (uint32_t i = 0; i < count && err == ERR_OK; i++)
		if (intake->ranges[i].fresh > 0)
			err = intake_load(intake, i);
	return err;
}

enum err
intake_sort_articles(struct intake *intake,
    void (*twice)(void *context, struct span codein, uint64_t line),
    void *context)
{
	struct sorting sorting = {
	    .intake = intake, .twice = twice, .context = context};
	uint32_t count = codemap_count(intake->suppliers.codes);
	enum err err;

	intake->ranges = calloc(count + 1, sizeof(*intake->ranges));
	if (intake->ranges == NULL)
		return ERR_NO_MEMORY;
	err = decide_shares(intake);
	if (err == ERR_OK)
		err = shelf_begin(&sorting.making, store_dir(intake->store));
	if (err == ERR_OK)
		err = take_all(&sorting);
	err = shelf_end(&intake->fresh, sorting.making, err);
	sorter_free(intake->articles);
	intake->articles = NULL;
	if (err == ERR_OK && sorting.any_twice)
		return ERR_EXISTS;
	return err == ERR_OK ? number_all(intake) : err;
}
