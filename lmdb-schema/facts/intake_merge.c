/*
 * A merge reads and writes the articles of those suppliers alone that its files
 * name. The others' records are taken over, and name the file of an import
 * before that has their articles.
 */
#include <assert.h>

#include "lmdb-schema/facts/intake_priv.h"
#include "lmdb-schema/store/store.h"

bool
intake_has_loaded(const struct intake *intake, struct span supplier)
{
	uint32_t number = codemap_find(intake->suppliers.codes, supplier);

	return number != CODEMAP_NONE && intake->ranges[number].loaded;
}

/* A supplier's articles in the base, and those of this import over them. */
struct loading {
	struct intake *intake;
	struct intake_range *range;
	struct shelf_making *making;
	struct source_walk *walk;
	struct source_article old;
	bool left; /* `old` is one */
	uint32_t fresh; /* how many are taken */
	struct buf record;
};

static enum err
step(struct loading *loading)
{
	enum err err = source_walk_next(loading->walk, &loading->old);

	loading->left = err == ERR_OK;
	if (loading->left)
		for (unsigned i = 0; i < SERIES_KINDS; i++)
			loading->intake->base_records[i] +=
			    series_count(i, loading->old.series[i]);
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

static enum err
take_fresh(struct loading *loading)
{
	const struct shelf *shelf = &loading->intake->fresh;
	uint32_t place = loading->range->fresh_from + loading->fresh++;

	return shelf_add(loading->making, shelf_codein(shelf, place),
	    shelf_record(shelf, place));
}

static enum err
take_old(struct loading *loading)
{
	enum err err;

	buf_clear(&loading->record);
	intake_bare(&loading->record, &loading->old);
	err = buf_end(&loading->record);
	if (err == ERR_OK)
		err = shelf_add(loading->making, loading->old.codein,
		    buf_span(&loading->record));
	return err == ERR_OK ? step(loading) : err;
}

/* The one of the two that comes first; of equal ones, that of this import. */
static enum err
take_next(struct loading *loading)
{
	const struct intake_range *range = loading->range;
	int order = -1;
	enum err err;

	if (loading->fresh < range->fresh)
		order = loading->left
		    ? span_cmp(loading->old.codein,
			  shelf_codein(&loading->intake->fresh,
			      range->fresh_from + loading->fresh))
		    : 1;
	if (order < 0)
		return take_old(loading);
	if (order > 0)
		loading->intake->listings_changed = true;
	err = take_fresh(loading);
	return err == ERR_OK && order == 0 ? step(loading) : err;
}

static enum err
take_both(struct loading *loading)
{
	enum err err = step(loading);

	while (err == ERR_OK &&
	    (loading->left || loading->fresh < loading->range->fresh))
		err = take_next(loading);
	return err;
}

enum err
intake_load(struct intake *intake, uint32_t supplier)
{
	struct intake_range *range = &intake->ranges[supplier];
	struct loading loading = {.intake = intake, .range = range};
	enum err err;

	if (range->loaded)
		return ERR_OK;
	buf_init(&loading.record, 64 * 1024);
	err = source_walk_begin(&loading.walk, intake->base,
	    codemap_code(intake->suppliers.codes, supplier));
	if (err == ERR_OK)
		err = shelf_begin(&loading.making, store_dir(intake->store));
	if (err == ERR_OK)
		err = take_both(&loading);
	err = shelf_end(&range->merged, loading.making, err);
	source_walk_end(loading.walk);
	buf_fini(&loading.record);
	if (err == ERR_OK && range->merged.count > range->room)
		err = ERR_DAMAGED; /* the base has more than it says */
	if (err != ERR_OK)
		return err;
	range->shelf = &range->merged;
	range->count = range->merged.count;
	range->loaded = true;
	return ERR_OK;
}

/* Whether a label is another than before: it may be any article's. */
static bool
labels_changed(const struct intake *intake)
{
	const struct intake_table *classes = &intake->classes;

	for (uint32_t i = 0; i < codemap_count(classes->codes); i++)
		if (classes->fresh[i] &&
		    !span_eq(classes->values[i],
			source_class(
			    intake->base, codemap_code(classes->codes, i))))
			return true;
	return false;
}

/*
 * Whether all suppliers are to be written: the series' numbers of stores, or
 * labels, have changed; the base does not tell what changes; or it has as many
 * parts as there may be.
 */
static bool
is_for_all(const struct intake *intake)
{
	uint64_t parts[SOURCE_PARTS_MAX];

	return codemap_count(intake->stores.codes) !=
	    source_header(intake->base)->stores ||
	    source_common(intake->base).len == 0 ||
	    source_parts(intake->base, parts) + 1 >= SOURCE_PARTS_MAX ||
	    labels_changed(intake);
}

static bool
is_renamed(const struct intake *intake, uint32_t number)
{
	const struct intake_table *suppliers = &intake->suppliers;
	struct source_supplier before;

	return source_supplier(intake->base,
		   codemap_code(suppliers->codes, number), &before) != ERR_OK ||
	    !span_eq(before.name, suppliers->values[number]);
}

enum err
intake_load_changed(struct intake *intake)
{
	uint32_t count = codemap_count(intake->suppliers.codes);
	bool all = intake->base != NULL && is_for_all(intake);
	enum err err = intake_failed(intake);

	assert(intake->sealed);
	for (uint32_t i = 0; i < count && err == ERR_OK && intake->base != NULL;
	     i++)
		if (all || is_renamed(intake, i))
			err = intake_load(intake, i);
	return err;
}
