/*
 * Suppliers, stores and classes are kept in memory, packed; articles are sorted
 * (intake_articles.c), and the series are in four spools. intake_write.c writes
 * them to the facts file.
 */
#include "lmdb-schema/facts/intake.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/arena.h"
#include "lmdb-schema/facts/intake_priv.h"
#include "lmdb-schema/schema.h"
#include "lmdb-schema/store/store.h"

#define TABLES_MEMORY ((size_t)8 << 30)

/* Inserts or replaces; ERR_EXISTS when this import put the code already. */
static enum err
table_put(struct intake *intake, struct intake_table *table, struct span code,
    struct span value, bool fresh)
{
	uint32_t number;
	struct span copy;
	enum err err = codemap_add(table->codes, code, &number);

	if (err == ERR_EXISTS && fresh && table->fresh[number])
		return ERR_EXISTS;
	if (err != ERR_OK && err != ERR_EXISTS)
		return err;
	if (number >= table->room) {
		uint32_t room = table->room == 0 ? 1024 : table->room * 2;
		struct span *values =
		    reallocarray(table->values, room, sizeof(*values));
		bool *marks;

		if (values == NULL)
			return ERR_NO_MEMORY;
		table->values = values;
		marks = reallocarray(table->fresh, room, sizeof(*marks));
		if (marks == NULL)
			return ERR_NO_MEMORY;
		table->fresh = marks;
		table->room = room;
	}
	copy = arena_copy(intake->arena, value);
	if (copy.ptr == NULL)
		return ERR_NO_MEMORY;
	table->values[number] = copy;
	table->fresh[number] = fresh;
	return ERR_OK;
}

static void
table_free(struct intake_table *table)
{
	codemap_free(table->codes);
	free(table->values);
	free(table->fresh);
}

/* --- the base of a merge ------------------------------------------- */

static enum err
take_supplier(void *context, const struct source_supplier *supplier)
{
	struct intake *intake = context;

	return table_put(
	    intake, &intake->suppliers, supplier->code, supplier->name, false);
}

static enum err
take_class(void *context, struct span code, struct span label)
{
	struct intake *intake = context;

	return table_put(intake, &intake->classes, code, label, false);
}

static enum err
take_base(struct intake *intake)
{
	const struct source_header *header = source_header(intake->base);
	enum err err = ERR_OK;

	for (uint16_t i = 0; i < header->stores && err == ERR_OK; i++)
		err = table_put(intake, &intake->stores,
		    source_store_code(intake->base, i),
		    source_store_name(intake->base, i), false);
	if (err == ERR_OK)
		err = source_classes(intake->base, take_class, intake);
	if (err == ERR_OK)
		err = source_suppliers(intake->base, take_supplier, intake);
	return err;
}

enum err
intake_new(struct intake **out, struct store *store, struct source *base)
{
	struct intake *intake = calloc(1, sizeof(*intake));
	enum err err = ERR_OK;

	assert(store != NULL);
	*out = NULL;
	if (intake == NULL)
		return ERR_NO_MEMORY;
	intake->store = store;
	intake->base = base;
	intake->jobs = 1;
	intake->shares = base == NULL ? 0 : source_shares(base);
	intake->arena = arena_new(TABLES_MEMORY);
	intake->suppliers.codes = codemap_new();
	intake->stores.codes = codemap_new();
	intake->classes.codes = codemap_new();
	intake->budget.limit = INTAKE_MEMORY;
	pthread_rwlock_init(&intake->lock, NULL);
	if (intake->arena == NULL || intake->suppliers.codes == NULL ||
	    intake->stores.codes == NULL || intake->classes.codes == NULL)
		err = ERR_NO_MEMORY;
	if (err == ERR_OK)
		err = sorter_new(
		    &intake->articles, store_dir(store), &intake->budget);
	for (unsigned i = 0; i < SERIES_KINDS && err == ERR_OK; i++)
		err = spool_new(
		    &intake->spools[i], i, store_dir(store), &intake->budget);
	if (err == ERR_OK && base != NULL)
		err = source_verify_tables(base);
	if (err == ERR_OK && base != NULL)
		err = take_base(intake);
	if (err != ERR_OK) {
		intake_free(intake);
		return err;
	}
	*out = intake;
	return ERR_OK;
}

void
intake_free(struct intake *intake)
{
	if (intake == NULL)
		return;
	for (unsigned i = 0; i < SERIES_KINDS; i++)
		spool_free(intake->spools[i]);
	shelf_pile_free(intake->pile);
	free(intake->ranges);
	free(intake->supplier_order);
	free(intake->share_from);
	free(intake->share_written);
	shelf_fini(&intake->fresh);
	sorter_free(intake->articles);
	table_free(&intake->suppliers);
	table_free(&intake->stores);
	table_free(&intake->classes);
	free(intake->store_order);
	free(intake->store_number);
	free(intake->base_store);
	free(intake->supplier_articles);
	pthread_rwlock_destroy(&intake->lock);
	arena_free(intake->arena);
	free(intake);
}

void
intake_set_memory(struct intake *intake, size_t bytes)
{
	assert(atomic_load(&intake->budget.used) == 0 && bytes > 0);
	intake->budget.limit = bytes;
}

enum err
intake_supplier(struct intake *intake, struct span code, struct span name)
{
	assert(!intake->sealed);
	return table_put(intake, &intake->suppliers, code, name, true);
}

