#include "tools/gridhud/app/app.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define LOOK_MS 1000 /* between looks at the settings file */
#define READ_MAX 65536

void
app_notice(struct app *app, const char *format, ...)
{
	char text[APP_NOTICE_MAX];
	va_list args;

	assert(format != NULL && app->front != NULL);
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	app->front->notice(app->front_arg, text);
}

static void
changed(struct app *app)
{
	app->front->changed(app->front_arg);
}

/* --- settings ------------------------------------------------------------- */

static int64_t
stamp_of(const char *config)
{
	char path[FS_PATH_MAX];
	struct stat st;

	if (settings_path(path, config) != ERR_OK || stat(path, &st) != 0)
		return 0;
	return (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec +
	    st.st_size;
}

static enum err
take_settings(struct app *app, struct fault *fault)
{
	struct hud_settings settings;
	struct hud_words *words = NULL;
	enum err err;

	app->config_stamp = stamp_of(app->config);
	err = settings_load(&settings, app->config, fault);
	if (err == ERR_OK)
		err = words_new(&words, settings.priority_words);
	if (err != ERR_OK) {
		settings_fini(&settings);
		return err;
	}
	settings_fini(&app->settings);
	words_free(app->words);
	app->settings = settings;
	app->words = words;
	return ERR_OK;
}

/* The old ones stay when the new ones are wrong. */
static void
look_at_settings(struct app *app, int64_t now_ms)
{
	struct fault fault = {.place = ""};

	if (now_ms < app->config_look_ms)
		return;
	app->config_look_ms = now_ms + LOOK_MS;
	if (stamp_of(app->config) == app->config_stamp)
		return;
	if (take_settings(app, &fault) != ERR_OK) {
		app_notice(app, "settings not read: %s: %s", fault.place,
		    fault.message);
		return;
	}
	history_limit(app->history, app->settings.keep_messages,
	    app->settings.keep_bytes);
	app_notice(app, "settings read again");
	changed(app);
}

/* --- beginning and end ---------------------------------------------------- */

static enum err
open_history(struct app *app, struct fault *fault)
{
	char path[FS_PATH_MAX];
	enum err err = settings_history(path, &app->settings);

	if (err != ERR_OK) {
		fault_set(fault, "[history] file",
		    "is not set, and there is no HOME to put it into");
		return err;
	}
	err = history_open(&app->history, path, app->settings.keep_messages,
	    app->settings.keep_bytes);
	if (err != ERR_OK)
		fault_set(fault, path, "the history cannot be opened: %s",
		    err_text(err));
	return err;
}

enum err
app_open(struct app *app, const char *config, const char *now,
    const struct front *front, void *front_arg, struct fault *fault)
{
	enum err err;

	assert(front->added != NULL && front->notice != NULL);
	assert(front->bell != NULL && front->changed != NULL);
	*app = (struct app){.config = config,
	    .fd = -1,
	    .signals = -1,
	    .at_end = true,
	    .front = front,
	    .front_arg = front_arg,
	    .started_ms = clock_steady_ms()};
	speech_init(&app->speech);
	app->speech.dropped = app_speak_dropped;
	app->speech.arg = app;
	client_init(&app->client, &app_client_ops, app);
	app->client.background = front->background;
	if (now != NULL && !clock_pretend(&app->clock, now)) {
		fault_set(fault, "--now",
		    "is not a time: \"%s\" (write 23:30 or "
		    "2026-01-31T23:30)",
		    now);
		return ERR_BAD_INPUT;
	}
	err = take_settings(app, fault);
	if (err == ERR_OK)
		err = open_history(app, fault);
	if (err == ERR_OK)
		err = speaker_new(&app->speaker);
	if (err != ERR_OK)
		return err;
	/*
	 * When another window has it, that one is asked to leave later. In the
	 * background it is claimed with the window's place only.
	 */
	if (!front->background)
		err = history_claim(app->history);
	if (err != ERR_OK && err != ERR_BUSY) {
		fault_set(
		    fault, "history", "cannot be written: %s", err_text(err));
		return err;
	}
	app->hud.alert = history_alerts(app->history) > 0;
	return ERR_OK;
}

void
app_close(struct app *app)
{
	/* Without the window a click on them would do nothing. */
	app_withdraw_notifications(app);
	notify_close(app->notify);
	speaker_free(app->speaker);
	speech_item_free(app->speaking);
	speech_fini(&app->speech);
	if (app->fd >= 0)
		close(app->fd);
	client_fini(&app->client);
	history_close(app->history);
	words_free(app->words);
	settings_fini(&app->settings);
}

/* --- the connection ------------------------------------------------------- */

static void
hang_up(struct app *app, const char *why)
{
	if (app->fd >= 0)
		close(app->fd);
	app->fd = -1;
	app->told.done = false;
	app->server.known = false;
	client_lost(&app->client, clock_steady_ms(), why);
	if (app->front->background)
		history_yield(app->history);
	changed(app);
}

/* Once: it is tried again and again. */
static void
tell_how_to_start(struct app *app)
{
	if (!app->told_absence)
		app_notice(app,
		    "gridhook is not running (start it: gridhook, or "
		    "systemctl --user start gridhook)");
	app->told_absence = true;
}

static void
dial(struct app *app)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	char path[FS_PATH_MAX];

	if (settings_socket(path, &app->settings) != ERR_OK ||
	    !span_copy(to.sun_path, sizeof(to.sun_path), span_of(path))) {
		hang_up(app, "the socket's path is too long");
		return;
	}
	app->fd =
	    socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (app->fd < 0 ||
	    connect(app->fd, (const struct sockaddr *)&to, sizeof(to)) != 0) {
		int why = errno;
		bool absent = why == ENOENT || why == ECONNREFUSED;

		hang_up(
		    app, absent ? "gridhook is not running" : strerror(why));
		if (absent)
			tell_how_to_start(app);
		return;
	}
	app->told_absence = false;
	client_connected(&app->client, clock_steady_ms(),
	    span_of(history_epoch(app->history)), history_last(app->history));
}

