/* tests/fcgi/http/test_iovbuf.c: fcgi/http/iovbuf.h */
#include "fcgi/http/iovbuf.h"

#include "common/buf.h"
#include "tests/support/random.h"
#include "tests/support/run.h"

static struct iovbuf pieces;
static struct buf model;
static char source[3 * IOVBUF_CHUNK];

static void
make(void)
{
	iovbuf_init(&pieces);
	buf_init(&model, 1 << 26);
	for (size_t i = 0; i < sizeof(source); i++)
		source[i] = (char)('a' + i % 26);
}

static void
drop(void)
{
	iovbuf_fini(&pieces);
	buf_fini(&model);
}

/* The vector's bytes are the model's. */
static void
compare(void)
{
	size_t at = 0;

	ck_assert_int_eq(pieces.err, ERR_OK);
	ck_assert_uint_eq(pieces.total, model.len);
	for (unsigned i = 1; i < pieces.count; i++) {
		ck_assert_uint_le(at + pieces.iov[i].iov_len, model.len);
		ck_assert(memcmp(model.data + at, pieces.iov[i].iov_base,
			      pieces.iov[i].iov_len) == 0);
		at += pieces.iov[i].iov_len;
	}
	ck_assert_uint_eq(at, model.len);
}

START_TEST(neighbouring_copies_are_one_vector)
{
	iovbuf_text(&pieces, "ab");
	iovbuf_text(&pieces, "cd");
	buf_add_text(&model, "abcd");
	ck_assert_uint_eq(pieces.count, 2);
	compare();
}
END_TEST

START_TEST(few_bytes_are_copied_many_referred_to)
{
	iovbuf_refer(&pieces, source, IOVBUF_SMALL - 1);
	ck_assert_ptr_ne(pieces.iov[1].iov_base, source);
	iovbuf_refer(&pieces, source, IOVBUF_SMALL);
	ck_assert_ptr_eq(pieces.iov[2].iov_base, source);
	buf_add(&model, source, IOVBUF_SMALL - 1);
	buf_add(&model, source, IOVBUF_SMALL);
	compare();
}
END_TEST

START_TEST(copy_may_be_longer_than_a_chunk)
{
	iovbuf_copy(&pieces, source, sizeof(source));
	buf_add(&model, source, sizeof(source));
	compare();
}
END_TEST

START_TEST(last_byte_comes_back_of_either_kind)
{
	iovbuf_text(&pieces, "x,");
	iovbuf_drop_last(&pieces);
	iovbuf_refer(&pieces, source, IOVBUF_SMALL);
	iovbuf_drop_last(&pieces);
	iovbuf_text(&pieces, "y");
	buf_add_text(&model, "x");
	buf_add(&model, source, IOVBUF_SMALL - 1);
	buf_add_text(&model, "y");
	compare();
	/* The source was not written to. */
	ck_assert_int_eq(
	    source[IOVBUF_SMALL - 1], 'a' + (IOVBUF_SMALL - 1) % 26);
}
END_TEST

START_TEST(empty_has_nothing_to_give_back)
{
	iovbuf_drop_last(&pieces);
	iovbuf_copy(&pieces, "", 0);
	ck_assert_uint_eq(pieces.count, 1);
	ck_assert_uint_eq(pieces.total, 0);
}
END_TEST

START_TEST(cleared_keeps_its_memory)
{
	char *chunk;

	iovbuf_text(&pieces, "abc");
	chunk = pieces.iov[1].iov_base;
	iovbuf_clear(&pieces);
	ck_assert_uint_eq(pieces.total, 0);
	iovbuf_text(&pieces, "de");
	ck_assert_ptr_eq(pieces.iov[1].iov_base, chunk);
	buf_add_text(&model, "de");
	compare();
}
END_TEST

START_TEST(any_mixture_is_what_was_added)
{
	for (unsigned round = 0; round < 20; round++) {
		iovbuf_clear(&pieces);
		buf_clear(&model);
		for (unsigned i = 0; i < 400; i++) {
			size_t len = random_bits() % 4 == 0
			    ? random_bits() % IOVBUF_CHUNK
			    : random_bits() % 600;

			if (random_bits() % 2 == 0)
				iovbuf_copy(&pieces, source, len);
			else
				iovbuf_refer(&pieces, source, len);
			buf_add(&model, source, len);
			if (model.len > 0 && random_bits() % 3 == 0 &&
			    len > 0) {
				iovbuf_drop_last(&pieces);
				model.len--;
			}
		}
		compare();
	}
}
END_TEST

START_TEST(end_is_referred_to_however_short)
{
	iovbuf_text(&pieces, "x");
	iovbuf_refer_all(&pieces, source, 0);
	ck_assert_uint_eq(pieces.count, 2);
	iovbuf_refer_all(&pieces, source, 1);
	ck_assert_uint_eq(pieces.count, 3);
	ck_assert_ptr_eq(pieces.iov[2].iov_base, source);
	ck_assert_uint_eq(pieces.total, 2);
}
END_TEST

START_TEST(after_a_failure_nothing_is_added)
{
	pieces.err = ERR_NO_MEMORY;
	iovbuf_text(&pieces, "x");
	iovbuf_refer(&pieces, source, IOVBUF_SMALL);
	ck_assert_ptr_null(iovbuf_room(&pieces, 1));
	ck_assert_uint_eq(pieces.count, 1);
	iovbuf_clear(&pieces);
	ck_assert_int_eq(pieces.err, ERR_OK);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("pieces");
	TCase *tc = tcase_create("pieces");

	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_test(tc, neighbouring_copies_are_one_vector);
	tcase_add_test(tc, few_bytes_are_copied_many_referred_to);
	tcase_add_test(tc, end_is_referred_to_however_short);
	tcase_add_test(tc, copy_may_be_longer_than_a_chunk);
	tcase_add_test(tc, last_byte_comes_back_of_either_kind);
	tcase_add_test(tc, empty_has_nothing_to_give_back);
	tcase_add_test(tc, cleared_keeps_its_memory);
	tcase_add_test(tc, any_mixture_is_what_was_added);
	tcase_add_test(tc, after_a_failure_nothing_is_added);
	suite_add_tcase(suite, tc);
	return suite;
}
