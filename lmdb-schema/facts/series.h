/*
 * series: the monthly facts of one article, store by store (see schema.h).
 *
 * A writer takes records in the order of store and month, and refuses one that
 * is out of order, so that the caller begins another series. Several series of
 * one article are merged into one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/span.h"
#include "lmdb-schema/pack.h"

enum series_kind {
	SERIES_POSITIONS,
	SERIES_SALES,
	SERIES_STOCK,
	SERIES_RECEPTIONS,
	SERIES_KINDS
};

/* Values in a record: sales 3, stock and receptions 1, positions 4. */
#define SERIES_VALUES_MAX 4

struct series_record {
	uint16_t store;
	int32_t month; /* 0 for positions */
	int64_t value[SERIES_VALUES_MAX]; /* micro; days for positions 1..3 */
};

/* The values' names in this order. */
enum { SALES_QUANTITE, SALES_CA, SALES_MARGE };
enum {
	POSITION_STOCK,
	POSITION_FIRST_SALE,
	POSITION_LAST_SALE,
	POSITION_LAST_RECEPTION
};

struct series_writer {
	enum series_kind kind;
	struct buf *out; /* finished stores */
	struct buf group; /* records of the current store */
	uint32_t group_count;
	int32_t store; /* -1 before the first */
	int32_t month;
};

/* Appends to `out`, which the caller owns. */
void series_begin(
    struct series_writer *writer, enum series_kind kind, struct buf *out);

/* False when the record does not come after the one before it. */
bool series_put(
    struct series_writer *writer, const struct series_record *record);

/* Finishes the last store; the writer may series_begin() again. */
void series_end(struct series_writer *writer);
void series_fini(struct series_writer *writer);

struct series_reader {
	struct unpack from;
	enum series_kind kind;
	uint64_t left; /* records of the current store */
	uint16_t store;
	int32_t month;
};

void series_open(
    struct series_reader *reader, enum series_kind kind, struct span bytes);

/*
 * Reads the next record. False at the end, or when the bytes are damaged: see
 * series_bad().
 */
bool series_next(struct series_reader *reader, struct series_record *record);

/*
 * As series_next() for monthly kinds, but reads only value[0]: a third of the
 * work for sales.
 */
bool series_next_first(
    struct series_reader *reader, struct series_record *record);

bool series_bad(const struct series_reader *reader);

/* The number of records. */
uint64_t series_count(enum series_kind kind, struct span bytes);

/*
 * Merges `count` series into `out`. The same store and month in two of them is
 * ERR_EXISTS, and *twice names it; with `last_wins`, the later series of the
 * list wins instead.
 */
enum err series_merge(struct buf *out, enum series_kind kind,
    const struct span *parts, unsigned count, bool last_wins,
    struct series_record *twice);
