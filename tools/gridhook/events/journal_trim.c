/*
 * Removes the oldest events, when they are too many, too large together or too
 * old.
 */
#include "tools/gridhook/events/journal_priv.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "common/date.h"

static enum err
remove_event(struct journal *journal, uint64_t seq, size_t len)
{
	struct number_key key;

	journal->now.bytes -= len;
	return kv_del(journal->txn, EVENTS, journal_key(&key, seq));
}

/* The record `seq` becomes the one that tells how many have gone unread. */
static enum err
tell_dropped(struct journal *journal, uint64_t seq, size_t old_len)
{
	struct event event = {.source = SPAN("gridhook"),
	    .kind = EVENT_STATUS,
	    .title = SPAN("Messages were dropped"),
	    .status = STATUS_WARNING};
	struct event_place place = {.seq = seq,
	    .epoch = journal->epoch,
	    .received_ms = date_now_ms(),
	    .push = SPAN("dropped"),
	    .count = 1};
	char text[128];
	struct jsonw json;

	snprintf(text, sizeof(text),
	    "%" PRIu64 " messages were dropped before they were read.",
	    journal->now.dropped);
	event.text = span_of(text);
	buf_clear(&journal->record);
	jsonw_init(&json, &journal->record);
	event_write(&json, &event, &place);
	if (jsonw_end(&json) != ERR_OK)
		return jsonw_end(&json);
	journal->now.bytes -= old_len;
	return journal_put_record(journal, seq, false);
}

/*
 * Removes the oldest. One that was read just goes. Of unread ones the first
 * becomes the notice that tells how many have gone, itself included, and
 * stays; then the one behind it goes.
 */
static enum err
drop_oldest(struct journal *journal)
{
	struct counts *now = &journal->now;
	uint64_t seq, second;
	struct span record, behind;
	enum err err;

	err = journal_first_record(journal, now->first, &seq, &record);
	if (err != ERR_OK)
		return err;
	if (seq <= journal->acked) {
		now->dropped = 0;
		now->first = seq + 1;
		return remove_event(journal, seq, record.len);
	}
	err = journal_first_record(journal, seq + 1, &second, &behind);
	if (err != ERR_OK)
		return err;
	now->first = seq;
	now->runs += now->dropped == 0;
	now->dropped += now->dropped == 0 ? 2 : 1;
	err = remove_event(journal, second, behind.len);
	if (err == ERR_OK)
		err = journal_first_record(journal, seq, &seq, &record);
	if (err == ERR_OK)
		err = tell_dropped(journal, seq, record.len);
	return err;
}

static enum err
count_events(struct journal *journal, uint64_t *count)
{
	return kv_count(journal->txn, EVENTS, count);
}

/* When the record was received, as it tells itself. */
static int64_t
received_ms(struct span record)
{
	static const char name[] = "\"received\":\"";
	const char *at = memmem(record.ptr, record.len, name, sizeof(name) - 1);
	struct span rest;
	int64_t ms;

	if (at == NULL)
		return 0;
	rest = span_from(record, (size_t)(at - record.ptr) + sizeof(name) - 1);
	rest = span_sub(rest, 0, span_find(rest, '"'));
	return date_instant(&ms, rest) ? ms : 0;
}

static enum err
drop_old(struct journal *journal)
{
	int64_t limit = date_now_ms() - journal->spec.keep_ms;
	struct span record;
	uint64_t seq, count;
	enum err err;

	for (;;) {
		err = count_events(journal, &count);
		if (err != ERR_OK || count < 2)
			return err;
		err = journal_first_record(
		    journal, journal->now.first, &seq, &record);
		if (err != ERR_OK)
			return err == ERR_NOT_FOUND ? ERR_OK : err;
		if (received_ms(record) >= limit)
			return ERR_OK;
		err = drop_oldest(journal);
		if (err != ERR_OK)
			return err;
	}
}

static enum err
drop_excess(struct journal *journal)
{
	const struct journal_spec *spec = &journal->spec;
	uint64_t count;
	enum err err;

	for (;;) {
		err = count_events(journal, &count);
		if (err != ERR_OK)
			return err;
		if (count < 3 ||
		    (count <= (uint64_t)spec->keep_events &&
			journal->now.bytes <= (uint64_t)spec->keep_bytes))
			return ERR_OK;
		err = drop_oldest(journal);
		if (err != ERR_OK)
			return err;
	}
}

enum err
journal_trim(struct journal *journal, bool old)
{
	enum err err = drop_excess(journal);

	assert(journal->txn != NULL);
	return err == ERR_OK && old ? drop_old(journal) : err;
}
