/*
 * speech: what waits to be spoken. A queue with a ceiling: ordinary messages
 * give way, the oldest and least important first; failures never do.
 *
 * A burst, more than a few messages within some seconds, is spoken as its
 * first one and "and N more". Failures in it are spoken each, up to five; the
 * rest are named in one sentence. Time is the caller's, in milliseconds.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/span.h"
#include "tools/gridhud/message.h"
#include "tools/gridhud/settings.h"

#define SPEECH_FAILURES_MAX 5 /* of one burst, spoken each */

enum speech_kind {
	SPEECH_MESSAGE,
	SPEECH_FAILURE,
	SPEECH_MORE,
	SPEECH_MORE_FAILURES,
	SPEECH_AWAY,
	SPEECH_TOOL
};

struct speech_item {
	enum speech_kind kind;
	enum priority priority;
	char *text; /* NULL for SPEECH_MORE until it is taken */
	uint64_t seq; /* of the message, or the last of them; 0 for none */
	int64_t call; /* of SPEECH_TOOL: who waits for its end; 0 nobody */
	char voice[65]; /* "": as set */
	int64_t rate; /* 0: as set */

	/* The queue's own. */
	uint64_t burst;
	unsigned count;
	int64_t not_before_ms;
	struct speech_item *next;
};

struct speech {
	struct speech_item *first;
	unsigned waiting;
	int64_t burst_start_ms;
	uint64_t burst; /* its number; 0 before the first */
	unsigned burst_messages, burst_failures;
	/* Called before an item is dropped unspoken; may be NULL. */
	void (*dropped)(void *arg, const struct speech_item *item);
	void *arg;
};

void speech_init(struct speech *speech);
void speech_fini(struct speech *speech);

/* A message that is to be spoken; `kind` SPEECH_MESSAGE or SPEECH_FAILURE. */
enum err speech_add_message(struct speech *speech,
    const struct hud_settings *settings, const struct message *message,
    enum speech_kind kind, int64_t now_ms);

/*
 * Any other text. ERR_BUSY when the queue is full and nothing may give way.
 */
enum err speech_add_text(struct speech *speech,
    const struct hud_settings *settings, struct span text,
    enum speech_kind kind, struct speech_item **item);

/* The item to speak now, owned by the caller; NULL for nothing yet. */
struct speech_item *speech_take(
    struct speech *speech, const struct hud_settings *settings, int64_t now_ms);
void speech_item_free(struct speech_item *item);

/* When speech_take() may have something that it has not now; -1 for never. */
int64_t speech_due_ms(const struct speech *speech);

/* Forgets what waits (the s key); each is told as dropped. */
void speech_clear(struct speech *speech);

/* Forgets what a caller waits for. */
void speech_drop_call(struct speech *speech, int64_t call);
