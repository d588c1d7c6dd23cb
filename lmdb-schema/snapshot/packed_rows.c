/*
 * The file is read through a map. Opening compares its size with the head and
 * checks that every segment lies inside.
 */
#include "lmdb-schema/snapshot/packed_rows.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "lmdb-schema/deflate.h"
#include "lmdb-schema/snapshot/packed_rows_priv.h"
#include "lmdb-schema/store/sealed.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/zstd_pieces.h"

const struct packed_kind_info packed_kinds[PACKED_KINDS] = {
    /* 5.3 times smaller at 70 MB/s a thread; 9: 5.8 at 12; 10: 6.1 at 8. */
    {"dumps", "rows", "GRIDGZIP", 64, 6, 12},
    {"pages", "pages", "GRIDPAGE", 1, 6, 12},
    /* 7.4 times smaller at 4 MB/s; 9: 6.6 at 44; 12: 6.8 at 24. */
    {"zstd", "zstd", "GRIDZSTD", 256, 15, ZSTD_LEVEL_MAX},
};

struct packed_rows {
	const struct packed_kind_info *kind;
	struct sealed file;
	struct packed_rows_head
	    *head; /* copies of head and table: verified once, */
	const struct packed_rows_segment
	    *segments; /* once; the map could change */
	char path[FS_PATH_MAX];
};

enum err
packed_rows_path(char path[FS_PATH_MAX], const struct store *store,
    struct span supplier, uint64_t generation, enum packed_kind kind,
    const char *suffix)
{
	char snapshot[FS_PATH_MAX];
	enum err err =
	    store_snapshot_path(snapshot, store, supplier, generation, "");

	if (err != ERR_OK)
		return err;
	/* "….mdb" becomes "….rows" and the suffix. */
	return fs_path(path, "%.*s%s%s", (int)strlen(snapshot) - 3, snapshot,
	    packed_kinds[kind].suffix, suffix);
}

uint32_t
packed_rows_head_crc(const struct packed_rows_head *head,
    const struct packed_rows_segment *segments)
{
	return sealed_head_crc(span_make((const char *)head, sizeof(*head)),
	    offsetof(struct packed_rows_head, crc),
	    span_make(
		(const char *)segments, head->segments * sizeof(*segments)));
}

static bool
segments_fit(const struct packed_rows *packed)
{
	uint32_t least =
	    packed->kind->rows == 1 ? PACKED_ROWS_COMMA_LEN + 1 : 1;

	for (uint32_t i = 0; i < packed->head->segments; i++) {
		const struct packed_rows_segment *segment =
		    &packed->segments[i];

		if (segment->at > packed->file.len ||
		    segment->len > packed->file.len - segment->at ||
		    segment->len < least)
			return false;
	}
	return true;
}

static enum err
examine(struct packed_rows *packed, const struct snapshot *snap)
{
	const struct snap_head *of = snapshot_head(snap);
	uint64_t segments = (of->rows + UINT64_C(0) + packed->kind->rows - 1) /
	    packed->kind->rows;
	size_t len = sizeof(struct packed_rows_head) +
	    segments * sizeof(struct packed_rows_segment);
	struct packed_rows_head *head;

	if (packed->file.len < len)
		return ERR_DAMAGED;
	head = malloc(len);
	if (head == NULL)
		return ERR_NO_MEMORY;
	memcpy(head, packed->file.bytes, len);
	packed->head = head;
	packed->segments =
	    (const struct packed_rows_segment *)(const void *)(head + 1);
	if (memcmp(head->magic, packed->kind->magic, sizeof(head->magic)) != 0)
		return ERR_DAMAGED;
	if (head->version != PACKED_ROWS_VERSION)
		return ERR_VERSION;
	if (head->rows != of->rows || head->generation != of->generation ||
	    head->snapshot != of->crc || head->bytes != packed->file.len ||
	    head->segments != segments ||
	    packed_rows_head_crc(head, packed->segments) != head->crc ||
	    !segments_fit(packed))
		return ERR_DAMAGED;
	return ERR_OK;
}

enum err
packed_rows_open(struct packed_rows **out, struct store *store,
    struct snapshot *snap, enum packed_kind kind)
{
	struct packed_rows *packed = calloc(1, sizeof(*packed));
	enum err err;

	assert(kind < PACKED_KINDS);
	*out = NULL;
	if (packed == NULL)
		return ERR_NO_MEMORY;
	packed->file.fd = -1;
	packed->kind = &packed_kinds[kind];
	err = packed_rows_path(packed->path, store, snapshot_supplier(snap),
	    snapshot_head(snap)->generation, kind, "");
	if (err == ERR_OK)
		err = sealed_open(&packed->file, packed->path);
	if (err == ERR_OK)
		err = examine(packed, snap);
	if (err == ERR_OK) {
		*out = packed;
		return ERR_OK;
	}
	if (err != ERR_NOT_FOUND)
		log_error("packed rows cannot be used, 'gridctl pack' makes "
			  "them again: file=%s error=%s",
		    packed->path, err_text(err));
	packed_rows_close(packed);
	return err;
}

void
packed_rows_close(struct packed_rows *packed)
{
	if (packed == NULL)
		return;
	sealed_close(&packed->file);
	free(packed->head);
	free(packed);
}

bool
packed_rows_is_touched(const struct packed_rows *packed)
{
	return sealed_is_touched(&packed->file);
}

const struct packed_rows_segment *
packed_rows_segment(const struct packed_rows *packed, uint32_t i)
{
	assert(i < packed->head->segments);
	return &packed->segments[i];
}

struct span
packed_rows_bytes(const struct packed_rows *packed, uint32_t i)
{
	const struct packed_rows_segment *segment = &packed->segments[i];
	const char *bytes = packed->file.bytes + segment->at;

	assert(i < packed->head->segments);
	if (deflate_crc(0, bytes, segment->len) == segment->packed_crc)
		return span_make(bytes, segment->len);
	sealed_log_damage(packed->path, i, segment->at, "checksum");
	return SPAN("");
}

enum err
packed_rows_verify(const struct packed_rows *packed)
{
	enum err err = ERR_OK;

	for (uint32_t i = 0; i < packed->head->segments; i++)
		if (packed_rows_bytes(packed, i).len == 0)
			err = ERR_DAMAGED;
	return err;
}

enum packed_kind
packed_rows_kind(const struct packed_rows *packed)
{
	return (enum packed_kind)(packed->kind - packed_kinds);
}

const struct packed_rows_head *
packed_rows_head(const struct packed_rows *packed)
{
	return packed->head;
}

void
packed_rows_discard(
    struct store *store, const struct snapshot *snap, enum packed_kind kind)
{
	char path[FS_PATH_MAX];

	if (packed_rows_path(path, store, snapshot_supplier(snap),
		snapshot_head(snap)->generation, kind, "") == ERR_OK)
		fs_unlink(path);
}
