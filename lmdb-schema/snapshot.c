/*
 * Sections are resolved on first use and kept as atomic pointers: the map
 * never moves, so whoever comes second finds the same address.
 */
#include "lmdb-schema/snapshot.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/kv.h"
#include "common/log.h"
#include "lmdb-schema/deflate.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/snapshot_sections.h"
#include "lmdb-schema/store.h"

struct snapshot {
	struct kv *kv;
	struct kv_txn *txn; /* look-ups share it, under the lock */
	pthread_mutex_t lock;
	const struct snap_head *head;
	struct span name;
	const struct snap_section *table;
	unsigned slice_shift; /* slice_rows = 1 << slice_shift */
	int8_t number_place[ROW_COLUMNS];
	_Atomic(const char *) *sections;
	char *copies; /* room for what must be copied, `copied` bytes full */
	size_t copied;
};

/*
 * LMDB gives a longer value pages of its own, 16 bytes from their start; this
 * is half of the largest page that it makes.
 */
#define SMALL 32768

/* Stands in sections[] for one that was looked at and found wanting. */
static const char bad[1];

static enum err
get_head(struct snapshot *snap, struct span *value)
{
	struct key key = key_u16(SNAP_HEAD);

	return kv_get(snap->txn, 0, key_span(&key), value);
}

/* The checksum counts its own place as zeros. */
static uint32_t
head_crc(struct span value)
{
	static const uint32_t zero = 0;
	size_t at = offsetof(struct snap_head, crc);
	uint32_t crc = deflate_crc(0, value.ptr, at);

	crc = deflate_crc(crc, &zero, sizeof(zero));
	at += sizeof(zero);
	return deflate_crc(crc, value.ptr + at, value.len - at);
}

static bool
head_fits(const struct snap_head *head, struct span value)
{
	uint64_t slices;

	if (head->slice_rows == 0 ||
	    (head->slice_rows & (head->slice_rows - 1)) != 0 ||
	    head->columns != ROW_COLUMNS || head->code_len > SCHEMA_CODE_MAX ||
	    head->name_len > value.len - sizeof(*head))
		return false;
	slices =
	    ((uint64_t)head->rows + head->slice_rows - 1) / head->slice_rows;
	return head->sections == SNAP_SLICE + 2 * slices &&
	    head->sections <= UINT16_MAX &&
	    value.len ==
	    sizeof(*head) + head->name_len +
		head->sections * sizeof(struct snap_section) &&
	    head->crc == head_crc(value);
}

static enum err
read_head(struct snapshot *snap)
{
	const struct snap_head *head;
	struct span value;
	enum err err = get_head(snap, &value);

	if (err != ERR_OK)
		return err == ERR_NOT_FOUND ? ERR_DAMAGED : err;
	/* LMDB puts large values on an address that is a multiple of 16. */
	if (value.len < sizeof(*head) || (uintptr_t)value.ptr % 8 != 0)
		return ERR_DAMAGED;
	head = (const struct snap_head *)(const void *)value.ptr;
	if (memcmp(head->magic, SNAP_MAGIC, sizeof(head->magic)) != 0)
		return ERR_DAMAGED;
	if (head->version != SNAP_VERSION)
		return ERR_VERSION;
	if (!head_fits(head, value))
		return ERR_DAMAGED;
	snap->head = head;
	snap->name = span_sub(value, sizeof(*head), head->name_len);
	return ERR_OK;
}

/* What a copy of a section takes, so that the next one is on its place too. */
static size_t
copy_room(uint64_t bytes)
{
	return bytes > SMALL ? 0 : (bytes + 7) & ~(size_t)7;
}

/*
 * The name shifts the table off its alignment: a copy puts it right. Room for
 * the sections that may need the same is got here too: a reader that finds a
 * section wanting can then say that the file is damaged, and nothing else.
 */
static enum err
copy_table(struct snapshot *snap)
{
	unsigned count = snap->head->sections;
	struct snap_section *table = calloc(count, sizeof(*table));
	size_t room = 0;

	snap->table = table;
	snap->sections = calloc(count, sizeof(*snap->sections));
	if (table == NULL || snap->sections == NULL)
		return ERR_NO_MEMORY;
	memcpy(table, snap->name.ptr + snap->name.len, count * sizeof(*table));
	for (unsigned i = 0; i < count; i++)
		room += copy_room(table[i].bytes);
	if (room == 0)
		return ERR_OK;
	snap->copies = malloc(room);
	return snap->copies == NULL ? ERR_NO_MEMORY : ERR_OK;
}

