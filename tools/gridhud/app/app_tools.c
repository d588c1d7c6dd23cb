/*
 * The tools that the server relays. Their arguments were checked there; what
 * matters is checked again, because a wrong one must do no harm here either.
 */
#include <stdlib.h>

#include "common/date.h"
#include "common/display.h"
#include "config.h"
#include "common/members.h"
#include "tools/gridhud/app/app.h"
#include "tools/gridhud/text.h"

#define HISTORY_LIMIT 20
#define HISTORY_LIMIT_MAX 200
#define OBJECT_MAX ((size_t)3 << 20)
#define ID_MAX 64
#define QUIET_MINUTES_MAX 1440
#define SETTING_MAX 8192

/* --- speak_text, set_hud_state -------------------------------------------- */

static bool
is_voice(struct span voice)
{
	for (size_t i = 0; i < voice.len; i++)
		if (!text_is_word((unsigned char)voice.ptr[i]) &&
		    strchr("-_+", voice.ptr[i]) == NULL)
			return false;
	return voice.len <= 64;
}

static void
speak_text(struct app *app, int64_t id, const struct jsonr_value *args)
{
	struct span voice = jsonr_as_string(jsonr_member(args, "voice"));
	struct span text = jsonr_as_string(jsonr_member(args, "text"));
	struct speech_item *item = NULL;
	struct fault fault = {.place = ""};
	struct buf shown;
	enum err err;

	if (!speaker_can(&app->settings, &fault)) {
		client_refuse(&app->client, id, fault.message);
		return;
	}
	if (!is_voice(voice)) {
		client_refuse(&app->client, id,
		    "voice must be a name such as en, fr or en-gb.");
		return;
	}
	buf_init(&shown, 65536);
	text_show(&shown, text);
	err = buf_end(&shown);
	if (err == ERR_OK && span_trim(buf_span(&shown)).len == 0)
		err = ERR_BAD_INPUT;
	if (err == ERR_OK)
		err = speech_add_text(&app->speech, &app->settings,
		    buf_span(&shown), SPEECH_TOOL, &item);
	buf_fini(&shown);
	if (err != ERR_OK) {
		client_refuse(&app->client, id,
		    err == ERR_BUSY ? "Too much waits to be spoken; try again "
				      "in a while."
				    : "The text cannot be spoken.");
		return;
	}
	span_copy(item->voice, sizeof(item->voice), voice);
	item->rate = jsonr_as_int(jsonr_member(args, "rate"));
	if (item->rate < 80 || item->rate > 450)
		item->rate = 0;
	if (jsonr_as_bool(jsonr_member(args, "wait")))
		item->call = id;
	else
		client_answer(&app->client, id, SPAN("queued"), SPAN(""));
}

static void
set_hud_state(struct app *app, int64_t id, const struct jsonr_value *args)
{
	struct fault fault = {.place = ""};
	const struct jsonr_value *quiet = jsonr_member(args, "quiet_minutes");
	bool has_quiet = jsonr_type(quiet) == JSONR_INT;
	int64_t minutes = jsonr_as_int(quiet);
	char text[sizeof(fault.place) + sizeof(fault.message)];

	if (has_quiet && minutes >= 0 && minutes <= QUIET_MINUTES_MAX)
		app_quiet_for(app, minutes * 60000);
	if (app->front->background && !has_quiet) {
		client_refuse(&app->client, id,
		    "No interface window is open: the state would be shown "
		    "nowhere.");
		return;
	}
	if (hud_set(&app->hud, jsonr_as_string(jsonr_member(args, "state")),
		jsonr_as_string(jsonr_member(args, "label")),
		&fault) != ERR_OK) {
		snprintf(
		    text, sizeof(text), "%s %s", fault.place, fault.message);
		client_refuse(&app->client, id, text);
		return;
	}
	app->front->changed(app->front_arg);
	client_answer(&app->client, id, SPAN("ok"), SPAN(""));
}

/* --- show_message --------------------------------------------------------- */

static void
make_id(char id[ID_MAX], const struct app *app)
{
	snprintf(id, ID_MAX, "hud_%s-%llu", app->client.name,
	    (unsigned long long)history_end(app->history));
}

static void
answer_shown(struct app *app, int64_t id, const char *message_id)
{
	struct jsonw json;
	struct buf buf;

	buf_init(&buf, 1024);
	jsonw_init(&json, &buf);
	jsonw_object_begin(&json);
	members_text(&json, "id", span_of(message_id));
	members_bool(&json, "shown", !app->front->background);
	members_bool(&json, "queued", app->front->background);
	jsonw_object_end(&json);
	client_answer(&app->client, id, SPAN(""), buf_span(&buf));
	buf_fini(&buf);
}

