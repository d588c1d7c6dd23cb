/*
 * snapshot: one supplier's rows, as they stood when they were computed.
 *
 * A generation is written once and never altered. A reader pins one and then
 * needs no lock: all that it is given stays put until snapshot_close(), also
 * when the file is replaced and unlinked meanwhile. Any number of threads may
 * read one at once.
 *
 * Every byte given out has been compared with its checksum since the file was
 * opened, or was last found touched (snapshot_look()): arrays as a whole, rows,
 * texts and lists by the blocks that they lie in (blocks.h). Bytes that do not
 * match are damaged, and logged; offsets are within their bounds in any case.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"
#include "lmdb-schema/row.h"
#include "lmdb-schema/snapshot/grams.h"
#include "lmdb-schema/snapshot/snapfile.h"
#include "lmdb-schema/store/blocks.h"

struct snapshot;
struct store;

/*
 * Pins a generation of `supplier`; pair with snapshot_close().
 *
 *   ERR_NOT_FOUND  the file does not exist
 *   ERR_DAMAGED    the file is not as it was written; the log says why
 *   ERR_VERSION    written by another version
 *
 * On failure *out is NULL. Opening costs some tens of microseconds, whatever
 * the size; sections are compared when they are first used.
 */
enum err snapshot_open(struct snapshot **out, struct store *store,
    struct span supplier, uint64_t generation);

/*
 * The version of the file's format, by its head alone, and without a line in the log;
 * 0: the file is missing or damaged.
 */
uint64_t snapshot_version(
    struct store *store, struct span supplier, uint64_t generation);

/*
 * Asks the kernel for what opening reads, so that a caller that is about to open
 * many has them on their way at once. Nothing fails.
 */
void snapshot_expect_file(
    struct store *store, struct span supplier, uint64_t generation);

/* As snapshot_open(), for a given path. */
enum err snapshot_open_file(struct snapshot **out, const char *path);

/* Ends the life of every span got from `snap`. NULL is fine. */
void snapshot_close(struct snapshot *snap);

/*
 * Looks whether the file was touched, which must never happen: if so, nothing
 * of it counts as compared any more. Costs one fstat(); a change of the file
 * goes unnoticed until the next call.
 */
void snapshot_look(struct snapshot *snap);

/*
 * A number that changes when snapshot_look() finds the file touched: the caller
 * must then get offsets and lists again.
 */
unsigned snapshot_epoch(const struct snapshot *snap);

/* Whether any bytes read so far did not match their checksum. */
bool snapshot_is_damaged(const struct snapshot *snap);

const struct snap_head *snapshot_head(const struct snapshot *snap);
uint32_t snapshot_rows(const struct snapshot *snap);
uint32_t snapshot_left_out(const struct snapshot *snap); /* snapwrite.h */
struct span snapshot_supplier(const struct snapshot *snap);
struct span snapshot_name(const struct snapshot *snap); /* empty: none */

/*
 * A row's scalars or maps as JSON (snapfile.h): the bytes and the offsets of
 * the columns in them. False when the row does not exist or is damaged.
 */
struct snapshot_part {
	const char *json;
	union {
		const uint16_t *flat; /* [ROW_FLATS + 1] */
		const uint32_t *maps; /* [ROW_MAPCOUNT + 1] */
	} off;
};
bool snapshot_flat(
    struct snapshot *snap, uint32_t row, struct snapshot_part *part);
bool snapshot_maps(
    struct snapshot *snap, uint32_t row, struct snapshot_part *part);

/*
 * As snapshot_flat(), for prefetching: the text has not been compared with its
 * checksum, and must not be used.
 */
bool snapshot_glance(
    struct snapshot *snap, uint32_t row, struct snapshot_part *part);

/*
 * Prefetches the offsets that snapshot_flat(), and `with_maps` snapshot_maps(),
 * will read: for a caller that knows some rows ahead what it will need.
 */
void snapshot_expect(struct snapshot *snap, uint32_t row, bool with_maps);

/* Some rows later: asks the kernel for the text of the row's maps. */
void snapshot_expect_maps(struct snapshot *snap, uint32_t row);

/* The size in bytes of all rows as JSON, each followed by a comma. */
int64_t snapshot_rows_bytes(const struct snapshot *snap);

