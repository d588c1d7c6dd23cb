#include "tools/gridhud/app/hud.h"

#include <locale.h>

#include "common/count.h"
#include "tests/support/run.h"

static const struct {
	const char *base;
	bool speaking, alert;
	const char *shown;
} table[] = {
    {"idle", false, false, "idle"},
    {"idle", true, false, "speaking"},
    {"thinking", true, false, "speaking"},
    {"thinking", false, false, "thinking"},
    {"listening", false, true, "alert"},
    {"listening", true, true, "alert"},
    {"error", false, false, "error"},
    {"alert", false, false, "alert"},
    {"hidden", false, false, "hidden"},
    {"hidden", false, true, "alert"},
};

START_TEST(alert_goes_before_speaking_before_the_rest)
{
	struct hud hud = {.base = HUD_IDLE};

	ck_assert_int_eq(
	    hud_set(&hud, span_of(table[_i].base), SPAN(""), NULL), ERR_OK);
	hud.speaking = table[_i].speaking;
	hud.alert = table[_i].alert;
	ck_assert_str_eq(hud_name(hud_shown(&hud)), table[_i].shown);
}
END_TEST

START_TEST(unknown_state_is_refused_with_the_list)
{
	struct fault fault = {.place = ""};
	struct hud hud = {.base = HUD_THINKING};

	ck_assert_int_eq(
	    hud_set(&hud, SPAN("dancing"), SPAN("x"), &fault), ERR_BAD_INPUT);
	ck_assert_int_eq(hud.base, HUD_THINKING);
	ck_assert_str_eq(hud.label, "");
	ck_assert_ptr_nonnull(strstr(fault.message, "listening"));
}
END_TEST

START_TEST(label_is_one_clean_line_of_forty)
{
	struct hud hud = {.base = HUD_IDLE};

	hud_set(&hud, SPAN("idle"), SPAN("a\x1b\nb"), NULL);
	ck_assert_str_eq(hud.label, "a b");
	hud_set(&hud, SPAN("idle"),
	    SPAN("0123456789012345678901234567890123456789xyz"), NULL);
	ck_assert_str_eq(hud.label, "0123456789012345678901234567890123456789");
}
END_TEST

START_TEST(unread_is_what_nobody_can_have_seen)
{
	ck_assert(hud_is_unseen(FOCUS_UNKNOWN, true));
	ck_assert(hud_is_unseen(FOCUS_OUT, true));
	ck_assert(hud_is_unseen(FOCUS_IN, false));
	ck_assert(!hud_is_unseen(FOCUS_IN, true));
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("gridhud hud");
	TCase *tc = tcase_create("hud");

	setlocale(LC_CTYPE, "C.UTF-8");
	tcase_add_loop_test(
	    tc, alert_goes_before_speaking_before_the_rest, 0, COUNT(table));
	tcase_add_test(tc, unknown_state_is_refused_with_the_list);
	tcase_add_test(tc, label_is_one_clean_line_of_forty);
	tcase_add_test(tc, unread_is_what_nobody_can_have_seen);
	suite_add_tcase(suite, tc);
	return suite;
}
