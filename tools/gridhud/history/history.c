#include "common/members.h"
#include "tools/gridhud/history/history_priv.h"

#include <assert.h>
#include <stdlib.h>

/* --- in memory ------------------------------------------------------------ */

uint64_t
history_first(const struct history *history)
{
	return history->first;
}

uint64_t
history_end(const struct history *history)
{
	return history->first + (history->end - history->head);
}

const struct message *
history_at(const struct history *history, uint64_t number)
{
	assert(history->head <= history->end && history->end <= history->cap);
	if (number < history->first || number >= history_end(history))
		return NULL;
	return history->items[history->head + (number - history->first)];
}

const char *
history_epoch(const struct history *history)
{
	return history->epoch;
}

uint64_t
history_last(const struct history *history)
{
	return history->last;
}

unsigned
history_unread(const struct history *history)
{
	return history->unread;
}

unsigned
history_alerts(const struct history *history)
{
	return history->alerts;
}

void
history_limit(
    struct history *history, int64_t keep_messages, int64_t keep_bytes)
{
	assert(keep_messages > 0 && keep_bytes > 0);
	history->keep_messages = keep_messages;
	history->keep_bytes = keep_bytes;
}

static void
count(struct history *history, const struct message *message, int by)
{
	history->unread += message->unread ? (unsigned)by : 0;
	history->alerts += message->alert ? (unsigned)by : 0;
	history->unsaid += message->say_due ? (unsigned)by : 0;
	history->bytes += by * (int64_t)message_size(message);
}

static void
history_drop_oldest(struct history *history)
{
	struct message *message = history->items[history->head++];

	history->first++;
	count(history, message, -1);
	message_free(message);
}

enum err
history_make_room(struct history *history)
{
	struct message **items;
	size_t cap = history->cap == 0 ? 256 : history->cap * 2;

	if (history->end < history->cap)
		return ERR_OK;
	if (history->head > history->cap / 4) {
		memmove(history->items, history->items + history->head,
		    (history->end - history->head) * sizeof(*items));
		history->end -= history->head;
		history->head = 0;
		return ERR_OK;
	}
	items = realloc(history->items, cap * sizeof(*items));
	if (items == NULL)
		return ERR_NO_MEMORY;
	history->items = items;
	history->cap = cap;
	return ERR_OK;
}

/* Ends the wait of alerts about the same thing. */
static void
settle(struct history *history, const struct message *by)
{
	unsigned left = history->alerts;
	struct message *item;

	if (by->about.len == 0 || by->duplicate)
		return;
	for (size_t i = history->end; left > 0 && i > history->head; i--) {
		item = history->items[i - 1];
		left -= item->alert;
		if (!item->alert || !span_eq(item->about, by->about))
			continue;
		item->alert = false;
		item->settled = true;
		history->alerts--;
	}
}

/* Takes the message; room has been made. */
void
history_keep(struct history *history, struct message *message)
{
	assert(message != NULL && history->end < history->cap);
	settle(history, message);
	history->items[history->end++] = message;
	count(history, message, 1);
	if (message->seq > 0)
		history->last = message->seq;
	while (history->end - history->head > 1 &&
	    (history->end - history->head > (size_t)history->keep_messages ||
		history->bytes > history->keep_bytes))
		history_drop_oldest(history);
}

void
history_all_read(struct history *history)
{
	size_t i = history->end;

	for (; history->unread > 0 && i > history->head; i--)
		if (history->items[i - 1]->unread) {
			history->items[i - 1]->unread = false;
			history->unread--;
		}
}

void
history_all_acknowledged(struct history *history)
{
	size_t i = history->end;

	for (; history->alerts > 0 && i > history->head; i--)
		if (history->items[i - 1]->alert) {
			history->items[i - 1]->alert = false;
			history->alerts--;
		}
}

void
history_alert(struct history *history, uint64_t seq, bool on)
{
	size_t i = history->end;
	struct message *item;

	while (i > history->head && history->items[i - 1]->seq != seq)
		i--;
	if (i == history->head)
		return;
	item = history->items[i - 1];
	history->alerts += (unsigned)on - (unsigned)item->alert;
	item->alert = on;
}

