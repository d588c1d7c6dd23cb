#include "common/members.h"
#include "tools/gridhook/events/journal_priv.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "common/date.h"
#include "common/jscan.h"
#include "tools/gridhook/events/pack.h"

#define PAGE_BYTES ((size_t)1 << 20)
#define DEPTH_MAX 256

/* Messages of a page, newest first, one behind the other. */
struct page {
	struct buf text;
	size_t starts[JOURNAL_PAGE_MAX];
	unsigned count;
	bool more; /* older ones are left */
};

/* --- lines ---------------------------------------------------------------- */

static enum err
trim_history(struct journal *journal)
{
	struct counts *now = &journal->now;
	struct number_key key;
	enum err err;

	while (now->history_next - now->history_first >
	    (uint64_t)journal->spec.keep_events) {
		err = kv_del(journal->txn, HISTORY,
		    journal_key(&key, now->history_first));
		if (err != ERR_OK && err != ERR_NOT_FOUND)
			return err;
		now->history_first++;
	}
	return ERR_OK;
}

enum err
journal_add_line(struct journal *journal, char kind, struct span value)
{
	struct number_key key;
	struct buf buf;
	enum err err;

	assert(journal->txn != NULL && kind != '\0');
	buf_init(&buf, RECORD_MAX + 1);
	buf_add_char(&buf, kind);
	buf_add_span(&buf, value);
	err = buf_end(&buf);
	if (err == ERR_OK)
		err = kv_append(journal->txn, HISTORY,
		    journal_key(&key, journal->now.history_next),
		    buf_span(&buf));
	buf_fini(&buf);
	if (err == ERR_OK)
		journal->now.history_next++;
	return err == ERR_OK ? trim_history(journal) : err;
}

enum err
journal_say(
    struct journal *journal, const char *role, struct span text, char id[64])
{
	char now[DATE_TEXT_MAX];
	struct jsonw json;
	enum err err = journal_begin(journal);

	assert(role != NULL && role[0] != '\0');
	if (err != ERR_OK)
		return err;
	snprintf(id, 64, "msg_%s-%" PRIu64, journal->epoch,
	    journal->now.history_next);
	date_instant_text(now, date_now_ms());
	buf_clear(&journal->record);
	jsonw_init(&json, &journal->record);
	jsonw_object_begin(&json);
	members_string(&json, "id", id);
	members_string(&json, "role", role);
	members_text(&json, "text", text);
	members_string(&json, "time", now);
	jsonw_object_end(&json);
	err = jsonw_end(&json);
	if (err == ERR_OK)
		err =
		    journal_add_line(journal, 'm', buf_span(&journal->record));
	return journal_note(journal, err);
}

/* A string's characters as they stand between its quotes. */
static struct span
inside(struct jval string)
{
	struct span raw = jval_raw(string);

	return jval_type(string) != JSTRING || raw.len < 2
	    ? SPAN("")
	    : span_sub(raw, 1, raw.len - 2);
}

static void
put_raw(struct jsonw *json, const char *name, struct jval value)
{
	jsonw_key(json, name);
	jsonw_raw(json, jval_raw(value));
}

/* An event as a line of the conversation; what is escaped stays so. */
static void
put_as_message(struct jsonw *json, struct jval event)
{
	struct span title = inside(jval_member(event, "title"));
	struct span text = inside(jval_member(event, "text"));

	jsonw_object_begin(json);
	put_raw(json, "id", jval_member(event, "id"));
	jsonw_key(json, "role");
	jsonw_text(json,
	    jval_is(jval_member(event, "kind"), SPAN("message")) ? "assistant"
								 : "system");
	jsonw_key(json, "text");
	jsonw_raw(json, SPAN("\""));
	buf_add_span(json->buf, title);
	if (title.len > 0 && text.len > 0)
		buf_add_text(json->buf, "\\n");
	buf_add_span(json->buf, text);
	buf_add_char(json->buf, '"');
	put_raw(json, "time", jval_member(event, "received"));
	jsonw_object_end(json);
}

