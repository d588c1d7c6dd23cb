/*
 * A snapshot from a hostile disk: a sound one with damage laid over it
 * (made.h). The first byte says more:
 *
 *	r  the bytes that follow are the file
 *	c  the file is cut short, too
 *	p  the next byte chooses a section, and the damage is to that part of
 *	   the file; all checksums then fit what is there
 *	m  the damage is to the whole file, and the checksums fit
 *
 * Without checksums that fit, hardly any damage would come as far as the
 * functions that read sections. Whatever the file says, reading all of it
 * touches nothing that is not its own.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/kv/kv.h"
#include "lmdb-schema/deflate.h"
#include "lmdb-schema/snapshot/snapshot.h"
#include "lmdb-schema/snapshot/snapshot_columns.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/made.h"

static struct buf sound;
static char path[FS_PATH_MAX];

/* --- the sound one -------------------------------------------------------- */

#define SECTIONS_MAX 1024

/* Where each section lies in the file. */
static struct {
	size_t at, bytes;
} sections[SECTIONS_MAX];
static unsigned section_count;
static unsigned parts[SECTIONS_MAX], part_count; /* those with bytes */

/* Where in the file these bytes lie, which it has mapped. */
static size_t
offset_of(const char *bytes)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	uintptr_t first, end, at = (uintptr_t)bytes;
	size_t offset;
	char line[512];

	FUZZ_CHECK(maps != NULL);
	while (fgets(line, sizeof(line), maps) != NULL)
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %zx", &first,
			&end, &offset) == 3 &&
		    at >= first && at < end)
			break;
	FUZZ_CHECK(!ferror(maps) && !feof(maps));
	fclose(maps);
	return offset + (at - first);
}

static void
find_sections(void)
{
	struct kv_spec spec = {.path = path, .mode = KV_FROZEN};
	struct span key, value;
	struct kv_txn *txn;
	struct kv_walk *walk;
	struct kv *kv;

	FUZZ_CHECK(kv_open(&kv, &spec) == ERR_OK);
	FUZZ_CHECK(kv_read(&txn, kv) == ERR_OK);
	walk = kv_walk_begin(txn, 0, SPAN(""), SPAN(""));
	while (kv_walk_next(walk, &key, &value) == ERR_OK) {
		unsigned number = (unsigned char)key.ptr[0] * 256u +
		    (unsigned char)key.ptr[1];

		FUZZ_CHECK(number < SECTIONS_MAX);
		if (value.len == 0)
			continue;
		sections[number].at = offset_of(value.ptr);
		sections[number].bytes = value.len;
		section_count = number + 1;
		parts[part_count++] = number;
		FUZZ_CHECK(memcmp(sound.data + sections[number].at, value.ptr,
			       value.len) == 0);
	}
	kv_walk_end(walk);
	kv_abort(txn);
	kv_close(kv);
}

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
	made_write(path, sound.data, sound.len);
	find_sections();
}

/* --- checksums that fit --------------------------------------------------- */

/* The one of a section in the table, which stands behind the name. */
static void
put_crc(char *file, unsigned number, uint32_t crc)
{
	size_t table = sections[SNAP_HEAD].bytes -
	    section_count * sizeof(struct snap_section);

	memcpy(file + sections[SNAP_HEAD].at + table +
		number * sizeof(struct snap_section) +
		offsetof(struct snap_section, crc),
	    &crc, sizeof(crc));
}

