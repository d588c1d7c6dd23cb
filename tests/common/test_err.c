#include "common/err.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "tests/support/run.h"

START_TEST(every_code_has_a_text_of_its_own)
{
	for (int i = 0; i < ERR_COUNT; i++) {
		ck_assert_ptr_nonnull(err_text((enum err)i));
		ck_assert_str_ne(err_text((enum err)i), "");
		for (int k = 0; k < i; k++)
			ck_assert_str_ne(
			    err_text((enum err)i), err_text((enum err)k));
	}
}
END_TEST

START_TEST(a_code_that_is_none_has_a_text)
{
	ck_assert_str_eq(err_text(ERR_COUNT), "unknown error");
	ck_assert_str_eq(err_text((enum err) - 1), "unknown error");
}
END_TEST

static const struct {
	int errnum;
	enum err err;
} errnos[] = {
    {0, ERR_OK},
    {ENOMEM, ERR_NO_MEMORY},
    {EFBIG, ERR_NO_SPACE},
    {ENOENT, ERR_NOT_FOUND},
    {EEXIST, ERR_EXISTS},
    {EBUSY, ERR_BUSY},
    {EAGAIN, ERR_BUSY},
    {EACCES, ERR_DENIED},
    {EPERM, ERR_DENIED},
    {EROFS, ERR_READ_ONLY},
    {EMFILE, ERR_NO_FILES},
    {ENFILE, ERR_NO_FILES},
    {ENOSPC, ERR_NO_SPACE},
    {EDQUOT, ERR_NO_SPACE},
    {ETIMEDOUT, ERR_TIMED_OUT},
    {EPIPE, ERR_CLOSED},
    {ECONNRESET, ERR_CLOSED},
    {EIO, ERR_SYSTEM},
    {EINVAL, ERR_SYSTEM},
    {-5, ERR_SYSTEM},
    {99999, ERR_SYSTEM},
};

START_TEST(an_errno_has_the_code_that_fits)
{
	ck_assert_int_eq(err_from_errno(errnos[_i].errnum), errnos[_i].err);
}
END_TEST

static struct fault fault;

static void
clear(void)
{
	memset(&fault, 'x', sizeof(fault));
	fault_clear(&fault);
}

START_TEST(a_cleared_fault_is_not_set)
{
	ck_assert(!fault_is_set(&fault));
	ck_assert_str_eq(fault.place, "");
	ck_assert_str_eq(fault.message, "");
}
END_TEST

START_TEST(a_fault_says_place_and_message)
{
	fault_set(&fault, "sales.csv:17", "is not a number: \"%s\"", "12,5");
	ck_assert(fault_is_set(&fault));
	ck_assert_str_eq(fault.place, "sales.csv:17");
	ck_assert_str_eq(fault.message, "is not a number: \"12,5\"");
}
END_TEST

START_TEST(a_fault_is_told_without_gaps)
{
	char text[FAULT_TEXT_MAX];

	ck_assert_str_eq(fault_text(text, &fault, ERR_NOT_FOUND), "not found");
	fault_set(&fault, "", "is full");
	ck_assert_str_eq(fault_text(text, &fault, ERR_NOT_FOUND), "is full");
	fault_clear(&fault);
	fault_set(&fault, "here", "is full");
	ck_assert_str_eq(
	    fault_text(text, &fault, ERR_NOT_FOUND), "here: is full");
}
END_TEST

START_TEST(the_first_fault_stays)
{
	fault_set(&fault, "cause", "%d", 1);
	fault_set(&fault, "consequence", "%d", 2);
	ck_assert_str_eq(fault.place, "cause");
	ck_assert_str_eq(fault.message, "1");
}
END_TEST

START_TEST(no_fault_to_fill_is_fine)
{
	fault_set(NULL, "place", "%d", 1);
}
END_TEST

