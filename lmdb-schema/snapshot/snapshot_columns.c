#include "lmdb-schema/snapshot/snapshot_columns.h"

#include <assert.h>

#include "common/num.h"
#include "lmdb-schema/snapshot/snapshot.h"
#include "lmdb-schema/snapshot/snapshot_priv.h"

/* --- texts ---------------------------------------------------------------- */

/* False when the places behind `at` are not within `bytes`. */
static bool
ends_fit(const uint32_t *at, uint32_t count, uint64_t bytes)
{
	return at[0] == 0 && at[count] == bytes;
}

static bool
take_terms(struct snapshot_terms *out, const char *bytes, uint64_t len)
{
	const uint32_t *words = (const uint32_t *)(const void *)bytes;
	uint64_t head;

	if (len < sizeof(*words))
		return false;
	out->count = words[0];
	head = (2 * ((uint64_t)out->count + 1) + 1) * sizeof(*words);
	if (head > len)
		return false;
	out->folded_at = words + 1;
	out->text_at = out->folded_at + out->count + 1;
	if (out->folded_at[out->count] > len - head)
		return false;
	out->folded = span_make(bytes + head, out->folded_at[out->count]);
	out->texts = span_make(
	    bytes + head + out->folded.len, len - head - out->folded.len);
	return ends_fit(out->folded_at, out->count, out->folded.len) &&
	    ends_fit(out->text_at, out->count, out->texts.len);
}

bool
snapshot_terms(
    struct snapshot *snap, unsigned column, struct snapshot_terms *out)
{
	const char *bytes, *of;

	assert(column < ROW_FLATS && !row_is_number(column) &&
	    !row_is_gamme(column));
	bytes = snapshot_whole(snap, SNAP_TERMS + column);
	if (bytes == NULL ||
	    !take_terms(out, bytes, snap->table[SNAP_TERMS + column].bytes))
		return false;
	out->of = NULL;
	if (snap->table[SNAP_TERM + column].bytes == 0)
		return out->count <= 1;
	if (snap->table[SNAP_TERM + column].bytes !=
	    (uint64_t)snap->head->rows * sizeof(*out->of))
		return false;
	of = snapshot_whole(snap, SNAP_TERM + column);
	out->of = (const uint32_t *)(const void *)of;
	return of != NULL;
}

bool
snapshot_terms_fit(const struct snapshot_terms *terms)
{
	for (uint32_t i = 0; i < terms->count; i++)
		if (terms->folded_at[i] >= terms->folded_at[i + 1])
			return false;
	return true;
}

/* Damaged places give an empty text. */
static struct span
piece_of(struct span all, const uint32_t *at, uint32_t i)
{
	return at[i] <= at[i + 1] ? span_sub(all, at[i], at[i + 1] - at[i])
				  : SPAN("");
}

struct span
snapshot_term(const struct snapshot_terms *terms, uint32_t term)
{
	assert(term < terms->count);
	return piece_of(terms->texts, terms->text_at, term);
}

struct span
snapshot_term_folded(const struct snapshot_terms *terms, uint32_t term)
{
	struct span piece;

	assert(term < terms->count);
	piece = piece_of(terms->folded, terms->folded_at, term);
	return span_sub(piece, 0, piece.len == 0 ? 0 : piece.len - 1);
}

