/* tests/lmdb-schema/snapshot/test_packed_rows.c: lmdb-schema/snapshot/packed_rows.h */
#include "lmdb-schema/snapshot/packed_rows.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "common/buf.h"
#include "lmdb-schema/deflate.h"
#include "lmdb-schema/zstd_pieces.h"
#include "tests/lmdb-schema/facts.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"

#define ROWS 700u /* ten whole segments and a part */

static struct compute_result computed;
static struct snapshot *snap;
static struct packed_rows *packed;
static struct packed_rows_result result;
static enum packed_kind kind; /* that the test is about */

static const uint32_t segments_of[PACKED_KINDS] = {11, ROWS, 3};

static void
make(void)
{
	facts_make();
	facts_import(ROWS, 1);
	ck_assert_int_eq(facts_compute("BIG", &computed), ERR_OK);
	ck_assert_int_eq(
	    snapshot_open(&snap, facts, SPAN("BIG"), computed.entry.generation),
	    ERR_OK);
	quiet_begin();
	kind = PACKED_DUMPS;
}

static void
drop(void)
{
	packed_rows_close(packed);
	packed = NULL;
	snapshot_close(snap);
	facts_remove();
}

static void
pack(unsigned threads, int level)
{
	struct packed_rows_options options = {
	    .kind = kind, .threads = threads, .level = level};

	ck_assert_int_eq(
	    packed_rows_make(&result, facts, SPAN("BIG"), &options), ERR_OK);
}

static enum err
open_packed(void)
{
	return packed_rows_open(&packed, facts, snap, kind);
}

static const char *
path_of(const char *suffix)
{
	static char path[FS_PATH_MAX];

	ck_assert_int_eq(packed_rows_path(path, facts, SPAN("BIG"),
			     computed.entry.generation, kind, suffix),
	    ERR_OK);
	return path;
}

/* A page's first row leaves its comma out. */
static struct span
bytes_of(uint32_t i)
{
	struct span bytes = packed_rows_bytes(packed, i);

	return kind == PACKED_PAGES && i == 0
	    ? span_from(bytes, PACKED_ROWS_COMMA_LEN)
	    : bytes;
}

/* All segments one behind the other, as libzstd unpacks them. */
static void
unpack_zstd(struct buf *text)
{
	struct buf frame;
	size_t most = (size_t)snapshot_rows_bytes(snap) + 1;
	size_t len;

	buf_init(&frame, 1u << 28);
	buf_add(&frame, ZSTD_PIECES_HEAD, ZSTD_PIECES_HEAD_LEN);
	for (uint32_t i = 0; i < packed_rows_head(packed)->segments; i++)
		buf_add_span(&frame, packed_rows_bytes(packed, i));
	buf_add(&frame, ZSTD_PIECES_END, ZSTD_PIECES_END_LEN);
	len =
	    ZSTD_decompress(buf_room(text, most), most, frame.data, frame.len);
	ck_assert(!ZSTD_isError(len));
	buf_grown(text, len);
	buf_fini(&frame);
}

/* The same, or as zlib does. */
static void
unpack(struct buf *text)
{
	struct buf stream;
	z_stream z = {0};
	size_t most = (size_t)snapshot_rows_bytes(snap) + 1;

	if (kind == PACKED_ZSTD) {
		unpack_zstd(text);
		return;
	}
	buf_init(&stream, 1u << 28);
	for (uint32_t i = 0; i < packed_rows_head(packed)->segments; i++)
		buf_add_span(&stream, bytes_of(i));
	buf_add(&stream, DEFLATE_END, DEFLATE_END_LEN);
	ck_assert_int_eq(inflateInit2(&z, -15), Z_OK);
	z.next_in = (Bytef *)stream.data;
	z.avail_in = (uInt)stream.len;
	z.next_out = (Bytef *)buf_room(text, most);
	z.avail_out = (uInt)most;
	ck_assert_int_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
	buf_grown(text, z.total_out);
	inflateEnd(&z);
	buf_fini(&stream);
}

