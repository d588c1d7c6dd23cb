/* tests/lmdb-schema/snapshot/test_snapshot_damage.c: damaged files of snapshots */
#include "lmdb-schema/snapshot/snapshot.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>
#include <unistd.h>

#include "common/fs.h"
#include "tests/lmdb-schema/facts.h"
#include "tests/lmdb-schema/snapshot/one.h"
#include "tests/support/quiet.h"
#include "tests/support/random.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define FEW 2200 /* no array is small enough to stand in an index page */

static void
make(void)
{
	one_make(FEW);
}

static size_t file_len;

static char *
read_file(void)
{
	char path[FS_PATH_MAX];
	struct buf buf;

	ck_assert_int_eq(store_snapshot_path(path, facts, SPAN("BIG"),
			     one_result.entry.generation, ""),
	    ERR_OK);
	buf_init(&buf, (size_t)1 << 30);
	ck_assert_int_eq(fs_read(&buf, path), ERR_OK);
	return buf_take(&buf, &file_len);
}

/* Calls every reading function, then verifies. */
static enum err
use(const char *path)
{
	struct snapshot_classes classes;
	struct snapshot_part part;
	struct snapshot *other;
	struct fault fault;
	const uint32_t *at;
	struct span text;
	uint32_t found;
	enum err err = snapshot_open_file(&other, path);

	if (err != ERR_OK) {
		ck_assert_ptr_null(other);
		return err;
	}
	for (uint32_t row = 0; row < snapshot_rows(other) && row < one_rows;
	     row += 97) {
		snapshot_flat(other, row, &part);
		snapshot_maps(other, row, &part);
		for (unsigned i = 0; i < ROW_COLUMNS; i += 5)
			snapshot_value(other, row, i);
	}
	snapshot_find(other, SPAN("C000123"), &found);
	snapshot_text(other, &text, &at);
	for (unsigned level = 1; level <= 3; level++)
		if (snapshot_classes(other, level, &classes))
			for (uint32_t i = 0; i < classes.count; i++)
				snapshot_class_label(
				    &classes, &classes.class[i]);
	fault_clear(&fault);
	err = snapshot_verify(other, &fault, NULL);
	ck_assert_int_eq(err != ERR_OK, fault_is_set(&fault));
	snapshot_close(other);
	return err;
}

START_TEST(a_cut_short_file_is_damaged)
{
	char *bytes = read_file();

	quiet_begin();
	for (unsigned i = 0; i < 60; i++) {
		size_t len = i < 5 ? i * 4096
		    : i < 10       ? file_len - i * 100
				   : random_bits() % file_len;

		scratch_write("cut.mdb", bytes, len);
		ck_assert_int_eq(use(scratch_path("cut.mdb")), ERR_DAMAGED);
	}
	free(bytes);
}
END_TEST

/* Writes the file once; later only the bytes that differ. */
static enum err
use_bytes(const char *bytes, size_t at, size_t len)
{
	static const char *written;
	const char *path = scratch_path("flip.mdb");
	int fd;

	if (written != bytes || access(path, F_OK) != 0)
		scratch_write("flip.mdb", bytes, file_len);
	written = bytes;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	ck_assert_int_eq(pwrite(fd, bytes + at, len, (off_t)at), (ssize_t)len);
	close(fd);
	return use(path);
}

static void
mend(const char *bytes, size_t at, size_t len)
{
	int fd = open(scratch_path("flip.mdb"), O_WRONLY | O_CLOEXEC);

	ck_assert_int_eq(pwrite(fd, bytes + at, len, (off_t)at), (ssize_t)len);
	close(fd);
}

/* The place in the file's bytes of what the snapshot gives by address. */
static size_t
place_of(const char *bytes, const void *data, size_t len)
{
	const char *at = memmem(bytes, file_len, data, len);

	ck_assert_ptr_nonnull(at);
	return (size_t)(at - bytes);
}

static size_t
section_place(const char *bytes, unsigned section)
{
	const struct snap_head *head = snapshot_head(one_snap);
	struct snapshot_part part;
	const uint32_t *at;
	struct span text;

	switch (section) {
	case 0: /* the head */
		return place_of(bytes, head, sizeof(*head));
	case 1:
		return place_of(bytes, snapshot_numbers(one_snap, COL_totalCa),
		    one_rows * 8);
	case 2:
		return place_of(bytes,
		    snapshot_order(one_snap, COL_marque, false), one_rows * 4);
	case 3:
		return place_of(
		    bytes, snapshot_by_codein(one_snap), one_rows * 4);
	case 4:
		return place_of(bytes, snapshot_gammes(one_snap), one_rows);
	case 5:
		return place_of(bytes, snapshot_code3(one_snap), one_rows * 4);
	case 6:
		snapshot_flat(one_snap, 0, &part);
		return place_of(bytes, part.json, 4000);
	case 7:
		snapshot_maps(one_snap, 0, &part);
		return place_of(bytes, part.json, 4000);
	case 8:
		snapshot_flat(one_snap, 1, &part); /* its table of places */
		return place_of(bytes, part.off.flat, 8);
	case 9:
		snapshot_maps(one_snap, 1, &part);
		return place_of(bytes, part.off.maps, 8);
	case 10:
		snapshot_text(one_snap, &text, &at);
		return place_of(bytes, text.ptr, 4000);
	default:
		snapshot_text(one_snap, &text, &at);
		return place_of(bytes, at, one_rows * 4);
	}
}

