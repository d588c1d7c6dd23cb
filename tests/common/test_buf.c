#include "common/buf.h"

#include <stdlib.h>

#include "tests/support/run.h"

static struct buf buf;

static void
open_small(void)
{
	buf_init(&buf, 10);
}

static void
open_large(void)
{
	buf_init(&buf, 1 << 20);
}

static void
close_it(void)
{
	buf_fini(&buf);
}

static void
holds(const char *text)
{
	struct span expected = span_of(text);

	ck_assert_int_eq(buf_end(&buf), ERR_OK);
	ck_assert_msg(span_eq(buf_span(&buf), expected),
	    "\"%.*s\" is not \"%s\"", SPAN_ARG(buf_span(&buf)), text);
}

START_TEST(a_new_buffer_is_empty_and_owns_nothing)
{
	ck_assert_ptr_null(buf.data);
	ck_assert_int_eq(buf_end(&buf), ERR_OK);
	ck_assert_uint_eq(buf_span(&buf).len, 0);
}
END_TEST

START_TEST(pieces_stand_one_behind_the_other)
{
	buf_add(&buf, "abc", 2);
	buf_add_char(&buf, '-');
	buf_add_text(&buf, "lit");
	buf_add_span(&buf, SPAN("eral"));
	buf_add_span(&buf, span_make(NULL, 0));
	buf_addf(&buf, " %d %s", 42, "x");
	holds("ab-literal 42 x");
}
END_TEST

START_TEST(it_grows_and_keeps_what_it_has)
{
	for (unsigned i = 0; i < 100000; i++)
		buf_add_char(&buf, (char)('a' + i % 26));
	ck_assert_int_eq(buf_end(&buf), ERR_OK);
	ck_assert_uint_eq(buf.len, 100000);
	for (unsigned i = 0; i < 100000; i++)
		ck_assert_int_eq(buf.data[i], (char)('a' + i % 26));
	ck_assert_uint_lt(buf.cap, 4 * buf.len);
}
END_TEST

START_TEST(one_large_piece_fits_as_well)
{
	char *large = calloc(1, 70001);

	buf_add_char(&buf, 'x');
	buf_add(&buf, large, 70001);
	free(large);
	ck_assert_int_eq(buf_end(&buf), ERR_OK);
	ck_assert_uint_eq(buf.len, 70002);
}
END_TEST

START_TEST(a_printed_text_may_be_long)
{
	buf_addf(&buf, "%0*d|", 1000, 7);
	ck_assert_int_eq(buf_end(&buf), ERR_OK);
	ck_assert_uint_eq(buf.len, 1001);
	ck_assert_int_eq(buf.data[998], '0');
	ck_assert_int_eq(buf.data[999], '7');
	ck_assert_int_eq(buf.data[1000], '|');
}
END_TEST

START_TEST(integers_are_little_endian)
{
	buf_add_u16(&buf, 0x0102);
	buf_add_u32(&buf, 0x03040506);
	buf_add_u64(&buf, UINT64_C(0x0708090a0b0c0d0e));
	ck_assert_uint_eq(buf.len, 14);
	ck_assert_mem_eq(buf.data,
	    "\x02\x01\x06\x05\x04\x03\x0e\x0d\x0c\x0b\x0a\x09\x08\x07", 14);
}
END_TEST

START_TEST(room_is_written_in_place)
{
	char *to = buf_room(&buf, 300);

	memset(to, 'x', 300);
	buf_grown(&buf, 5);
	holds("xxxxx");
	ck_assert_ptr_nonnull(buf_room(&buf, 0));
}
END_TEST

START_TEST(room_for_nothing_in_an_empty_buffer_is_room)
{
	ck_assert_ptr_nonnull(buf_room(&buf, 0));
	holds("");
}
END_TEST

START_TEST(clearing_keeps_the_memory)
{
	char *data;

	buf_add_text(&buf, "abc");
	data = buf.data;
	buf_clear(&buf);
	holds("");
	buf_add_text(&buf, "def");
	ck_assert_ptr_eq(buf.data, data);
	holds("def");
}
END_TEST

START_TEST(a_closed_buffer_may_be_used_again)
{
	buf_add_text(&buf, "abc");
	buf_fini(&buf);
	ck_assert_ptr_null(buf.data);
	buf_add_text(&buf, "def");
	holds("def");
}
END_TEST

START_TEST(taken_bytes_end_with_nul_and_are_the_callers)
{
	size_t len;
	char *data;

	buf_add_text(&buf, "abc");
	data = buf_take(&buf, &len);
	ck_assert_str_eq(data, "abc");
	ck_assert_uint_eq(len, 3);
	free(data);
	holds("");
	buf_add_text(&buf, "def");
	data = buf_take(&buf, NULL);
	ck_assert_str_eq(data, "def");
	free(data);
}
END_TEST