void
history_all_said(struct history *history, uint64_t seq)
{
	size_t i = history->end;

	for (; history->unsaid > 0 && i > history->head; i--)
		if (history->items[i - 1]->say_due &&
		    history->items[i - 1]->seq <= seq) {
			history->items[i - 1]->say_due = false;
			history->unsaid--;
		}
}

void
history_unsaid(const struct history *history,
    void (*each)(void *arg, const struct message *message), void *arg)
{
	unsigned left = history->unsaid;

	assert(each != NULL);
	for (size_t i = history->head; left > 0 && i < history->end; i++)
		if (history->items[i]->say_due) {
			each(arg, history->items[i]);
			left--;
		}
}

/* --- muted sources -------------------------------------------------------- */

static unsigned
find_mute(const struct history *history, struct span source)
{
	unsigned i = 0;

	while (i < history->mute_count &&
	    !span_eq_nocase(span_of(history->mutes[i]), source))
		i++;
	return i;
}

bool
history_is_muted(const struct history *history, struct span source)
{
	assert(history->mute_count <= MUTES_MAX);
	return find_mute(history, source) < history->mute_count;
}

enum err
history_mute(struct history *history, struct span source, bool on)
{
	unsigned i = find_mute(history, source);

	if (on == (i < history->mute_count))
		return ERR_OK;
	if (!on) {
		free(history->mutes[i]);
		history->mutes[i] = history->mutes[--history->mute_count];
		return ERR_OK;
	}
	if (history->mute_count == MUTES_MAX)
		return ERR_TOO_LARGE;
	history->mutes[i] = span_dup(source);
	if (history->mutes[i] == NULL)
		return ERR_NO_MEMORY;
	history->mute_count++;
	return ERR_OK;
}

void
history_forget(struct history *history)
{
	while (history->head < history->end)
		history_drop_oldest(history);
	while (history->mute_count > 0)
		free(history->mutes[--history->mute_count]);
	history->epoch[0] = '\0';
	history->last = 0;
	history->quiet_until_ms = 0;
	history->read = 0;
}

/* --- what happens --------------------------------------------------------- */

enum err
history_add_take(struct history *history, struct message *message)
{
	enum err err = history_make_room(history);

	assert(message != NULL);
	if (err == ERR_OK) {
		history_line_message(history, message);
		err = history_append(history);
	}
	if (err == ERR_OK)
		history_keep(history, message);
	else
		message_free(message);
	return err;
}

enum err
history_set_epoch(struct history *history, const char *epoch)
{
	assert(epoch != NULL);
	if (strcmp(history->epoch, epoch) == 0)
		return ERR_OK;
	if (!span_copy(history->epoch, sizeof(history->epoch), span_of(epoch)))
		return ERR_BAD_INPUT;
	history->last = 0;
	history_line_epoch(history);
	return history_append(history);
}

enum err
history_mark_read(struct history *history)
{
	if (history->unread == 0)
		return ERR_OK;
	history_all_read(history);
	history_line_flag(history, "read");
	return history_append(history);
}

enum err
history_mark_acknowledged(struct history *history)
{
	if (history->alerts == 0)
		return ERR_OK;
	history_all_acknowledged(history);
	history_line_flag(history, "acknowledged");
	return history_append(history);
}

enum err
history_set_alert(struct history *history, uint64_t number, bool on)
{
	const struct message *message = history_at(history, number);

	if (message == NULL || message->seq == 0)
		return ERR_NOT_FOUND;
	if (message->alert == on)
		return ERR_OK;
	history_line_alert(history, message->seq, on);
	history_alert(history, message->seq, on);
	return history_append(history);
}

enum err
history_set_quiet(struct history *history, int64_t until_ms)
{
	history->quiet_until_ms = until_ms;
	history_line_quiet(history);
	return history_append(history);
}

int64_t
history_quiet_until(const struct history *history)
{
	return history->quiet_until_ms;
}

enum err
history_mark_said(struct history *history, uint64_t seq)
{
	struct jsonw json;

	if (history->unsaid == 0)
		return ERR_OK;
	history_all_said(history, seq);
	history_line_begin(history, &json);
	members_int(&json, "said", (int64_t)seq);
	history_line_end(history, &json);
	return history_append(history);
}

enum err
history_set_mute(struct history *history, struct span source, bool on)
{
	enum err err = history_mute(history, source, on);

	if (err != ERR_OK)
		return err;
	history_line_mute(history, source, on);
	return history_append(history);
}
