/*
 * Packed rows from a hostile disk: a sound file with damage laid over it
 * (made.h). The first byte says what else: 'c' the file is cut short, too; 'h'
 * the damage is to the head, 't' to the table of segments. But for 'c' and 's'
 * the head is given a right checksum again, or nobody would look behind it; with
 * 'p' the packed bytes are, too. A capital, other than 'C', says that the rows are
 * those for pages. Whatever the file says, reading its segments touches nothing
 * that is not its own.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lmdb-schema/deflate.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/snapshot/packed_rows_priv.h"
#include "lmdb-schema/store/store.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/made.h"

static struct store *store;
static struct snapshot *snap;

/* A file of each kind, as gridctl made it. */
static struct file {
	struct buf sound;
	char path[FS_PATH_MAX];
	size_t table; /* bytes of it, behind the head */
} files[PACKED_PAGES + 1], *now;

static enum err
open_first(
    void *context, struct span supplier, const struct catalog_entry *entry)
{
	(void)context;
	if (snap == NULL)
		FUZZ_CHECK(snapshot_open(&snap, store, supplier,
			       entry->generation) == ERR_OK);
	return ERR_OK;
}

static void
read_sound(enum packed_kind kind)
{
	struct file *file = &files[kind];
	struct packed_rows *packed;

	FUZZ_CHECK(packed_rows_path(file->path, store, snapshot_supplier(snap),
		       snapshot_head(snap)->generation, kind, "") == ERR_OK);
	buf_init(&file->sound, (size_t)64 << 20);
	FUZZ_CHECK(fs_read(&file->sound, file->path) == ERR_OK);
	FUZZ_CHECK(packed_rows_open(&packed, store, snap, kind) == ERR_OK);
	file->table = packed_rows_head(packed)->segments *
	    sizeof(struct packed_rows_segment);
	packed_rows_close(packed);
}

static void
begin(void)
{
	struct catalog_view *view;
	struct fault fault;

	fault_clear(&fault);
	FUZZ_CHECK(store_open(&store, made_packed(), &fault) == ERR_OK);
	FUZZ_CHECK(catalog_view_open(&view, store) == ERR_OK);
	FUZZ_CHECK(catalog_each(view, open_first, NULL) == ERR_OK);
	catalog_view_close(view);
	read_sound(PACKED_DUMPS);
	read_sound(PACKED_PAGES);
}

/* --- damage --------------------------------------------------------------- */

/* Of each segment that lies in the file. */
static void
sum_packed(char *file, uint32_t segments)
{
	struct packed_rows_segment segment;
	char *at = file + sizeof(struct packed_rows_head);

	for (uint32_t i = 0; i < segments; i++, at += sizeof(segment)) {
		memcpy(&segment, at, sizeof(segment));
		if (segment.at > now->sound.len ||
		    segment.len > now->sound.len - segment.at)
			continue;
		segment.packed_crc =
		    deflate_crc(0, file + segment.at, segment.len);
		memcpy(at, &segment, sizeof(segment));
	}
}

/* With as many segments as there are, whatever the head says. */
static void
sum_head(char *file)
{
	struct packed_rows_head head, honest;
	struct packed_rows_segment *segments = malloc(now->table);

	FUZZ_CHECK(segments != NULL);
	memcpy(&head, file, sizeof(head));
	memcpy(segments, file + sizeof(head), now->table);
	honest = head;
	honest.segments = (uint32_t)(now->table / sizeof(*segments));
	if (head.segments == honest.segments) {
		head.crc = packed_rows_head_crc(&honest, segments);
		memcpy(file, &head, sizeof(head));
	}
	free(segments);
}

static void
damage(char *file, uint8_t how, struct span patches)
{
	int where = tolower(how);

	if (where == 'h')
		made_damage(file, sizeof(struct packed_rows_head), patches);
	else if (where == 't')
		made_damage(file + sizeof(struct packed_rows_head), now->table,
		    patches);
	else
		made_damage(file, now->sound.len, patches);
	if (where == 'p')
		sum_packed(file,
		    (uint32_t)(now->table /
			sizeof(struct packed_rows_segment)));
	if (where != 'c' && where != 's')
		sum_head(file);
}

/* --- reading -------------------------------------------------------------- */

static volatile uint64_t touched;

static void
read_all(const struct packed_rows *packed)
{
	uint32_t count = packed_rows_head(packed)->segments;
	bool whole = true;

	for (uint32_t i = 0; i < count; i++) {
		struct span bytes = packed_rows_bytes(packed, i);

		for (size_t k = 0; k < bytes.len; k++)
			touched += (unsigned char)bytes.ptr[k];
		touched += packed_rows_segment(packed, i)->raw_len;
		whole = whole && bytes.len > 0;
	}
	FUZZ_CHECK((packed_rows_verify(packed) == ERR_OK) == whole);
	FUZZ_CHECK(!packed_rows_is_touched(packed));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	enum packed_kind kind;
	struct packed_rows *packed;
	struct span input = span_make(data, len);

	if (len == 0)
		return 0;
	if (snap == NULL)
		begin();
	kind = isupper(data[0]) ? PACKED_PAGES : PACKED_DUMPS;
	now = &files[kind];
	made_write_damaged(now->path, buf_span(&now->sound), damage, input);
	if (packed_rows_open(&packed, store, snap, kind) == ERR_OK)
		read_all(packed);
	packed_rows_close(packed);
	return 0;
}
