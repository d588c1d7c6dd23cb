#include "common/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/date.h"
#include "tests/support/run.h"

#define MINUTE_NS INT64_C(60000000000)

static pid_t
shell(char *script, const struct spawn_spec *with)
{
	char *argv[] = {(char *)"sh", (char *)"-c", script, NULL};
	struct spawn_spec spec = *with;
	pid_t pid = 0;

	spec.program = "/bin/sh";
	spec.argv = argv;
	ck_assert_int_eq(spawn_start(&pid, &spec), 0);
	return pid;
}

START_TEST(the_status_is_that_of_the_program)
{
	pid_t pid =
	    shell((char *)"exit 3", &(struct spawn_spec){.group = false});
	int status = 0;

	ck_assert(spawn_ends_before(pid, date_monotonic_ns() + MINUTE_NS));
	ck_assert_int_eq(spawn_reap(&status, pid), 0);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 3);
	ck_assert_int_eq(spawn_code(status), 3);
	ck_assert_int_eq(spawn_reap(&status, pid), ECHILD);
}
END_TEST

START_TEST(a_program_that_is_not_there_is_told_at_once)
{
	char *argv[] = {(char *)"nothing", NULL};
	const struct spawn_spec spec = {
	    .program = "/nowhere/nothing", .argv = argv, .group = true};
	pid_t pid;

	ck_assert_int_eq(spawn_start(&pid, &spec), ENOENT);
}
END_TEST

START_TEST(descriptors_and_environment_are_as_given)
{
	char *environment[] = {(char *)"WORD=given", NULL};
	struct spawn_fd fds[1];
	char text[64] = "";
	int pipe[2], status;
	pid_t pid;

	ck_assert_int_eq(pipe2(pipe, O_CLOEXEC), 0);
	fds[0] = (struct spawn_fd){pipe[1], 5};
	pid = shell((char *)"echo $WORD >&5",
	    &(struct spawn_spec){.environment = environment,
		.fds = fds,
		.fd_count = 1,
		.group = true});
	close(pipe[1]);
	ck_assert_int_eq(read(pipe[0], text, sizeof(text) - 1), 6);
	ck_assert_str_eq(text, "given\n");
	ck_assert_int_eq(read(pipe[0], text, sizeof(text)), 0);
	close(pipe[0]);
	ck_assert_int_eq(spawn_reap(&status, pid), 0);
	ck_assert_int_eq(status, 0);
}
END_TEST

/* The shell and the sleep behind it hold the pipe open until both are gone. */
START_TEST(a_group_ends_as_a_whole)
{
	struct spawn_fd fds[1];
	int pipe[2], status;
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe2(pipe, O_CLOEXEC), 0);
	fds[0] = (struct spawn_fd){pipe[1], 1};
	pid = shell((char *)"sleep 600 & echo; sleep 600",
	    &(struct spawn_spec){.fds = fds, .fd_count = 1, .group = true});
	close(pipe[1]);
	ck_assert_int_eq(read(pipe[0], &byte, 1), 1);
	ck_assert_int_eq(getpgid(pid), pid);
	ck_assert(!spawn_ends_before(pid, date_monotonic_ns()));
	spawn_kill_group(pid);
	ck_assert_int_eq(read(pipe[0], &byte, 1), 0);
	close(pipe[0]);
	ck_assert_int_eq(spawn_reap(&status, pid), 0);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	ck_assert_int_eq(spawn_code(status), 128 + SIGKILL);
}
END_TEST

/* A thread of gridapi blocks and ignores signals; its children do not. */
START_TEST(a_group_begins_with_signals_as_a_shell_gives_them)
{
	sigset_t term;
	int status;
	pid_t pid;

	signal(SIGTERM, SIG_IGN);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	pid =
	    shell((char *)"kill -TERM $$", &(struct spawn_spec){.group = true});
	ck_assert_int_eq(spawn_reap(&status, pid), 0);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	sigprocmask(SIG_UNBLOCK, &term, NULL);
	signal(SIGTERM, SIG_DFL);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("spawn");
	TCase *tc = tcase_create("spawn");

	tcase_add_test(tc, the_status_is_that_of_the_program);
	tcase_add_test(tc, a_program_that_is_not_there_is_told_at_once);
	tcase_add_test(tc, descriptors_and_environment_are_as_given);
	tcase_add_test(tc, a_group_ends_as_a_whole);
	tcase_add_test(tc, a_group_begins_with_signals_as_a_shell_gives_them);
	suite_add_tcase(suite, tc);
	return suite;
}
