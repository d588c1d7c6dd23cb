#include "common/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/err.h"
#include "tests/support/process.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

static char text[LIMITS_TEXT_MAX];

/* Uses up a small limit of descriptors; 0 when the text is right. */
static int
use_all(void)
{
	const struct rlimit few = {40, 40};

	if (setrlimit(RLIMIT_NOFILE, &few) != 0)
		return 1;
	while (open("/dev/null", O_RDONLY) >= 0)
		;
	limits_why(text, errno);
	if (strstr(text, "40 of 40 are in use") == NULL ||
	    strstr(text, "LimitNOFILE") == NULL)
		return 2;
	close(39);
	limits_why(text, EMFILE);
	return strstr(text, "39 of 40 are in use") == NULL ? 3 : 0;
}

START_TEST(too_many_are_told_with_their_limit_and_its_name)
{
	ck_assert_int_eq(process_run(use_all), 0);
}
END_TEST

START_TEST(too_many_of_the_system_name_another_limit)
{
	ck_assert_ptr_nonnull(strstr(limits_why(text, ENFILE), "fs.file-max"));
}
END_TEST

static int
tell_addresses(void)
{
	struct rlimit limit;

	limit.rlim_cur = limit.rlim_max = (rlim_t)900 << 20;
	if (setrlimit(RLIMIT_AS, &limit) != 0)
		return 1;
	limits_why(text, ENOMEM);
	if (strstr(text, "limited to 900 MB, of which ") == NULL ||
	    strstr(text, "LimitAS=") == NULL)
		return 2;
	return strcmp(err_text(ERR_NO_MEMORY), err_text(ERR_NO_ADDRESS)) == 0
	    ? 0
	    : 3;
}

START_TEST(memory_under_a_limit_on_addresses_names_the_limit)
{
	if (limits_addresses() == UINT64_MAX)
		ck_assert_str_eq(limits_why(text, ENOMEM), strerror(ENOMEM));
	ck_assert_int_eq(process_run(tell_addresses), 0);
}
END_TEST

static int
tell_length(void)
{
	const struct rlimit limit = {300 << 10, 300 << 10};

	if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
		return 1;
	limits_why(text, EFBIG);
	if (strstr(text, "limited to 300 KB") == NULL ||
	    strstr(text, "LimitFSIZE=") == NULL)
		return 2;
	if (strstr(err_text(ERR_NO_SPACE), "LimitFSIZE=") == NULL)
		return 3;
	scratch_text("short", "x");
	if (limits_ends(scratch_path("short")) ||
	    truncate(scratch_path("short"), limit.rlim_cur) != 0)
		return 4;
	return limits_ends(scratch_path("short")) &&
		!limits_ends(scratch_path("none"))
	    ? 0
	    : 5;
}

START_TEST(a_file_that_may_not_grow_names_the_limit)
{
	ck_assert_int_eq(process_run(tell_length), 0);
}
END_TEST

START_TEST(a_full_disk_says_what_to_do)
{
	ck_assert_ptr_nonnull(strstr(limits_why(text, ENOSPC), "make room"));
	ck_assert_ptr_nonnull(strstr(limits_why(text, EDQUOT), "quota"));
}
END_TEST

static void *
stop_at_once(void *unused)
{
	return unused;
}

/* Tries threads until one is refused: its errno, or 0. */
static int
refused_thread(void)
{
	pthread_t threads[64];
	unsigned count = 0;
	int errnum = 0;

	/* Threads that are not joined keep their stacks. */
	while (count < 64 && errnum == 0)
		errnum =
		    pthread_create(&threads[count++], NULL, stop_at_once, NULL);
	return errnum;
}

static int
tell_threads_without_addresses(void)
{
	struct rlimit limit;

	limit.rlim_cur = limit.rlim_max =
	    limits_addresses_taken() + ((rlim_t)64 << 20);
	if (setrlimit(RLIMIT_AS, &limit) != 0)
		return 1;
	limits_why_no_thread(text, refused_thread());
	return strstr(text, "LimitAS=") == NULL ? 2 : 0;
}

static int
tell_threads(void)
{
	struct rlimit limit = {7, 7};

	limits_why_no_thread(text, EAGAIN);
	if (strstr(text, "TasksMax=") == NULL)
		return 1;
	if (setrlimit(RLIMIT_NPROC, &limit) != 0)
		return 2;
	limits_why_no_thread(text, EAGAIN);
	return strstr(text, "may have 7,") == NULL ||
		strstr(text, "LimitNPROC=") == NULL ||
		strstr(text, "TasksMax=") == NULL
	    ? 3
	    : 0;
}

START_TEST(a_thread_that_is_refused_names_the_limit)
{
	if (limits_addresses() == UINT64_MAX)
		ck_assert_int_eq(process_run(tell_threads), 0);
	ck_assert_int_eq(process_run(tell_threads_without_addresses), 0);
}
END_TEST

START_TEST(every_other_error_is_as_the_system_says_it)
{
	ck_assert_str_eq(limits_why(text, ENOENT), strerror(ENOENT));
	ck_assert_str_eq(limits_why(text, EACCES), strerror(EACCES));
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("limits");
	TCase *tc = tcase_create("all");

	tcase_add_checked_fixture(tc, scratch_make, scratch_remove);
	tcase_add_test(tc, too_many_are_told_with_their_limit_and_its_name);
	tcase_add_test(tc, too_many_of_the_system_name_another_limit);
	tcase_add_test(tc, memory_under_a_limit_on_addresses_names_the_limit);
	tcase_add_test(tc, a_file_that_may_not_grow_names_the_limit);
	tcase_add_test(tc, a_full_disk_says_what_to_do);
	tcase_add_test(tc, a_thread_that_is_refused_names_the_limit);
	tcase_add_test(tc, every_other_error_is_as_the_system_says_it);
	suite_add_tcase(suite, tc);
	return suite;
}