static void
check_rows(void)
{
	struct snapshot_part flat, maps;
	struct buf text, want;

	buf_init(&text, 1u << 28);
	buf_init(&want, 1u << 28);
	for (uint32_t row = 0; row < ROWS; row++) {
		ck_assert(snapshot_flat(snap, row, &flat));
		ck_assert(snapshot_maps(snap, row, &maps));
		if (row > 0)
			buf_add_char(&want, ',');
		buf_add(&want, flat.json, flat.off.flat[ROW_FLATS]);
		buf_add(&want, maps.json, maps.off.maps[ROW_MAPCOUNT]);
	}
	unpack(&text);
	ck_assert(span_eq(buf_span(&text), buf_span(&want)));
	buf_fini(&text);
	buf_fini(&want);
}

START_TEST(segments_are_the_rows_by_any_number_of_threads)
{
	static const unsigned threads[] = {0, 1, 2, 7};

	kind = (enum packed_kind)(_i % PACKED_KINDS);
	pack(threads[_i / PACKED_KINDS], 0);
	ck_assert(result.made);
	ck_assert_uint_eq(result.rows, ROWS);
	ck_assert_int_eq(open_packed(), ERR_OK);
	ck_assert_uint_eq(
	    packed_rows_head(packed)->segments, segments_of[kind]);
	ck_assert_uint_eq(packed_rows_head(packed)->bytes, result.bytes);
	ck_assert_int_eq(packed_rows_verify(packed), ERR_OK);
	check_rows();
}
END_TEST

START_TEST(sums_are_those_of_the_rows)
{
	struct buf text;
	uint32_t crc = 0;

	kind = (enum packed_kind)_i;
	pack(1, 1);
	ck_assert_int_eq(open_packed(), ERR_OK);
	buf_init(&text, 1u << 28);
	unpack(&text);
	for (uint32_t i = 0; i < packed_rows_head(packed)->segments; i++) {
		const struct packed_rows_segment *segment =
		    packed_rows_segment(packed, i);

		if (kind == PACKED_PAGES && i > 0)
			crc = deflate_crc(crc, ",", 1);
		crc = deflate_crc_both(crc, segment->crc, segment->raw_len);
	}
	ck_assert_uint_eq(crc, deflate_crc(0, text.data, text.len));
	buf_fini(&text);
}
END_TEST

START_TEST(what_is_there_is_left_unless_a_smaller_one_is_wanted)
{
	kind = (enum packed_kind)_i;
	pack(1, 6);
	ck_assert(result.made);
	pack(1, 0);
	ck_assert(!result.made);
	pack(1, 3);
	ck_assert(!result.made);
	pack(1, 9);
	ck_assert(result.made);
}
END_TEST

START_TEST(none_is_not_found_and_no_log_line)
{
	ck_assert_int_eq(open_packed(), ERR_NOT_FOUND);
	ck_assert_ptr_null(packed);
	ck_assert_int_eq(quiet_lines(), 0);
}
END_TEST

START_TEST(that_of_another_snapshot_is_refused)
{
	struct compute_result again;
	char from[FS_PATH_MAX];

	pack(1, 1);
	ck_assert_int_eq(fs_path(from, "%s", path_of("")), ERR_OK);
	ck_assert_int_eq(facts_compute("BIG", &again), ERR_OK);
	computed = again;
	snapshot_close(snap);
	ck_assert_int_eq(
	    snapshot_open(&snap, facts, SPAN("BIG"), computed.entry.generation),
	    ERR_OK);
	ck_assert_int_eq(rename(from, path_of("")), 0);
	ck_assert_int_eq(open_packed(), ERR_DAMAGED);
}
END_TEST

START_TEST(files_of_two_kinds_are_not_taken_for_one_another)
{
	char from[FS_PATH_MAX];

	pack(1, 1);
	ck_assert_int_eq(fs_path(from, "%s", path_of("")), ERR_OK);
	kind = PACKED_PAGES;
	ck_assert_int_eq(rename(from, path_of("")), 0);
	ck_assert_int_eq(open_packed(), ERR_DAMAGED);
}
END_TEST

