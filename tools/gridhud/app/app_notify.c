/* The desktop's notifications: which there are, and what becomes of them. */
#include "tools/gridhud/app/app.h"

#include <assert.h>

static void
on_open(void *arg, uint64_t key)
{
	struct app *app = arg;
	const struct message *message = history_at(app->history, key);

	if (message != NULL)
		app_open_link(app, message->url);
}

static void
on_acknowledge(void *arg, uint64_t key)
{
	app_acknowledge_one(arg, key);
}

/* A desktop without a notification service is not told by its silence. */
static void
on_failed(void *arg, const char *reason)
{
	app_notice(arg,
	    "no notification is shown; does a notification service run, such "
	    "as dunst or the desktop's own? (%s)",
	    reason);
}

static bool
waits(void *arg, uint64_t key)
{
	struct app *app = arg;
	const struct message *message = history_at(app->history, key);

	return message != NULL && message->alert;
}

static void
connect_bus(struct app *app)
{
	static const struct notify_ops ops = {
	    on_open, on_acknowledge, on_failed};
	enum err err;

	if (app->notify != NULL || app->notify_failed)
		return;
	err = notify_open(&app->notify, app->settings.app, &ops, app);
	if (err == ERR_OK)
		return;
	app->notify_failed = true;
	app_notice(app, "no notifications: %s",
	    notify_is_there() ? "there is no session bus"
			      : "this build has no sd-bus (libsystemd-dev)");
}

/* The background has no other way to be noticed. */
static bool
wants(const struct app *app)
{
	return app->front->background ||
	    (app->settings.notify && app->focus != FOCUS_IN);
}

void
app_notify(struct app *app, uint64_t number, const struct message *message)
{
	struct notify_message notice = {.key = number,
	    .about = message->about,
	    .title = message->title,
	    .body = message->text,
	    .is_critical =
		message->alert || message->priority == PRIORITY_CRITICAL,
	    .is_silent = app_is_quiet(app) && !message_is_failure(message),
	    .has_link = message->url.len > 0,
	    .is_alert = message->alert};

	assert(message != NULL);
	if (!wants(app))
		return;
	connect_bus(app);
	if (message_is_failure(message))
		notice.title = message_job(message);
	if (notice.title.len == 0)
		notice.title = message->source;
	if (message->error.len > 0)
		notice.body = message->error;
	notify_show(app->notify, &notice);
}

void
app_sweep_notifications(struct app *app)
{
	notify_sweep(app->notify, waits, app);
}

static bool
waits_elsewhere(void *arg, uint64_t key)
{
	(void)arg;
	(void)key;
	return false;
}

void
app_withdraw_notifications(struct app *app)
{
	notify_sweep(app->notify, waits_elsewhere, app);
}

void
app_notify_text(struct app *app, struct span text)
{
	const struct notify_message notice = {.key = UINT64_MAX,
	    .title = span_of(app->settings.app),
	    .body = text,
	    .is_silent = app_is_quiet(app)};

	if (!app->front->background)
		return;
	connect_bus(app);
	notify_show(app->notify, &notice);
}
