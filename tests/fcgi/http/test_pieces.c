/* tests/fcgi/http/test_pieces.c: fcgi/http/pieces.h */
#include "fcgi/http/pieces.h"

#include "common/buf.h"
#include "tests/support/random.h"
#include "tests/support/run.h"

static struct pieces pieces;
static struct buf model;
static char source[3 * PIECES_CHUNK];

static void
make(void)
{
	pieces_init(&pieces);
	buf_init(&model, 1 << 26);
	for (size_t i = 0; i < sizeof(source); i++)
		source[i] = (char)('a' + i % 26);
}

static void
drop(void)
{
	pieces_fini(&pieces);
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
	pieces_text(&pieces, "ab");
	pieces_text(&pieces, "cd");
	buf_add_text(&model, "abcd");
	ck_assert_uint_eq(pieces.count, 2);
	compare();
}
END_TEST

START_TEST(few_bytes_are_copied_many_referred_to)
{
	pieces_refer(&pieces, source, PIECES_SMALL - 1);
	ck_assert_ptr_ne(pieces.iov[1].iov_base, source);
	pieces_refer(&pieces, source, PIECES_SMALL);
	ck_assert_ptr_eq(pieces.iov[2].iov_base, source);
	buf_add(&model, source, PIECES_SMALL - 1);
	buf_add(&model, source, PIECES_SMALL);
	compare();
}
END_TEST

START_TEST(copy_may_be_longer_than_a_chunk)
{
	pieces_copy(&pieces, source, sizeof(source));
	buf_add(&model, source, sizeof(source));
	compare();
}
END_TEST

START_TEST(last_byte_comes_back_of_either_kind)
{
	pieces_text(&pieces, "x,");
	pieces_drop_last(&pieces);
	pieces_refer(&pieces, source, PIECES_SMALL);
	pieces_drop_last(&pieces);
	pieces_text(&pieces, "y");
	buf_add_text(&model, "x");
	buf_add(&model, source, PIECES_SMALL - 1);
	buf_add_text(&model, "y");
	compare();
	/* The source was not written to. */
	ck_assert_int_eq(
	    source[PIECES_SMALL - 1], 'a' + (PIECES_SMALL - 1) % 26);
}
END_TEST

START_TEST(empty_has_nothing_to_give_back)
{
	pieces_drop_last(&pieces);
	pieces_copy(&pieces, "", 0);
	ck_assert_uint_eq(pieces.count, 1);
	ck_assert_uint_eq(pieces.total, 0);
}
END_TEST

START_TEST(cleared_keeps_its_memory)
{
	char *chunk;

	pieces_text(&pieces, "abc");
	chunk = pieces.iov[1].iov_base;
	pieces_clear(&pieces);
	ck_assert_uint_eq(pieces.total, 0);
	pieces_text(&pieces, "de");
	ck_assert_ptr_eq(pieces.iov[1].iov_base, chunk);
	buf_add_text(&model, "de");
	compare();
}
END_TEST

START_TEST(any_mixture_is_what_was_added)
{
	for (unsigned round = 0; round < 20; round++) {
		pieces_clear(&pieces);
		buf_clear(&model);
		for (unsigned i = 0; i < 400; i++) {
			size_t len = random_bits() % 4 == 0
			    ? random_bits() % PIECES_CHUNK
			    : random_bits() % 600;

			if (random_bits() % 2 == 0)
				pieces_copy(&pieces, source, len);
			else
				pieces_refer(&pieces, source, len);
			buf_add(&model, source, len);
			if (model.len > 0 && random_bits() % 3 == 0 &&
			    len > 0) {
				pieces_drop_last(&pieces);
				model.len--;
			}
		}
		compare();
	}
}
END_TEST

START_TEST(after_a_failure_nothing_is_added)
{
	pieces.err = ERR_NO_MEMORY;
	pieces_text(&pieces, "x");
	pieces_refer(&pieces, source, PIECES_SMALL);
	ck_assert_ptr_null(pieces_room(&pieces, 1));
	ck_assert_uint_eq(pieces.count, 1);
	pieces_clear(&pieces);
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
	tcase_add_test(tc, copy_may_be_longer_than_a_chunk);
	tcase_add_test(tc, last_byte_comes_back_of_either_kind);
	tcase_add_test(tc, empty_has_nothing_to_give_back);
	tcase_add_test(tc, cleared_keeps_its_memory);
	tcase_add_test(tc, any_mixture_is_what_was_added);
	tcase_add_test(tc, after_a_failure_nothing_is_added);
	suite_add_tcase(suite, tc);
	return suite;
}
