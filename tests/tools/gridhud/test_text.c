#include "tools/gridhud/text.h"

#include <locale.h>

#include "common/count.h"
#include "common/fold.h"
#include "common/utf8.h"
#include "tests/support/run.h"

#define BAD "\xEF\xBF\xBD"

static const struct {
	struct span in, out;
} shown[] = {
    {SPAN("plain\ttext\n"), SPAN("plain\ttext\n")},
    {SPAN("a\r\nb\rc"), SPAN("a\nb\nc")},
    {SPAN("\x1b]0;title\x07x\x1b[31m"), SPAN("]0;titlex[31m")},
    {SPAN("a\0b\x7f"), SPAN("ab")},
    {SPAN("\xC2\x9B"
	  "31m"),
	SPAN("31m")}, /* CSI of C1 */
    {SPAN("\xE2\x80\xAE"
	  "evil\xE2\x81\xA6x\xE2\x80\x8F"),
	SPAN("evilx")},
    {SPAN("a\xE2\x80\xA8"
	  "b"),
	SPAN("a\nb")},
    {SPAN("\xF3\xA0\x81\x81x"), SPAN("x")}, /* a tag */
    {SPAN("\xFFz\xC3"), SPAN(BAD "z" BAD)},
    {SPAN("\xED\xA0\x80"), SPAN(BAD BAD BAD)},
    {SPAN("\xC3\xA9t\xC3\xA9 \xE4\xB8\x96"),
	SPAN("\xC3\xA9t\xC3\xA9 \xE4\xB8\x96")},
    /* a family of joined pictures becomes its members */
    {SPAN("\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7"),
	SPAN("\xF0\x9F\x91\xA9\xF0\x9F\x91\xA7")},
    /* but a joiner in a script that needs it stays */
    {SPAN("\xE0\xA4\x95\xE2\x80\x8D\xE0\xA4\xB7"),
	SPAN("\xE0\xA4\x95\xE2\x80\x8D\xE0\xA4\xB7")},
};

START_TEST(what_could_move_or_trick_is_not_shown)
{
	struct buf buf;

	buf_init(&buf, 1000);
	text_show(&buf, shown[_i].in);
	ck_assert_int_eq(buf_end(&buf), ERR_OK);
	ck_assert_msg(span_eq(buf_span(&buf), shown[_i].out), "got \"%.*s\"",
	    SPAN_ARG(buf_span(&buf)));
	buf_fini(&buf);
}
END_TEST

START_TEST(every_character_comes_back)
{
	struct buf buf;
	struct span rest;

	buf_init(&buf, 8);
	for (uint32_t point = 0; point <= 0x10FFFF; point++) {
		if (point == 0xD800)
			point = 0xE000;
		buf_clear(&buf);
		utf8_add(&buf, point);
		rest = buf_span(&buf);
		run_must(text_next(&rest) == point && rest.len == 0);
	}
	buf_fini(&buf);
}
END_TEST

static const struct {
	const char *text, *search, *hit;
	bool whole;
} found[] = {
    {"The Backup is done", "backup", "Backup", false},
    {"cr\xC3\xA8me br\xC3\xBBl\xC3\xA9"
     "e",
	"creme brulee",
	"cr\xC3\xA8me br\xC3\xBBl\xC3\xA9"
	"e",
	false},
    {"creme", "CR\xC3\x88ME", "creme", false},
    {"\xC5\x93uvre", "oeuvre", "\xC5\x93uvre", false},
    {"stra\xC3\x9F"
     "e",
	"strasse",
	"stra\xC3\x9F"
	"e",
	false},
    {"a\n  b", "a b", "a\n  b", false},
    {"a\xC2\xA0"
     "b",
	"a b",
	"a\xC2\xA0"
	"b",
	false},
    {"aab", "ab", "ab", false},
    {"xx", "y", NULL, false},
    {"abc", "abcd", NULL, false},
    {"abcd abc", "abc", "abc", true},
    {"", "a", NULL, false},
};

START_TEST(search_knows_no_case_and_no_accents)
{
	struct span hit;
	struct buf buf;

	buf_init(&buf, 100);
	fold_add(&buf, span_of(found[_i].search));
	hit = text_find(
	    span_of(found[_i].text), buf_span(&buf), 0, found[_i].whole);
	ck_assert_msg(span_eq(hit, span_of(found[_i].hit)), "found \"%.*s\"",
	    SPAN_ARG(hit));
	buf_fini(&buf);
}
END_TEST

START_TEST(widths_are_those_of_a_terminal)
{
	ck_assert_int_eq(text_width(SPAN("abc")), 3);
	ck_assert_int_eq(text_width(SPAN("\xE4\xB8\x96")), 2);
	ck_assert_int_eq(text_width(SPAN("e\xCC\x81")), 1);
	ck_assert_uint_eq(text_cut_width(SPAN("a\xE4\xB8\x96z"), 2).len, 1);
	ck_assert_uint_eq(text_cut_width(SPAN("a\xE4\xB8\x96z"), 3).len, 4);
	ck_assert_uint_eq(text_cut_count(SPAN("\xC3\xA9x"), 1).len, 2);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("gridhud text");
	TCase *tc = tcase_create("text");

	setlocale(LC_CTYPE, "C.UTF-8");
	tcase_add_loop_test(
	    tc, what_could_move_or_trick_is_not_shown, 0, COUNT(shown));
	tcase_add_test(tc, every_character_comes_back);
	tcase_add_loop_test(
	    tc, search_knows_no_case_and_no_accents, 0, COUNT(found));
	tcase_add_test(tc, widths_are_those_of_a_terminal);
	suite_add_tcase(suite, tc);
	return suite;
}
