#include "tools/gridhud/voice/speech.h"

#include <assert.h>
#include <stdlib.h>

#include "common/log.h"
#include "tools/gridhud/voice/phrase.h"

#define SPOKEN_MAX ((size_t)32 << 10)

void
speech_init(struct speech *speech)
{
	*speech = (struct speech){.first = NULL};
}

void
speech_item_free(struct speech_item *item)
{
	if (item == NULL)
		return;
	free(item->text);
	free(item);
}

/* --- the list ------------------------------------------------------------- */

static struct speech_item *
unlink_at(struct speech *speech, struct speech_item **link)
{
	struct speech_item *item = *link;

	*link = item->next;
	item->next = NULL;
	speech->waiting--;
	return item;
}

static void
drop_at(struct speech *speech, struct speech_item **link)
{
	struct speech_item *item = unlink_at(speech, link);

	if (speech->dropped != NULL)
		speech->dropped(speech->arg, item);
	speech_item_free(item);
}

static void
append(struct speech *speech, struct speech_item *item)
{
	struct speech_item **link = &speech->first;

	while (*link != NULL)
		link = &(*link)->next;
	*link = item;
	speech->waiting++;
}

void
speech_clear(struct speech *speech)
{
	while (speech->first != NULL)
		drop_at(speech, &speech->first);
}

void
speech_fini(struct speech *speech)
{
	speech->dropped = NULL;
	speech_clear(speech);
}

void
speech_drop_call(struct speech *speech, int64_t call)
{
	struct speech_item **link = &speech->first;

	while (*link != NULL)
		if ((*link)->call == call)
			speech_item_free(unlink_at(speech, link));
		else
			link = &(*link)->next;
}

static bool
may_give_way(const struct speech_item *item)
{
	return item->kind == SPEECH_MESSAGE || item->kind == SPEECH_MORE;
}

/* The oldest of the least important. */
static bool
make_room(struct speech *speech)
{
	struct speech_item **worst = NULL;

	for (struct speech_item **link = &speech->first; *link != NULL;
	     link = &(*link)->next)
		if (may_give_way(*link) &&
		    (worst == NULL || (*link)->priority < (*worst)->priority))
			worst = link;
	if (worst == NULL)
		return false;
	log_info("speech queue full: one message is not spoken");
	drop_at(speech, worst);
	return true;
}

static enum err
add(struct speech *speech, const struct hud_settings *settings,
    enum speech_kind kind, struct speech_item **out)
{
	struct speech_item *item;
	bool full = speech->waiting >= (unsigned)settings->queue_max;

	*out = NULL;
	/* A failure goes in even when only failures are there. */
	if (full && !make_room(speech) && kind != SPEECH_FAILURE &&
	    kind != SPEECH_MORE_FAILURES && kind != SPEECH_AWAY)
		return ERR_BUSY;
	item = calloc(1, sizeof(*item));
	if (item == NULL)
		return ERR_NO_MEMORY;
	item->kind = kind;
	item->priority = PRIORITY_NORMAL;
	append(speech, item);
	*out = item;
	return ERR_OK;
}

static enum err
remove_last(struct speech *speech, enum err err)
{
	struct speech_item **link = &speech->first;

	while ((*link)->next != NULL)
		link = &(*link)->next;
	speech_item_free(unlink_at(speech, link));
	return err;
}

enum err
speech_add_text(struct speech *speech, const struct hud_settings *settings,
    struct span text, enum speech_kind kind, struct speech_item **item)
{
	enum err err;

	assert(item != NULL && kind <= SPEECH_TOOL);
	err = add(speech, settings, kind, item);
	if (err != ERR_OK)
		return err;
	(*item)->text = span_dup(text);
	if ((*item)->text == NULL) {
		*item = NULL;
		return remove_last(speech, ERR_NO_MEMORY);
	}
	return ERR_OK;
}

/* --- bursts --------------------------------------------------------------- */

static struct speech_item *
find_kind(struct speech *speech, enum speech_kind kind)
{
	for (struct speech_item *item = speech->first; item != NULL;
	     item = item->next)
		if (item->kind == kind && item->burst == speech->burst)
			return item;
	return NULL;
}

/* Takes back what still waits of this burst, but for its first message. */
static unsigned
take_back(struct speech *speech)
{
	struct speech_item **link = &speech->first;
	unsigned taken = 0;

	while (*link != NULL)
		if ((*link)->kind == SPEECH_MESSAGE &&
		    (*link)->burst == speech->burst && (*link)->count > 1) {
			speech_item_free(unlink_at(speech, link));
			taken++;
		} else
			link = &(*link)->next;
	return taken;
}

