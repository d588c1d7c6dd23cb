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

static const struct {
	const char *before, *section, *name, *value, *after;
} changes[] = {
    {"", "quiet", "hours", "22:00-07:00", "[quiet]\nhours = 22:00-07:00\n"},
    {"# mine\n[quiet]\n  hours=01:00-02:00\nstrict = yes\n\n[window]\nbell2\n",
	"quiet", "hours", "", NULL},
    {"# mine\n[quiet]\n  hours=01:00-02:00\nstrict = yes\n\n[window]\n"
     "theme = day\n",
	"quiet", "hours", "03:00-04:00",
	"# mine\n[quiet]\nhours = 03:00-04:00\nstrict = yes\n\n[window]\n"
	"theme = day\n"},
    {"[quiet]\nstrict = yes\n\n[window]\ntheme = day\n", "quiet", "hours",
	"03:00-04:00",
	"[quiet]\nstrict = yes\nhours = 03:00-04:00\n\n[window]\n"
	"theme = day\n"},
    {"[window]\ntheme = day", "speech", "rate", " 200 ",
	"[window]\ntheme = day\n\n[speech]\nrate = 200\n"},
    {"[speech]\nrate = 100\nrate = 120\n", "speech", "rate", "200",
	"[speech]\nrate = 200\n"},
    {"[speech]\nrate = 100\n", "speech", "rate", "9000", NULL},
    {"[speech]\nrate = 100\n", "speech", "rate", "10\n[x]", NULL},
    {"", "policy", "mute_sources", "a ; b", NULL},
    {"", "nothing", "at_all", "x", NULL},
};

START_TEST(change_keeps_all_but_its_line)
{
	struct fault fault = {.place = ""};
	struct buf after;
	enum err err;

	scratch_text("conf", changes[_i].before);
	err =
	    settings_change(scratch_path("conf"), span_of(changes[_i].section),
		span_of(changes[_i].name), span_of(changes[_i].value), &fault);
	ck_assert_int_eq(err == ERR_OK, changes[_i].after != NULL);
	ck_assert_int_eq(fault_is_set(&fault), changes[_i].after == NULL);
	buf_init(&after, 65536);
	ck_assert_int_eq(fs_read(&after, scratch_path("conf")), ERR_OK);
	ck_assert(span_eq(buf_span(&after),
	    span_of(changes[_i].after != NULL ? changes[_i].after
					      : changes[_i].before)));
	buf_fini(&after);
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
	tcase_add_loop_test(
	    tc, change_keeps_all_but_its_line, 0, COUNT(changes));
	suite_add_tcase(suite, tc);
	return suite;
}