enum err
snapshot_open_file(struct snapshot **out, const char *path)
{
	struct kv_spec spec = {.path = path, .mode = KV_FROZEN};
	struct snapshot *snap = calloc(1, sizeof(*snap));
	enum err err;

	*out = NULL;
	if (snap == NULL)
		return ERR_NO_MEMORY;
	pthread_mutex_init(&snap->lock, NULL);
	err = kv_open(&snap->kv, &spec);
	if (err == ERR_OK)
		err = kv_read(&snap->txn, snap->kv);
	if (err == ERR_OK)
		err = read_head(snap);
	if (err == ERR_OK)
		err = copy_table(snap);
	if (err != ERR_OK) {
		/* Whatever else it was passes, and has been told. */
		if (err == ERR_DAMAGED || err == ERR_VERSION)
			log_error("snapshot cannot be used, its supplier is to "
				  "be computed again: file=%s error=%s",
			    path, err_text(err));
		snapshot_close(snap);
		return err;
	}
	snap->slice_shift = (unsigned)__builtin_ctz(snap->head->slice_rows);
	for (unsigned i = 0; i < ROW_COLUMNS; i++)
		snap->number_place[i] = (int8_t)row_number_index(i);
	*out = snap;
	return ERR_OK;
}

enum err
snapshot_open(struct snapshot **out, struct store *store, struct span supplier,
    uint64_t generation)
{
	char path[FS_PATH_MAX];
	enum err err =
	    store_snapshot_path(path, store, supplier, generation, "");

	*out = NULL;
	if (err == ERR_OK)
		err = snapshot_open_file(out, path);
	if (err == ERR_OK &&
	    ((*out)->head->generation != generation ||
		!span_eq(snapshot_supplier(*out), supplier))) {
		log_error(
		    "snapshot is not the one it is called: file=%s", path);
		snapshot_close(*out);
		*out = NULL;
		err = ERR_DAMAGED;
	}
	return err;
}

void
snapshot_close(struct snapshot *snap)
{
	if (snap == NULL)
		return;
	kv_abort(snap->txn);
	kv_close(snap->kv);
	free((void *)(uintptr_t)snap->table);
	free(snap->sections);
	free(snap->copies);
	pthread_mutex_destroy(&snap->lock);
	free(snap);
}

