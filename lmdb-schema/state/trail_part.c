#include "lmdb-schema/state/trail_part.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "lmdb-schema/deflate.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/state/trail_part_priv.h"
#include "lmdb-schema/store/sealed.h"
#include "lmdb-schema/zstd.h"

/* A block ends with the entry that reaches TRAIL_PART_BLOCK. */
#define PLAIN_MAX ((size_t)1 << 20)

#define NO_BLOCK UINT32_MAX

const struct trail_part_head *
trail_part_head(const struct trail_part *part)
{
	return &part->head;
}

enum err
trail_part_damaged(const struct trail_part *part, unsigned section, uint64_t at,
    const char *what)
{
	sealed_log_damage(part->path, section, at, what);
	return ERR_DAMAGED;
}

/* --- opening -------------------------------------------------------------- */

static size_t
head_bytes(const struct trail_part_head *head)
{
	return head->version <= TRAIL_PART_VERSION_PAIRS ? TRAIL_PART_HEAD_OLD
							 : sizeof(*head);
}

static bool
section_fits(const struct trail_part_head *head, unsigned i)
{
	uint64_t at = head->section[i].at, bytes = head->section[i].bytes;

	return at % TRAIL_PART_ALIGN == 0 && at >= head_bytes(head) &&
	    at <= head->bytes && bytes <= head->bytes - at;
}

static bool
articles_fit(const struct trail_part_head *head)
{
	uint64_t bytes = head->section[TRAIL_PART_ARTICLES].bytes;

	if (head->version <= TRAIL_PART_VERSION_PAIRS)
		return trail_part_pairs_fit(head);
	return bytes % sizeof(uint64_t) == 0 &&
	    bytes / sizeof(struct trail_part_run) >= head->runs;
}

/* Whether the head's figures fit one another. */
static bool
head_fits(const struct trail_part_head *head)
{
	uint64_t names, sums = 0;

	for (unsigned i = 0; i < TRAIL_PART_SECTIONS; i++)
		if (!section_fits(head, i))
			return false;
	if (head->first == 0 || head->last < head->first ||
	    head->last - head->first >= TRAIL_PART_ENTRIES_MAX ||
	    head->blocks == 0)
		return false;
	names = head->names *
	    (sizeof(struct trail_part_name) +
		trail_part_words(head) * sizeof(uint64_t));
	for (unsigned i = 0; i < TRAIL_PART_SUMMED; i++)
		sums += blocks_count(head->section[i].bytes) * sizeof(uint32_t);
	return head->section[TRAIL_PART_BLOCKS].bytes ==
	    head->blocks * sizeof(struct trail_part_block) &&
	    articles_fit(head) &&
	    head->section[TRAIL_PART_NAMES].bytes >= names &&
	    head->section[TRAIL_PART_NAMES].bytes <= UINT32_MAX &&
	    head->section[TRAIL_PART_SUMS].bytes == sums;
}

/* A version that a disk or a program has changed: the rest has its checksum. */
static bool
is_flipped(const struct trail_part_head *head)
{
	struct trail_part_head written = *head;

	written.version = TRAIL_PART_VERSION;
	return sealed_head_crc(span_make(&written, sizeof(written)),
		   offsetof(struct trail_part_head, crc),
		   SPAN("")) == head->crc;
}

static enum err
read_head(struct trail_part *part)
{
	struct trail_part_head *head = &part->head;
	enum err err = part->file.len < sizeof(*head)
	    ? ERR_DAMAGED
	    : sealed_read(&part->file, head, sizeof(*head), 0);

	if (err == ERR_DAMAGED)
		return trail_part_damaged(part, 0, 0, "cut");
	if (err != ERR_OK)
		return err;
	if (memcmp(head->magic, TRAIL_PART_MAGIC, sizeof(head->magic)) != 0)
		return trail_part_damaged(part, 0, 0, "head");
	if (head->version > TRAIL_PART_VERSION && !is_flipped(head))
		return ERR_VERSION;
	if (head->version > TRAIL_PART_VERSION ||
	    head->version < TRAIL_PART_VERSION_BARE)
		return trail_part_damaged(part, 0, 0, "head");
	if (head->bytes != part->file.len)
		return trail_part_damaged(part, 0, part->file.len, "cut");
	if (!head_fits(head))
		return trail_part_damaged(part, 0, 0, "head");
	if (head->version > TRAIL_PART_VERSION_PAIRS &&
	    sealed_head_crc(span_make(head, sizeof(*head)),
		offsetof(struct trail_part_head, crc), SPAN("")) != head->crc)
		return trail_part_damaged(part, 0, 0, "checksum");
	part->count = (uint32_t)(head->last - head->first + 1);
	return ERR_OK;
}

