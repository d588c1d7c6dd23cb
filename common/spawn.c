#include "common/spawn.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/count.h"
#include "common/date.h"
#include "common/log.h"

#define SIGNALED 128

static void
set_group(posix_spawnattr_t *attributes)
{
	static const int usual[] = {SIGPIPE, SIGTERM, SIGINT, SIGHUP, SIGALRM};
	sigset_t none, set;

	sigemptyset(&none);
	sigemptyset(&set);
	for (size_t i = 0; i < COUNT(usual); i++)
		sigaddset(&set, usual[i]);
	posix_spawnattr_setsigmask(attributes, &none);
	posix_spawnattr_setsigdefault(attributes, &set);
	posix_spawnattr_setpgroup(attributes, 0);
	posix_spawnattr_setflags(attributes,
	    POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
		POSIX_SPAWN_SETSIGDEF);
}

int
spawn_start(pid_t *pid, const struct spawn_spec *spec)
{
	extern char **environ;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int errnum = 0;

	assert(spec->program != NULL && spec->argv[0] != NULL);
	posix_spawnattr_init(&attributes);
	posix_spawn_file_actions_init(&actions);
	if (spec->group)
		set_group(&attributes);
	for (unsigned i = 0; i < spec->fd_count && errnum == 0; i++)
		errnum = posix_spawn_file_actions_adddup2(
		    &actions, spec->fds[i].from, spec->fds[i].to);
	if (errnum == 0)
		errnum = posix_spawn(pid, spec->program, &actions, &attributes,
		    spec->argv,
		    spec->environment == NULL ? environ : spec->environment);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return errnum;
}

bool
spawn_ends_before(pid_t pid, int64_t end_ns)
{
	struct pollfd child = {.fd = pidfd_open(pid, 0), .events = POLLIN};
	bool ended = false;

	assert(pid > 0);
	if (child.fd < 0) {
		log_error("pidfd_open failed: error=%s", strerror(errno));
		return true;
	}
	while (!ended) {
		int64_t left_ns = end_ns - date_monotonic_ns();
		int64_t left_ms = left_ns / 1000000 + 1;
		int got;

		if (left_ns <= 0)
			break;
		got =
		    poll(&child, 1, left_ms < INT_MAX ? (int)left_ms : INT_MAX);
		ended = got > 0 || (got < 0 && errno != EINTR);
	}
	close(child.fd);
	return ended;
}

void
spawn_kill_group(pid_t pid)
{
	assert(pid > 0);
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
}

int
spawn_reap(int *status, pid_t pid)
{
	assert(status != NULL && pid > 0);
	while (waitpid(pid, status, 0) < 0)
		if (errno != EINTR)
			return errno;
	return 0;
}

int
spawn_code(int status)
{
	assert(WIFEXITED(status) || WIFSIGNALED(status));
	return WIFSIGNALED(status) ? SIGNALED + WTERMSIG(status)
				   : WEXITSTATUS(status);
}
