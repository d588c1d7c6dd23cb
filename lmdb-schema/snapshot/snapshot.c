/*
 * Data are compared with their checksums before they are given out: arrays as a
 * whole, rows by the blocks that they lie in. Repeating the check costs a few
 * loads.
 */
#include "lmdb-schema/snapshot/snapshot.h"

#include <assert.h>
#include <string.h>

#include "lmdb-schema/snapshot/snapshot_priv.h"

const struct snap_head *
snapshot_head(const struct snapshot *snap)
{
	return snap->head;
}

unsigned
snapshot_epoch(const struct snapshot *snap)
{
	return atomic_load_explicit(&snap->file.epoch, memory_order_relaxed);
}

bool
snapshot_is_damaged(const struct snapshot *snap)
{
	return atomic_load(&snap->file.told) > 0;
}

uint32_t
snapshot_rows(const struct snapshot *snap)
{
	return snap->head->rows;
}

struct span
snapshot_supplier(const struct snapshot *snap)
{
	return span_make(snap->head->code, snap->head->code_len);
}

struct span
snapshot_name(const struct snapshot *snap)
{
	return snap->name;
}

uint32_t
snapshot_left_out(const struct snapshot *snap)
{
	return snap->table[SNAP_HEAD].reserved;
}

/* --- sections ------------------------------------------------------------ */

const char *
snapshot_copy(struct snapshot *snap, unsigned section)
{
	const struct blocks *blocks = &snap->blocks[section];
	const char *copy =
	    atomic_load_explicit(&snap->copies[section], memory_order_acquire);

	assert(section < snap->head->sections);
	if (copy != NULL)
		return copy;
	pthread_mutex_lock(&snap->lock);
	copy = atomic_load(&snap->copies[section]);
	if (copy == NULL) {
		copy = memcpy(
		    snap->room + snap->used, blocks->base, blocks->bytes);
		snap->used += snapshot_copy_room(blocks);
		atomic_store_explicit(
		    &snap->copies[section], copy, memory_order_release);
	}
	pthread_mutex_unlock(&snap->lock);
	return copy;
}

/* A section that must have exactly this many bytes. */
static inline const char *
section_of(struct snapshot *snap, unsigned section, uint64_t bytes)
{
	if (snap->table[section].bytes != bytes)
		return NULL;
	return snapshot_whole(snap, section);
}

static const void *
array(struct snapshot *snap, unsigned section, size_t each)
{
	return section_of(snap, section, (uint64_t)snap->head->rows * each);
}

const int64_t *
snapshot_numbers(struct snapshot *snap, unsigned column)
{
	int place = snap->number_place[column];

	assert(column < ROW_COLUMNS);
	if (place < 0)
		return NULL;
	return array(snap, SNAP_NUMBER + (unsigned)place, sizeof(int64_t));
}

const uint32_t *
snapshot_order(struct snapshot *snap, unsigned column, bool descending)
{
	assert(column < ROW_COLUMNS);
	return array(snap, (descending ? SNAP_DESC : SNAP_ASC) + column,
	    sizeof(uint32_t));
}

const uint8_t *
snapshot_gammes(struct snapshot *snap)
{
	return array(snap, SNAP_GAMME, 1);
}

const uint32_t *
snapshot_code3(struct snapshot *snap)
{
	return array(snap, SNAP_CODE3, sizeof(uint32_t));
}

const uint32_t *
snapshot_by_codein(struct snapshot *snap)
{
	return array(snap, SNAP_CODEIN, sizeof(uint32_t));
}

bool
snapshot_text_places(
    struct snapshot *snap, struct span *text, const uint32_t **at)
{
	const char *bytes = snap->blocks[SNAP_TEXT].base;

	*at = (const uint32_t *)(const void *)section_of(snap, SNAP_TEXT_AT,
	    ((uint64_t)snap->head->rows + 1) * sizeof(uint32_t));
	if (bytes == NULL || *at == NULL)
		return false;
	*text = span_make(bytes, snap->table[SNAP_TEXT].bytes);
	return (*at)[0] == 0 && (*at)[snap->head->rows] == text->len;
}

bool
snapshot_text(struct snapshot *snap, struct span *text, const uint32_t **at)
{
	return snapshot_text_places(snap, text, at) &&
	    blocks_all(&snap->blocks[SNAP_TEXT]);
}

struct blocks *
snapshot_text_blocks(struct snapshot *snap)
{
	return &snap->blocks[SNAP_TEXT];
}

bool
snapshot_has_grams(const struct snapshot *snap)
{
	return snap->table[SNAP_GRAM_AT].bytes > 0;
}

bool
snapshot_grams(struct snapshot *snap, struct grams *grams)
{
	uint32_t rows = snap->head->rows;

	if (!snapshot_has_grams(snap))
		return false;
	grams->rows = rows;
	grams->count = snap->table[SNAP_GRAMS].bytes / sizeof(*grams->lists);
	grams->at = (const uint32_t *)(const void *)section_of(
	    snap, SNAP_GRAM_AT, grams_at_count(rows) * sizeof(*grams->at));
	grams->guard = &snap->blocks[SNAP_GRAMS];
	if (snapshot_is_odd(grams->guard)) {
		grams->lists = (const uint16_t *)(const void *)snapshot_whole(
		    snap, SNAP_GRAMS);
		grams->guard = NULL;
	} else
		grams->lists =
		    (const uint16_t *)(const void *)grams->guard->base;
	return grams->at != NULL && grams->lists != NULL;
}

/* --- rows --------------------------------------------------------------- */

/* Locates the row's scalars; only the offsets are compared, not the text. */
static inline bool
find_flat(struct snapshot *snap, uint32_t row, struct snapshot_part *part,
    struct blocks **slice)
{
	const struct snap_flat *flat = snap->flats;

