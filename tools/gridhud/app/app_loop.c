/* The window's rounds: by a loop of its own, or by that of a toolkit. */
#include "tools/gridhud/app/app.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define LOOK_MS 1000 /* a round at the latest */

static void
sooner(int64_t *due, int64_t other)
{
	if (other >= 0 && other < *due)
		*due = other;
}

static int
wait_ms(const struct app *app)
{
	int64_t now_ms = clock_steady_ms();
	int64_t due = now_ms + LOOK_MS;

	sooner(&due, client_due_ms(&app->client));
	sooner(&due, speaker_due_ms(app->speaker));
	if (app->speaking == NULL)
		sooner(&due, speech_due_ms(&app->speech));
	if (app->away_due_ms > 0)
		sooner(&due, app->away_due_ms);
	return due <= now_ms ? 0 : (int)(due - now_ms);
}

static void
take_signal(struct app *app)
{
	struct signalfd_siginfo info;

	while (read(app->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		if (info.ssi_signo != SIGCHLD && info.ssi_signo != SIGHUP)
			app->quit = true;
		else if (info.ssi_signo == SIGHUP && !app->on_terminal)
			app->config_stamp = -1; /* read them again */
		else if (info.ssi_signo == SIGHUP)
			app->quit = true; /* the terminal has gone */
}

static enum err
block_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGCHLD);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGHUP);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a limit is an error like a full disk */
	return sigprocmask(SIG_BLOCK, set, NULL) == 0 ? ERR_OK
						      : err_from_errno(errno);
}

enum err
app_block_signals(void)
{
	sigset_t set;

	return block_signals(&set);
}

static int
open_signals(void)
{
	sigset_t set;

	if (block_signals(&set) != ERR_OK)
		return -1;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* The session's bus has gone. */
static void
lose_bus(struct app *app)
{
	notify_close(app->notify);
	app->notify = NULL;
}

enum err
app_begin(struct app *app)
{
	assert(app->signals < 0 && app->history != NULL);
	app->signals = open_signals();
	if (app->signals < 0)
		return err_from_errno(errno);
	app_tick(app);
	return ERR_OK;
}

void
app_wait(const struct app *app, struct app_wait *wait)
{
	*wait = (struct app_wait){
	    .fds = {{app->signals, POLLIN, 0}, {app->fd, POLLIN, 0},
		{notify_fd(app->notify), notify_events(app->notify), 0}},
	    .timeout_ms = wait_ms(app)};
	if (client_out(&app->client).len > 0)
		wait->fds[1].events |= POLLOUT;
}

void
app_round(struct app *app, const struct app_wait *wait)
{
	const struct pollfd *fds = wait->fds;

	if (fds[0].revents != 0)
		take_signal(app);
	if (app->fd >= 0 && app->fd == fds[1].fd &&
	    (fds[1].revents & ~POLLOUT) != 0)
		app_listen(app);
	if (app->notify != NULL && fds[2].revents != 0 &&
	    !notify_process(app->notify))
		lose_bus(app);
	app_tick(app);
}

void
app_end(struct app *app)
{
	app_acknowledge_events(app);
	app_talk(app);
	close(app->signals);
	app->signals = -1;
}

enum err
app_run(struct app *app, int fd, void (*ready)(void *arg),
    void (*round)(void *arg), void *arg)
{
	enum err err = app_begin(app);
	struct app_wait wait;

	assert(fd >= 0 && ready != NULL && round != NULL);
	if (err != ERR_OK)
		return err;
	round(arg);
	while (!app->quit) {
		struct pollfd fds[APP_FDS + 1];

		app_wait(app, &wait);
		memcpy(fds, wait.fds, sizeof(wait.fds));
		fds[APP_FDS] =
		    (struct pollfd){app->input_ended ? -1 : fd, POLLIN, 0};
		/* EINTR is a new size of the terminal: `ready` sees to it. */
		if (poll(fds, APP_FDS + 1, wait.timeout_ms) < 0) {
			memset(fds, 0, sizeof(fds));
			fds[APP_FDS] = (struct pollfd){fd, POLLIN, POLLIN};
		}
		memcpy(wait.fds, fds, sizeof(wait.fds));
		if (!app->input_ended && fds[APP_FDS].revents != 0)
			ready(arg);
		if (app->on_terminal &&
		    (fds[APP_FDS].revents & (POLLHUP | POLLERR | POLLNVAL)) !=
			0)
			app->quit = true;
		app_round(app, &wait);
		round(arg);
	}
	app_end(app);
	return ERR_OK;
}