static enum err
add_more(struct speech *speech, const struct hud_settings *settings)
{
	struct speech_item *item = find_kind(speech, SPEECH_MORE);
	unsigned taken = 0;
	enum err err = ERR_OK;

	if (item == NULL) {
		taken = take_back(speech);
		err = add(speech, settings, SPEECH_MORE, &item);
	}
	if (err != ERR_OK)
		return err;
	item->burst = speech->burst;
	item->count += taken + 1;
	item->not_before_ms = speech->burst_start_ms + settings->burst_s * 1000;
	return ERR_OK;
}

static enum err
add_failure_name(struct speech *speech, const struct hud_settings *settings,
    const struct message *message)
{
	struct speech_item *item = find_kind(speech, SPEECH_MORE_FAILURES);
	struct span name = message_job(message);
	enum err err = ERR_OK;
	struct buf names;
	size_t len;

	if (item == NULL)
		err = add(speech, settings, SPEECH_MORE_FAILURES, &item);
	if (err != ERR_OK)
		return err;
	buf_init(&names, SPOKEN_MAX);
	if (item->text != NULL)
		buf_addf(&names, "%s, ", item->text);
	buf_add_span(&names, name);
	err = buf_end(&names);
	/* Beyond the ceiling they are counted and not named. */
	if (err == ERR_OK) {
		free(item->text);
		item->text = buf_take(&names, &len);
		err = item->text == NULL ? ERR_NO_MEMORY : ERR_OK;
	}
	buf_fini(&names);
	item->burst = speech->burst;
	item->count++;
	item->seq = message->seq;
	item->not_before_ms = speech->burst_start_ms + settings->burst_s * 1000;
	return err == ERR_TOO_LARGE ? ERR_OK : err;
}

static void
enter_burst(
    struct speech *speech, const struct hud_settings *settings, int64_t now_ms)
{
	if (speech->burst > 0 &&
	    now_ms < speech->burst_start_ms + settings->burst_s * 1000)
		return;
	speech->burst++;
	speech->burst_start_ms = now_ms;
	speech->burst_messages = speech->burst_failures = 0;
}

static enum err
add_phrase(struct speech *speech, const struct hud_settings *settings,
    const struct message *message, enum speech_kind kind)
{
	struct speech_item *item = NULL;
	struct buf buf;
	enum err err;

	buf_init(&buf, SPOKEN_MAX);
	if (kind == SPEECH_FAILURE)
		phrase_failure(&buf, message, settings);
	else
		phrase_message(&buf, message, settings);
	err = buf_end(&buf);
	if (err == ERR_OK)
		err = speech_add_text(
		    speech, settings, buf_span(&buf), kind, &item);
	if (err == ERR_OK) {
		item->seq = message->seq;
		item->priority = (enum priority)message->priority;
		item->burst = speech->burst;
		item->count = speech->burst_messages;
	}
	buf_fini(&buf);
	return err;
}

enum err
speech_add_message(struct speech *speech, const struct hud_settings *settings,
    const struct message *message, enum speech_kind kind, int64_t now_ms)
{
	assert(kind == SPEECH_MESSAGE || kind == SPEECH_FAILURE);
	enter_burst(speech, settings, now_ms);
	if (kind == SPEECH_FAILURE) {
		if (++speech->burst_failures > SPEECH_FAILURES_MAX)
			return add_failure_name(speech, settings, message);
		return add_phrase(speech, settings, message, kind);
	}
	if (++speech->burst_messages > (unsigned)settings->burst_count)
		return add_more(speech, settings);
	return add_phrase(speech, settings, message, kind);
}

/* --- taking --------------------------------------------------------------- */

/* The text of what was counted until now. */
static bool
finish(struct speech_item *item, enum language language)
{
	struct buf buf;
	size_t len;

	if (item->kind != SPEECH_MORE && item->kind != SPEECH_MORE_FAILURES)
		return true;
	buf_init(&buf, SPOKEN_MAX * 2);
	if (item->kind == SPEECH_MORE)
		phrase_more(&buf, item->count, language);
	else
		phrase_more_failures(
		    &buf, item->count, span_of(item->text), language);
	free(item->text);
	item->text = buf_take(&buf, &len);
	buf_fini(&buf);
	return item->text != NULL;
}

struct speech_item *
speech_take(
    struct speech *speech, const struct hud_settings *settings, int64_t now_ms)
{
	struct speech_item **link = &speech->first;
	struct speech_item *item;

	while (*link != NULL && (*link)->not_before_ms > now_ms)
		link = &(*link)->next;
	if (*link == NULL)
		return NULL;
	item = unlink_at(speech, link);
	if (finish(item, (enum language)settings->language))
		return item;
	log_error("speech lost: reason=%s", err_text(ERR_NO_MEMORY));
	speech_item_free(item);
	return NULL;
}

int64_t
speech_due_ms(const struct speech *speech)
{
	int64_t due = -1;

	for (const struct speech_item *item = speech->first; item != NULL;
	     item = item->next)
		if (due < 0 || item->not_before_ms < due)
			due = item->not_before_ms;
	return due;
}
