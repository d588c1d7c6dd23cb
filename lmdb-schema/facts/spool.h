/*
 * spool: one kind of monthly facts, as a file of them is read.
 *
 * Lines come in any order. As long as they come in order for one article they
 * become one series; a step back begins another one. Nearly every file is
 * sorted, and then a spool holds one finished series an article. The series
 * lie in a file that has no name, so memory stays small and nothing is left
 * behind by a crash.
 *
 * Used by one thread at a time.
 */
#pragma once

#include <stdint.h>

#include "common/err.h"
#include "lmdb-schema/facts/series.h"

struct spool;

/* The file is made in `dir`. NULL is only for lack of memory. */
enum err spool_new(struct spool **out, enum series_kind kind, const char *dir);
void spool_free(struct spool *spool);

enum err spool_put(
    struct spool *spool, uint32_t article, const struct series_record *record);

/* All is in: flushes it and maps it. Then: */
enum err spool_seal(struct spool *spool);

uint64_t spool_records(const struct spool *spool);

/*
 * The series of an article, in the order of arrival, at most `max` of them;
 * returns how many there are (0 for none). Borrowed until spool_free().
 */
unsigned spool_parts(const struct spool *spool, uint32_t article,
    struct span *parts, unsigned max);