static void
sum_again(char *file)
{
	uint32_t *sums = calloc(1, sections[SNAP_SUMS].bytes);
	size_t bytes, count = 0, at = offsetof(struct snap_head, crc);
	char *head = file + sections[SNAP_HEAD].at;
	uint32_t crc = 0;

	FUZZ_CHECK(sums != NULL);
	for (unsigned i = 0; i < section_count; i++) {
		if (i == SNAP_HEAD || i == SNAP_SUMS)
			continue;
		bytes = sections[i].bytes;
		blocks_sum(sums + count, file + sections[i].at, bytes);
		count += blocks_count(bytes);
		put_crc(file, i, deflate_crc(0, file + sections[i].at, bytes));
	}
	bytes = sections[SNAP_SUMS].bytes;
	FUZZ_CHECK(count * sizeof(*sums) == bytes);
	memcpy(file + sections[SNAP_SUMS].at, sums, bytes);
	put_crc(file, SNAP_SUMS, deflate_crc(0, sums, bytes));
	memcpy(head + at, &crc, sizeof(crc));
	crc = deflate_crc(0, head, sections[SNAP_HEAD].bytes);
	memcpy(head + at, &crc, sizeof(crc));
	free(sums);
}

static void
damage(char *file, uint8_t how, struct span patches)
{
	if (how == 'p' && patches.len > 1) {
		unsigned number =
		    parts[(unsigned char)patches.ptr[0] % part_count];

		made_damage(file + sections[number].at, sections[number].bytes,
		    span_from(patches, 1));
	} else
		made_damage(file, sound.len, patches);
	if (how == 'p' || how == 'm')
		sum_again(file);
}

/* --- reading -------------------------------------------------------------- */

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
read_terms(struct snapshot *snap, uint32_t rows)
{
	for (unsigned column = 0; column < ROW_FLATS; column++) {
		struct snapshot_terms terms;

		if (row_is_number(column) || row_is_gamme(column) ||
		    !snapshot_terms(snap, column, &terms))
			continue;
		for (uint32_t i = 0; i < terms.count; i++) {
			struct span text = snapshot_term(&terms, i);
			struct span folded = snapshot_term_folded(&terms, i);

			touch(text.ptr, text.len);
			touch(folded.ptr, folded.len);
			FUZZ_CHECK(
			    snapshot_term_at(&terms, folded) <= terms.count);
			snapshot_term_find(&terms, text, folded);
		}
		for (uint32_t row = 0; row < rows; row++) {
			uint32_t term = snapshot_term_of(&terms, row);

			FUZZ_CHECK(term < terms.count || term == SNAP_NO_TERM);
		}
		snapshot_terms_fit(&terms);
	}
}

static void
read_sums(struct snapshot *snap, uint32_t rows)
{
	struct snapshot_narrow values;
	struct snapshot_stores stores;
	const uint8_t *trends = snapshot_trends(snap);

	if (trends != NULL)
		touch(trends, rows);
	for (unsigned k = 0; k < SNAP_MONTHLY; k++)
		for (unsigned m = 0; m < SCHEMA_MONTHS; m++)
			if (snapshot_month(snap, k, m, &values))
				for (uint32_t row = 0; row < rows; row++)
					touched +=
					    (uint64_t)snapshot_narrow_value(
						&values, row);
	if (!snapshot_stores(snap, &stores))
		return;
	for (unsigned i = 0; i < stores.count; i++) {
		struct span code = snapshot_store_code(&stores, i);

		touch(code.ptr, code.len);
		for (unsigned k = 0; k < SNAP_MEASURES; k++)
			if (snapshot_store(snap, k, i, &values))
				for (uint32_t row = 0; row < rows; row++)
					touched +=
					    (uint64_t)snapshot_narrow_value(
						&values, row);
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
	read_terms(snap, rows);
	read_sums(snap, rows);
	fault_clear(&fault);
	if (snapshot_verify(snap, &fault, NULL) != ERR_OK)
		FUZZ_CHECK(fault_is_set(&fault));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct snapshot *snap;
	struct span input = span_make(data, len);

	if (len == 0)
		return 0;
	if (sound.len == 0)
		begin();
	if (data[0] == 'r')
		made_write(path, data + 1, len - 1);
	else
		made_write_damaged(path, buf_span(&sound), damage, input);
	if (snapshot_open_file(&snap, path) == ERR_OK)
		read_all(snap);
	snapshot_close(snap);
	return 0;
}
