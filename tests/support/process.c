#include "tests/support/process.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

int
process_run(int (*work)(void))
{
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(work());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void
be_killed_later(int (*work)(void), int fd)
{
	/* Should the test end before it comes to that. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (work() != 0 || write(fd, "x", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

pid_t
process_start(int (*work)(void))
{
	int pipe_fds[2];
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe(pipe_fds), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		be_killed_later(work, pipe_fds[1]);
	close(pipe_fds[1]);
	ck_assert_int_eq(read(pipe_fds[0], &byte, 1), 1);
	close(pipe_fds[0]);
	return pid;
}

void
process_kill(pid_t pid)
{
	int status;

	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
}

static unsigned
lock_waiters(pid_t pid)
{
	FILE *file = fopen("/proc/locks", "r");
	unsigned count = 0;
	char line[256];
	int owner;

	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof(line), file) != NULL)
		count +=
		    sscanf(line, "%*d: -> FLOCK %*s %*s %d", &owner) == 1 &&
		    owner == pid;
	fclose(file);
	return count;
}

void
process_waits(pid_t pid, unsigned threads)
{
	while (lock_waiters(pid) < threads)
		usleep(1000);
}

void
process_limit_files(struct rlimit *before, unsigned more)
{
	struct rlimit limit;
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, before), 0);
	limit = *before;
	limit.rlim_cur = (rlim_t)fd + more;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}
