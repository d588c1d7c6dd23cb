/*
 * splice: writes rows into a body. Rows without changes since the computation
 * are passed on as the snapshot stores them; in other rows the live fields
 * replace the stored ones.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fcgi/http/params.h"
#include "fcgi/http/iovbuf.h"
#include "fcgi/rows/row_cache.h"
#include "fcgi/rows/ranges.h"
#include "lmdb-schema/facts/live.h"
#include "lmdb-schema/snapshot/snapshot.h"

enum splice_form { SPLICE_JSON, SPLICE_NDJSON };

/* Neighbouring columns that one copy takes. */
struct splice_run {
	uint16_t first, last;
};

struct splice {
	struct snapshot *snap;
	const struct ranges *ranges; /* NULL: as in the snapshot */
	struct live_view *live; /* NULL: network as in the snapshot */
	bool enrich; /* codeGammeServeur as it is now */
	bool all; /* every column */
	enum splice_form form;
	struct columns asked, columns;
	unsigned chosen_count, gamme_count;
	uint8_t chosen[ROW_COLUMNS]; /* the chosen columns in their order */
	uint8_t gammes[ROW_GAMMES]; /* which of `chosen` are range codes */
	unsigned flat_runs, map_runs;
	struct splice_run flat[ROW_FLATS], map[ROW_COLUMNS];
	struct buf text; /* for a live value */
	struct buf row; /* for the live values of a row: splice_values() */
	struct cached_rows *kept; /* rows with these columns, or NULL */
	bool network_changed, has_gammes, has_network;
	bool some_lie; /* some rows are read from the snapshot */
	bool in_order; /* see splice_in_order() */
};

void splice_init(struct splice *splice);
void splice_fini(struct splice *splice);

/*
 * `columns` empty means all. `live` NULL, or `enrich` false, leaves the
 * network alone.
 */
void splice_begin(struct splice *splice, struct snapshot *snap,
    const struct ranges *ranges, struct live_view *live, bool enrich,
    const struct columns *columns, enum splice_form form);

/* The next rows come from another snapshot; everything else stays as begun. */
void splice_turn(
    struct splice *splice, struct snapshot *snap, const struct ranges *ranges);

/*
 * From here until splice_release(), or until a row of another snapshot, rows
 * are kept in `row_cache` and read from there. This applies only to JSON rows
 * of a few scalars.
 */
void splice_keep(struct splice *splice, struct row_cache *row_cache);
void splice_release(struct splice *splice);

/*
 * Chooses the columns only, for a header that is written before any snapshot is
 * known. Choosing the same columns as the time before costs nothing.
 */
void splice_columns(struct splice *splice, const struct columns *columns);

/*
 * Prefetches the data that splice_row() will read, for several rows and in
 * steps, each of which needs the result of the one before: whether the row is
 * kept, and where; then the offsets of its columns, or its kept text; then the
 * text of the columns.
 */
enum splice_step { SPLICE_KEPT, SPLICE_OFFSETS, SPLICE_TEXT };

void splice_expect(struct splice *splice, const uint32_t *rows, unsigned count,
    enum splice_step step);

/*
 * Until the next splice_begin() or splice_turn() rows come in the order of the
 * file: the text of those behind is prefetched where it is likely to be.
 */
void splice_in_order(struct splice *splice);

/*
 * Adds a row followed by its separator: a comma in JSON, a newline elsewhere.
 * ERR_DAMAGED: the snapshot is.
 */
enum err splice_row(struct splice *splice, uint32_t row, struct iovbuf *pieces);

/*
 * True when a value of today differs from the snapshot. splice_row() passes
 * other rows on unchanged.
 */
enum err splice_row_differs(struct splice *splice, uint32_t row, bool *out);

/* Today's values of one row, read when a column first needs them. */
struct splice_today {
	uint32_t row;
	bool network_read, network_known;
	struct network network;
};

/*
 * Today's JSON value of a column, valid until the next call. Begin a row with
 * {.row = row}.
 */
enum err splice_value(struct splice *splice, struct splice_today *today,
    unsigned column, struct span *value);

/*
 * Today's values of the `chosen_count` chosen columns, in their order, valid
 * until the next row is read.
 */
enum err splice_values(
    struct splice *splice, uint32_t row, struct span *values);

/* True when rows with all columns are passed on unchanged. */
bool splice_is_plain(const struct splice *splice);

/*
 * True when no row can differ. A cheap test: false does not mean that one
 * differs.
 */
bool splice_is_unchanged(const struct splice *splice);
