/* Actions of the user: does: keys of a screen, commands of plain lines. */
#include <assert.h>
#include <stdio.h>

#include "tools/gridhud/app/app.h"
#include "tools/gridhud/child.h"

static void
changed(struct app *app)
{
	app->front->changed(app->front_arg);
}

static void
told_if_not_stored(struct app *app, enum err err)
{
	if (err == ERR_DENIED)
		app_notice(app, "another window writes: this one only shows");
	else if (err != ERR_OK)
		app_notice(app, "not kept: the history cannot be written: %s",
		    err_text(err));
}

void
app_saw(struct app *app)
{
	assert(app->history != NULL);
	if (history_unread(app->history) == 0)
		return;
	told_if_not_stored(app, history_mark_read(app->history));
	changed(app);
}

/* Ends the display of alerts once none is left. */
static void
look_at_alerts(struct app *app)
{
	app->hud.alert = history_alerts(app->history) > 0;
	app_sweep_notifications(app);
	if (!app->hud.alert &&
	    (app->hud.base == HUD_ALERT || app->hud.base == HUD_ERROR))
		app->hud.base = HUD_IDLE;
	changed(app);
}

static void
remember_alerts(struct app *app)
{
	uint64_t number = history_end(app->history);
	unsigned left = history_alerts(app->history);
	const struct message *message;

	app->undo_count = 0;
	while (left > 0 && app->undo_count < APP_UNDO_MAX &&
	    number > history_first(app->history)) {
		message = history_at(app->history, --number);
		if (!message->alert)
			continue;
		app->undo[app->undo_count++] = number;
		left--;
	}
}

void
app_acknowledge(struct app *app)
{
	unsigned alerts = history_alerts(app->history);
	enum err err;

	assert(app->undo_count <= APP_UNDO_MAX);
	if (alerts > 0)
		remember_alerts(app);
	err = history_mark_acknowledged(app->history);
	if (err == ERR_OK)
		err = history_mark_said(app->history, UINT64_MAX >> 1);
	told_if_not_stored(app, err);
	if (err == ERR_OK && alerts > 0)
		app_notice(app, "%u acknowledged (u: undo)", alerts);
	look_at_alerts(app);
}

void
app_acknowledge_one(struct app *app, uint64_t number)
{
	const struct message *message = history_at(app->history, number);
	enum err err;

	if (message == NULL || !message->alert) {
		if (history_alerts(app->history) > 0)
			app_notice(app,
			    "this one waits for no acknowledgement (A: all "
			    "that do)");
		look_at_alerts(app);
		return;
	}
	err = history_set_alert(app->history, number, false);
	told_if_not_stored(app, err);
	if (err == ERR_OK) {
		app->undo[0] = number;
		app->undo_count = 1;
		app_notice(app, "acknowledged (u: undo)");
	}
	look_at_alerts(app);
}

void
app_undo(struct app *app)
{
	enum err err = ERR_OK;

	assert(app->undo_count <= APP_UNDO_MAX);
	if (app->undo_count == 0) {
		app_notice(app, "nothing to undo");
		return;
	}
	for (unsigned i = 0; i < app->undo_count; i++) {
		err = history_set_alert(app->history, app->undo[i], true);
		/* A message that is too old to be kept is gone by now. */
		if (err != ERR_OK && err != ERR_NOT_FOUND)
			break;
		err = ERR_OK;
	}
	told_if_not_stored(app, err);
	if (err == ERR_OK)
		app_notice(app, "%u wait for an acknowledgement again",
		    history_alerts(app->history));
	app->undo_count = 0;
	look_at_alerts(app);
}

void
app_quiet_for(struct app *app, int64_t ms)
{
	int64_t until_ms = clock_now_ms(&app->clock) + ms;
	char time[CLOCK_TEXT_MAX];

	assert(ms >= 0);
	told_if_not_stored(
	    app, history_set_quiet(app->history, ms > 0 ? until_ms : 0));
	clock_time_text(time, until_ms);
	if (ms > 0)
		app_notice(app,
		    "quiet until %s: only failed jobs and what is urgent are "
		    "heard",
		    time);
	else
		app_notice(app, "messages are heard again");
	changed(app);
}

void
app_toggle_quiet(struct app *app)
{
	app_quiet_for(app, app_is_undisturbed(app) ? 0 : APP_QUIET_MS);
}

void
app_hush(struct app *app)
{
	speech_clear(&app->speech);
	speaker_stop(app->speaker);
	changed(app);
}

void
app_toggle_mute(struct app *app, const struct message *message)
{
	bool on;

	if (message == NULL || message->role != ROLE_EVENT)
		return;
	on = !history_is_muted(app->history, message->source);
	told_if_not_stored(
	    app, history_set_mute(app->history, message->source, on));
	if (!on && app_is_muted(app, message->source))
		app_notice(app,
		    "%.*s stays muted: [policy] mute_sources names it",
		    SPAN_ARG(message->source));
	else
		app_notice(app, "%.*s is %s", SPAN_ARG(message->source),
		    on ? "muted" : "heard again");
	changed(app);
}

void
app_write(struct app *app, struct span text)
{
	struct message *message;
	enum err err;

	text = span_trim(text);
	if (text.len == 0)
		return;
	err = message_from_say(
	    &message, ROLE_USER, text, SPAN(""), clock_now_ms(&app->clock));
	if (err == ERR_OK)
		err = app_store(app, message, true);
	if (err == ERR_OK)
		client_say(&app->client, "user", text);
	else
		told_if_not_stored(app, err);
}

void
app_open_link(struct app *app, struct span url)
{
	char link[2049], command[1100];
	char *argv[CHILD_ARGS_MAX + 1];
	unsigned count;
	pid_t pid;
	size_t i;

	if (url.len == 0) {
		app_notice(app, "this message has no link");
		return;
	}
	for (i = 0; i < url.len; i++)
		if ((unsigned char)url.ptr[i] <= 0x20 || url.ptr[i] == 0x7f)
			break;
	if (i < url.len || !span_copy(link, sizeof(link), url) ||
	    !(span_starts(url, SPAN("http://")) ||
		span_starts(url, SPAN("https://")))) {
		app_notice(app, "not opened: it is not a plain web link");
		return;
	}
	snprintf(command, sizeof(command), "%s", app->settings.opener);
	count = child_split(argv, command);
	if (count == 0)
		return;
	argv[count] = link;
	argv[count + 1] = NULL;
	if (child_start(&pid, argv, SPAN("")) == ERR_OK)
		app_notice(app, "opening %s", link);
	else
		app_notice(app, "cannot start %s", argv[0]);
}

void
app_focus(struct app *app, enum focus focus)
{
	assert(focus <= FOCUS_IN);
	app->focus = focus;
	if (focus == FOCUS_IN && app->at_end)
		app_saw(app);
}

void
app_attach(struct app *app)
{
	client_take_back(&app->client, clock_steady_ms());
}