const struct snap_head *
snapshot_head(const struct snapshot *snap)
{
	return snap->head;
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

/* --- sections ----------------------------------------------------------- */

/*
 * Values of less than half a page lie between others, on any address: those
 * are copied once. Large ones are used where they are.
 */
static const char *
aligned(struct snapshot *snap, struct span value)
{
	char *copy;

	if (value.len == 0)
		return "";
	if ((uintptr_t)value.ptr % 8 == 0)
		return value.ptr;
	if (value.len > SMALL)
		return bad;
	copy = snap->copies + snap->copied;
	snap->copied += copy_room(value.len);
	memcpy(copy, value.ptr, value.len);
	return copy;
}

static const char *
find_section(struct snapshot *snap, unsigned section)
{
	struct key key = key_u16((uint16_t)section);
	struct span value;
	enum err err = kv_get(snap->txn, 0, key_span(&key), &value);

	if (err == ERR_OK && value.len == snap->table[section].bytes)
		return aligned(snap, value);
	log_error("snapshot is damaged: supplier=%.*s section=%u error=%s",
	    SPAN_ARG(snapshot_supplier(snap)), section,
	    err == ERR_OK ? "wrong length" : err_text(err));
	return bad;
}

static const char *
resolve(struct snapshot *snap, unsigned section)
{
	const char *found;

	pthread_mutex_lock(&snap->lock);
	found = atomic_load(&snap->sections[section]);
	if (found == NULL) {
		found = find_section(snap, section);
		atomic_store_explicit(
		    &snap->sections[section], found, memory_order_release);
	}
	pthread_mutex_unlock(&snap->lock);
	return found;
}

static inline const char *
section_any(struct snapshot *snap, unsigned section)
{
	const char *found = atomic_load_explicit(
	    &snap->sections[section], memory_order_acquire);

	if (__builtin_expect(found == NULL, 0))
		found = resolve(snap, section);
	return found == bad ? NULL : found;
}

const struct snap_section *
snapshot_section_row(const struct snapshot *snap, unsigned section)
{
	return &snap->table[section];
}

const char *
snapshot_section(struct snapshot *snap, unsigned section)
{
	return section_any(snap, section);
}

/* A section that must have exactly this many bytes. */
static inline const char *
section_of(struct snapshot *snap, unsigned section, uint64_t bytes)
{
	if (snap->table[section].bytes != bytes)
		return NULL;
	return section_any(snap, section);
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

	if (place < 0)
		return NULL;
	return array(snap, SNAP_NUMBER + (unsigned)place, sizeof(int64_t));
}

const uint32_t *
snapshot_order(struct snapshot *snap, unsigned column, bool descending)
{
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
snapshot_text(struct snapshot *snap, struct span *text, const uint32_t **at)
{
	const char *bytes = section_any(snap, SNAP_TEXT);

	*at = (const uint32_t *)(const void *)section_of(snap, SNAP_TEXT_AT,
	    ((uint64_t)snap->head->rows + 1) * sizeof(uint32_t));
	if (bytes == NULL || *at == NULL)
		return false;
	*text = span_make(bytes, snap->table[SNAP_TEXT].bytes);
	return (*at)[0] == 0 && (*at)[snap->head->rows] == text->len;
}

bool
snapshot_has_grams(const struct snapshot *snap)
{
	return grams_chunks(snap->head->rows) > 0;
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
	if (grams->at == NULL)
		return false;
	grams->lists =
	    (const uint16_t *)(const void *)section_any(snap, SNAP_GRAMS);
	return grams->lists != NULL;
}

/* --- rows --------------------------------------------------------------- */

bool
snapshot_flat(struct snapshot *snap, uint32_t row, struct snapshot_part *part)
{
	const struct snap_flat *flat = array(snap, SNAP_FLATS, sizeof(*flat));
	unsigned section = SNAP_SLICE + 2 * (row >> snap->slice_shift);
	const char *slice;

	if (row >= snap->head->rows || flat == NULL)
		return false;
	flat += row;
	slice = section_any(snap, section);
	if (slice == NULL ||
	    (uint64_t)flat->at + flat->off[ROW_FLATS] >
		snap->table[section].bytes)
		return false;
	part->json = slice + flat->at;
	part->off.flat = flat->off;
	return true;
}

bool
snapshot_maps(struct snapshot *snap, uint32_t row, struct snapshot_part *part)
{
	const struct snap_maps *maps = array(snap, SNAP_MAPS, sizeof(*maps));
	unsigned section = SNAP_SLICE + 2 * (row >> snap->slice_shift) + 1;
	const char *slice;

	if (row >= snap->head->rows || maps == NULL)
		return false;
	maps += row;
	slice = section_any(snap, section);
	/* One more byte: the comma behind the row. */
	if (slice == NULL ||
	    (uint64_t)maps->at + maps->off[ROW_MAPCOUNT] >=
		snap->table[section].bytes)
		return false;
	part->json = slice + maps->at;
	part->off.maps = maps->off;
	return true;
}

void
snapshot_expect(struct snapshot *snap, uint32_t row, bool with_maps)
{
	const struct snap_flat *flats = array(snap, SNAP_FLATS, sizeof(*flats));
	const struct snap_maps *maps = array(snap, SNAP_MAPS, sizeof(*maps));

	if (row >= snap->head->rows)
		return;
	if (flats != NULL)
		span_expect(span_make(flats + row, sizeof(*flats)));
	if (with_maps && maps != NULL)
		span_expect(span_make(maps + row, sizeof(*maps)));
}

int64_t
snapshot_rows_bytes(const struct snapshot *snap)
{
	uint64_t bytes = 0;

	for (unsigned i = SNAP_SLICE; i < snap->head->sections; i++)
		bytes += snap->table[i].bytes;
	return (int64_t)bytes;
}

/* The bytes start..end of a part without `"name":` and the separator. */
static struct span
value_of(const char *json, uint32_t start, uint32_t end, uint32_t most,
    unsigned column)
{
	uint32_t name = (uint32_t)row_info[column].name.len + 3;

	/* Damaged ones may be near 2^32: nothing is added to them. */
	if (end > most || start > end || end - start < name + 1)
		return SPAN("");
	return span_make(json + start + name, end - start - name - 1);
}

struct span
snapshot_value(struct snapshot *snap, uint32_t row, unsigned column)
{
	struct snapshot_part part;

	if (column < ROW_FLATS) {
		if (!snapshot_flat(snap, row, &part))
			return SPAN("");
		return value_of(part.json, part.off.flat[column],
		    part.off.flat[column + 1], part.off.flat[ROW_FLATS],
		    column);
	}
	if (!snapshot_maps(snap, row, &part))
		return SPAN("");
	column -= ROW_FLATS;
	return value_of(part.json, part.off.maps[column],
	    part.off.maps[column + 1], part.off.maps[ROW_MAPCOUNT],
	    column + ROW_FLATS);
}

/* --- the classification ------------------------------------------------- */

bool
snapshot_classes(
    struct snapshot *snap, unsigned level, struct snapshot_classes *out)
{
	const char *tree = section_any(snap, SNAP_TREE);
	uint64_t bytes = snap->table[SNAP_TREE].bytes, classes;
	uint32_t head[4];

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
