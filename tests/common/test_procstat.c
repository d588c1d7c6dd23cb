#include "common/procstat.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/run.h"

START_TEST(a_process_has_a_name_a_state_and_a_parent)
{
	struct procstat_who who;

	/* With what ends a name in /proc. */
	ck_assert_int_eq(prctl(PR_SET_NAME, "a) T (b"), 0);
	ck_assert_int_eq(procstat_who(&who, getpid()), ERR_OK);
	ck_assert_str_eq(who.name, "a) T (b");
	ck_assert_int_eq(who.state, 'R');
	ck_assert_int_eq(who.parent, getppid());
}
END_TEST

START_TEST(a_process_that_is_stopped_is_told)
{
	struct procstat_who who;
	pid_t pid = fork();
	int status;

	if (pid == 0)
		for (;;)
			pause();
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(kill(pid, SIGSTOP), 0);
	ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
	ck_assert_int_eq(procstat_who(&who, pid), ERR_OK);
	ck_assert_int_eq(who.state, 'T');
	ck_assert_int_eq(who.parent, getpid());
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(procstat_who(&who, pid), ERR_NOT_FOUND);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("procstat");
	TCase *tc = tcase_create("procstat");

	tcase_add_test(tc, a_process_has_a_name_a_state_and_a_parent);
	tcase_add_test(tc, a_process_that_is_stopped_is_told);
	suite_add_tcase(suite, tc);
	return suite;
}
