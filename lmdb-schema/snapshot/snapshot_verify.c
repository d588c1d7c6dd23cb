/*
 * Reads and verifies the whole file: the checksums first, then the references
 * between sections.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lmdb-schema/deflate.h"
#include "lmdb-schema/snapshot/snapshot.h"
#include "lmdb-schema/snapshot/snapshot_columns.h"
#include "lmdb-schema/snapshot/snapshot_priv.h"

static enum err
damaged(struct snapshot *snap, struct fault *fault, const char *what,
    unsigned section)
{
	char place[128];

	snprintf(place, sizeof(place), "snapshot of supplier %.*s",
	    SPAN_ARG(snapshot_supplier(snap)));
	fault_set(fault, place, "%s (section %u)", what, section);
	return ERR_DAMAGED;
}

static enum err
verify_sums(struct snapshot *snap, struct fault *fault,
    struct snapshot_verified *verified)
{
	for (unsigned i = SNAP_HEAD + 1; i < snapshot_head(snap)->sections;
	     i++) {
		const struct snap_section *row = &snap->table[i];
		const char *bytes = snap->blocks[i].base;

		if (row->bytes == 0 && row->crc == 0)
			continue;
		if (bytes == NULL)
			return damaged(snap, fault, "a part is missing", i);
		if (deflate_crc(0, bytes, row->bytes) != row->crc)
			return damaged(
			    snap, fault, "a checksum does not match", i);
		verified->sections++;
		verified->bytes += row->bytes;
	}
	return ERR_OK;
}

enum err
snapshot_compare(struct snapshot *snap)
{
	enum err err = ERR_OK;

	for (unsigned i = SNAP_HEAD + 1; i < snapshot_head(snap)->sections; i++)
		if (i != SNAP_SUMS && snap->table[i].bytes > 0 &&
		    !blocks_all(&snap->blocks[i]))
			err = ERR_DAMAGED;
	return err;
}

/* True when the order contains each row exactly once. */
static bool
is_permutation(const uint32_t *order, uint32_t count, uint8_t *seen)
{
	memset(seen, 0, count / 8 + 1);
	for (uint32_t i = 0; i < count; i++) {
		if (order[i] >= count ||
		    (seen[order[i] / 8] >> order[i] % 8 & 1) != 0)
			return false;
		seen[order[i] / 8] |= (uint8_t)(1u << order[i] % 8);
	}
	return true;
}

static enum err
verify_orders(struct snapshot *snap, struct fault *fault)
{
	uint32_t rows = snapshot_rows(snap);
	uint8_t *seen = malloc(rows / 8 + 1);
	enum err err = seen == NULL ? ERR_NO_MEMORY : ERR_OK;

	for (unsigned i = 0; i < 2 * ROW_FLATS + 1 && err == ERR_OK; i++) {
		unsigned column = i / 2;
		const uint32_t *order = i == 2 * ROW_FLATS
		    ? snapshot_by_codein(snap)
		    : snapshot_order(snap, column, i % 2 == 1);

		if (order == NULL || !is_permutation(order, rows, seen))
			err = damaged(snap, fault, "an order is broken",
			    SNAP_ASC + column);
	}
	free(seen);
	return err;
}

static enum err
verify_rows(struct snapshot *snap, struct fault *fault)
{
	const int64_t *ca = snapshot_numbers(snap, COL_totalCa);
	struct span text;
	struct grams grams;
	const uint32_t *at;

	if (ca == NULL)
		return damaged(snap, fault, "a column is missing", SNAP_NUMBER);
	if (!snapshot_text(snap, &text, &at))
		return damaged(
		    snap, fault, "the search text is broken", SNAP_TEXT);
	if (snapshot_has_grams(snap) &&
	    (!snapshot_grams(snap, &grams) || !grams_sound(&grams)))
		return damaged(
		    snap, fault, "the search lists are broken", SNAP_GRAMS);
	for (uint32_t row = 0; row < snapshot_rows(snap); row++) {
		if (row > 0 && (ca[row - 1] < ca[row] || at[row] < at[row - 1]))
			return damaged(snap, fault, "the rows are out of order",
			    SNAP_NUMBER);
		for (unsigned i = 0; i < ROW_COLUMNS; i++)
			if (snapshot_value(snap, row, i).len == 0)
				return damaged(snap, fault, "a row is broken",
				    SNAP_SLICE +
					2 *
					    (row /
						snapshot_head(snap)
						    ->slice_rows));
	}
	return ERR_OK;
}

enum err
snapshot_verify(struct snapshot *snap, struct fault *fault,
    struct snapshot_verified *verified)
{
	struct snapshot_verified counts = {0, 0};
	enum err err = verify_sums(snap, fault, &counts);

	if (err == ERR_OK)
		err = verify_orders(snap, fault);
	if (err == ERR_OK && !snapshot_columns_sound(snap))
		err = damaged(
		    snap, fault, "a column of a filter is broken", SNAP_TERM);
	if (err == ERR_OK)
		err = verify_rows(snap, fault);
	if (verified != NULL)
		*verified = counts;
	return err;
}
