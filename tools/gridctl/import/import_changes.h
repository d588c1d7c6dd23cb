/*
 * import_changes: what new facts change against those that are current, counted
 * by article and by supplier.
 */
#pragma once

#include <stdint.h>

#include "common/err.h"

struct source;

struct import_changes {
	uint64_t articles_new, articles_gone, articles_changed;
	uint64_t suppliers_new, suppliers_gone, suppliers_changed;
};

/*
 * An article has changed when anything that is stored of it has; a supplier,
 * when its name or an article has. `before` is NULL where there are no facts.
 */
enum err import_changes(
    struct import_changes *out, struct source *before, struct source *now);

/* All articles that are new, gone or changed. */
uint64_t import_changes_articles(const struct import_changes *changes);
