/* tests/lmdb-schema/test_zstd_pieces.c: lmdb-schema/zstd_pieces.h */
#include "lmdb-schema/zstd_pieces.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "tests/support/random.h"
#include "tests/support/run.h"

#define TEXT_MAX ((size_t)16 << 20)

static struct zstd_pieces *packer;
static struct buf text, frame;

static void
begin(int level, unsigned piece_log)
{
	packer = zstd_pieces_new(level, piece_log);
	ck_assert_ptr_nonnull(packer);
	buf_init(&text, TEXT_MAX);
	buf_init(&frame, TEXT_MAX);
	buf_add(&frame, ZSTD_PIECES_HEAD, ZSTD_PIECES_HEAD_LEN);
}

static void
drop(void)
{
	zstd_pieces_free(packer);
	buf_fini(&text);
	buf_fini(&frame);
}

static size_t
add(struct span piece)
{
	size_t before = frame.len;

	buf_add_span(&text, piece);
	ck_assert_int_eq(zstd_pieces_add(packer, &frame, piece), ERR_OK);
	return frame.len - before;
}

static void
add_stored(struct span piece)
{
	unsigned char head[ZSTD_STORED_LEN];

	zstd_stored(head, piece.len);
	buf_add(&frame, head, sizeof(head));
	buf_add_span(&frame, piece);
	buf_add_span(&text, piece);
}

/* libzstd reads all of it as one frame, with the window that browsers have. */
static void
check_frame(void)
{
	ZSTD_DCtx *reader = ZSTD_createDCtx();
	char *out = malloc(text.len + 1);
	ZSTD_outBuffer to = {out, text.len + 1, 0};
	ZSTD_inBuffer in;

	buf_add(&frame, ZSTD_PIECES_END, ZSTD_PIECES_END_LEN);
	ck_assert_int_eq(buf_end(&frame), ERR_OK);
	in = (ZSTD_inBuffer){frame.data, frame.len, 0};
	ZSTD_DCtx_setParameter(reader, ZSTD_d_windowLogMax, 23);
	ck_assert_uint_eq(ZSTD_decompressStream(reader, &to, &in), 0);
	ck_assert_uint_eq(in.pos, frame.len);
	ck_assert_uint_eq(to.pos, text.len);
	ck_assert_int_eq(memcmp(out, text.data, text.len), 0);
	ZSTD_freeDCtx(reader);
	free(out);
}

/* Bytes of few or many kinds, with what stood some places before now and then. */
static struct span
some_text(char *room, size_t len)
{
	unsigned kinds = 1u + (unsigned)(random_bits() % 60);
	size_t back = 1 + random_bits() % 12;

	for (size_t i = 0; i < len; i++)
		room[i] = i >= back && random_bits() % 4 > 0
		    ? room[i - back]
		    : (char)(' ' + (char)(random_bits() % kinds));
	return span_make(room, len);
}

static const int levels[] = {1, 2, 3, 5, 6, 9, 13, 16, 19};

START_TEST(random_pieces_and_stored_blocks_are_one_frame)
{
	static char room[300000];

	begin(levels[_i], 17);
	for (unsigned round = 0; round < 40; round++) {
		size_t len = 1 +
		    random_bits() % (round % 8 == 0 ? sizeof(room) - 1 : 3000);

		add(some_text(room, len));
		if (round % 3 == 0)
			add_stored(some_text(room, 1 + random_bits() % 100));
	}
	check_frame();
	drop();
}
END_TEST

/*
 * Bytes that begin as if bytes 1, 4 or 8 places before were known: a frame's last
 * offsets where it begins, and not a piece's.
 */
START_TEST(pieces_do_not_take_a_frames_first_offsets)
{
	static const char *const periods[] = {
	    "a", "abcd", "abcdefgh", "ab", "aab", "0000000000000001"};
	char room[5000];

	begin(levels[_i], 17);
	for (unsigned i = 0; i < 6; i++)
		for (unsigned before = 0; before < 12; before++) {
			size_t period = strlen(periods[i]);

			for (size_t k = 0; k < 60; k++)
				room[k] = k < before
				    ? (char)('0' + (char)(k * 7 % 10))
				    : periods[i][(k - before) % period];
			for (size_t k = 60; k < sizeof(room); k++)
				room[k] = "\"202512\":17.5,"[k % 14];
			ck_assert_uint_lt(
			    add(span_make(room, sizeof(room))), 500);
			/* All of it may have to be stored. */
			add(span_make(room + before, 60 - before));
		}
	check_frame();
	drop();
}
END_TEST

START_TEST(longer_texts_are_split)
{
	size_t len = ((size_t)1 << 18) + 5;
	char *room = malloc(len);

	begin(3, 17);
	add(some_text(room, len));
	add(span_make(room, (size_t)1 << 17));
	check_frame();
	free(room);
	drop();
}
END_TEST

START_TEST(large_pieces_are_small)
{
	size_t len = (size_t)3 << 20;
	char *room = malloc(len);

	begin(9, 22);
	memset(room, 'x', len);
	ck_assert_uint_lt(add(span_make(room, len)), 2000);
	ck_assert_uint_lt(add(some_text(room, len)), len);
	check_frame();
	free(room);
	drop();
}
END_TEST

START_TEST(ceiling_of_the_buffer_is_told)
{
	struct buf small;
	char room[1000];

	begin(1, 17);
	buf_init(&small, 16);
	ck_assert_int_ne(
	    zstd_pieces_add(packer, &small, some_text(room, sizeof(room))),
	    ERR_OK);
	buf_fini(&small);
	drop();
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("zstd_pieces");
	TCase *tc = tcase_create("zstd_pieces");

	tcase_set_timeout(tc, 300);
	tcase_add_loop_test(
	    tc, random_pieces_and_stored_blocks_are_one_frame, 0, 9);
	tcase_add_loop_test(
	    tc, pieces_do_not_take_a_frames_first_offsets, 0, 9);
	tcase_add_test(tc, longer_texts_are_split);
	tcase_add_test(tc, large_pieces_are_small);
	tcase_add_test(tc, ceiling_of_the_buffer_is_told);
	suite_add_tcase(suite, tc);
	return suite;
}