START_TEST(few_rows_want_none)
{
	struct packed_rows_options options = {.threads = 1};

	facts_import(PACKED_ROWS_ROWS_MIN - 1, 2);
	ck_assert_int_eq(facts_compute("BIG", &computed), ERR_OK);
	ck_assert_int_eq(
	    packed_rows_make(&result, facts, SPAN("BIG"), &options), ERR_OK);
	ck_assert_uint_eq(result.rows, 0);
	ck_assert(access(path_of(""), F_OK) != 0);
	ck_assert_int_eq(
	    packed_rows_make(&result, facts, SPAN("NOBODY"), &options),
	    ERR_NOT_FOUND);
}
END_TEST

START_TEST(discarded_is_gone)
{
	kind = (enum packed_kind)_i;
	pack(1, 1);
	packed_rows_discard(facts, snap, kind);
	ck_assert(access(path_of(""), F_OK) != 0);
	ck_assert(access(path_of(".tmp"), F_OK) != 0);
}
END_TEST

/* Flips a bit of the byte at `at`, or cuts the file there. */
static void
spoil(off_t at, bool cut)
{
	unsigned char byte;
	int fd = open(path_of(""), O_RDWR | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	if (cut)
		ck_assert_int_eq(ftruncate(fd, at), 0);
	else {
		ck_assert_int_eq(pread(fd, &byte, 1, at), 1);
		byte ^= 0x10;
		ck_assert_int_eq(pwrite(fd, &byte, 1, at), 1);
	}
	close(fd);
}

static void
meet_damage(off_t at, bool cut)
{
	bool found;

	spoil(at, cut);
	found = open_packed() != ERR_OK || packed_rows_verify(packed) != ERR_OK;
	packed_rows_close(packed);
	packed = NULL;
	ck_assert_msg(
	    found, "%s at %lld", cut ? "cut" : "a bit", (long long)at);
	ck_assert_int_gt(quiet_lines(), 0);
	/* A new one takes its place. */
	pack(1, 1);
	ck_assert(result.made);
}

/* Of the head, the table, a segment, the last byte. */
START_TEST(each_damage_is_found)
{
	off_t table = sizeof(struct packed_rows_head);
	off_t places[] = {
	    0, 9, 13, 17, 21, 25, 33, 41, table, table + 9, table + 20, 0, 0};

	kind = (enum packed_kind)_i;
	pack(1, 1);
	places[11] = (off_t)result.bytes / 2;
	places[12] = (off_t)result.bytes - 1;
	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		meet_damage(places[i], false);
		meet_damage(places[i], true);
	}
	ck_assert_int_eq(open_packed(), ERR_OK);
	check_rows();
}
END_TEST

static void
count_calls(void *context, uint64_t done, uint64_t rows)
{
	uint64_t *last = context;

	ck_assert_uint_ge(done, *last);
	ck_assert_uint_le(done, rows);
	*last = done;
}

START_TEST(progress_comes_in_order_and_ends_whole)
{
	uint64_t last = 0;
	struct packed_rows_options options = {
	    .threads = 3, .at = count_calls, .context = &last};

	ck_assert_int_eq(
	    packed_rows_make(&result, facts, SPAN("BIG"), &options), ERR_OK);
	ck_assert_uint_eq(last, ROWS);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("zip");
	TCase *tc = tcase_create("zip");

	tcase_set_timeout(tc, 300);
	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_loop_test(tc, segments_are_the_rows_by_any_number_of_threads,
	    0, 4 * PACKED_KINDS);
	tcase_add_loop_test(tc, sums_are_those_of_the_rows, 0, PACKED_KINDS);
	tcase_add_loop_test(tc,
	    what_is_there_is_left_unless_a_smaller_one_is_wanted, 0,
	    PACKED_KINDS);
	tcase_add_test(tc, files_of_two_kinds_are_not_taken_for_one_another);
	tcase_add_test(tc, none_is_not_found_and_no_log_line);
	tcase_add_test(tc, that_of_another_snapshot_is_refused);
	tcase_add_test(tc, few_rows_want_none);
	tcase_add_loop_test(tc, discarded_is_gone, 0, PACKED_KINDS);
	tcase_add_loop_test(tc, each_damage_is_found, 0, PACKED_KINDS);
	tcase_add_test(tc, progress_comes_in_order_and_ends_whole);
	suite_add_tcase(suite, tc);
	return suite;
}