/* ERR_NOT_FOUND when the event has gone. */
static enum err
put_event_message(struct kv_txn *txn, struct jsonw *json, struct span seq)
{
	struct jscan doc = {.count = 0};
	struct span packed;
	struct buf record;
	enum err err;

	buf_init(&record, RECORD_MAX);
	err = kv_get(txn, EVENTS, seq, &packed);
	if (err == ERR_OK)
		err = unpack_record(&record, packed);
	if (err == ERR_OK)
		err = jscan_parse(&doc, buf_span(&record), DEPTH_MAX, NULL);
	if (err == ERR_OK)
		put_as_message(json, jscan_root(&doc));
	jscan_fini(&doc);
	buf_fini(&record);
	return err;
}

/* Appends the message of that number; nothing when its event has gone. */
static enum err
add_message(struct kv_txn *txn, struct buf *to, uint64_t number)
{
	struct number_key key;
	struct jsonw json;
	struct span value;
	enum err err;

	err = kv_get(txn, HISTORY, journal_key(&key, number), &value);
	if (err == ERR_OK && value.len > 0 && value.ptr[0] == 'e') {
		jsonw_init(&json, to);
		err = put_event_message(txn, &json, span_from(value, 1));
	} else if (err == ERR_OK)
		buf_add_span(to, span_from(value, 1));
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

/* True when the line `number` is the message of that id. */
static bool
is_message(struct journal *journal, struct kv_txn *txn, uint64_t number,
    struct span id)
{
	struct number_key key;
	struct span value;
	char text[64];

	if (kv_get(txn, HISTORY, journal_key(&key, number), &value) != ERR_OK ||
	    value.len == 0)
		return false;
	if (value.ptr[0] == 'e')
		event_id(text, sizeof(text), journal->epoch,
		    journal_number(span_from(value, 1)));
	else
		snprintf(text, sizeof(text), "msg_%s-%" PRIu64, journal->epoch,
		    number);
	return span_eq(span_of(text), id);
}

/* The place behind the last message that is asked for. */
static bool
find_end(struct journal *journal, struct kv_txn *txn, struct span before,
    uint64_t *end)
{
	const struct counts *stored = &journal->stored;

	*end = stored->history_next;
	if (before.len == 0)
		return true;
	while (*end > stored->history_first)
		if (is_message(journal, txn, --*end, before))
			return true;
	return false;
}

/* From the newest back, until there are enough of them or enough bytes. */
static enum err
collect(struct page *page, struct journal *journal, struct kv_txn *txn,
    unsigned limit, uint64_t end)
{
	uint64_t first = journal->stored.history_first;
	size_t start;
	enum err err = ERR_OK;

	if (limit > JOURNAL_PAGE_MAX)
		limit = JOURNAL_PAGE_MAX;
	while (err == ERR_OK && end > first && page->count < limit &&
	    page->text.len < PAGE_BYTES) {
		start = page->text.len;
		err = add_message(txn, &page->text, --end);
		if (err == ERR_OK)
			err = buf_end(&page->text);
		if (page->text.len > start)
			page->starts[page->count++] = start;
	}
	page->more = end > first;
	return err;
}

static void
put_page(struct jsonw *json, const struct page *page)
{
	size_t end = page->text.len;
	unsigned i = page->count;

	jsonw_key(json, "messages");
	jsonw_array_begin(json);
	while (i-- > 0) {
		jsonw_raw(json,
		    span_sub(buf_span(&page->text), page->starts[i],
			end - page->starts[i]));
		end = page->starts[i];
	}
	jsonw_array_end(json);
	members_bool(json, "has_more", page->more);
}

enum err
journal_history(struct journal *journal, struct jsonw *json, unsigned limit,
    struct span before, bool *found)
{
	struct page page = {.count = 0};
	struct kv_txn *txn;
	uint64_t end;
	enum err err;

	assert(json != NULL && found != NULL);
	*found = true;
	err = kv_read(&txn, journal->kv);
	if (err != ERR_OK)
		return err;
	buf_init(&page.text, PAGE_BYTES + 2 * RECORD_MAX);
	*found = find_end(journal, txn, before, &end);
	if (*found)
		err = collect(&page, journal, txn, limit, end);
	put_page(json, &page);
	buf_fini(&page.text);
	kv_abort(txn);
	return err;
}