START_TEST(a_fault_that_says_nothing_is_set_all_the_same)
{
	fault_set(&fault, NULL, "%s", "");
	ck_assert(fault_is_set(&fault));
	ck_assert_str_eq(fault.place, "");
	ck_assert_str_ne(fault.message, "");
}
END_TEST

static const struct {
	const char *operand;
	const char *shown;
} controls[] = {
    {"a\nb", "a?b"},
    {"\x1b[2J", "?[2J"},
    {"\x7f", "?"},
    {"a\tb\r", "a?b?"},
    {"\xc2\x9b"
     "31m",
	"??31m"},
    {"caf\xc3\xa9 \xc2\xa0", "caf\xc3\xa9 \xc2\xa0"},
};

START_TEST(control_characters_are_not_passed_on)
{
	fault_set(&fault, controls[_i].operand, "%s", controls[_i].operand);
	ck_assert_str_eq(fault.place, controls[_i].shown);
	ck_assert_str_eq(fault.message, controls[_i].shown);
}
END_TEST

START_TEST(what_just_fits_is_not_cut)
{
	char text[sizeof(fault.message)];

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	fault_set(
	    &fault, text + sizeof(text) - sizeof(fault.place), "%s", text);
	ck_assert_uint_eq(strlen(fault.place), sizeof(fault.place) - 1);
	ck_assert_str_eq(fault.message, text);
	ck_assert_ptr_null(strchr(fault.place, '.'));
}
END_TEST

START_TEST(what_is_too_long_is_cut_with_dots)
{
	char text[2000];

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	fault_set(&fault, text, "%s", text);
	ck_assert_uint_eq(strlen(fault.place), sizeof(fault.place) - 1);
	ck_assert_uint_eq(strlen(fault.message), sizeof(fault.message) - 1);
	ck_assert_str_eq(fault.place + sizeof(fault.place) - 5, "a...");
	ck_assert_str_eq(fault.message + sizeof(fault.message) - 5, "a...");
}
END_TEST

/* Each shift puts the cut at another place inside a three-byte character. */
START_TEST(a_cut_leaves_no_half_character)
{
	char text[1200] = "aaa";
	char *at = text + _i;
	size_t len;

	while (at + 4 < text + sizeof(text)) {
		memcpy(at, "\xe2\x82\xac", 4);
		at += 3;
	}
	fault_set(&fault, "", "%s", text);
	len = strlen(fault.message);
	ck_assert_uint_le(len, sizeof(fault.message) - 1);
	ck_assert_uint_gt(len, sizeof(fault.message) - 4);
	ck_assert_str_eq(fault.message + len - 6, "\xe2\x82\xac...");
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("err");
	TCase *codes = tcase_create("codes");
	TCase *faults = tcase_create("faults");

	tcase_add_test(codes, every_code_has_a_text_of_its_own);
	tcase_add_test(codes, a_code_that_is_none_has_a_text);
	tcase_add_loop_test(codes, an_errno_has_the_code_that_fits, 0,
	    sizeof(errnos) / sizeof(errnos[0]));
	suite_add_tcase(suite, codes);

	tcase_add_checked_fixture(faults, clear, NULL);
	tcase_add_test(faults, a_cleared_fault_is_not_set);
	tcase_add_test(faults, a_fault_says_place_and_message);
	tcase_add_test(faults, a_fault_is_told_without_gaps);
	tcase_add_test(faults, the_first_fault_stays);
	tcase_add_test(faults, no_fault_to_fill_is_fine);
	tcase_add_test(faults, a_fault_that_says_nothing_is_set_all_the_same);
	tcase_add_loop_test(faults, control_characters_are_not_passed_on, 0,
	    sizeof(controls) / sizeof(controls[0]));
	tcase_add_test(faults, what_just_fits_is_not_cut);
	tcase_add_test(faults, what_is_too_long_is_cut_with_dots);
	tcase_add_loop_test(faults, a_cut_leaves_no_half_character, 0, 3);
	suite_add_tcase(suite, faults);
	return suite;
}
