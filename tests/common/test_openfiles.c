#include "common/openfiles.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/support/process.h"
#include "tests/support/run.h"

static char text[OPENFILES_TEXT_MAX];

/* Uses up a small limit of descriptors; 0 when the text is right. */
static int
use_all(void)
{
	const struct rlimit few = {40, 40};

	if (setrlimit(RLIMIT_NOFILE, &few) != 0)
		return 1;
	while (open("/dev/null", O_RDONLY) >= 0)
		;
	openfiles_why(text, errno);
	if (strstr(text, "40 of 40 are in use") == NULL ||
	    strstr(text, "LimitNOFILE") == NULL)
		return 2;
	close(39);
	openfiles_why(text, EMFILE);
	return strstr(text, "39 of 40 are in use") == NULL ? 3 : 0;
}

START_TEST(too_many_are_told_with_their_limit_and_its_name)
{
	ck_assert_int_eq(process_run(use_all), 0);
}
END_TEST

START_TEST(too_many_of_the_system_name_another_limit)
{
	ck_assert_ptr_nonnull(
	    strstr(openfiles_why(text, ENFILE), "fs.file-max"));
}
END_TEST

START_TEST(every_other_error_is_as_the_system_says_it)
{
	ck_assert_str_eq(openfiles_why(text, ENOENT), strerror(ENOENT));
	ck_assert_str_eq(openfiles_why(text, EACCES), strerror(EACCES));
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("openfiles");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, too_many_are_told_with_their_limit_and_its_name);
	tcase_add_test(tc, too_many_of_the_system_name_another_limit);
	tcase_add_test(tc, every_other_error_is_as_the_system_says_it);
	suite_add_tcase(suite, tc);
	return suite;
}
