/*
 * excerpts: rows of a snapshot as one list of fields shows them, kept for the
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
#define EXCERPTS_BYTES ((size_t)32 << 20)

/* A row's text is kept up to here. */
#define EXCERPT_MAX 1023

struct excerpts; /* all of a process; threads may share it */
struct excerpt; /* the rows of one snapshot for one list of fields */

/* All lists together keep `most` bytes, no more than EXCERPTS_BYTES. */
struct excerpts *excerpts_new(size_t most);
void excerpts_free(struct excerpts *excerpts);

/*
 * The list for these columns; pair with excerpt_release(), which takes NULL.
 * NULL when there is no memory for one, or its places alone would take half of
 * what there may be. That is no failure: rows are then read where they lie.
 */
struct excerpt *excerpts_get(struct excerpts *excerpts,
    const struct snapshot *snap, const struct columns *columns);
void excerpt_release(struct excerpt *excerpt);

/* Lets go of what was not asked for since so many seconds. */
void excerpts_tick(struct excerpts *excerpts, int64_t seconds);

/* A row's text as it was kept, until excerpt_release(); empty: it was not. */
struct span excerpt_row(const struct excerpt *excerpt, uint32_t row);

/* Keeps a copy from the second time on, when there is room. */
void excerpt_keep(struct excerpt *excerpt, uint32_t row, struct span text);

/* Has the processor fetch what excerpt_row() will look at. */
void excerpt_expect(
    const struct excerpt *excerpt, const uint32_t *rows, unsigned count);