static enum err
check_sums(struct trail_part *part)
{
	const struct trail_part_head *head = &part->head;
	struct span sums =
	    span_make(part->file.bytes + head->section[TRAIL_PART_SUMS].at,
		head->section[TRAIL_PART_SUMS].bytes);
	bool sound = head->version > TRAIL_PART_VERSION_PAIRS
	    ? deflate_crc(0, sums.ptr, sums.len) == head->sums_crc
	    : sealed_head_crc(span_make(head, TRAIL_PART_HEAD_OLD),
		  offsetof(struct trail_part_head, crc), sums) == head->crc;

	return sound ? ERR_OK : trail_part_damaged(part, 0, 0, "checksum");
}

static enum err
set_sections(struct trail_part *part)
{
	const struct trail_part_head *head = &part->head;
	const char *bytes = part->file.bytes;
	const uint32_t *sums =
	    (const void *)(bytes + head->section[TRAIL_PART_SUMS].at);
	uint64_t count = head->section[TRAIL_PART_SUMS].bytes / sizeof(*sums),
		 at = 0;

	part->seen = calloc(count + 1, sizeof(*part->seen));
	if (part->seen == NULL)
		return ERR_NO_MEMORY;
	blocks_file_init(&part->sums, part->path);
	for (unsigned i = 0; i < TRAIL_PART_SUMMED; i++) {
		part->sections[i] =
		    (struct blocks){.base = bytes + head->section[i].at,
			.sums = sums + at,
			.seen = part->seen + at,
			.file = &part->sums,
			.bytes = head->section[i].bytes,
			.number = (uint16_t)i};
		at += blocks_count(head->section[i].bytes);
	}
	return ERR_OK;
}

enum err
trail_part_map(struct trail_part *part)
{
	enum err err;

	if (part->seen != NULL)
		return ERR_OK;
	err = part->file.bytes == NULL ? sealed_map(&part->file) : ERR_OK;
	if (err == ERR_OK)
		err = check_sums(part);
	return err == ERR_OK ? set_sections(part) : err;
}

enum err
trail_part_open(struct trail_part **out, const char *path)
{
	struct trail_part *part = calloc(1, sizeof(*part));
	enum err err;

	*out = NULL;
	if (part == NULL)
		return ERR_NO_MEMORY;
	part->loaded = NO_BLOCK;
	buf_init(&part->plain, PLAIN_MAX);
	buf_init(&part->packed, PLAIN_MAX);
	buf_init(&part->values, PLAIN_MAX * sizeof(struct span));
	err = sealed_begin(&part->file, path);
	if (err == ERR_OK)
		err = fs_path(part->path, "%s", path);
	if (err == ERR_OK)
		err = read_head(part);
	if (err == ERR_OK && part->head.version <= TRAIL_PART_VERSION_PAIRS)
		err = trail_part_map(part);
	if (err == ERR_OK)
		*out = part;
	else
		trail_part_close(part);
	return err;
}

void
trail_part_close(struct trail_part *part)
{
	if (part == NULL)
		return;
	buf_fini(&part->plain);
	buf_fini(&part->packed);
	buf_fini(&part->values);
	free(part->seen);
	sealed_close(&part->file);
	free(part);
}

/* --- blocks --------------------------------------------------------------- */

void
trail_part_unload(struct trail_part *part)
{
	part->loaded = NO_BLOCK;
	buf_clear(&part->plain);
}

const void *
trail_part_bytes(
    struct trail_part *part, unsigned section, uint64_t at, uint64_t len)
{
	struct blocks *blocks = &part->sections[section];

	if (at > blocks->bytes || len > blocks->bytes - at) {
		trail_part_damaged(part, section, at, "place");
		return NULL;
	}
	return len == 0 || blocks_sound(blocks, at, len) ? blocks->base + at
							 : NULL;
}

const struct trail_part_block *
trail_part_row(struct trail_part *part, uint32_t block)
{
	return trail_part_bytes(part, TRAIL_PART_BLOCKS,
	    (uint64_t)block * sizeof(struct trail_part_block),
	    sizeof(struct trail_part_block));
}

