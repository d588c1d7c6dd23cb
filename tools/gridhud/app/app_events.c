/*
 * Messages of the server: greetings, events, its status. An event is stored
 * first; only then it is shown and spoken.
 */
#include <assert.h>
#include <stdio.h>
#include <unistd.h>

#include "common/log.h"
#include "tools/gridhud/app/app.h"
#include "tools/gridhud/app/policy.h"

#define AWAY_WAIT_MS 2000
#define CLAIM_TRIES 50
#define CLAIM_PAUSE_US 20000

static void
on_status(void *arg, const struct jsonr_value *status)
{
	struct app *app = arg;
	struct app_status *server = &app->server;

	if (jsonr_type(status) != JSONR_OBJECT)
		return;
	server->known = true;
	server->listening = jsonr_as_bool(jsonr_member(status, "listening"));
	server->secret =
	    jsonr_as_bool(jsonr_member(status, "secretConfigured"));
	server->port = jsonr_as_int(jsonr_member(status, "port"));
	snprintf(server->path, sizeof(server->path), "%.*s",
	    SPAN_ARG(jsonr_as_string(jsonr_member(status, "path"))));
	snprintf(server->error, sizeof(server->error), "%.*s",
	    SPAN_ARG(jsonr_as_string(jsonr_member(status, "error"))));
	app->front->changed(app->front_arg);
}

static void
add_unsaid(void *arg, const struct message *message)
{
	struct app *app = arg;

	away_add(&app->away, message);
	app->away_due_ms = clock_steady_ms() + AWAY_WAIT_MS;
}

static enum err
take_over(struct app *app, const char *epoch)
{
	enum err err = history_claim(app->history);

	/* The window that was there has just been told to leave. */
	for (unsigned tries = 0; err == ERR_BUSY && tries < CLAIM_TRIES;
	     tries++) {
		usleep(CLAIM_PAUSE_US);
		err = history_claim(app->history);
	}
	if (err == ERR_BUSY)
		app_notice(app,
		    "another window has the history; it will be tried again");
	if (err == ERR_OK)
		err = history_set_epoch(app->history, epoch);
	return err;
}

static enum err
on_welcome(void *arg, const struct client_welcome *welcome)
{
	struct app *app = arg;
	char epoch[HISTORY_EPOCH_MAX];
	enum err err;

	if (!span_copy(epoch, sizeof(epoch), welcome->epoch))
		return ERR_BAD_INPUT;
	err = take_over(app, epoch);
	if (err != ERR_OK)
		return err;
	app->client.last = history_last(app->history);
	app->away_until = welcome->next - 1;
	app->hud.alert = history_alerts(app->history) > 0;
	/*
	 * Speaks failures that an earlier window stored but did not live to
	 * speak.
	 */
	if (!app->greeted)
		history_unsaid(app->history, add_unsaid, app);
	app->greeted = true;
	/* Acknowledges again what was stored before this window began. */
	if (app->client.last > 0)
		app->unacked = app->client.last;
	on_status(app, welcome->status);
	return ERR_OK;
}

static void
on_superseded(void *arg)
{
	struct app *app = arg;

	history_yield(app->history);
	if (app->front->background)
		app_withdraw_notifications(app);
	else
		app_notice(app,
		    "another window took over: this one only shows what "
		    "it has (r: take back)");
}

/* --- events --------------------------------------------------------------- */

static struct policy_facts
gather(const struct app *app, const struct message *message, bool replay)
{
	return (struct policy_facts){.failure = message_is_failure(message),
	    .priority = (enum priority)message->priority,
	    .matched = message->matched,
	    .quiet = app_is_quiet(app),
	    .muted = app_is_muted(app, message->source),
	    .replayed = replay,
	    .duplicate = message->duplicate,
	    .silenced = message->silent || message->speak == SPEAK_NO,
	    .asked = message->speak == SPEAK_YES,
	    .firing = message->status == STATUS_FIRING,
	    .speech_on =
		app->settings.speech && app->settings.engine != ENGINE_NONE,
	    .speak_failures = app->settings.speak_job_failures &&
		app->settings.engine != ENGINE_NONE,
	    .quiet_strict = app->settings.quiet_strict};
}

static bool
has_priority_word(const struct app *app, const struct message *message)
{
	return words_find(app->words, message->title, 0).ptr != NULL ||
	    words_find(app->words, message->text, 0).ptr != NULL;
}

