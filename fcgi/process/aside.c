#include "fcgi/process/aside.h"

#include <assert.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

pid_t
aside_fork(const struct listen *listen)
{
	pid_t supervisor = getpid(), pid = fork();
	sigset_t none;

	assert(listen != NULL);
	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != supervisor)
		_exit(1);
	for (int i = 0; i < LISTEN_COUNT; i++)
		close(listen->fds[i]);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	return 0;
}
