/*
 * splice: rows into a body. What has not changed since the computation is
 * passed on as it lies in the snapshot; the live fields of what has are laid
 * over it, row by row.
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

/* Neighbouring columns that are copied in one go. */
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
	struct columns columns;
	unsigned chosen_count, gamme_count;
	uint8_t chosen[ROW_COLUMNS]; /* the same, in their order */
	uint8_t gammes[ROW_GAMMES]; /* which of `chosen` are range codes */
	unsigned flat_runs, map_runs;
	struct splice_run flat[ROW_FLATS], map[ROW_COLUMNS];
	struct buf text; /* for a live value */
	struct buf row; /* for those of a row: splice_values() */
	struct cached_rows *kept; /* rows with these columns, or NULL */
	bool network_changed, has_gammes, has_network;
	bool some_lie; /* rows that were expected, in the snapshot: not kept */
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

/* The next rows are of another snapshot; all else is as it was begun. */
void splice_turn(
    struct splice *splice, struct snapshot *snap, const struct ranges *ranges);

/*
 * From here on to splice_release(), or to the next row of another snapshot,
 * rows are kept in `row_cache`, and taken from there when they are; only those
 * of few scalars, in JSON, are.
 */
void splice_keep(struct splice *splice, struct row_cache *row_cache);
void splice_release(struct splice *splice);

/* Chooses the columns alone, for a header before any snapshot. */
void splice_columns(struct splice *splice, const struct columns *columns);

/*
 * Has the processor fetch what splice_row() will read of some rows, in steps,
 * each of which needs what the one before has brought: whether they are kept,
 * and where; where their columns stand, or what is kept of them; the columns'
 * text.
 */
enum splice_step { SPLICE_KEPT, SPLICE_OFFSETS, SPLICE_TEXT };

void splice_expect(struct splice *splice, const uint32_t *rows, unsigned count,
    enum splice_step step);

/*
 * Adds a row with its separator behind it: a comma in JSON, a newline
 * elsewhere. ERR_DAMAGED when the snapshot is.
 */
enum err splice_row(struct splice *splice, uint32_t row, struct iovbuf *pieces);

/*
 * True when a row has a value of today that is not as the snapshot has it.
 * splice_row() gives other rows as they lie there.
 */
enum err splice_row_differs(struct splice *splice, uint32_t row, bool *out);

/* Today's values of one row, read when a column first needs them. */
struct splice_today {
	uint32_t row;
	bool network_read, network_known;
	struct network network;
};

/*
 * A column's JSON value of today, valid until the next one is asked for; begin
 * a row with {.row = row}.
 */
enum err splice_value(struct splice *splice, struct splice_today *today,
    unsigned column, struct span *value);

/*
 * Today's values of the chosen columns, of which there are `chosen_count`, in
 * their order. They are valid until the next row is asked for.
 */
enum err splice_values(
    struct splice *splice, uint32_t row, struct span *values);

/* True when rows are passed on as they lie in the snapshot, all columns. */
bool splice_is_plain(const struct splice *splice);

/* True when no row can differ: cheap, so it may be false and none differ. */
bool splice_is_unchanged(const struct splice *splice);
