#include "common/utf8.h"

#include "common/count.h"
#include "tests/support/run.h"

#define BAD "\xEF\xBF\xBD"

/* As the Encoding standard of the web has it. */
static const struct {
	struct span in, out;
} mended[] = {
    {{"", 0}, {"", 0}},
    {{"abc", 3}, {"abc", 3}},
    {{"\xC3\xA9", 2}, {"\xC3\xA9", 2}},
    {{"\xFF", 1}, {BAD, 3}},
    {{"a\xC3", 2}, {"a" BAD, 4}},
    {{"\xC3(", 2}, {BAD "(", 4}},
    {{"\xE4\xB8", 2}, {BAD, 3}},
    {{"\xE4\xB8x", 3}, {BAD "x", 4}},
    {{"\xF0\x9F\x98", 3}, {BAD, 3}},
    {{"\xC0\x80", 2}, {BAD BAD, 6}},
    {{"\xED\xA0\x80", 3}, {BAD BAD BAD, 9}},
    {{"\xF4\x90\x80\x80", 4}, {BAD BAD BAD BAD, 12}},
    {{"\xF4\x8F\xBF\xBF", 4}, {"\xF4\x8F\xBF\xBF", 4}},
    {{"\x80\x80", 2}, {BAD BAD, 6}},
};

START_TEST(ill_formed_parts_become_one_mark_each)
{
	struct buf buf;

	buf_init(&buf, 100);
	utf8_mend(&buf, mended[_i].in);
	ck_assert_int_eq(buf_end(&buf), ERR_OK);
	ck_assert(span_eq(buf_span(&buf), mended[_i].out));
	ck_assert_int_eq(utf8_is_valid(mended[_i].in),
	    span_eq(mended[_i].in, mended[_i].out));
	ck_assert_uint_eq(
	    utf8_count(mended[_i].in), utf8_count(mended[_i].out));
	buf_fini(&buf);
}
END_TEST

START_TEST(every_character_comes_back)
{
	uint32_t got;
	struct span rest;
	struct buf buf;

	buf_init(&buf, 100);
	for (uint32_t code = 0; code <= 0x10FFFF; code++) {
		if (code == 0xD800)
			code = 0xE000;
		buf_clear(&buf);
		utf8_add(&buf, code);
		rest = buf_span(&buf);
		if (!utf8_next(&got, &rest) || got != code || rest.len != 0)
			ck_abort_msg("U+%04X does not come back", code);
	}
	buf_fini(&buf);
}
END_TEST

START_TEST(cut_never_splits_a_character)
{
	struct span text = SPAN("a\xC3\xA9\xE4\xB8\x96z");

	ck_assert_uint_eq(utf8_cut(text, 0).len, 0);
	ck_assert_uint_eq(utf8_cut(text, 2).len, 1);
	ck_assert_uint_eq(utf8_cut(text, 3).len, 3);
	ck_assert_uint_eq(utf8_cut(text, 5).len, 3);
	ck_assert_uint_eq(utf8_cut(text, 7).len, 7);
	ck_assert_uint_eq(utf8_cut(text, 99).len, 7);
}
END_TEST

START_TEST(what_could_trick_a_reader_is_not_shown)
{
	struct buf buf;

	buf_init(&buf, 200);
	utf8_show(&buf,
	    SPAN("a\r\nb\rc\x1B[31m\x07\x00"
		 "d\te\xC2\x9Bx"
		 "\xE2\x80\xAE"
		 "y\xE2\x81\xA6z\x7F"));
	ck_assert(span_eq(buf_span(&buf), SPAN("a\nb\nc[31md\texyz")));
	buf_fini(&buf);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("gridhook utf8");
	TCase *tc = tcase_create("utf8");

	tcase_add_loop_test(
	    tc, ill_formed_parts_become_one_mark_each, 0, COUNT(mended));
	tcase_add_test(tc, every_character_comes_back);
	tcase_add_test(tc, cut_never_splits_a_character);
	tcase_add_test(tc, what_could_trick_a_reader_is_not_shown);
	suite_add_tcase(suite, tc);
	return suite;
}
