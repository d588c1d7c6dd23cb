/*
 * An article's row, by binary search in the order of the codes. The codes are
 * read in place, from the rows' JSON.
 */
#include <assert.h>

#include "lmdb-schema/snapshot/snapshot.h"

#include "common/jsonw.h"

/* Compares the escaped text of a JSON string with plain text. */
static int
compare_codein(struct span quoted, struct span codein)
{
	struct span text = jsonw_inside(quoted);
	size_t i = 0;

	for (size_t at = 0; at < text.len; i++) {
		unsigned char byte = (unsigned char)jsonw_plain_byte(text, &at);

		if (i == codein.len)
			return 1;
		if (byte != (unsigned char)codein.ptr[i])
			return byte < (unsigned char)codein.ptr[i] ? -1 : 1;
	}
	return i == codein.len ? 0 : -1;
}

/*
 * The position of the codein in [low, high) of the order, or where it would be
 * inserted.
 */
static enum err
search(struct snapshot *snap, const uint32_t *order, struct span codein,
    uint32_t low, uint32_t high, uint32_t *place, bool *there)
{
	*there = false;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		struct span value =
		    snapshot_value(snap, order[middle], COL_codein);
		int way;

		if (value.len == 0)
			return ERR_DAMAGED;
		way = compare_codein(value, codein);
		if (way == 0) {
			*there = true;
			low = middle;
			break;
		}
		if (way < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*place = low;
	return ERR_OK;
}

enum err
snapshot_find(struct snapshot *snap, struct span codein, uint32_t *row)
{
	const uint32_t *order = snapshot_by_codein(snap);
	uint32_t place;
	bool there;
	enum err err;

	if (order == NULL)
		return ERR_DAMAGED;
	err =
	    search(snap, order, codein, 0, snapshot_rows(snap), &place, &there);
	if (err != ERR_OK || !there)
		return err == ERR_OK ? ERR_NOT_FOUND : err;
	*row = order[place];
	return ERR_OK;
}

enum err
snapshot_find_next(
    struct snapshot *snap, struct span codein, uint32_t *place, uint32_t *row)
{
	const uint32_t *order = snapshot_by_codein(snap);
	uint32_t rows = snapshot_rows(snap), low = *place, step = 1;
	bool there;
	enum err err;

	assert(*place <= snapshot_rows(snap));
	if (order == NULL)
		return ERR_DAMAGED;
	/* Galloping search: double the step until it goes past the codein. */
	while (rows - low > step) {
		struct span value =
		    snapshot_value(snap, order[low + step], COL_codein);

		if (value.len == 0)
			return ERR_DAMAGED;
		if (compare_codein(value, codein) > 0)
			break;
		low += step;
		step *= 2;
	}
	err = search(snap, order, codein, low,
	    rows - low > step ? low + step + 1 : rows, place, &there);
	if (err != ERR_OK || !there)
		return err == ERR_OK ? ERR_NOT_FOUND : err;
	*row = order[*place];
	return ERR_OK;
}
