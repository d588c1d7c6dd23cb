#include "tools/gridhud/child.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/log.h"
#include "common/spawn.h"

#define INPUT_MAX 60000 /* less than a pipe holds: writing never waits */

/* Between fork() and exec(): only what may be called there. */
static void
become(int input)
{
	sigset_t none;
	int nowhere = open("/dev/null", O_RDWR);

	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	if (nowhere < 0)
		_exit(126);
	dup2(input >= 0 ? input : nowhere, 0);
	dup2(nowhere, 1);
	dup2(nowhere, 2);
}

static enum err
failed(const char *what)
{
	enum err err = err_from_errno(errno);

	log_error("cannot start: program=%s reason=%s", what, err_text(err));
	return err;
}

enum err
child_start(pid_t *pid, char *const *argv, struct span input)
{
	int ends[2];

	assert(argv[0] != NULL);
	*pid = -1;
	if (input.len > INPUT_MAX)
		return ERR_TOO_LARGE;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return failed(argv[0]);
	if (fs_write_all(ends[1], input.ptr, input.len) == ERR_OK)
		*pid = fork();
	if (*pid == 0) {
		become(ends[0]);
		execvp(argv[0], argv);
		_exit(CHILD_NOT_FOUND);
	}
	close(ends[0]);
	close(ends[1]);
	if (*pid < 0)
		return failed(argv[0]);
	/* In both processes: the group exists before either goes on. */
	setpgid(*pid, *pid);
	return ERR_OK;
}

enum err
child_fork(pid_t *pid, int (*run)(void *arg), void *arg)
{
	assert(run != NULL);
	*pid = fork();
	if (*pid == 0) {
		become(-1);
		_exit(run(arg));
	}
	if (*pid < 0)
		return failed("a process of our own");
	setpgid(*pid, *pid);
	return ERR_OK;
}

bool
child_ended(pid_t pid, int *code)
{
	int status;
	pid_t got;

	assert(pid > 0 && code != NULL);
	do
		got = waitpid(pid, &status, WNOHANG);
	while (got < 0 && errno == EINTR);
	if (got == 0)
		return false;
	if (got < 0)
		*code = 126; /* reaped elsewhere */
	else
		*code = spawn_code(status);
	return true;
}

void
child_kill(pid_t pid)
{
	if (pid > 1)
		kill(-pid, SIGKILL);
}

unsigned
child_split(char *argv[CHILD_ARGS_MAX], char *text)
{
	unsigned count = 0;
	char *at = text;

	assert(text != NULL);
	while (count < CHILD_ARGS_MAX - 1) {
		at += strspn(at, " \t");
		if (*at == '\0')
			break;
		argv[count++] = at;
		at += strcspn(at, " \t");
		if (*at != '\0')
			*at++ = '\0';
	}
	argv[count] = NULL;
	return count;
}
