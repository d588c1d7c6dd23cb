/*
 * snapshot: one supplier's rows, as they stood when they were computed.
 *
 * A generation is written once and never altered. A reader pins one and then
 * needs no lock: all that it is given stays put until snapshot_close(), also
 * when the file is replaced and unlinked meanwhile. Any number of threads may
 * read one at once.
 *
 * All that is given out has been compared with its checksum since the file was
 * opened, or was last seen to be touched (snapshot_look()): arrays as a whole,
 * rows, texts and lists by the blocks that they lie in (blocks.h). What does
 * not match is damaged, and told in the log; places and offsets are within
 * their bounds in any case.
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
 *   ERR_NOT_FOUND  there is no such file
 *   ERR_DAMAGED    it cannot be what was written; the log says why
 *   ERR_VERSION    written by another version
 *
 * On failure *out is NULL. It costs some tens of microseconds, whatever the
 * size; the sections are looked up when they are first used.
 */
enum err snapshot_open(struct snapshot **out, struct store *store,
    struct span supplier, uint64_t generation);

/* The same for a given file. */
enum err snapshot_open_file(struct snapshot **out, const char *path);

/* Ends the life of every span got from it. NULL is fine. */
void snapshot_close(struct snapshot *snap);

/*
 * Looks whether somebody has touched the file, which nobody may: then nothing
 * of it counts as compared any more. It costs one fstat(); between two of them
 * nobody learns of what is written into the file.
 */
void snapshot_look(struct snapshot *snap);

/*
 * A number that changes when snapshot_look() finds the file touched: places and
 * lists that were got before are to be asked for again then.
 */
unsigned snapshot_epoch(const struct snapshot *snap);

/* Whether something that was asked for did not match its checksum. */
bool snapshot_is_damaged(const struct snapshot *snap);

const struct snap_head *snapshot_head(const struct snapshot *snap);
uint32_t snapshot_rows(const struct snapshot *snap);
uint32_t snapshot_left_out(const struct snapshot *snap); /* snapwrite.h */
struct span snapshot_supplier(const struct snapshot *snap);
struct span snapshot_name(const struct snapshot *snap); /* empty: none */

/*
 * A row's scalars or maps as JSON (snapfile.h): the bytes and the offsets of
 * the columns in them. False when the row or its place is not there.
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
 * The same for who wants to have the scalars fetched: their text has not been
 * compared, and is not to be used.
 */
bool snapshot_glance(
    struct snapshot *snap, uint32_t row, struct snapshot_part *part);

/*
 * Has the processor fetch the offsets that snapshot_flat(), and `with_maps`
 * snapshot_maps(), will look at: for who knows some rows ahead which he wants.
 */
void snapshot_expect(struct snapshot *snap, uint32_t row, bool with_maps);

/* Bytes of all rows as JSON, each with the comma behind it. */
int64_t snapshot_rows_bytes(const struct snapshot *snap);

/* One column's value as JSON text; empty when it is damaged. */
struct span snapshot_value(
    struct snapshot *snap, uint32_t row, unsigned column);

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
 * The same for who reads a few rows' text: it is not compared yet, and for
 * each part the blocks are to be asked first.
 */
bool snapshot_text_places(
    struct snapshot *snap, struct span *text, const uint32_t **at);
struct blocks *snapshot_text_blocks(struct snapshot *snap);

/*
 * The lists of which rows may hold a text, each to be compared when it is read.
 * There are none of few rows: a scan of the text finds the same. False when
 * there are none, or they are damaged.
 */
bool snapshot_has_grams(const struct snapshot *snap);
bool snapshot_grams(struct snapshot *snap, struct grams *grams);

/* The row of an article, by binary search. ERR_NOT_FOUND, ERR_DAMAGED. */
enum err snapshot_find(
    struct snapshot *snap, struct span codein, uint32_t *row);

/*
 * The same for articles that come in the order of their codein bytes: *place
 * starts at 0 and moves on with each call, so that a walk over all of them
 * costs little more than reading.
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

/* Compares all of it with the checksums. ERR_DAMAGED: the log says where. */
enum err snapshot_compare(struct snapshot *snap);

/*
 * Verifies every checksum, place and order in the file, reading all of it.
 * `fault` says what is wrong first; *verified, when not NULL, what was read.
 */
struct snapshot_verified {
	uint64_t sections, bytes;
};
enum err snapshot_verify(struct snapshot *snap, struct fault *fault,
    struct snapshot_verified *verified);