static void
show_message(struct app *app, int64_t id, const struct jsonr_value *args)
{
	bool is_system = span_eq(
	    jsonr_as_string(jsonr_member(args, "role")), SPAN("system"));
	struct span text = jsonr_as_string(jsonr_member(args, "text"));
	struct message *message;
	char message_id[ID_MAX];
	enum err err;

	make_id(message_id, app);
	err =
	    message_from_say(&message, is_system ? ROLE_SYSTEM : ROLE_ASSISTANT,
		text, span_of(message_id), clock_now_ms(&app->clock));
	if (err == ERR_OK) {
		message->unread = hud_is_unseen(app->focus, app->at_end);
		err = app_store(app, message, true);
	}
	if (err != ERR_OK) {
		client_refuse(&app->client, id,
		    "The message cannot be kept: the window's history cannot "
		    "be written.");
		return;
	}
	/* So that the server's history has it too. */
	client_say(&app->client, "assistant", text);
	answer_shown(app, id, message_id);
}

/* --- get_app_status ------------------------------------------------------- */

/* The settings that tell an agent whether a text will be heard. */
static void
put_settings(struct jsonw *json, const struct hud_settings *settings)
{
	static const char *const shown[][3] = {
	    {"quiet_hours", "quiet", "hours"},
	    {"priority_words", "policy", "priority_words"},
	    {"muted_sources", "policy", "mute_sources"},
	    {"language", "speech", "language"},
	    {"theme", "window", "theme"},
	    {"night_hours", "window", "night_hours"},
	};
	struct buf value;

	jsonw_key(json, "settings");
	jsonw_object_begin(json);
	members_bool(json, "speech", settings->speech);
	members_bool(json, "notifications", settings->notify);
	buf_init(&value, SETTING_MAX);
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		value.len = 0;
		settings_value(settings, span_of(shown[i][1]),
		    span_of(shown[i][2]), &value);
		members_text(json, shown[i][0], buf_span(&value));
	}
	buf_fini(&value);
	jsonw_object_end(json);
}

static void
put_quiet(struct jsonw *json, const struct app *app)
{
	char time[DATE_TEXT_MAX];

	members_bool(json, "quiet", app_is_quiet(app));
	if (!app_is_undisturbed(app))
		return;
	date_instant_text(time, history_quiet_until(app->history));
	members_text(json, "quiet_until", span_of(time));
}

static void
get_app_status(struct app *app, int64_t id, const struct jsonr_value *args)
{
	const struct app_status *server = &app->server;
	uint64_t stored =
	    history_end(app->history) - history_first(app->history);
	struct fault fault = {.place = ""};
	struct jsonw json;
	struct buf buf;

	(void)args;
	buf_init(&buf, 65536);
	jsonw_init(&json, &buf);
	jsonw_object_begin(&json);
	members_text(&json, "app", span_of(app->settings.app));
	members_text(&json, "version", SPAN(PACKAGE_VERSION));
	members_int(
	    &json, "uptime_s", (clock_steady_ms() - app->started_ms) / 1000);
	members_text(
	    &json, "hud_state", span_of(hud_name(hud_shown(&app->hud))));
	members_bool(&json, "display", display_is_named());
	members_bool(&json, "listening", server->listening);
	members_int(&json, "port", server->port);
	members_text(&json, "path", span_of(server->path));
	members_bool(&json, "secret_configured", server->secret);
	members_bool(&json, "window_attached", !app->front->background);
	members_int(&json, "stored_events", (int64_t)stored);
	members_int(&json, "pending_events", app->speech.waiting);
	members_int(&json, "unread", history_unread(app->history));
	put_quiet(&json, app);
	put_settings(&json, &app->settings);
	if (!speaker_can(&app->settings, &fault))
		members_text(&json, "speech_why_not", span_of(fault.message));
	jsonw_object_end(&json);
	client_answer(&app->client, id, SPAN(""), buf_span(&buf));
	buf_fini(&buf);
}

/* --- get_conversation_history --------------------------------------------- */

static void
put_id(struct jsonw *json, const struct message *message, uint64_t number)
{
	char id[ID_MAX];

	jsonw_key(json, "id");
	if (message->id.len > 0) {
		jsonw_string(json, message->id);
		return;
	}
	snprintf(id, sizeof(id), "hud_%llu", (unsigned long long)number);
	jsonw_text(json, id);
}

