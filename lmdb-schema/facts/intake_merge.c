/*
 * A merge reads and writes the articles of those suppliers alone that its files
 * name. The others' records are taken over, and name the file of an import
 * before that has their articles.
 */
#include <assert.h>

#include "lmdb-schema/facts/intake_priv.h"

bool
intake_has_loaded(const struct intake *intake, struct span supplier)
{
	return intake->base == NULL ||
	    codemap_find(intake->loaded, supplier) != CODEMAP_NONE;
}

static enum err
take_article(struct intake *intake, struct span supplier,
    const struct source_article *article)
{
	for (unsigned i = 0; i < SERIES_KINDS; i++)
		intake->base_records[i] += series_count(i, article->series[i]);
	return intake_put_article(intake, supplier, article, false);
}

enum err
intake_load(struct intake *intake, struct span supplier)
{
	struct source_article article;
	struct source_walk *walk;
	uint32_t number;
	enum err err;

	if (intake_has_loaded(intake, supplier))
		return ERR_OK;
	err = source_walk_begin(&walk, intake->base, supplier);
	if (err != ERR_OK)
		return err;
	while ((err = source_walk_next(walk, &article)) == ERR_OK) {
		err = take_article(intake, supplier, &article);
		if (err != ERR_OK)
			break;
	}
	source_walk_end(walk);
	return err == ERR_NOT_FOUND
	    ? codemap_add(intake->loaded, supplier, &number)
	    : err;
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
			err = intake_load(
			    intake, codemap_code(intake->suppliers.codes, i));
	return err;
}
