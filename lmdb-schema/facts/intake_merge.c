/*
 * A merge loads the articles of those suppliers alone that its files name. The
 * others of the same shares are copied as they are, and the other shares stay
 * where they are.
 */
#include <assert.h>

#include "lmdb-schema/facts/intake_priv.h"
#include "lmdb-schema/store/store.h"

/* A supplier's articles in the base, and those of this import over them. */
struct loading {
	struct intake *intake;
	struct intake_range *range;
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

	return shelf_pile_add(loading->intake->pile, shelf_codein(shelf, place),
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
		err = shelf_pile_add(loading->intake->pile, loading->old.codein,
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

/*
 * Room for all articles of the base, which are shorter without their series, and
 * of this import, were every supplier loaded.
 */
static enum err
begin_pile(struct intake *intake)
{
	uint32_t count = codemap_count(intake->suppliers.codes);
	uint64_t bytes, entries = count;
	enum err err = source_bytes(&bytes, intake->base);

	for (uint32_t i = 0; i < count; i++)
		entries += intake->ranges[i].room;
	return err == ERR_OK
	    ? shelf_pile_new(&intake->pile, store_dir(intake->store),
		  bytes + intake->fresh.bytes, entries)
	    : err;
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
	if (err == ERR_OK && intake->pile == NULL)
		err = begin_pile(intake);
	if (err == ERR_OK)
		err = take_both(&loading);
	if (err == ERR_OK)
		err = shelf_pile_end(&range->merged, intake->pile);
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
 * Whether all suppliers are to be loaded: the series' numbers of stores, or
 * labels, have changed; or the base is of a version without shares.
 */
static bool
is_for_all(const struct intake *intake)
{
	return codemap_count(intake->stores.codes) !=
	    source_header(intake->base)->stores ||
	    source_shares(intake->base) == 0 || labels_changed(intake);
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

/* A file with everything has no share to keep. */
static void
mark_shares(struct intake *intake)
{
	for (unsigned i = 0; i < intake->shares; i++) {
		bool written = intake->base == NULL || intake->shares == 1 ||
		    source_shares(intake->base) == 0;

		for (uint32_t k = intake->share_from[i];
		     k < intake->share_from[i + 1]; k++)
			written |=
			    intake->ranges[intake->supplier_order[k]].loaded;
		intake->share_written[i] = written;
	}
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
	if (err == ERR_OK)
		mark_shares(intake);
	return err;
}