/* As the server tells it of events. */
static struct span
role_of(const struct message *message)
{
	if (message->role != ROLE_EVENT)
		return span_of(message_role_name(message));
	return message->kind == KIND_MESSAGE ? SPAN("assistant")
					     : SPAN("system");
}

static void
put_message(struct jsonw *json, const struct message *message, uint64_t number)
{
	char time[DATE_TEXT_MAX];
	struct buf text;

	buf_init(&text, 262144);
	if (message->title.len > 0) {
		buf_add_span(&text, message->title);
		if (message->text.len > 0)
			buf_add_char(&text, '\n');
	}
	buf_add_span(&text, message->text);
	date_instant_text(time, message->time_ms);
	jsonw_object_begin(json);
	put_id(json, message, number);
	members_text(json, "role", role_of(message));
	members_text(json, "text", buf_span(&text));
	members_text(json, "time", span_of(time));
	jsonw_object_end(json);
	buf_fini(&text);
}

/* The number of the message with that id; the end when there is none. */
static uint64_t
find_id(const struct app *app, struct span id)
{
	uint64_t end = history_end(app->history);
	uint64_t number = end;
	char own[ID_MAX];

	while (number > history_first(app->history)) {
		const struct message *message =
		    history_at(app->history, --number);

		snprintf(
		    own, sizeof(own), "hud_%llu", (unsigned long long)number);
		if (span_eq(
			message->id.len > 0 ? message->id : span_of(own), id))
			return number;
	}
	return end;
}

static void
answer_history(struct app *app, int64_t id, uint64_t end, uint64_t limit)
{
	uint64_t first = history_first(app->history);
	uint64_t from = end - first > limit ? end - limit : first;
	struct jsonw json;
	struct buf buf;

	buf_init(&buf, OBJECT_MAX);
	jsonw_init(&json, &buf);
	jsonw_object_begin(&json);
	jsonw_key(&json, "messages");
	jsonw_array_begin(&json);
	for (uint64_t number = from; number < end; number++)
		put_message(&json, history_at(app->history, number), number);
	jsonw_array_end(&json);
	members_bool(&json, "has_more", from > first);
	jsonw_object_end(&json);
	/*
	 * The answer goes out twice, twice, as text and as an object, on one
	 * line.
	 */
	if (jsonw_end(&json) == ERR_OK && buf.len < CLIENT_LINE_MAX / 3)
		client_answer(&app->client, id, SPAN(""), buf_span(&buf));
	else
		client_refuse(&app->client, id,
		    "These messages are too long for one answer; ask for "
		    "fewer with \"limit\".");
	buf_fini(&buf);
}

static void
get_history(struct app *app, int64_t id, const struct jsonr_value *args)
{
	struct span before = jsonr_as_string(jsonr_member(args, "before"));
	int64_t limit = jsonr_as_int(jsonr_member(args, "limit"));
	uint64_t end = history_end(app->history);

	if (limit < 1)
		limit = HISTORY_LIMIT;
	if (limit > HISTORY_LIMIT_MAX)
		limit = HISTORY_LIMIT_MAX;
	if (before.len > 0) {
		uint64_t found = find_id(app, before);

		if (found == end) {
			client_refuse(&app->client, id,
			    "There is no message with the id given as "
			    "\"before\"; leave it out for the newest ones.");
			return;
		}
		end = found;
	}
	answer_history(app, id, end, (uint64_t)limit);
}

/* --- the table ------------------------------------------------------------ */

static const struct {
	const char *name;
	void (*act)(
	    struct app *app, int64_t id, const struct jsonr_value *args);
} tools[] = {
    {"speak_text", speak_text},
    {"set_hud_state", set_hud_state},
    {"show_message", show_message},
    {"get_app_status", get_app_status},
    {"get_conversation_history", get_history},
};

void
app_call(void *arg, int64_t id, struct span name,
    const struct jsonr_value *args, int64_t deadline_ms)
{
	struct app *app = arg;

	(void)deadline_ms; /* the server cancels what comes too late */
	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
		if (!span_eq(span_of(tools[i].name), name))
			continue;
		tools[i].act(app, id, args);
		return;
	}
	client_refuse(&app->client, id, "This window does not know that tool.");
}

/* Only speech lasts. */
void
app_cancel(void *arg, int64_t id)
{
	struct app *app = arg;

	speech_drop_call(&app->speech, id);
	if (app->speaking == NULL || app->speaking->call != id)
		return;
	app->speaking->call = 0;
	speaker_stop(app->speaker);
}
