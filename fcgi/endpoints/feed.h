/*
 * feed: what became of proposals, an entry of the trail each, as /propositions
 * and /products/{codein}/gammes show it.
 */
#pragma once

#include "common/jsonw.h"
#include "fcgi/table/table.h"
#include "lmdb-schema/state/trail.h"

/* The entry's state, as a bit of enum feed_state; 0: not about a range. */
unsigned feed_state_of(const struct audit_entry *entry);

/* Whether the author made the proposal, or the one that it took the place of. */
bool feed_is_by(const struct audit_entry *entry, struct span author);

void feed_write(struct jsonw *json, const struct audit_entry *entry);

/* The members of an entry as the columns of flat formats. */
#define FEED_COLUMNS 12
extern const struct table_column feed_columns[FEED_COLUMNS];

/* The members of meta that say how long entries are kept. */
enum err feed_write_kept(struct jsonw *json, struct state_view *view);