START_TEST(nothing_can_be_taken_too)
{
	size_t len = 9;
	char *data = buf_take(&buf, &len);

	ck_assert_str_eq(data, "");
	ck_assert_uint_eq(len, 0);
	free(data);
}
END_TEST

START_TEST(the_ceiling_can_be_reached)
{
	char *data;

	buf_add_text(&buf, "0123456");
	buf_addf(&buf, "%s", "789");
	holds("0123456789");
	ck_assert_uint_le(buf.cap, 10);
	buf_add_text(&buf, "");
	holds("0123456789");
	data = buf_take(&buf, NULL);
	ck_assert_str_eq(data, "0123456789");
	free(data);
}
END_TEST

START_TEST(the_ceiling_cannot_be_passed)
{
	buf_add_text(&buf, "0123456789");
	buf_add_char(&buf, '!');
	ck_assert_int_eq(buf_end(&buf), ERR_TOO_LARGE);
	ck_assert_uint_eq(buf.len, 10);
	ck_assert_ptr_null(buf_take(&buf, NULL));
	ck_assert_int_eq(buf_end(&buf), ERR_TOO_LARGE);
}
END_TEST

START_TEST(a_length_that_overflows_is_too_large)
{
	buf_add_text(&buf, "0");
	ck_assert_ptr_null(buf_room(&buf, SIZE_MAX));
	ck_assert_int_eq(buf_end(&buf), ERR_TOO_LARGE);
}
END_TEST

START_TEST(nothing_is_added_after_a_failure)
{
	buf_add_text(&buf, "abc");
	buf_add_text(&buf, "too long for it");
	buf_add_text(&buf, "d");
	buf_add_char(&buf, 'e');
	buf_addf(&buf, "%d", 1);
	buf_add_u16(&buf, 1);
	ck_assert_ptr_null(buf_room(&buf, 1));
	ck_assert_int_eq(buf_end(&buf), ERR_TOO_LARGE);
	ck_assert_uint_eq(buf.len, 3);
}
END_TEST

START_TEST(the_first_failure_stays)
{
	buf_fail(&buf, ERR_OK);
	holds("");
	buf_fail(&buf, ERR_BAD_INPUT);
	buf_fail(&buf, ERR_CLOSED);
	ck_assert_int_eq(buf_end(&buf), ERR_BAD_INPUT);
	buf_clear(&buf);
	holds("");
}
END_TEST

START_TEST(a_ceiling_that_no_machine_has_is_no_memory)
{
	buf_init(&buf, SIZE_MAX);
	buf_add_text(&buf, "abc");
	ck_assert_ptr_null(buf_room(&buf, SIZE_MAX / 2));
	ck_assert_int_eq(buf_end(&buf), ERR_NO_MEMORY);
	ck_assert_uint_eq(buf.len, 3);
}
END_TEST

START_TEST(a_buffer_that_was_never_begun_may_be_ended)
{
	struct buf none;

	memset(&none, 0, sizeof(none));
	buf_fini(&none);
	ck_assert_ptr_null(none.data);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("buf");
	TCase *large = tcase_create("with room");
	TCase *small = tcase_create("at the ceiling");

	tcase_add_checked_fixture(large, open_large, close_it);
	tcase_add_test(large, a_buffer_that_was_never_begun_may_be_ended);
	tcase_add_test(large, a_new_buffer_is_empty_and_owns_nothing);
	tcase_add_test(large, pieces_stand_one_behind_the_other);
	tcase_add_test(large, it_grows_and_keeps_what_it_has);
	tcase_add_test(large, one_large_piece_fits_as_well);
	tcase_add_test(large, a_printed_text_may_be_long);
	tcase_add_test(large, integers_are_little_endian);
	tcase_add_test(large, room_is_written_in_place);
	tcase_add_test(large, room_for_nothing_in_an_empty_buffer_is_room);
	tcase_add_test(large, clearing_keeps_the_memory);
	tcase_add_test(large, a_closed_buffer_may_be_used_again);
	tcase_add_test(large, taken_bytes_end_with_nul_and_are_the_callers);
	tcase_add_test(large, nothing_can_be_taken_too);
	suite_add_tcase(suite, large);

	tcase_add_checked_fixture(small, open_small, close_it);
	tcase_add_test(small, the_ceiling_can_be_reached);
	tcase_add_test(small, the_ceiling_cannot_be_passed);
	tcase_add_test(small, a_length_that_overflows_is_too_large);
	tcase_add_test(small, nothing_is_added_after_a_failure);
	tcase_add_test(small, the_first_failure_stays);
	tcase_add_test(small, a_ceiling_that_no_machine_has_is_no_memory);
	suite_add_tcase(suite, small);
	return suite;
}