START_TEST(a_flipped_bit_in_any_section_is_damage)
{
	char *bytes = read_file();
	size_t place = section_place(bytes, (unsigned)_i);

	quiet_begin();
	for (unsigned i = 0; i < 12; i++) {
		size_t at = place + random_bits() % 160;
		char bit = (char)(1 << random_bits() % 8);
		enum err err;

		bytes[at] ^= bit;
		err = use_bytes(bytes, at, 1);
		ck_assert_msg(
		    err == ERR_DAMAGED || (_i == 0 && err == ERR_VERSION),
		    "byte %zu of section %d: %s", at - place, _i,
		    err_text(err));
		bytes[at] ^= bit;
		mend(bytes, at, 1);
	}
	ck_assert_int_eq(use_bytes(bytes, 0, 1), ERR_OK);
	free(bytes);
}
END_TEST

/* Near 2^32 the length of a column's name is all that is left to add. */
START_TEST(a_value_at_an_offset_that_is_none_is_not_given)
{
	static const uint32_t places[] = {
	    UINT32_MAX, UINT32_MAX - 7, UINT32_MAX - 30, INT32_MAX};
	char *bytes = read_file();
	unsigned column = ROW_FLATS + (unsigned)_i;
	struct snapshot_part part;
	struct snapshot *other;
	size_t at;

	ck_assert(snapshot_maps(one_snap, 1, &part));
	at = place_of(bytes, part.off.maps,
		 (ROW_MAPCOUNT + 1) * sizeof(*part.off.maps)) +
	    (unsigned)_i * sizeof(*part.off.maps);
	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		memcpy(bytes + at, &places[i], sizeof(places[i]));
		scratch_write("offset.mdb", bytes, file_len);
		ck_assert_int_eq(
		    snapshot_open_file(&other, scratch_path("offset.mdb")),
		    ERR_OK);
		ck_assert_uint_eq(snapshot_value(other, 1, column).len, 0);
		snapshot_close(other);
	}
	free(bytes);
}
END_TEST

/* LMDB trusts its pages: they must be verified before it walks them. */
START_TEST(noise_where_lmdb_keeps_its_own_never_crashes)
{
	char *bytes = read_file();

	quiet_begin();
	for (unsigned i = 0; i < 400; i++) {
		size_t pages = file_len / 4096;
		size_t page = i % 4 == 0 ? random_bits() % 2
		    : i % 4 == 1         ? random_bits() % 8
					 : random_bits() % pages;
		size_t at =
		    page * 4096 + random_bits() % (i % 3 == 0 ? 4088 : 200);
		char old[8];
		enum err err;

		memcpy(old, bytes + at, 8);
		for (unsigned k = 0; k < 1 + i % 8; k++)
			bytes[at + k] = (char)random_bits();
		err = use_bytes(bytes, at, 8);
		ck_assert(
		    err == ERR_OK || err == ERR_DAMAGED || err == ERR_VERSION);
		memcpy(bytes + at, old, 8);
		mend(bytes, at, 8);
	}
	free(bytes);
}
END_TEST

/* The index pages are few among many: here only they are hit. */
START_TEST(noise_in_the_index_pages_never_crashes)
{
	char *bytes = read_file();
	size_t pages = file_len / 4096, index[64], count = 0;

	for (size_t page = 2; page < pages && count < 64; page++) {
		unsigned flags = (unsigned char)bytes[page * 4096 + 10];

		if ((flags == 1 || flags == 2) && bytes[page * 4096 + 11] == 0)
			index[count++] = page;
	}
	ck_assert_uint_gt(count, 2);
	quiet_begin();
	for (unsigned i = 0; i < 600; i++) {
		size_t at = index[random_bits() % count] * 4096 +
		    random_bits() % (i % 2 == 0 ? 4096 : 24);
		char old = bytes[at];
		enum err err;

		bytes[at] = (char)random_bits();
		err = use_bytes(bytes, at, 1);
		ck_assert(
		    err == ERR_OK || err == ERR_DAMAGED || err == ERR_VERSION);
		bytes[at] = old;
		mend(bytes, at, 1);
	}
	free(bytes);
}
END_TEST

