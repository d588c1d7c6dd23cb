#include "tools/gridhud/settings.h"

#include "common/count.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

START_TEST(printed_defaults_are_the_defaults)
{
	struct hud_settings settings, again;
	struct fault fault = {.place = ""};
	struct buf one, two;
	FILE *file = fopen(scratch_path("conf"), "w");

	ck_assert_ptr_nonnull(file);
	settings_print(file);
	fclose(file);
	ck_assert_int_eq(settings_load(&settings, "/dev/null", &fault), ERR_OK);
	ck_assert_int_eq(
	    settings_load(&again, scratch_path("conf"), &fault), ERR_OK);
	buf_init(&one, 65536);
	buf_init(&two, 65536);
	settings_list(&settings, &one);
	settings_list(&again, &two);
	ck_assert(span_eq(buf_span(&one), buf_span(&two)));
	ck_assert_int_eq(settings.sentences, 2);
	ck_assert_int_eq(settings.max_chars, 240);
	ck_assert(settings.speak_job_failures);
	ck_assert(!settings.quiet_strict);
	ck_assert_uint_eq(settings.quiet.count, 0);
	ck_assert_uint_eq(settings.night.count, 1);
	buf_fini(&one);
	buf_fini(&two);
	settings_fini(&settings);
	settings_fini(&again);
}
END_TEST

static const struct {
	const char *text, *place;
} wrong[] = {
    {"[quiet]\nhours = late\n", "[quiet] hours"},
    {"[window]\nnight_hours = 1-2\n", "[window] night_hours"},
    {"[window]\ntheme = pink\n", ":2"},
    {"[speech]\nrate = 9000\n", ":2"},
    {"[quiet]\nhour = 22:00-07:00\n", ":2"},
    {"[nothing]\n", ":1"},
};

START_TEST(wrong_setting_is_told_with_its_place)
{
	struct fault fault = {.place = ""};
	struct hud_settings settings;

	scratch_text("conf", wrong[_i].text);
	ck_assert_int_eq(settings_load(&settings, scratch_path("conf"), &fault),
	    ERR_BAD_INPUT);
	ck_assert_msg(strstr(fault.place, wrong[_i].place) != NULL,
	    "place is %s", fault.place);
	ck_assert_uint_gt(strlen(fault.message), 10);
	settings_fini(&settings);
}
END_TEST

START_TEST(file_that_was_named_must_be_there)
{
	struct fault fault = {.place = ""};
	struct hud_settings settings;

	ck_assert_int_eq(settings_load(&settings, scratch_path("none"), &fault),
	    ERR_NOT_FOUND);
	ck_assert(fault_is_set(&fault));
	settings_fini(&settings);
}
END_TEST

START_TEST(lists_are_read_without_case)
{
	ck_assert(settings_list_has("a, B c ,d", SPAN("b c")));
	ck_assert(!settings_list_has("a, b c", SPAN("b")));
	ck_assert(!settings_list_has("", SPAN("")));
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("gridhud settings");
	TCase *tc = tcase_create("settings");

	tcase_add_checked_fixture(tc, scratch_make, scratch_remove);
	tcase_add_test(tc, printed_defaults_are_the_defaults);
	tcase_add_loop_test(
	    tc, wrong_setting_is_told_with_its_place, 0, COUNT(wrong));
	tcase_add_test(tc, file_that_was_named_must_be_there);
	tcase_add_test(tc, lists_are_read_without_case);
	suite_add_tcase(suite, tc);
	return suite;
}
