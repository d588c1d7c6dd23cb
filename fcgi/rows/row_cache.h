/*
 * row_cache: rows of a snapshot in the form of an answer, for one list of
 * fields, kept for the next page with the same fields.
 *
 * Ten fields of a row, with its offsets, occupy some fourteen cache lines
 * scattered over hundreds of megabytes; in the form of the answer they are
 * contiguous, in four or five lines. A row is kept when it is shown for the
 * second time, so a client that reads all rows once takes no room. A kept row
 * never changes. The bytes of all lists of the process have a ceiling.
 */
#pragma once

#include <stdint.h>

#include "common/span.h"
#include "fcgi/http/params.h"
#include "lmdb-schema/snapshot/snapshot.h"

/*
 * The largest text that a place can address: 130,000 rows of ten fields take 27
 * MB.
 */
#define ROW_CACHE_BYTES ((size_t)32 << 20)

/* The longest text of a row that is kept. */
#define ROW_CACHE_MAX 1023

struct row_cache; /* all of a process; threads may share it */
struct cached_rows; /* the rows of one snapshot for one list of fields */

/* All lists together keep `most` bytes, no more than ROW_CACHE_BYTES. */
struct row_cache *row_cache_new(size_t most);
void row_cache_free(struct row_cache *row_cache);

/*
 * The list for these columns; pair with cached_rows_release(), which takes
 * NULL. NULL without memory, or when the places alone would take half of the
 * ceiling: that is no failure, and rows are then read from the snapshot.
 */
struct cached_rows *row_cache_get(struct row_cache *row_cache,
    const struct snapshot *snap, const struct columns *columns);
void cached_rows_release(struct cached_rows *cached);

/* Drops lists that were not used for so many seconds. */
void row_cache_tick(struct row_cache *row_cache, int64_t seconds);

/* A row's kept text, valid until cached_rows_release(); empty: not kept. */
struct span cached_rows_row(const struct cached_rows *cached, uint32_t row);

/* Keeps a copy when the row is shown for the second time and there is room. */
void cached_rows_keep(
    struct cached_rows *cached, uint32_t row, struct span text);

/* Prefetches the data that cached_rows_row() will read. */
void cached_rows_expect(
    const struct cached_rows *cached, const uint32_t *rows, unsigned count);