/* The places of a block's entries: from *place up to before *end. */
static enum err
places_of(
    uint32_t *place, uint32_t *end, struct trail_part *part, uint32_t block)
{
	const struct trail_part_block *row = trail_part_row(part, block),
				      *next = NULL;

	if (row == NULL)
		return ERR_DAMAGED;
	if (block + 1 < part->head.blocks) {
		next = trail_part_row(part, block + 1);
		if (next == NULL)
			return ERR_DAMAGED;
	}
	*place = row->place;
	*end = next == NULL ? part->count : next->place;
	if (*place >= *end || *end > part->count || (block == 0 && *place != 0))
		return trail_part_damaged(
		    part, TRAIL_PART_BLOCKS, block, "place");
	return ERR_OK;
}

/* Steps that take all entries for equally long; then the span is halved. */
#define STEPS_EVEN 4

/* Even steps are near by: few blocks of the rows are compared for them. */
enum err
trail_part_block_of(uint32_t *block, struct trail_part *part, uint32_t place)
{
	uint32_t low = 0, high = part->head.blocks;
	uint64_t low_place = 0, high_place = part->count;

	assert(place < part->count);
	for (unsigned i = 0; high - low > 1; i++) {
		uint64_t step = i < STEPS_EVEN ? (place - low_place) *
			(high - low) / (high_place - low_place)
					       : (high - low) / 2;
		uint32_t middle = step == 0 ? low + 1 : low + (uint32_t)step;
		const struct trail_part_block *row =
		    trail_part_row(part, middle);

		if (row == NULL)
			return ERR_DAMAGED;
		if (row->place <= place) {
			low = middle;
			low_place = row->place;
		} else {
			high = middle;
			high_place = row->place;
		}
	}
	*block = low;
	return ERR_OK;
}

static enum err
split(struct trail_part *part, uint32_t block, uint32_t count)
{
	struct unpack from;

	buf_clear(&part->values);
	unpack_init(&from, buf_span(&part->plain));
	for (uint32_t i = 0; i < count && !from.bad; i++) {
		struct span value = unpack_text(&from);

		buf_add(&part->values, &value, sizeof(value));
	}
	if (!unpack_done(&from))
		return trail_part_damaged(
		    part, TRAIL_PART_ENTRIES, block, "entries");
	return buf_end(&part->values);
}

enum err
trail_part_load(struct trail_part *part, uint32_t block)
{
	const struct trail_part_block *row;
	uint32_t place, end;
	const char *packed;
	enum err err;

	if (part->loaded == block)
		return ERR_OK;
	trail_part_unload(part);
	err = places_of(&place, &end, part, block);
	if (err != ERR_OK)
		return err;
	row = trail_part_row(part, block);
	if (row == NULL)
		return ERR_DAMAGED;
	if (row->plain > PLAIN_MAX || row->plain < end - place)
		return trail_part_damaged(
		    part, TRAIL_PART_BLOCKS, block, "length");
	packed =
	    trail_part_bytes(part, TRAIL_PART_ENTRIES, row->at, row->packed);
	if (packed == NULL)
		return ERR_DAMAGED;
	part->loads++;
	err = zstd_unpack(
	    &part->plain, span_make(packed, row->packed), row->plain);
	if (err == ERR_BAD_INPUT)
		return trail_part_damaged(
		    part, TRAIL_PART_ENTRIES, row->at, "frame");
	if (err == ERR_OK)
		err = split(part, block, end - place);
	if (err != ERR_OK)
		return err;
	part->loaded = block;
	part->place = place;
	part->loaded_count = end - place;
	return ERR_OK;
}

struct span
trail_part_value(const struct trail_part *part, uint32_t i)
{
	return ((const struct span *)(const void *)part->values.data)[i];
}

enum err
trail_part_get(struct trail_part *part, uint64_t number, struct span *value)
{
	uint32_t place, block;
	enum err err;

	if (number < part->head.first || number > part->head.last)
		return ERR_NOT_FOUND;
	place = (uint32_t)(number - part->head.first);
	err = trail_part_map(part);
	if (err == ERR_OK)
		err = trail_part_block_of(&block, part, place);
	if (err == ERR_OK)
		err = trail_part_load(part, block);
	if (err != ERR_OK)
		return err;
	if (place < part->place || place - part->place >= part->loaded_count)
		return trail_part_damaged(
		    part, TRAIL_PART_BLOCKS, block, "place");
	*value = trail_part_value(part, place - part->place);
	return ERR_OK;
}
