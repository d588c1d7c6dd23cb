/*
 * A snapshot from a hostile disk: a sound one with damage laid over it
 * (made.h), or, when the first byte is 'r', these very bytes. Whatever it says,
 * reading all of it touches nothing that is not its own.
 *
 * Checksums of blocks keep nearly all damage from whoever reads. So with every
 * other length all blocks count as compared: whoever reads meets the damage.
 */
#include <stdlib.h>
#include <string.h>

#include "lmdb-schema/snapshot/snapshot.h"
#include "lmdb-schema/snapshot/snapshot_priv.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/made.h"

static struct buf sound;
static char path[FS_PATH_MAX];

static void
begin(void)
{
	char from[FS_PATH_MAX], folder[FS_PATH_MAX];

	FUZZ_CHECK(fs_path(folder, "%s/snapshots", made_demo()) == ERR_OK);
	from[0] = '\0';
	made_find(from, folder, ".mdb");
	buf_init(&sound, (size_t)64 << 20);
	FUZZ_CHECK(fs_read(&sound, from) == ERR_OK);
	FUZZ_CHECK(fs_path(path, "%s/fuzz.mdb", made_demo()) == ERR_OK);
}

static volatile uint64_t touched;

static void
touch(const void *bytes, size_t len)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < len; i++)
		touched += at[i];
}

static void
read_rows(struct snapshot *snap, uint32_t rows)
{
	struct snapshot_part part;

	for (uint32_t row = 0; row <= rows; row++) {
		if (snapshot_flat(snap, row, &part))
			touch(part.json, part.off.flat[ROW_FLATS]);
		if (snapshot_maps(snap, row, &part))
			touch(part.json, part.off.maps[ROW_MAPCOUNT]);
		for (unsigned column = 0; column < ROW_COLUMNS; column++) {
			struct span value = snapshot_value(snap, row, column);

			touch(value.ptr, value.len);
		}
		if (row == 40)
			row = rows < 43 ? row : rows - 2;
	}
	snapshot_rows_bytes(snap);
}

static void
read_columns(struct snapshot *snap, uint32_t rows)
{
	for (unsigned column = 0; column < ROW_COLUMNS; column++) {
		const int64_t *numbers = snapshot_numbers(snap, column);

		if (numbers != NULL)
			touch(numbers, rows * sizeof(*numbers));
		for (int down = 0; down < 2; down++) {
			const uint32_t *order =
			    snapshot_order(snap, column, down != 0);

			if (order != NULL)
				touch(order, rows * sizeof(*order));
		}
	}
	if (snapshot_gammes(snap) != NULL)
		touch(snapshot_gammes(snap), rows);
	if (snapshot_code3(snap) != NULL)
		touch(snapshot_code3(snap), rows * sizeof(uint32_t));
	if (snapshot_by_codein(snap) != NULL)
		touch(snapshot_by_codein(snap), rows * sizeof(uint32_t));
}

static void
read_search(struct snapshot *snap)
{
	struct grams_asked asked;
	struct grams grams;
	struct span text;
	const uint32_t *at;
	uint32_t most, count = 0, row, place = 0;

	if (snapshot_text(snap, &text, &at))
		touch(text.ptr, text.len);
	if (snapshot_grams(snap, &grams) &&
	    grams_ask(&asked, SPAN("lait entier"))) {
		if (grams_most(&most, &grams, &asked) == ERR_OK &&
		    most <= 1 << 20) {
			uint32_t *rows = calloc(most + 1, sizeof(*rows));

			FUZZ_CHECK(rows != NULL);
			if (grams_find(rows, &count, &grams, &asked) == ERR_OK)
				FUZZ_CHECK(count <= most);
			free(rows);
		}
		grams_sound(&grams);
	}
	snapshot_find(snap, SPAN("10004711"), &row);
	snapshot_find_next(snap, SPAN("1"), &place, &row);
	snapshot_find_next(snap, SPAN("9"), &place, &row);
}

static void
read_classes(struct snapshot *snap)
{
	struct snapshot_classes classes;

	for (unsigned level = 1; level <= 3; level++) {
		if (!snapshot_classes(snap, level, &classes))
			continue;
		for (uint32_t i = 0; i < classes.count; i++) {
			struct span label =
			    snapshot_class_label(&classes, &classes.class[i]);

			touch(label.ptr, label.len);
		}
	}
}

static void
read_all(struct snapshot *snap)
{
	uint32_t rows = snapshot_rows(snap);
	struct fault fault;

	touch(snapshot_name(snap).ptr, snapshot_name(snap).len);
	touch(snapshot_supplier(snap).ptr, snapshot_supplier(snap).len);
	read_rows(snap, rows);
	read_columns(snap, rows);
	read_search(snap);
	read_classes(snap);
	fault_clear(&fault);
	if (snapshot_verify(snap, &fault, NULL) != ERR_OK)
		FUZZ_CHECK(fault_is_set(&fault));
}

static void
trust_all(struct snapshot *snap)
{
	for (unsigned i = 0; i < snap->head->sections; i++) {
		struct blocks *blocks = &snap->blocks[i];
		uint64_t count = blocks_count(blocks->bytes);

		/* These two have no sums of their own. */
		if (i == SNAP_HEAD || i == SNAP_SUMS || blocks->base == NULL)
			continue;
		for (uint64_t k = 0; k < count; k++)
			atomic_store(&blocks->seen[k], snap->file.epoch);
		atomic_store(&blocks->whole, snap->file.epoch);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct snapshot *snap;
	struct span rest;
	char *file;

	if (len == 0)
		return 0;
	if (sound.len == 0)
		begin();
	rest = span_from(span_make(data, len), 1);
	if (data[0] == 'r')
		made_write(path, rest.ptr, rest.len);
	else {
		size_t keep = sound.len;

		file = malloc(sound.len);
		FUZZ_CHECK(file != NULL);
		memcpy(file, sound.data, sound.len);
		made_damage(file, sound.len, rest);
		if (data[0] == 'c') /* cut short, too */
			keep = sound.len * (len % 64) / 64;
		made_write(path, file, keep);
		free(file);
	}
	if (snapshot_open_file(&snap, path) == ERR_OK) {
		if (len % 2 == 1)
			trust_all(snap);
		read_all(snap);
	}
	snapshot_close(snap);
	return 0;
}