/* The versions before and after, in a file that is otherwise sound. */
START_TEST(another_version_is_told)
{
	char *bytes = read_file();
	size_t place = section_place(bytes, 0);
	struct snap_head *head = (struct snap_head *)(void *)(bytes + place);
	size_t len = sizeof(*head) + head->name_len +
	    head->sections * sizeof(struct snap_section);
	struct snapshot *other;

	quiet_begin();
	ck_assert_uint_eq(head->version, SNAP_VERSION);
	head->version = (uint32_t)(SNAP_VERSION + _i);
	head->crc = 0;
	head->crc = (uint32_t)crc32_z(0, (const Bytef *)head, len);
	scratch_write("other.mdb", bytes, file_len);
	ck_assert_int_eq(snapshot_open_file(&other, scratch_path("other.mdb")),
	    _i == 0 ? ERR_OK : ERR_VERSION);
	snapshot_close(other);
	free(bytes);
}
END_TEST

START_TEST(a_version_that_does_not_match_the_checksum_is_damage)
{
	char *bytes = read_file();
	size_t place = section_place(bytes, 0);
	struct snap_head *head = (struct snap_head *)(void *)(bytes + place);
	struct snapshot *other;

	quiet_begin();
	head->version++;
	scratch_write("other.mdb", bytes, file_len);
	ck_assert_int_eq(
	    snapshot_open_file(&other, scratch_path("other.mdb")), ERR_DAMAGED);
	free(bytes);
}
END_TEST

START_TEST(only_a_sound_file_tells_its_version)
{
	const struct span big = SPAN("BIG");
	uint64_t generation = one_result.entry.generation;
	char path[FS_PATH_MAX];

	ck_assert_int_eq(
	    store_snapshot_path(path, facts, big, generation, ""), ERR_OK);
	ck_assert_uint_eq(
	    snapshot_version(facts, big, generation), SNAP_VERSION);
	facts_make_foreign("BIG");
	ck_assert_uint_eq(
	    snapshot_version(facts, big, generation), SNAP_VERSION - 1);
	ck_assert_int_eq(truncate(path, 6000), 0);
	quiet_begin();
	ck_assert_uint_eq(snapshot_version(facts, big, generation), 0);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_uint_eq(snapshot_version(facts, big, generation), 0);
}
END_TEST

START_TEST(a_file_under_another_name_is_refused)
{
	char from[FS_PATH_MAX], to[FS_PATH_MAX];
	struct compute_result other;
	struct snapshot *wrong;

	ck_assert_int_eq(facts_compute("SMALL", &other), ERR_OK);
	ck_assert_int_eq(store_snapshot_path(from, facts, SPAN("SMALL"),
			     other.entry.generation, ""),
	    ERR_OK);
	quiet_begin();
	/* another generation of the supplier */
	ck_assert_int_eq(
	    store_snapshot_path(to, facts, SPAN("SMALL"), 12345, ""), ERR_OK);
	ck_assert_int_eq(rename(from, to), 0);
	ck_assert_int_eq(
	    snapshot_open(&wrong, facts, SPAN("SMALL"), 12345), ERR_DAMAGED);
	ck_assert_ptr_null(wrong);
	/* another supplier */
	ck_assert_int_eq(store_snapshot_path(from, facts, SPAN("BIG"),
			     other.entry.generation, ""),
	    ERR_OK);
	ck_assert_int_eq(rename(to, from), 0);
	ck_assert_int_eq(
	    snapshot_open(&wrong, facts, SPAN("BIG"), other.entry.generation),
	    ERR_DAMAGED);
}
END_TEST

START_TEST(what_is_no_snapshot_is_told)
{
	struct snapshot *none;

	quiet_begin();
	ck_assert_int_eq(
	    snapshot_open(&none, facts, SPAN("BIG"), 1), ERR_NOT_FOUND);
	ck_assert_ptr_null(none);
	scratch_text("text.mdb", "no snapshot at all");
	ck_assert_int_eq(
	    snapshot_open_file(&none, scratch_path("text.mdb")), ERR_DAMAGED);
	scratch_text("empty.mdb", "");
	ck_assert_int_eq(
	    snapshot_open_file(&none, scratch_path("empty.mdb")), ERR_DAMAGED);
	snapshot_close(NULL);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("damaged snapshots");
	TCase *tc = tcase_create("damaged");

	tcase_set_timeout(tc, 300);
	tcase_add_checked_fixture(tc, make, one_drop);
	tcase_add_test(tc, a_cut_short_file_is_damaged);
	tcase_add_loop_test(tc, a_flipped_bit_in_any_section_is_damage, 0, 12);
	tcase_add_loop_test(tc, a_value_at_an_offset_that_is_none_is_not_given,
	    0, ROW_MAPCOUNT);
	tcase_add_test(tc, noise_where_lmdb_keeps_its_own_never_crashes);
	tcase_add_test(tc, noise_in_the_index_pages_never_crashes);
	tcase_add_loop_test(tc, another_version_is_told, -1, 2);
	tcase_add_test(
	    tc, a_version_that_does_not_match_the_checksum_is_damage);
	tcase_add_test(tc, only_a_sound_file_tells_its_version);
	tcase_add_test(tc, a_file_under_another_name_is_refused);
	tcase_add_test(tc, what_is_no_snapshot_is_told);
	suite_add_tcase(suite, tc);
	return suite;
}
