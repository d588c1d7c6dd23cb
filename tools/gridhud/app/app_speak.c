/*
 * Takes what waits from the queue to the speaker, one after the other.
 */
#include <assert.h>

#include "common/log.h"
#include "tools/gridhud/app/app.h"

static bool
tells_failures(const struct speech_item *item)
{
	return item->kind == SPEECH_FAILURE ||
	    item->kind == SPEECH_MORE_FAILURES || item->kind == SPEECH_AWAY;
}

/* Answers the call that waits for the speech, and notes what was read. */
static void
settle(struct app *app, const struct speech_item *item, const char *error)
{
	if (item->call != 0 && error == NULL)
		client_answer(
		    &app->client, item->call, SPAN("spoken"), SPAN(""));
	else if (item->call != 0)
		client_refuse(&app->client, item->call, error);
	if (error == NULL && tells_failures(item) && item->seq > 0 &&
	    history_mark_said(app->history, item->seq) != ERR_OK)
		log_warn("not noted that a failure was spoken");
}

/* The person wants to hear no more: a failure counts as heard. */
void
app_speak_dropped(void *arg, const struct speech_item *item)
{
	struct app *app = arg;

	assert(item != NULL);
	if (item->call != 0)
		client_refuse(
		    &app->client, item->call, "The speech was stopped.");
	else if (tells_failures(item))
		settle(app, item, NULL);
}

static void
finish(struct app *app, enum speaker_end end, const struct fault *fault)
{
	char text[sizeof(fault->place) + sizeof(fault->message) + 2];

	if (end == SPEAKER_STOPPED)
		app_speak_dropped(app, app->speaking);
	else if (end == SPEAKER_FAILED) {
		snprintf(
		    text, sizeof(text), "%s %s", fault->place, fault->message);
		app_notice(app, "not spoken: %s", text);
		/* A failure that cannot be heard rings the bell. */
		if (tells_failures(app->speaking) && app->settings.bell)
			app->front->bell(app->front_arg);
		settle(app, app->speaking, text);
	} else
		settle(app, app->speaking, NULL);
	speech_item_free(app->speaking);
	app->speaking = NULL;
	app->hud.speaking = false;
	app->front->changed(app->front_arg);
}

static void
begin(struct app *app, struct speech_item *item, int64_t now_ms)
{
	struct fault fault = {.place = ""};
	enum err err = speaker_start(app->speaker, &app->settings,
	    span_of(item->text), item->voice, item->rate, now_ms);

	app->speaking = item;
	app->hud.speaking = true;
	app->front->changed(app->front_arg);
	if (err == ERR_OK)
		return;
	fault_set(&fault, "speech", "cannot begin: %s", err_text(err));
	finish(app, SPEAKER_FAILED, &fault);
}

void
app_speak(struct app *app)
{
	int64_t now_ms = clock_steady_ms();
	struct fault fault = {.place = ""};
	struct speech_item *item;
	enum speaker_end end;

	assert(app->speaker != NULL);
	end = speaker_poll(app->speaker, &app->settings, now_ms, &fault);
	if (end != SPEAKER_NOTHING)
		finish(app, end, &fault);
	if (app->speaking != NULL)
		return;
	item = speech_take(&app->speech, &app->settings, now_ms);
	if (item != NULL)
		begin(app, item, now_ms);
}
