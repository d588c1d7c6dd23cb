#include "tools/gridctl/import/import_changes.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "common/span.h"
#include "lmdb-schema/facts/source.h"

/* A supplier's articles in one of the two, read one after the other. */
struct side {
	struct source_walk *walk;
	struct source_article article;
	bool ended;
};

static enum err
step(struct side *side)
{
	enum err err = source_walk_next(side->walk, &side->article);

	side->ended = err == ERR_NOT_FOUND;
	return side->ended ? ERR_OK : err;
}

static enum err
side_begin(struct side *side, struct source *source, struct span supplier)
{
	enum err err;

	memset(side, 0, sizeof(*side));
	err = source_walk_begin(&side->walk, source, supplier);
	return err == ERR_OK ? step(side) : err;
}

/* < 0: the article is gone; > 0: it is new; 0: both sides have it. */
static int
order(const struct side *before, const struct side *now)
{
	if (before->ended || now->ended)
		return before->ended ? 1 : -1;
	return span_cmp(before->article.codein, now->article.codein);
}

static enum err
compare_next(struct import_changes *out, struct side *before, struct side *now)
{
	int where = order(before, now);
	enum err err = ERR_OK;

	out->articles_gone += where < 0;
	out->articles_new += where > 0;
	out->articles_changed += where == 0 &&
	    !span_eq(source_walk_raw(before->walk), source_walk_raw(now->walk));
	if (where <= 0)
		err = step(before);
	return err == ERR_OK && where >= 0 ? step(now) : err;
}

static enum err
compare_articles(struct import_changes *out, struct source *before,
    struct source *now, struct span supplier)
{
	struct side old = {0}, new = {0};
	enum err err = side_begin(&old, before, supplier);

	if (err == ERR_OK)
		err = side_begin(&new, now, supplier);
	while (err == ERR_OK && !(old.ended && new.ended))
		err = compare_next(out, &old, &new);
	source_walk_end(old.walk);
	source_walk_end(new.walk);
	return err;
}

struct comparing {
	struct import_changes *out;
	struct source *before, *now;
};

uint64_t
import_changes_articles(const struct import_changes *changes)
{
	return changes->articles_new + changes->articles_gone +
	    changes->articles_changed;
}

static enum err
compare_supplier(void *context, const struct source_supplier *now)
{
	struct comparing *comparing = context;
	struct import_changes *out = comparing->out;
	struct source_supplier before;
	uint64_t count = import_changes_articles(out);
	enum err err = ERR_NOT_FOUND;

	if (comparing->before != NULL)
		err = source_supplier(comparing->before, now->code, &before);
	if (err == ERR_NOT_FOUND) {
		out->suppliers_new++;
		out->articles_new += now->articles;
		return ERR_OK;
	}
	/* Equal digests: all that the rows are made of is equal. */
	if (err == ERR_OK &&
	    (now->digest.len == 0 || !span_eq(before.digest, now->digest)))
		err = compare_articles(
		    out, comparing->before, comparing->now, now->code);
	if (err == ERR_OK)
		out->suppliers_changed +=
		    import_changes_articles(out) > count ||
		    !span_eq(before.name, now->name);
	return err;
}

static enum err
count_gone(void *context, const struct source_supplier *before)
{
	struct comparing *comparing = context;
	struct source_supplier now;
	enum err err = source_supplier(comparing->now, before->code, &now);

	if (err != ERR_NOT_FOUND)
		return err;
	comparing->out->suppliers_gone++;
	comparing->out->articles_gone += before->articles;
	return ERR_OK;
}

enum err
import_changes(
    struct import_changes *out, struct source *before, struct source *now)
{
	struct comparing comparing = {out, before, now};
	enum err err;

	assert(out != NULL && now != NULL);
	memset(out, 0, sizeof(*out));
	err = source_suppliers(now, compare_supplier, &comparing);
	if (err == ERR_OK && before != NULL)
		err = source_suppliers(before, count_gone, &comparing);
	return err;
}
