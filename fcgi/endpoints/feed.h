/*
 * feed: what became of proposals, an entry of the trail each, as /propositions
 * and /products/{codein}/gammes show it.
 */
#pragma once

#include "common/jsonw.h"
#include "fcgi/table/table.h"
#include "lmdb-schema/state/feed_entry.h"
#include "lmdb-schema/state/state.h"

struct call;

/* The members of an entry as the columns of flat formats. */
#define FEED_COLUMNS 12
extern const struct table_column feed_columns[FEED_COLUMNS];

/* The members of meta that say how long entries are kept; `months`, 0: all. */
enum err feed_write_kept(
    struct jsonw *json, struct state_view *view, int64_t months);

/* Counts what cannot be read of the trail as damage that a request met; `err`. */
enum err feed_count(struct call *call, enum err err);