enum err
intake_store(struct intake *intake, struct span code, struct span name)
{
	assert(!intake->sealed);
	if (codemap_count(intake->stores.codes) >= SCHEMA_STORES_MAX)
		return ERR_TOO_LARGE;
	return table_put(intake, &intake->stores, code, name, true);
}

enum err
intake_class(struct intake *intake, struct span code, struct span label)
{
	assert(!intake->sealed);
	return table_put(intake, &intake->classes, code, label, true);
}

void
intake_set_shares(struct intake *intake, unsigned shares)
{
	assert(!intake->sealed && shares > 0 && shares <= SOURCE_SHARES_MAX);
	if (intake->shares == 0)
		intake->shares = shares;
}

void
intake_set_jobs(struct intake *intake, unsigned jobs)
{
	assert(jobs > 0 && jobs <= INTAKE_JOBS_MAX);
	intake->jobs = jobs;
}

bool
intake_has_supplier(const struct intake *intake, struct span code)
{
	return codemap_find(intake->suppliers.codes, code) != CODEMAP_NONE;
}

/* Stores are numbered in the order of their codes. */
static enum err
number_stores(struct intake *intake)
{
	uint32_t count = codemap_count(intake->stores.codes);

	intake->store_order = codemap_sorted(intake->stores.codes);
	intake->store_number = calloc(count + 1, sizeof(*intake->store_number));
	if (intake->store_order == NULL || intake->store_number == NULL)
		return ERR_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++)
		intake->store_number[intake->store_order[i]] = (uint16_t)i;
	if (intake->base == NULL)
		return ERR_OK;
	count = (uint32_t)source_header(intake->base)->stores;
	intake->base_store = calloc(count + 1, sizeof(*intake->base_store));
	if (intake->base_store == NULL)
		return ERR_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++)
		intake->base_store[i] = (uint16_t)intake_find_store(
		    intake, source_store_code(intake->base, i));
	return ERR_OK;
}

enum err
intake_seal(struct intake *intake,
    void (*twice)(void *context, struct span codein, uint64_t line),
    void *context)
{
	enum err err;

	assert(!intake->sealed);
	intake->supplier_articles =
	    calloc(codemap_count(intake->suppliers.codes) + 1,
		sizeof(*intake->supplier_articles));
	if (intake->supplier_articles == NULL)
		return ERR_NO_MEMORY;
	intake->sealed = true;
	err = number_stores(intake);
	return err == ERR_OK ? intake_sort_articles(intake, twice, context)
			     : err;
}

/* With the lock, unless there is no base: then nothing is added any more. */
static uint32_t
find_article(const struct intake_range *range, struct span codein)
{
	uint32_t place =
	    shelf_find(range->shelf, range->from, range->count, codein);

	return place == UINT32_MAX ? INTAKE_NONE
				   : range->first + place - range->from;
}

uint32_t
intake_find_article(
    struct intake *intake, struct span supplier, struct span codein)
{
	uint32_t number = INTAKE_NONE, which;
	struct intake_range *range;
	bool loaded;
	enum err err;

	assert(intake->sealed);
	if (supplier.len > SCHEMA_CODE_MAX || codein.len > SCHEMA_CODE_MAX)
		return INTAKE_NONE;
	which = codemap_find(intake->suppliers.codes, supplier);
	if (which == CODEMAP_NONE)
		return INTAKE_NONE;
	range = &intake->ranges[which];
	if (intake->base == NULL)
		return find_article(range, codein);
	pthread_rwlock_rdlock(&intake->lock);
	loaded = range->loaded;
	if (loaded)
		number = find_article(range, codein);
	pthread_rwlock_unlock(&intake->lock);
	if (loaded)
		return number;
	pthread_rwlock_wrlock(&intake->lock);
	err = intake_load(intake, which);
	if (err == ERR_OK)
		number = find_article(range, codein);
	else
		atomic_store(&intake->failed, err);
	pthread_rwlock_unlock(&intake->lock);
	return number;
}

enum err
intake_failed(const struct intake *intake)
{
	return (enum err)atomic_load(&intake->failed);
}

uint32_t
intake_find_store(const struct intake *intake, struct span code)
{
	uint32_t number = codemap_find(intake->stores.codes, code);

	assert(intake->store_number != NULL);
	return number == CODEMAP_NONE ? INTAKE_NONE
				      : intake->store_number[number];
}

enum err
intake_put(struct intake *intake, enum series_kind kind, uint32_t article,
    const struct series_record *record)
{
	assert(intake->sealed && kind < SERIES_KINDS);
	assert(article != INTAKE_NONE);
	if (record->month > intake->newest[kind])
		intake->newest[kind] = record->month;
	if (kind == SERIES_SALES &&
	    (intake->oldest_sales == 0 || record->month < intake->oldest_sales))
		intake->oldest_sales = record->month;
	return spool_put(intake->spools[kind], article, record);
}

enum err
intake_end_series(struct intake *intake, enum series_kind kind)
{
	assert(intake->sealed && kind < SERIES_KINDS);
	return spool_seal(intake->spools[kind]);
}

int32_t
intake_newest(const struct intake *intake, enum series_kind kind)
{
	assert(kind < SERIES_KINDS);
	return intake->newest[kind];
}

uint32_t
intake_articles(const struct intake *intake)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < codemap_count(intake->suppliers.codes); i++)
		count += intake->ranges[i].count;
	return count;
}

const struct source_header *
intake_header(const struct intake *intake)
{
	return &intake->header;
}
