#include "fcgi/process/sender.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/limits.h"
#include "common/log.h"
#include "fcgi/process/aside.h"

#define SENDS_ALREADY 3 /* gridctl's exit code: another process does it */

static void
run(const struct api_settings *settings)
{
	char give_up[32];
	char *argv[] = {settings->gridctl, (char *)"--data", settings->data_dir,
	    (char *)"hook", (char *)"deliver", (char *)"--give-up", give_up,
	    (char *)"--ca", settings->hooks_ca, NULL};

	snprintf(give_up, sizeof(give_up), "%lld",
	    (long long)settings->hooks_give_up_s);
	if (settings->hooks_ca[0] == '\0')
		argv[7] = NULL;
	execv(argv[0], argv);
	log_error("hooks: %s cannot be run: %s", argv[0], strerror(errno));
	_exit(1);
}

pid_t
sender_start(const struct api_settings *settings, const struct listen *listen)
{
	char why[LIMITS_TEXT_MAX];
	pid_t pid;

	if (!settings->hooks_deliver)
		return 0;
	pid = aside_fork(listen);
	if (pid < 0)
		log_error("no process for hooks: %s",
		    limits_why_no_thread(why, errno));
	if (pid == 0)
		run(settings);
	return pid < 0 ? 0 : pid;
}

void
sender_tell(int status)
{
	if (WIFSIGNALED(status))
		log_error("hooks: the sender was killed: signal=%d",
		    WTERMSIG(status));
	else if (WEXITSTATUS(status) != 0 &&
	    WEXITSTATUS(status) != SENDS_ALREADY)
		log_error(
		    "hooks: the sender ended: status=%d", WEXITSTATUS(status));
}
