/*
 * spool: collects one kind of monthly facts while their file is read.
 *
 * Lines come in any order. Lines of one article that are in order become one
 * series; a step back begins another. Nearly every file is sorted, and the
 * spool then holds one finished series per article. They are sorted by article
 * (sorter.h), so that memory stays bounded and a crash leaves nothing behind.
 *
 * Used by one thread at a time; once sealed, by any number of readers.
 */
#pragma once

#include <stdint.h>

#include "common/err.h"
#include "lmdb-schema/facts/series.h"

struct sorter_budget;
struct spool;

/* Files are made in `dir`. NULL only when memory is out. */
enum err spool_new(struct spool **out, enum series_kind kind, const char *dir,
    struct sorter_budget *budget);
void spool_free(struct spool *spool);

enum err spool_put(
    struct spool *spool, uint32_t article, const struct series_record *record);

/* Call when every record is added. Only then: */
enum err spool_seal(struct spool *spool);

uint64_t spool_records(const struct spool *spool);

/*
 * A reader of the spool, for one thread. The series of an article come in the
 * order of arrival, `count` of them (0 for none). Articles are asked for in
 * ascending order, from `first` on, the last one again if need be. The array is
 * borrowed until the next call, the series until spool_free(). ERR_NO_MEMORY.
 */
struct spool_reader;
enum err spool_read_begin(
    struct spool_reader **out, const struct spool *spool, uint32_t first);
enum err spool_read(struct spool_reader *reader, uint32_t article,
    const struct span **parts, unsigned *count);
void spool_read_end(struct spool_reader *reader);