	if (row >= snap->head->rows || flat == NULL ||
	    !blocks_sound(&snap->blocks[SNAP_FLATS],
		(uint64_t)row * sizeof(*flat), sizeof(*flat)))
		return false;
	flat += row;
	*slice = &snap->blocks[SNAP_SLICE + 2 * (row >> snap->slice_shift)];
	if ((uint64_t)flat->at + flat->off[ROW_FLATS] > (*slice)->bytes)
		return false;
	part->json = (*slice)->base + flat->at;
	part->off.flat = flat->off;
	return true;
}

bool
snapshot_flat(struct snapshot *snap, uint32_t row, struct snapshot_part *part)
{
	struct blocks *slice;

	return find_flat(snap, row, part, &slice) &&
	    blocks_sound(slice, (uint64_t)(part->json - slice->base),
		part->off.flat[ROW_FLATS]) &&
	    slice->base != NULL;
}

bool
snapshot_glance(struct snapshot *snap, uint32_t row, struct snapshot_part *part)
{
	struct blocks *slice;

	if (!find_flat(snap, row, part, &slice) || slice->base == NULL)
		return false;
	blocks_expect(slice, (uint64_t)(part->json - slice->base),
	    part->off.flat[ROW_FLATS]);
	return true;
}

bool
snapshot_maps(struct snapshot *snap, uint32_t row, struct snapshot_part *part)
{
	const struct snap_maps *maps = snap->maps;
	struct blocks *slice;

	if (row >= snap->head->rows || maps == NULL ||
	    !blocks_sound(&snap->blocks[SNAP_MAPS],
		(uint64_t)row * sizeof(*maps), sizeof(*maps)))
		return false;
	maps += row;
	slice = &snap->blocks[SNAP_SLICE + 2 * (row >> snap->slice_shift) + 1];
	/* Plus one byte: the comma that follows the row. */
	if ((uint64_t)maps->at + maps->off[ROW_MAPCOUNT] >= slice->bytes ||
	    !blocks_sound(
		slice, maps->at, (uint64_t)maps->off[ROW_MAPCOUNT] + 1))
		return false;
	part->json = slice->base + maps->at;
	part->off.maps = maps->off;
	return true;
}

void
snapshot_expect(struct snapshot *snap, uint32_t row, bool with_maps)
{
	/* Only prefetches: nothing is read, and a wrong row does no harm. */
	if (row >= snap->head->rows)
		return;
	blocks_expect(&snap->blocks[SNAP_FLATS],
	    (uint64_t)row * sizeof(*snap->flats), sizeof(*snap->flats));
	if (with_maps)
		blocks_expect(&snap->blocks[SNAP_MAPS],
		    (uint64_t)row * sizeof(*snap->maps), sizeof(*snap->maps));
	if (snap->flats != NULL)
		span_expect(span_make(
		    (const char *)(snap->flats + row), sizeof(*snap->flats)));
	if (with_maps && snap->maps != NULL)
		span_expect(span_make(
		    (const char *)(snap->maps + row), sizeof(*snap->maps)));
}

void
snapshot_expect_maps(struct snapshot *snap, uint32_t row)
{
	const struct snap_maps *maps = snap->maps;

	if (row < snap->head->rows && maps != NULL &&
	    blocks_sound(&snap->blocks[SNAP_MAPS],
		(uint64_t)row * sizeof(*maps), sizeof(*maps)))
		blocks_expect(&snap->blocks[SNAP_SLICE +
				  2 * (row >> snap->slice_shift) + 1],
		    maps[row].at, (uint64_t)maps[row].off[ROW_MAPCOUNT] + 1);
}

int64_t
snapshot_rows_bytes(const struct snapshot *snap)
{
	uint64_t bytes = 0;

	for (unsigned i = SNAP_SLICE; i < snap->head->sections; i++)
		bytes += snap->table[i].bytes;
	return (int64_t)bytes;
}

struct span
snapshot_value(struct snapshot *snap, uint32_t row, unsigned column)
{
	struct snapshot_part part;

	assert(column < ROW_COLUMNS);
	if (column < ROW_FLATS)
		return snapshot_flat(snap, row, &part)
		    ? snapshot_flat_value(&part, column)
		    : SPAN("");
	return snapshot_maps(snap, row, &part)
	    ? snapshot_maps_value(&part, column)
	    : SPAN("");
}

/* --- the classification ------------------------------------------------- */

bool
snapshot_classes(
    struct snapshot *snap, unsigned level, struct snapshot_classes *out)
{
	const char *tree = snapshot_whole(snap, SNAP_TREE);
	uint64_t bytes = snap->table[SNAP_TREE].bytes, classes;
	uint32_t head[4];

	assert(level >= 1 && level <= 3);
	if (tree == NULL || bytes < SNAP_TREE_HEAD)
		return false;
	memcpy(head, tree, sizeof(head));
	classes =
	    ((uint64_t)head[0] + head[1] + head[2]) * sizeof(struct snap_class);
	if (classes > bytes - SNAP_TREE_HEAD)
		return false;
	out->class =
	    (const struct snap_class *)(const void *)(tree + SNAP_TREE_HEAD);
	for (unsigned i = 0; i + 1 < level; i++)
		out->class += head[i];
	out->count = head[level - 1];
	out->without = head[3];
	out->labels = span_make(
	    tree + SNAP_TREE_HEAD + classes, bytes - SNAP_TREE_HEAD - classes);
	return true;
}

struct span
snapshot_class_label(
    const struct snapshot_classes *classes, const struct snap_class *class)
{
	return span_sub(classes->labels, class->label_at, class->label_len);
}