void
app_listen(struct app *app)
{
	static char bytes[READ_MAX];
	ssize_t len = recv(app->fd, bytes, sizeof(bytes), 0);
	enum err err;

	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (len <= 0) {
		hang_up(app, "gridhook has gone");
		return;
	}
	err = client_feed(
	    &app->client, span_make(bytes, (size_t)len), clock_steady_ms());
	if (err != ERR_OK)
		hang_up(app,
		    err == ERR_VERSION ? "gridhook speaks another protocol"
				       : err_text(err));
}

void
app_talk(struct app *app)
{
	struct span out = client_out(&app->client);
	ssize_t len;

	if (app->fd < 0 || out.len == 0)
		return;
	len = send(app->fd, out.ptr, out.len, MSG_NOSIGNAL);
	if (len >= 0)
		client_sent(&app->client, (size_t)len);
	else if (errno != EAGAIN && errno != EINTR)
		hang_up(app, "gridhook has gone");
}

/* --- the round's end ------------------------------------------------------ */

static void
tell_state(struct app *app)
{
	struct app_told now = {.unread = history_unread(app->history),
	    .hud = hud_shown(&app->hud),
	    .focused = app->focus == FOCUS_IN,
	    .night = app->night,
	    .done = true};

	if (app->client.state != CLIENT_ATTACHED ||
	    (app->told.done && app->told.unread == now.unread &&
		app->told.hud == now.hud && app->told.focused == now.focused &&
		app->told.night == now.night))
		return;
	app->told = now;
	client_tell_state(&app->client, now.unread, hud_name(now.hud),
	    now.focused, now.night ? "night" : "day");
}

/* Only what is on the disk is acknowledged. */
void
app_acknowledge_events(struct app *app)
{
	if (app->unacked == 0)
		return;
	if (history_sync(app->history) != ERR_OK)
		hang_up(app, "the history cannot be written");
	else
		client_ack(&app->client, app->unacked);
	app->unacked = 0;
}

static void
look_at_clock(struct app *app)
{
	bool night = app->settings.theme == THEME_NIGHT ||
	    (app->settings.theme == THEME_AUTO &&
		(app->system_dark ||
		    hours_contain(&app->settings.night,
			clock_wall(clock_now_ms(&app->clock)))));

	if (night != app->night)
		changed(app);
	app->night = night;
}

void
app_tick(struct app *app)
{
	int64_t now_ms = clock_steady_ms();
	enum err err = client_tick(&app->client, now_ms);

	if (err != ERR_OK)
		hang_up(app, "gridhook does not answer");
	look_at_settings(app, now_ms);
	look_at_clock(app);
	if (app->away_due_ms > 0 && now_ms >= app->away_due_ms)
		app_flush_away(app);
	app_speak(app);
	app_acknowledge_events(app);
	tell_state(app);
	app_talk(app);
	if (client_wants_connection(&app->client, now_ms)) {
		dial(app);
		app_talk(app);
	}
}

/* --- for the fronts ------------------------------------------------------- */

bool
app_is_undisturbed(const struct app *app)
{
	assert(app->history != NULL);
	return clock_now_ms(&app->clock) < history_quiet_until(app->history);
}

bool
app_is_quiet(const struct app *app)
{
	return app_is_undisturbed(app) ||
	    hours_contain(
		&app->settings.quiet, clock_wall(clock_now_ms(&app->clock)));
}

bool
app_is_muted(const struct app *app, struct span source)
{
	assert(app->history != NULL);
	return history_is_muted(app->history, source) ||
	    settings_list_has(app->settings.mute_sources, source);
}

void
app_link_text(const struct app *app, char *text, size_t size)
{
	const struct app_status *server = &app->server;

	assert(text != NULL && size > 0);
	if (app->client.state == CLIENT_SUPERSEDED)
		snprintf(text, size, "another window took over (r: take back)");
	else if (app->client.state != CLIENT_ATTACHED)
		snprintf(text, size, "%s",
		    app->client.why[0] != '\0' ? app->client.why
					       : "connecting");
	else if (!server->known)
		snprintf(text, size, "attached");
	else if (!server->listening)
		snprintf(text, size, "not listening%s%s",
		    server->error[0] != '\0' ? ": " : "", server->error);
	else
		snprintf(text, size, "port %lld%s", (long long)server->port,
		    server->secret ? "" : ", no secret");
}
