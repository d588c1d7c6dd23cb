#include "tests/support/run.h"

#include <stdlib.h>

#include "common/arena.h"
#include "common/jsonr.h"
#include "tools/gridhook/tool/tool.h"

static struct arena *arena;
static struct fault fault;

static void
set_up(void)
{
	arena = arena_new(1024 * 1024);
	ck_assert_ptr_nonnull(arena);
	fault_clear(&fault);
	setenv("HOME", "/home/someone", 1);
}

static void
tear_down(void)
{
	arena_free(arena);
}

START_TEST(without_settings_the_defaults_hold)
{
	struct tool_settings settings;

	ck_assert_int_eq(
	    settings_read(&settings, SPAN(""), arena, &fault), ERR_OK);
	ck_assert_str_eq(settings.find_roots[0], "/home/someone");
	ck_assert_ptr_null(settings.find_roots[1]);
	ck_assert(settings_listed(settings.url_schemes, SPAN("HTTPS")));
	ck_assert(!settings_listed(settings.url_schemes, SPAN("file")));
	ck_assert_ptr_null(settings.app_allow);
	ck_assert(!settings.app_args);
	ck_assert_int_eq(settings.life_fd, -1);
}
END_TEST

START_TEST(what_is_set_takes_the_place_of_a_default)
{
	static const char text[] =
	    "{\"display\":\"x11\",\"x11_display\":\":7\","
	    "\"find_roots\":[\"/a\",\"/b\"],\"find_ms\":5,\"app_args\":true,"
	    "\"app_allow\":[],\"terminal\":[\"t\"],\"life_fd\":3}";
	struct tool_settings settings;

	ck_assert_int_eq(
	    settings_read(&settings, span_of(text), arena, &fault), ERR_OK);
	ck_assert_int_eq(settings.display, SETTINGS_DISPLAY_X11);
	ck_assert_str_eq(settings.x11_display, ":7");
	ck_assert_str_eq(settings.find_roots[1], "/b");
	ck_assert_int_eq(settings.find_ms, 5);
	ck_assert(settings.app_args);
	ck_assert_ptr_nonnull(settings.app_allow);
	ck_assert_ptr_null(settings.app_allow[0]);
	ck_assert_str_eq(settings.terminal[0], "t");
	ck_assert_int_eq(settings.life_fd, 3);
}
END_TEST

static const char *const refused[] = {
    "[]",
    "{",
    "{\"find_root\":[\"/\"]}",
    "{\"find_roots\":\"/\"}",
    "{\"find_roots\":[\"/\",1]}",
    "{\"find_roots\":[\"\"]}",
    "{\"display\":\"mir\"}",
    "{\"display\":1}",
    "{\"app_args\":1}",
    "{\"find_ms\":0}",
    "{\"find_ms\":\"5\"}",
    "{\"life_fd\":1}",
    "{\"app_name\":null}",
};

START_TEST(a_setting_that_is_wrong_is_no_silent_default)
{
	struct tool_settings settings;

	ck_assert_int_eq(
	    settings_read(&settings, span_of(refused[_i]), arena, &fault),
	    ERR_BAD_INPUT);
	ck_assert(fault_is_set(&fault));
}
END_TEST

static struct jsonr *doc;

static struct tool_call
call_with(const char *args)
{
	static const struct jsonr_limits limits = {.bytes = 4096};
	struct tool_call call = {.limit_ms = 1};

	ck_assert_int_eq(
	    jsonr_parse(&doc, span_of(args), &limits, &fault), ERR_OK);
	call.args = jsonr_root(doc);
	return call;
}

static const struct {
	const char *args;
	bool good;
	int64_t value;
} ints[] = {
    {"{}", true, 7},
    {"{\"n\":null}", true, 7},
    {"{\"n\":1}", true, 1},
    {"{\"n\":9}", true, 9},
    {"{\"n\":0}", false, 0},
    {"{\"n\":10}", false, 0},
    {"{\"n\":\"1\"}", false, 0},
    {"{\"n\":1.5}", false, 0},
    {"{\"n\":true}", false, 0},
};

START_TEST(a_number_is_held_against_its_limits)
{
	struct tool_call call = call_with(ints[_i].args);
	int64_t value;

	ck_assert_int_eq(
	    call_int(&call, &value, "n", 7, 1, 9, &fault), ints[_i].good);
	if (ints[_i].good)
		ck_assert_int_eq(value, ints[_i].value);
	else
		ck_assert(fault_is_set(&fault));
	jsonr_free(doc);
}
END_TEST

START_TEST(a_text_that_must_be_there_is_asked_for)
{
	struct tool_call call = call_with("{\"t\":\"abc\",\"n\":1}");
	struct span text;

	ck_assert(call_text(&call, &text, "t", NULL, 3, &fault));
	ck_assert(span_eq(text, SPAN("abc")));
	ck_assert(!call_text(&call, &text, "t", NULL, 2, &fault));
	ck_assert(!call_text(&call, &text, "n", NULL, 9, &fault));
	ck_assert(!call_text(&call, &text, "x", NULL, 9, &fault));
	ck_assert(call_text(&call, &text, "x", "y", 9, &fault));
	ck_assert(span_eq(text, SPAN("y")));
	jsonr_free(doc);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("hooktool settings");
	TCase *tc = tcase_create("settings");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, without_settings_the_defaults_hold);
	tcase_add_test(tc, what_is_set_takes_the_place_of_a_default);
	tcase_add_loop_test(tc, a_setting_that_is_wrong_is_no_silent_default, 0,
	    sizeof(refused) / sizeof(refused[0]));
	tcase_add_loop_test(tc, a_number_is_held_against_its_limits, 0,
	    sizeof(ints) / sizeof(ints[0]));
	tcase_add_test(tc, a_text_that_must_be_there_is_asked_for);
	suite_add_tcase(suite, tc);
	return suite;
}