static struct verdict
judge(const struct app *app, struct message *message, bool replay)
{
	struct policy_facts facts;
	struct verdict verdict;

	message->replayed = replay;
	message->matched = has_priority_word(app, message);
	facts = gather(app, message, replay);
	verdict = policy_decide(&facts);
	message->priority = (uint8_t)verdict.priority;
	message->alert = verdict.alert;
	message->unread =
	    verdict.counts && hud_is_unseen(app->focus, app->at_end);
	message->say_due =
	    facts.failure && facts.speak_failures && !message->duplicate;
	return verdict;
}

static void
speak_of(struct app *app, const struct message *message,
    const struct verdict *verdict)
{
	enum err err;

	if (verdict->say == SAY_NOTHING)
		return;
	err = speech_add_message(&app->speech, &app->settings, message,
	    verdict->say == SAY_FAILURE ? SPEECH_FAILURE : SPEECH_MESSAGE,
	    clock_steady_ms());
	if (err != ERR_OK && err != ERR_BUSY)
		app_notice(app, "not spoken: %s", err_text(err));
}

static void
sum_up(struct app *app, const struct message *message,
    const struct verdict *verdict)
{
	if (verdict->in_summary) {
		away_add(&app->away, message);
		app->away_due_ms = clock_steady_ms() + AWAY_WAIT_MS;
	}
	if (app->away_due_ms > 0 &&
	    (!message->replayed || message->seq >= app->away_until))
		app_flush_away(app);
}

enum err
app_store(struct app *app, struct message *message, bool live)
{
	enum err err;

	assert(app->history != NULL && message != NULL);
	err = history_add_take(app->history, message);
	if (err == ERR_OK)
		app->front->added(
		    app->front_arg, history_end(app->history) - 1, live);
	return err;
}

static enum err
on_event(void *arg, uint64_t seq, bool replay, const struct jsonr_value *event)
{
	struct app *app = arg;
	const struct message *stored;
	struct message *message;
	struct verdict verdict;
	enum err err;

	err =
	    message_from_event(&message, seq, event, clock_now_ms(&app->clock));
	if (err == ERR_BAD_INPUT) {
		log_warn("an event without a source was passed over: seq=%llu",
		    (unsigned long long)seq);
		return ERR_OK;
	}
	if (err != ERR_OK)
		return err;
	verdict = judge(app, message, replay);
	err = app_store(app, message, !replay);
	if (err != ERR_OK) {
		app_notice(app,
		    "messages wait in gridhook: the history "
		    "cannot be written: %s",
		    err_text(err));
		return err;
	}
	stored = history_at(app->history, history_end(app->history) - 1);
	app->unacked = seq;
	app->hud.alert = history_alerts(app->history) > 0;
	app_sweep_notifications(app);
	app->front->changed(app->front_arg);
	if (verdict.bell)
		app_notify(app, history_end(app->history) - 1, stored);
	speak_of(app, stored, &verdict);
	sum_up(app, stored, &verdict);
	if (verdict.bell && app->settings.bell)
		app->front->bell(app->front_arg);
	return ERR_OK;
}

/* --- what came in meanwhile ----------------------------------------------- */

static void
say_away(struct app *app, struct span text)
{
	const struct policy_facts facts = {.quiet = app_is_quiet(app),
	    .speech_on =
		app->settings.speech && app->settings.engine != ENGINE_NONE,
	    .speak_failures = app->settings.speak_job_failures &&
		app->settings.engine != ENGINE_NONE};
	struct speech_item *item;

	if (!policy_speaks_summary(app->away.failures, &facts))
		return;
	if (speech_add_text(&app->speech, &app->settings, text, SPEECH_AWAY,
		&item) == ERR_OK)
		item->seq = history_last(app->history);
	else
		app_notice(app, "not spoken: %.*s", SPAN_ARG(text));
}

void
app_flush_away(struct app *app)
{
	struct buf buf;

	assert(app->away.failures <= app->away.messages);
	app->away_due_ms = 0;
	if (app->away.messages == 0)
		return;
	buf_init(&buf, 4096);
	phrase_away(&buf, &app->away, (enum language)app->settings.language);
	if (buf_end(&buf) == ERR_OK) {
		app_notice(app, "%.*s", SPAN_ARG(buf_span(&buf)));
		app_notify_text(app, buf_span(&buf));
		say_away(app, buf_span(&buf));
	}
	buf_fini(&buf);
	app->away = (struct away){.messages = 0};
}

const struct client_ops app_client_ops = {
    .welcome = on_welcome,
    .event = on_event,
    .call = app_call,
    .cancel = app_cancel,
    .status = on_status,
    .superseded = on_superseded,
};
