/*
 * row_cache: rows of a snapshot as one list of fields shows them, kept for the
 * next page with the same fields.
 *
 * Ten fields of a row lie in some fourteen cache lines anywhere in hundreds of
 * megabytes, its offsets counted; as they go out, one behind the other, in
 * four or five. A row is put here when it is shown for the second time, so that
 * who goes through all of them once takes no room, and is never altered. What
 * is
 * kept has a ceiling for the whole process.
 */
#pragma once

#include <stdint.h>

#include "common/span.h"
#include "fcgi/http/params.h"
#include "lmdb-schema/snapshot/snapshot.h"

/* As much as a place can tell; 130,000 rows of ten fields take 27 MB. */
#define ROW_CACHE_BYTES ((size_t)32 << 20)

/* A row's text is kept up to here. */
#define ROW_CACHE_MAX 1023

struct row_cache; /* all of a process; threads may share it */
struct cached_rows; /* the rows of one snapshot for one list of fields */

/* All lists together keep `most` bytes, no more than ROW_CACHE_BYTES. */
struct row_cache *row_cache_new(size_t most);
void row_cache_free(struct row_cache *row_cache);

/*
 * The list for these columns; pair with cached_rows_release(), which takes NULL.
 * NULL when there is no memory for one, or its places alone would take half of
 * what there may be. That is no failure: rows are then read where they lie.
 */
struct cached_rows *row_cache_get(struct row_cache *row_cache,
    const struct snapshot *snap, const struct columns *columns);
void cached_rows_release(struct cached_rows *cached);

/* Lets go of what was not asked for since so many seconds. */
void row_cache_tick(struct row_cache *row_cache, int64_t seconds);

/* A row's text as it was kept, until cached_rows_release(); empty: it was not. */
struct span cached_rows_row(const struct cached_rows *cached, uint32_t row);

/* Keeps a copy from the second time on, when there is room. */
void cached_rows_keep(
    struct cached_rows *cached, uint32_t row, struct span text);

/* Has the processor fetch what cached_rows_row() will look at. */
void cached_rows_expect(
    const struct cached_rows *cached, const uint32_t *rows, unsigned count);