uint32_t
snapshot_term_at(const struct snapshot_terms *terms, struct span folded)
{
	uint32_t low = 0, high = terms->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (span_cmp(snapshot_term_folded(terms, middle), folded) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t
snapshot_term_find(
    const struct snapshot_terms *terms, struct span text, struct span folded)
{
	uint32_t term = snapshot_term_at(terms, folded);

	for (; term < terms->count &&
	     span_eq(snapshot_term_folded(terms, term), folded);
	     term++)
		if (span_eq(snapshot_term(terms, term), text))
			return term;
	return SNAP_NO_TERM;
}

/* --- numbers -------------------------------------------------------------- */

int64_t
snapshot_narrow_value(const struct snapshot_narrow *values, uint32_t row)
{
	if (values->narrow == NULL)
		return values->wide[row];
	return values->narrow[row] == INT32_MIN
	    ? NUM_NULL
	    : values->narrow[row] * values->unit;
}

/* Bytes of a section that match their checksums; NULL otherwise. */
static const char *
part_of(struct snapshot *snap, unsigned section, uint64_t at, uint64_t len)
{
	struct blocks *blocks = &snap->blocks[section];
	const char *whole;

	if (blocks->base == NULL || at > blocks->bytes ||
	    len > blocks->bytes - at)
		return NULL;
	if (snapshot_is_odd(blocks)) {
		whole = snapshot_whole(snap, section);
		return whole == NULL ? NULL : whole + at;
	}
	return blocks_sound(blocks, at, len) ? blocks->base + at : NULL;
}

static bool
take_narrow(struct snapshot *snap, unsigned section, uint64_t place,
    uint64_t places, struct snapshot_narrow *out)
{
	uint64_t rows = snap->head->rows;
	const char *head =
	    part_of(snap, section, 0, sizeof(struct snap_narrow));
	struct snap_narrow narrow;
	const void *values;

	if (head == NULL)
		return false;
	memcpy(&narrow, head, sizeof(narrow));
	if ((narrow.width != 4 && narrow.width != 8) || place >= places ||
	    narrow.unit < 1 || NUM_MICRO % narrow.unit != 0 ||
	    snap->table[section].bytes !=
		sizeof(narrow) + rows * places * narrow.width)
		return false;
	values = part_of(snap, section,
	    sizeof(narrow) + rows * place * narrow.width, rows * narrow.width);
	out->unit = narrow.unit;
	out->narrow = narrow.width == 4 ? values : NULL;
	out->wide = narrow.width == 8 ? values : NULL;
	return values != NULL;
}

bool
snapshot_month(struct snapshot *snap, enum snap_measure measure, unsigned month,
    struct snapshot_narrow *out)
{
	assert(measure < SNAP_MONTHLY && month < SCHEMA_MONTHS);
	return take_narrow(
	    snap, SNAP_MONTHS + measure, month, SCHEMA_MONTHS, out);
}

bool
snapshot_has_stores(const struct snapshot *snap)
{
	return snap->table[SNAP_STORES].bytes > 0;
}

bool
snapshot_store(struct snapshot *snap, enum snap_measure measure, unsigned store,
    struct snapshot_narrow *out)
{
	struct snapshot_stores stores;

	assert(measure < SNAP_MEASURES);
	return snapshot_stores(snap, &stores) &&
	    take_narrow(snap, SNAP_STORES + measure, store, stores.count, out);
}

/* --- stores and trends ---------------------------------------------------- */

bool
snapshot_stores(struct snapshot *snap, struct snapshot_stores *out)
{
	const char *bytes = snapshot_whole(snap, SNAP_STORE_CODES);
	uint64_t len = snap->table[SNAP_STORE_CODES].bytes, head;

	if (bytes == NULL || len < sizeof(uint32_t))
		return false;
	memcpy(&out->count, bytes, sizeof(out->count));
	head = ((uint64_t)out->count + 2) * sizeof(uint32_t);
	if (out->count > SCHEMA_STORES_MAX || head > len)
		return false;
	out->at = (const uint32_t *)(const void *)(bytes + sizeof(uint32_t));
	out->codes = span_make(bytes + head, len - head);
	return ends_fit(out->at, out->count, out->codes.len);
}

struct span
snapshot_store_code(const struct snapshot_stores *stores, unsigned store)
{
	assert(store < stores->count);
	return piece_of(stores->codes, stores->at, store);
}

int
snapshot_store_find(const struct snapshot_stores *stores, struct span code)
{
	for (uint32_t i = 0; i < stores->count; i++)
		if (span_eq(snapshot_store_code(stores, i), code))
			return (int)i;
	return -1;
}

const uint8_t *
snapshot_trends(struct snapshot *snap)
{
	if (snap->table[SNAP_TREND].bytes != snap->head->rows)
		return NULL;
	return (const uint8_t *)snapshot_whole(snap, SNAP_TREND);
}

/* --- all ------------------------------------------------------------------ */

/* Texts in order, and each row's the one that its JSON shows. */
static bool
terms_sound(struct snapshot *snap, unsigned column)
{
	struct snapshot_terms terms;

	if (!snapshot_terms(snap, column, &terms))
		return false;
	if (!snapshot_terms_fit(&terms))
		return false;
	for (uint32_t i = 0; i < terms.count; i++)
		if (terms.text_at[i] > terms.text_at[i + 1])
			return false;
	for (uint32_t i = 1; i < terms.count; i++)
		if (span_cmp(snapshot_term_folded(&terms, i - 1),
			snapshot_term_folded(&terms, i)) > 0)
			return false;
	for (uint32_t row = 0; terms.of != NULL && row < snap->head->rows;
	     row++)
		if (terms.of[row] >= terms.count &&
		    terms.of[row] != SNAP_NO_TERM)
			return false;
	return true;
}

static bool
sums_sound(struct snapshot *snap)
{
	struct snapshot_narrow values;
	struct snapshot_stores stores;

	if (!snapshot_stores(snap, &stores))
		return false;
	for (unsigned k = 0; k < SNAP_MONTHLY; k++)
		for (unsigned m = 0; m < SCHEMA_MONTHS; m++)
			if (!snapshot_month(snap, k, m, &values))
				return false;
	for (unsigned k = 0; k < SNAP_MEASURES; k++)
		for (unsigned i = 0;
		     snapshot_has_stores(snap) && i < stores.count; i++)
			if (!snapshot_store(snap, k, i, &values))
				return false;
	return true;
}

bool
snapshot_columns_sound(struct snapshot *snap)
{
	for (unsigned i = 0; i < ROW_FLATS; i++)
		if (!row_is_number(i) && !row_is_gamme(i) &&
		    !terms_sound(snap, i))
			return false;
	return sums_sound(snap) && snapshot_trends(snap) != NULL;
}
