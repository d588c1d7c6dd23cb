#include "tools/gridhud/term/view.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/count.h"
#include "tests/support/run.h"
#include "tests/tools/gridhud/gridhud_make.h"
#include "tools/gridhud/text.h"

#define HEAD "{\"source\":\"src\",\"received\":\"2026-01-31T21:04:00.000Z\","

static struct view view;

static void
set_up(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	setenv("TZ", "UTC", 1);
	tzset();
	view_init(&view);
}

static void
tear_down(void)
{
	view_fini(&view);
}

/* The lines with / behind each, indents cut. */
static const char *
lines(void)
{
	static char text[4000];
	struct span line;
	size_t at = 0;

	for (unsigned i = 0; i < view.count; i++) {
		line = span_trim(span_make(
		    view.text.data + view.lines[i].start, view.lines[i].len));
		at += (size_t)snprintf(
		    text + at, sizeof(text) - at, "%.*s/", SPAN_ARG(line));
	}
	return text;
}

static const struct {
	const char *event;
	int width;
	unsigned lines_max;
	const char *lines;
} table[] = {
    {HEAD "\"text\":\"hello\"}", 40, 0, "21:04  src/hello//"},
    {HEAD "\"title\":\"T\",\"text\":\"a\\nb\"}", 40, 0, "21:04  src/T/a/b//"},
    {HEAD "\"text\":\"one two three four five six\"}", 24, 0,
	"21:04  src/one two three/four five six//"},
    {HEAD "\"text\":\"abcdefghijklmnopqrstuvwxyz\"}", 24, 0,
	"21:04  src/abcdefghijklmnop/qrstuvwxyz//"},
    {HEAD "\"text\":\"\\u4e16\\u4e16\\u4e16\\u4e16\\u4e16\\u4e16\\u4e16"
	  "\\u4e16\\u4e16\"}",
	24, 0,
	"21:04  src/\xE4\xB8\x96\xE4\xB8\x96\xE4\xB8\x96\xE4\xB8\x96"
	"\xE4\xB8\x96\xE4\xB8\x96\xE4\xB8\x96\xE4\xB8\x96/\xE4\xB8\x96//"},
    {HEAD "\"text\":\"1\\n2\\n3\\n4\"}", 40, 2,
	"21:04  src/1/2/\xE2\x80\xA6 (Enter shows all of it)//"},
    {HEAD "\"text\":\"# H\\n**b** `c` *x <https://a.example/|t> *i*\\n- "
	  "i\\n```\\ncode\\n```\","
	  "\"format\":\"markdown\"}",
	40, 0, "21:04  src/H/b c *x t i/\xE2\x80\xA2 i/code//"},
    {HEAD "\"text\":\"**b** `c`\"}", 40, 0, "21:04  src/**b** `c`//"},
    {HEAD "\"text\":\"x\",\"url\":\"https://example.org/\"}", 40, 0,
	"21:04  src/x/https://example.org///"},
    {HEAD "\"text\":\"x\",\"url\":\"javascript:alert(1)\"}", 40, 0,
	"21:04  src/x//"},
    {HEAD "\"text\":\"x\",\"kind\":\"job\",\"status\":\"error\",\"job\":"
	  "{\"error\":\"why\"},\"priority\":\"high\"}",
	60, 0, "21:04  src  \xE2\x9C\x97 failed  high/x/why//"},
    {HEAD "\"text\":\"\"}", 40, 0, "21:04  src//"},
    {HEAD "\"text\":\"a\\u001b[2Jb\\u202ec\"}", 40, 0, "21:04  src/a[2Jbc//"},
};

START_TEST(message_is_laid_out)
{
	struct message *message = make_event(1, table[_i].event);
	struct view_options options = {
	    .width = table[_i].width, .lines_max = table[_i].lines_max};

	ck_assert_int_eq(view_message(&view, message, &options), ERR_OK);
	ck_assert_str_eq(lines(), table[_i].lines);
	for (unsigned i = 0; i < view.count; i++)
		ck_assert_int_le(
		    text_width(span_make(view.text.data + view.lines[i].start,
			view.lines[i].len)),
		    table[_i].width);
	message_free(message);
}
END_TEST

/* The style of the first byte of `part`. */
static int
style_of(const char *part)
{
	const char *at =
	    memmem(view.text.data, view.text.len, part, strlen(part));

	ck_assert_ptr_nonnull(at);
	return view.styles.data[at - view.text.data];
}

START_TEST(words_and_hits_are_highlighted)
{
	struct message *message = make_event(1,
	    HEAD "\"title\":\"An urgent matter\",\"text\":\"find The needle "
		 "`here`\",\"format\":\"markdown\"}");
	struct view_options options = {.width = 60, .search = SPAN("the nee")};
	struct hud_words *words;

	ck_assert_int_eq(words_new(&words, "urgent"), ERR_OK);
	options.words = words;
	view_message(&view, message, &options);
	ck_assert_int_eq(style_of("An "), STYLE_TITLE);
	ck_assert_int_eq(style_of("urgent"), STYLE_WORD);
	ck_assert_int_eq(style_of("matter"), STYLE_TITLE);
	ck_assert_int_eq(style_of("find"), STYLE_TEXT);
	ck_assert_int_eq(style_of("The nee"), STYLE_FOUND);
	ck_assert_int_eq(style_of("dle"), STYLE_TEXT);
	ck_assert_int_eq(style_of("here"), STYLE_CODE);
	words_free(words);
	message_free(message);
}
END_TEST

START_TEST(any_width_does)
{
	struct message *message = make_event(1,
	    HEAD "\"title\":\"\\u4e16\\u4e16 title\",\"text\":\"a\\tb "
		 "\\u4e16\\u4e16 e\\u0301 long-long-long-word\","
		 "\"url\":\"https://example.org/a/b/c/d/e\"}");
	struct view_options options = {.day_line = true, .muted = true};

	for (options.width = -3; options.width < 200; options.width++) {
		ck_assert_int_eq(
		    view_message(&view, message, &options), ERR_OK);
		ck_assert_uint_ge(view.count, 5);
	}
	message_free(message);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("gridhud view");
	TCase *tc = tcase_create("view");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_loop_test(tc, message_is_laid_out, 0, COUNT(table));
	tcase_add_test(tc, words_and_hits_are_highlighted);
	tcase_add_test(tc, any_width_does);
	suite_add_tcase(suite, tc);
	return suite;
}