/* The value of a column as JSON text; empty when it is damaged. */
struct span snapshot_value(
    struct snapshot *snap, uint32_t row, unsigned column);

/* The same of a part that is at hand: of the scalars, of the maps. */
static inline struct span snapshot_flat_value(
    const struct snapshot_part *part, unsigned column);
static inline struct span snapshot_maps_value(
    const struct snapshot_part *part, unsigned column);

/* Arrays of one entry a row, or NULL when they are damaged. */
const int64_t *snapshot_numbers(struct snapshot *snap, unsigned column);
const uint32_t *snapshot_order(
    struct snapshot *snap, unsigned column, bool descending);
const uint8_t *snapshot_gammes(struct snapshot *snap);
const uint32_t *snapshot_code3(struct snapshot *snap);
const uint32_t *snapshot_by_codein(struct snapshot *snap);

/*
 * The folded search text and where each row's begins (rows + 1 places, never
 * going back, the last one the end). False when it is damaged.
 */
bool snapshot_text(
    struct snapshot *snap, struct span *text, const uint32_t **at);

/*
 * As snapshot_text(), for a caller that reads the text of a few rows: nothing
 * is compared yet, and the caller must check each part with `blocks` before
 * reading it.
 */
bool snapshot_text_places(
    struct snapshot *snap, struct span *text, const uint32_t **at);
struct blocks *snapshot_text_blocks(struct snapshot *snap);

/*
 * The snapshot's index of grams; each list is compared when it is read. A
 * snapshot of few rows has none: the caller scans the text. False when there is
 * no index, or it is damaged.
 */
bool snapshot_has_grams(const struct snapshot *snap);
bool snapshot_grams(struct snapshot *snap, struct grams *grams);

/* The row of an article, by binary search. ERR_NOT_FOUND, ERR_DAMAGED. */
enum err snapshot_find(
    struct snapshot *snap, struct span codein, uint32_t *row);

/*
 * As snapshot_find(), for articles that come in the order of their codein
 * bytes: *place starts at 0 and advances with each call, so that a walk over
 * all articles costs little more than reading them.
 */
enum err snapshot_find_next(
    struct snapshot *snap, struct span codein, uint32_t *place, uint32_t *row);

/* The classification at a level 1..3, by code. */
struct snapshot_classes {
	const struct snap_class *class;
	uint32_t count;
	uint32_t without; /* articles without a code */
	struct span labels; /* label_at counts from here */
};
bool snapshot_classes(
    struct snapshot *snap, unsigned level, struct snapshot_classes *out);
struct span snapshot_class_label(
    const struct snapshot_classes *classes, const struct snap_class *class);

/*
 * Compares the whole file with its checksums. ERR_DAMAGED: the log says where.
 */
enum err snapshot_compare(struct snapshot *snap);

/*
 * Verifies every checksum, place and order in the file, reading all of it.
 * `fault` names the first damage; *verified, when not NULL, counts what was
 * read.
 */
struct snapshot_verified {
	uint64_t sections, bytes;
};
enum err snapshot_verify(struct snapshot *snap, struct fault *fault,
    struct snapshot_verified *verified);

/* --- inline: the columns of a part ------------------------------------------ */

/* The bytes start..end of a part without `"name":` and the separator. */
static inline struct span
snapshot_part_value(const char *json, uint32_t start, uint32_t end,
    uint32_t most, unsigned column)
{
	uint32_t name = (uint32_t)row_info[column].name.len + 3;

	/* Damaged offsets may be near 2^32: adding to them could overflow. */
	if (end > most || start > end || end - start < name + 1)
		return SPAN("");
	return span_make(json + start + name, end - start - name - 1);
}

static inline struct span
snapshot_flat_value(const struct snapshot_part *part, unsigned column)
{
	const uint16_t *off = part->off.flat;

	return snapshot_part_value(
	    part->json, off[column], off[column + 1], off[ROW_FLATS], column);
}

static inline struct span
snapshot_maps_value(const struct snapshot_part *part, unsigned column)
{
	const uint32_t *off = part->off.maps + column - ROW_FLATS;

	return snapshot_part_value(
	    part->json, off[0], off[1], part->off.maps[ROW_MAPCOUNT], column);
}
