#include "common/library.h"

#include <stddef.h>
#include <string.h>

#include "tests/support/run.h"

static double (*power)(double base, double exponent);
static double (*none)(double of);

static const struct library_function functions[] = {
    {"pow", &power}, {NULL, NULL}};
static const struct library_function too_many[] = {
    {"pow", &power}, {"no_such_function", &none}, {NULL, NULL}};

static enum err
load(const char *const *names, const struct library_function *wanted,
    struct fault *fault)
{
	const struct library library = {names, "libc6", wanted};

	fault_clear(fault);
	power = NULL;
	return library_load(&library, fault);
}

START_TEST(the_first_name_that_is_there_is_loaded)
{
	static const char *const names[] = {
	    "libno-such.so.7", "libm.so.6", "libc.so.6", NULL};
	struct fault fault;

	ck_assert_int_eq(load(names, functions, &fault), ERR_OK);
	ck_assert(!fault_is_set(&fault));
	ck_assert_double_eq(power(2, 10), 1024);
}
END_TEST

START_TEST(a_missing_library_is_told_with_its_package)
{
	static const char *const names[] = {
	    "libno-such.so.7", "libno-such.so.6", NULL};
	struct fault fault;

	ck_assert_int_eq(load(names, functions, &fault), ERR_NOT_FOUND);
	ck_assert_str_eq(fault.place, "libno-such.so.7");
	ck_assert_ptr_nonnull(strstr(fault.message, "No such file"));
	ck_assert_ptr_nonnull(
	    strstr(fault.message, "install the package libc6"));
	ck_assert(power == NULL);
}
END_TEST

START_TEST(a_missing_function_is_told_and_none_is_given)
{
	static const char *const names[] = {"libm.so.6", NULL};
	struct fault fault;

	ck_assert_int_eq(load(names, too_many, &fault), ERR_NOT_FOUND);
	ck_assert_str_eq(fault.place, "libm.so.6");
	ck_assert_ptr_nonnull(
	    strstr(fault.message, "has no function no_such_function"));
	ck_assert(power == NULL);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("library");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, the_first_name_that_is_there_is_loaded);
	tcase_add_test(tc, a_missing_library_is_told_with_its_package);
	tcase_add_test(tc, a_missing_function_is_told_and_none_is_given);
	suite_add_tcase(suite, tc);
	return suite;
}
