/*
 * The application's descriptors and times as a source of GLib's loop. A
 * descriptor that changes is taken out and put in again, since GLib sorts by
 * it.
 */
#include <assert.h>

#include "tools/gridhud/gtk/gtk_priv.h"

struct source {
	GSource parent;
	struct app *app;
	void (*round)(void *arg);
	void *round_arg;
	struct app_wait wait;
	GPollFD polls[APP_FDS]; /* fd -1: not in the loop */
	int64_t due_ms; /* 0: not known yet */
};

static void
watch(struct source *source, unsigned i, const struct pollfd *wanted)
{
	GPollFD *poll = &source->polls[i];

	if (poll->fd != wanted->fd) {
		if (poll->fd >= 0)
			g_source_remove_poll(&source->parent, poll);
		poll->fd = wanted->fd;
		poll->revents = 0;
		if (poll->fd >= 0)
			g_source_add_poll(&source->parent, poll);
	}
	poll->events = (gushort)wanted->events;
}

static gboolean
prepare(GSource *base, int *timeout)
{
	struct source *source = (struct source *)base;
	int64_t now_ms = clock_steady_ms();
	int64_t due_ms;

	app_wait(source->app, &source->wait);
	for (unsigned i = 0; i < APP_FDS; i++)
		watch(source, i, &source->wait.fds[i]);
	due_ms = now_ms + source->wait.timeout_ms;
	if (source->due_ms == 0 || due_ms < source->due_ms)
		source->due_ms = due_ms;
	*timeout = source->due_ms > now_ms ? (int)(source->due_ms - now_ms) : 0;
	return *timeout == 0;
}

static gboolean
check(GSource *base)
{
	struct source *source = (struct source *)base;
	bool ready = source->due_ms > 0 && clock_steady_ms() >= source->due_ms;

	for (unsigned i = 0; i < APP_FDS; i++) {
		bool same = source->polls[i].fd == source->wait.fds[i].fd;

		source->wait.fds[i].revents = same && source->polls[i].fd >= 0
		    ? (short)source->polls[i].revents
		    : 0;
		ready |= source->wait.fds[i].revents != 0;
	}
	return ready;
}

static gboolean
dispatch(GSource *base, GSourceFunc callback, gpointer data)
{
	struct source *source = (struct source *)base;

	(void)callback;
	(void)data;
	source->due_ms = 0;
	app_round(source->app, &source->wait);
	source->round(source->round_arg);
	return G_SOURCE_CONTINUE;
}

static GSourceFuncs functions = {
    .prepare = prepare, .check = check, .dispatch = dispatch};

GSource *
win_source_new(struct app *app, void (*round)(void *arg), void *round_arg)
{
	GSource *base = g_source_new(&functions, sizeof(struct source));
	struct source *source = (struct source *)base;

	assert(app != NULL && round != NULL);
	source->app = app;
	source->round = round;
	source->round_arg = round_arg;
	for (unsigned i = 0; i < APP_FDS; i++)
		source->polls[i] = (GPollFD){.fd = -1};
	g_source_attach(base, NULL);
	return base;
}
