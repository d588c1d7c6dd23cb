/*
 * app: the window without its face. It keeps the connection, stores what comes
 * in, decides what is done about it and speaks; a front (a terminal's screen,
 * or plain lines) shows it and hands on what the person does.
 */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "tools/gridhud/app/client.h"
#include "tools/gridhud/app/clock.h"
#include "tools/gridhud/app/hud.h"
#include "tools/gridhud/desk/notify.h"
#include "tools/gridhud/history/history.h"
#include "tools/gridhud/settings.h"
#include "tools/gridhud/voice/phrase.h"
#include "tools/gridhud/voice/speaker.h"
#include "tools/gridhud/voice/speech.h"
#include "tools/gridhud/words.h"

#define APP_NOTICE_MAX 600
#define APP_UNDO_MAX 256
#define APP_QUIET_MS (60 * 60 * 1000) /* "do not disturb" */

/* Callbacks of a front; does when it is told; none may be NULL. */
struct front {
	/* A message has been added; `live`: it came in just now. */
	void (*added)(void *arg, uint64_t number, bool live);
	void (*notice)(void *arg, const char *text); /* a line for the person */
	void (*bell)(void *arg);
	void (*changed)(void *arg); /* something that is shown is different */
	bool background; /* no person sees it: it gives way to windows */
};

struct app {
	struct hud_settings settings;
	const char *config; /* as given; NULL: the usual place */
	int64_t config_stamp; /* of the file that was read */
	int64_t config_look_ms;
	struct clock clock;
	struct hud_words *words;
	struct history *history;
	struct client client;
	int fd; /* of the connection; -1 */
	int signals; /* -1: app_begin() has not been called */
	int64_t started_ms;

	struct speech speech;
	struct speaker *speaker;
	struct speech_item *speaking; /* NULL: nothing */

	struct notify *notify; /* NULL: none, or no bus */
	bool notify_failed; /* it is not tried again */

	struct hud hud;
	enum focus focus;
	bool at_end; /* the newest message is in sight */
	bool night;
	bool system_dark; /* set by a front that knows the desktop's choice */

	struct away away; /* what is to be summed up */
	uint64_t away_until; /* the last event that is replayed */
	int64_t away_due_ms; /* when it is told at the latest; 0: nothing */
	uint64_t
	    unacked; /* stored, and to be acknowledged at the round's end */
	struct app_status {
		bool known, listening, secret;
		int64_t port;
		char path[128], error[256];
	} server;
	struct app_told {
		unsigned unread;
		enum hud_state hud;
		bool focused, night, done;
	} told; /* what the server knows of us */

	const struct front *front;
	void *front_arg;
	bool on_terminal; /* set by the front: it ends with the terminal */
	bool input_ended; /* set by the front: there is none to wait for */
	uint64_t undo[APP_UNDO_MAX]; /* what the last acknowledgement took */
	unsigned undo_count;
	bool greeted; /* a server has, once */
	bool told_absence; /* how to start gridhook has been said */
	bool quit;
};

/*
 * Reads settings and history. On failure `fault` says what to mend, and
 * app_close() is still to be called. `now` may be NULL, or a time to pretend.
 */
enum err app_open(struct app *app, const char *config, const char *now,
    const struct front *front, void *front_arg, struct fault *fault);
void app_close(struct app *app);

/*
 * Rounds until app->quit: waits, at most until something is due, for the
 * connection, for `fd` (-1: none) and for signals; then calls `ready` when fd
 * has input, and `round` after everything.
 */
enum err app_run(struct app *app, int fd, void (*ready)(void *arg),
    void (*round)(void *arg), void *arg);

/*
 * The same in parts, for the loop of a toolkit: poll for what app_wait() says,
 * at most that long, and call app_round() with the events that came. A quit is
 * the caller's to look for.
 */
#define APP_FDS 3
struct app_wait {
	struct pollfd fds[APP_FDS]; /* a descriptor may be -1 */
	int timeout_ms;
};

/* Before a toolkit starts threads of its own, which inherit that. */
enum err app_block_signals(void);

enum err app_begin(struct app *app);
void app_wait(const struct app *app, struct app_wait *wait);
void app_round(struct app *app, const struct app_wait *wait);
void app_end(struct app *app);

/* --- what the person does --- */

void app_saw(struct app *app); /* a key: nothing is unread any more */
void app_acknowledge(struct app *app); /* all */
void app_acknowledge_one(struct app *app, uint64_t number);
void app_undo(struct app *app); /* the last acknowledgement */
void app_quiet_for(struct app *app, int64_t ms); /* 0: no longer */
void app_toggle_quiet(struct app *app); /* quiet for an hour, or no longer */
void app_hush(struct app *app); /* stop speaking, forget what waits */
void app_toggle_mute(struct app *app, const struct message *message);
void app_write(struct app *app, struct span text); /* says it as the user */
void app_open_link(struct app *app, struct span url);
void app_focus(struct app *app, enum focus focus);
void app_attach(struct app *app); /* takes the server back, or tries now */

/* --- for the fronts --- */

bool app_is_quiet(const struct app *app);
/* Asked for by the person, beside the quiet hours. */
bool app_is_undisturbed(const struct app *app);
bool app_is_muted(const struct app *app, struct span source);
void app_notice(struct app *app, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "attached", or why not, for the bar. */
void app_link_text(const struct app *app, char *text, size_t size);

/* --- among the files of app --- */

extern const struct client_ops app_client_ops;
void app_tick(struct app *app); /* all that is due */
void app_listen(struct app *app); /* takes what the server has sent */
void app_talk(struct app *app); /* sends what waits for it */
void app_acknowledge_events(struct app *app);
void app_flush_away(struct app *app);

/* A message as the desktop's notification, where that is set. */
void app_notify(
    struct app *app, uint64_t number, const struct message *message);

/* Notifications of alerts that wait no longer are withdrawn. */
void app_sweep_notifications(struct app *app);

/* Withdraws those of all alerts: another window has them now. */
void app_withdraw_notifications(struct app *app);

/* A sentence of the window itself, in the background. */
void app_notify_text(struct app *app, struct span text);
void app_speak(struct app *app); /* begins what waits, ends what has ended */
void app_speak_dropped(void *arg, const struct speech_item *item);
enum err app_store(struct app *app, struct message *message, bool live);
void app_call(void *arg, int64_t id, struct span name,
    const struct jsonr_value *args, int64_t deadline_ms);
void app_cancel(void *arg, int64_t id);
