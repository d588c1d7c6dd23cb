/*
 * spool: collects one kind of monthly facts while their file is read.
 *
 * Lines come in any order. Lines of one article that are in order become one
 * series; a step back begins another. Nearly every file is sorted, and the
 * spool then holds one finished series per article. The series are stored in a
 * file without a name, so that memory use stays small and a crash leaves
 * nothing behind.
 *
 * Used by one thread at a time.
 */
#pragma once

#include <stdint.h>

#include "common/err.h"
#include "lmdb-schema/facts/series.h"

struct spool;

/* The file is made in `dir`. NULL only when memory is out. */
enum err spool_new(struct spool **out, enum series_kind kind, const char *dir);
void spool_free(struct spool *spool);

enum err spool_put(
    struct spool *spool, uint32_t article, const struct series_record *record);

/* Call when every record is added: flushes and maps the file. Only then: */
enum err spool_seal(struct spool *spool);

uint64_t spool_records(const struct spool *spool);

/*
 * The series of an article, in the order of arrival, at most `max` of them;
 * returns how many there are (0 for none). Borrowed until spool_free().
 */
unsigned spool_parts(const struct spool *spool, uint32_t article,
    struct span *parts, unsigned max);
