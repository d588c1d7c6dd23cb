/* tests/lmdb-schema/test_deflate.c: lmdb-schema/deflate.h */
#include "lmdb-schema/deflate.h"

#include <zlib.h>

#include "tests/support/random.h"
#include "tests/support/run.h"

#define TEXT_MAX (1u << 20)

static struct deflate *packer;
static struct buf text, member;
static uint32_t crc;

static void
make(void)
{
	packer = deflate_new(6);
	ck_assert_ptr_nonnull(packer);
	buf_init(&text, 64u * TEXT_MAX);
	buf_init(&member, 64u * TEXT_MAX);
	buf_add(&member, DEFLATE_GZIP_HEAD, DEFLATE_GZIP_HEAD_LEN);
	crc = 0;
}

static void
drop(void)
{
	deflate_free(packer);
	buf_fini(&text);
	buf_fini(&member);
}

/* Some bytes of few or many kinds, so that blocks of each sort come out. */
static void
add_piece(size_t len)
{
	size_t start = text.len;
	unsigned kinds = 1u + (unsigned)(random_bits() % 256);
	struct span piece;

	while (text.len - start < len)
		buf_add_char(&text, (char)(random_bits() % kinds));
	piece = span_from(buf_span(&text), start);
	ck_assert_int_eq(deflate_add(packer, &member, piece), ERR_OK);
	crc = deflate_crc_both(crc, deflate_crc(0, piece.ptr, len), len);
}

static void
add_stored(size_t len)
{
	unsigned char head[DEFLATE_STORED_LEN];
	size_t start = text.len;
	struct span piece;

	while (text.len - start < len)
		buf_add_char(&text, (char)random_bits());
	piece = span_from(buf_span(&text), start);
	deflate_stored(head, len);
	buf_add(&member, head, sizeof(head));
	buf_add_span(&member, piece);
	crc = deflate_crc_both(crc, deflate_crc(0, piece.ptr, len), len);
}

/* zlib reads it as one gzip member, checks its sum, and finds no more. */
static void
check_member(void)
{
	static char out[16 * TEXT_MAX];
	z_stream z = {0};

	buf_add(&member, DEFLATE_END, DEFLATE_END_LEN);
	buf_add_u32(&member, crc);
	buf_add_u32(&member, (uint32_t)text.len);
	ck_assert_int_eq(buf_end(&member), ERR_OK);
	ck_assert_int_eq(inflateInit2(&z, 16 + 15), Z_OK);
	z.next_in = (Bytef *)member.data;
	z.avail_in = (uInt)member.len;
	z.next_out = (Bytef *)out;
	z.avail_out = sizeof(out);
	ck_assert_int_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
	ck_assert_uint_eq(z.avail_in, 0);
	ck_assert_uint_eq(z.total_out, text.len);
	if (text.len > 0)
		ck_assert_mem_eq(out, text.data, text.len);
	inflateEnd(&z);
}

static const size_t lengths[] = {1, 2, 3, 7, 100, 65535, 65536, 300000};

START_TEST(pieces_of_any_length_are_one_member)
{
	for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		add_piece(lengths[i]);
		add_stored(lengths[i] > 65535 ? 0 : lengths[i]);
	}
	check_member();
}
END_TEST

START_TEST(many_random_pieces_are_one_member)
{
	for (int i = 0; i < 2000; i++)
		add_piece(1 + (size_t)(random_bits() % 3000));
	check_member();
}
END_TEST

START_TEST(no_piece_at_all_is_a_member)
{
	check_member();
}
END_TEST

START_TEST(ceiling_of_the_buffer_is_told)
{
	struct buf small;

	buf_init(&small, 16);
	ck_assert_int_ne(
	    deflate_add(packer, &small, SPAN("abcdefghijkl")), ERR_OK);
	buf_fini(&small);
}
END_TEST

/* Of the length of a row, of a segment, and of more than the tables hold. */
START_TEST(sums_are_joined_as_zlib_joins_them)
{
	static const uint64_t texts[] = {0, 1, 2, 1023, 1024, 1025, 5000,
	    (1 << 20) - 1, 1 << 20, (1 << 20) + 1, UINT32_MAX,
	    (UINT64_C(1) << 40) + 12345};

	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		for (unsigned round = 0; round < 20; round++) {
			uint32_t first = (uint32_t)random_bits();
			uint32_t second = (uint32_t)random_bits();

			ck_assert_uint_eq(
			    deflate_crc_both(first, second, texts[i]),
			    crc32_combine(first, second, (z_off_t)texts[i]));
		}
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("deflate");
	TCase *tc = tcase_create("deflate");

	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_test(tc, pieces_of_any_length_are_one_member);
	tcase_add_test(tc, many_random_pieces_are_one_member);
	tcase_add_test(tc, no_piece_at_all_is_a_member);
	tcase_add_test(tc, ceiling_of_the_buffer_is_told);
	tcase_add_test(tc, sums_are_joined_as_zlib_joins_them);
	suite_add_tcase(suite, tc);
	return suite;
}
