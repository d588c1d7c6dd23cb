/*
 * Tables:
 *	events   seq, 8 bytes big endian        the record, packed (pack.h)
 *	history  number, 8 bytes big endian     'e' + seq of an event, or
 *	                                        'm' + the message as JSON
 *	dedupe   SHA-256 of the key             ms when last seen, 8 bytes
 *	meta     a name                         text: version, epoch, next, ...
 *
 * One writer's transaction spans a round of the loop. Events are trimmed in
 * the transaction that adds.
 */
#include "tools/gridhook/journal.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/date.h"
#include "common/digest.h"
#include "common/fs.h"
#include "common/jsonr.h"
#include "common/kv.h"
#include "common/log.h"
#include "common/num.h"
#include "tools/gridhook/pack.h"

#define VERSION "1"
#define RECORD_MAX (1u << 20)

enum table { EVENTS, HISTORY, DEDUPE, META, TABLES };

static const char *const table_names[TABLES] = {
    "events", "history", "dedupe", "meta"};

/* What the numbers are, on disk or about to be. */
struct counts {
	uint64_t first, next; /* events */
	uint64_t bytes; /* of all records */
	uint64_t history_first, history_next;
	uint64_t dropped; /* unread ones that went; told by record `first` */
};

struct journal {
	struct kv *kv;
	struct kv_txn *txn; /* the round's, or NULL */
	int lock;
	enum err failed; /* of the round */
	struct journal_spec spec;
	char epoch[JOURNAL_EPOCH_LEN + 1];
	struct counts now, stored;
	uint64_t acked, acked_stored;
	int64_t swept_ms; /* when old dedupe keys were last removed */
	struct buf record;
	char scratch[FS_PATH_MAX]; /* folder of a journal in memory */
};

/* --- keys and values ------------------------------------------------------ */

struct number_key {
	unsigned char bytes[8];
};

static struct span
number_key(struct number_key *key, uint64_t number)
{
	uint64_t big = htobe64(number);

	memcpy(key->bytes, &big, sizeof(big));
	return span_make(key->bytes, sizeof(key->bytes));
}

static uint64_t
number_of(struct span key)
{
	uint64_t big = 0;

	if (key.len == sizeof(big))
		memcpy(&big, key.ptr, sizeof(big));
	return be64toh(big);
}

static enum err
get_meta(struct kv_txn *txn, const char *name, uint64_t *value)
{
	struct span text;
	int64_t number;
	enum err err;

	err = kv_get(txn, META, span_of(name), &text);
	if (err != ERR_OK)
		return err == ERR_NOT_FOUND ? ERR_OK : err;
	if (!num_int(&number, text, 0, INT64_MAX)) {
		log_error("journal is damaged: meta=%s", name);
		return ERR_DAMAGED;
	}
	*value = (uint64_t)number;
	return ERR_OK;
}

static enum err
put_meta(struct kv_txn *txn, const char *name, uint64_t value)
{
	char text[NUM_TEXT_MAX];
	size_t len = num_int_text(text, (int64_t)value);

	return kv_put(txn, META, span_of(name), span_make(text, len));
}

/* --- the round ------------------------------------------------------------ */

static enum err
round_begin(struct journal *journal)
{
	if (journal->failed == ERR_OK && journal->txn == NULL)
		journal->failed = kv_write(&journal->txn, journal->kv);
	return journal->failed;
}

static enum err
note(struct journal *journal, enum err err)
{
	if (err != ERR_OK && journal->failed == ERR_OK)
		journal->failed = err;
	return err;
}

static enum err
store_counts(struct journal *journal)
{
	const struct counts *now = &journal->now;
	struct kv_txn *txn = journal->txn;
	enum err err;

	err = put_meta(txn, "next", now->next);
	if (err == ERR_OK)
		err = put_meta(txn, "history_next", now->history_next);
	if (err == ERR_OK)
		err = put_meta(txn, "dropped", now->dropped);
	if (err == ERR_OK && journal->acked != journal->acked_stored)
		err = put_meta(txn, "acked", journal->acked);
	return err;
}

bool
journal_is_pending(const struct journal *journal)
{
	return journal->txn != NULL || journal->failed != ERR_OK;
}

enum err
journal_commit(struct journal *journal)
{
	enum err err = journal->failed;

	journal->failed = ERR_OK;
	if (journal->txn == NULL)
		return err;
	if (err == ERR_OK)
		err = store_counts(journal);
	if (err == ERR_OK)
		err = kv_commit(journal->txn);
	else
		kv_abort(journal->txn);
	journal->txn = NULL;
	if (err == ERR_OK) {
		journal->stored = journal->now;
		journal->acked_stored = journal->acked;
	} else {
		journal->now = journal->stored;
		log_error(
		    "events could not be stored: reason=%s", err_text(err));
	}
	return err;
}

/* --- what goes ------------------------------------------------------------ */

static enum err
first_record(
    struct journal *journal, uint64_t from, uint64_t *seq, struct span *record)
{
	struct number_key at;
	struct kv_walk *walk;
	struct span key;
	enum err err;

	walk = kv_walk_begin(
	    journal->txn, EVENTS, SPAN(""), number_key(&at, from));
	if (walk == NULL)
		return ERR_NO_MEMORY;
	err = kv_walk_next(walk, &key, record);
	if (err == ERR_OK)
		*seq = number_of(key);
	kv_walk_end(walk);
	return err;
}

static enum err
remove_event(struct journal *journal, uint64_t seq, size_t len)
{
	struct number_key key;

	journal->now.bytes -= len;
	return kv_del(journal->txn, EVENTS, number_key(&key, seq));
}

/*
 * Stores journal->record as that event. A new one is appended, which fills the
 * pages; put in by kv_put() they would be left half empty.
 */
static enum err
put_record(struct journal *journal, uint64_t seq, bool is_new)
{
	struct number_key key;
	struct buf packed;
	enum err err;

	buf_init(&packed, RECORD_MAX + 16);
	pack_record(&packed, buf_span(&journal->record));
	err = buf_end(&packed);
	if (err == ERR_OK)
		err = (is_new ? kv_append : kv_put)(journal->txn, EVENTS,
		    number_key(&key, seq), buf_span(&packed));
	if (err == ERR_OK)
		journal->now.bytes += packed.len;
	buf_fini(&packed);
	return err;
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
	return put_record(journal, seq, false);
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

	err = first_record(journal, now->first, &seq, &record);
	if (err != ERR_OK)
		return err;
	if (seq <= journal->acked) {
		now->dropped = 0;
		now->first = seq + 1;
		return remove_event(journal, seq, record.len);
	}
	err = first_record(journal, seq + 1, &second, &behind);
	if (err != ERR_OK)
		return err;
	now->first = seq;
	now->dropped += now->dropped == 0 ? 2 : 1;
	err = remove_event(journal, second, behind.len);
	if (err == ERR_OK)
		err = first_record(journal, seq, &seq, &record);
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
		err = first_record(journal, journal->now.first, &seq, &record);
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
trim(struct journal *journal)
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

static enum err
trim_history(struct journal *journal)
{
	struct counts *now = &journal->now;
	struct number_key key;
	enum err err;

	while (now->history_next - now->history_first >
	    (uint64_t)journal->spec.keep_events) {
		err = kv_del(journal->txn, HISTORY,
		    number_key(&key, now->history_first));
		if (err != ERR_OK && err != ERR_NOT_FOUND)
			return err;
		now->history_first++;
	}
	return ERR_OK;
}

/* --- dedupe --------------------------------------------------------------- */

static enum err
sweep_dedupe(struct journal *journal, int64_t now_ms)
{
	struct kv_walk *walk;
	struct span key, value;
	enum err err;

	if (now_ms - journal->swept_ms < JOURNAL_DEDUPE_MS)
		return ERR_OK;
	journal->swept_ms = now_ms;
	walk = kv_walk_begin(journal->txn, DEDUPE, SPAN(""), SPAN(""));
	if (walk == NULL)
		return ERR_NO_MEMORY;
	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK) {
		if ((int64_t)number_of(value) > now_ms - JOURNAL_DEDUPE_MS)
			continue;
		err = kv_walk_del(walk);
		if (err != ERR_OK)
			break;
	}
	kv_walk_end(walk);
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

static enum err
check_duplicate(
    struct journal *journal, struct span dedupe, struct event_place *place)
{
	uint8_t hash[DIGEST_SHA256_LEN];
	struct number_key seen;
	struct span key, value;
	enum err err;

	place->duplicate = false;
	if (dedupe.len == 0)
		return ERR_OK;
	err = sweep_dedupe(journal, place->received_ms);
	if (err != ERR_OK)
		return err;
	digest_sha256(hash, dedupe);
	key = span_make(hash, sizeof(hash));
	err = kv_get(journal->txn, DEDUPE, key, &value);
	if (err == ERR_OK)
		place->duplicate = (int64_t)number_of(value) >
		    place->received_ms - JOURNAL_DEDUPE_MS;
	else if (err != ERR_NOT_FOUND)
		return err;
	return kv_put(journal->txn, DEDUPE, key,
	    number_key(&seen, (uint64_t)place->received_ms));
}

/* --- adding --------------------------------------------------------------- */

static enum err
add_history(struct journal *journal, char kind, struct span value)
{
	struct number_key key;
	struct buf buf;
	enum err err;

	buf_init(&buf, RECORD_MAX + 1);
	buf_add_char(&buf, kind);
	buf_add_span(&buf, value);
	err = buf_end(&buf);
	if (err == ERR_OK)
		err = kv_append(journal->txn, HISTORY,
		    number_key(&key, journal->now.history_next),
		    buf_span(&buf));
	buf_fini(&buf);
	if (err == ERR_OK)
		journal->now.history_next++;
	return err == ERR_OK ? trim_history(journal) : err;
}

static enum err
put_event(struct journal *journal, const struct event *event,
    struct event_place *place)
{
	struct number_key key;
	struct jsonw json;
	enum err err;

	buf_clear(&journal->record);
	jsonw_init(&json, &journal->record);
	event_write(&json, event, place);
	err = jsonw_end(&json);
	if (err != ERR_OK)
		return err;
	err = put_record(journal, place->seq, true);
	if (err != ERR_OK)
		return err;
	journal->now.next++;
	return add_history(journal, 'e', number_key(&key, place->seq));
}

enum err
journal_add(struct journal *journal, const struct event *event,
    struct event_place *place)
{
	enum err err = round_begin(journal);

	if (err != ERR_OK)
		return err;
	place->seq = journal->now.next;
	place->epoch = journal->epoch;
	place->received_ms = date_now_ms();
	err = check_duplicate(journal, event->dedupe, place);
	if (err == ERR_OK)
		err = put_event(journal, event, place);
	if (err == ERR_OK)
		err = trim(journal);
	if (err == ERR_OK && place->seq % 64 == 1)
		err = drop_old(journal);
	return note(journal, err);
}

void
journal_ack(struct journal *journal, uint64_t seq)
{
	if (seq > journal->acked && seq < journal->stored.next)
		journal->acked = seq;
}

/* --- reading -------------------------------------------------------------- */

enum err
journal_read(
    struct journal *journal, uint64_t from, uint64_t *seq, struct buf *record)
{
	struct kv_txn *own = journal->txn;
	struct span value;
	enum err err = ERR_OK;

	if (from < journal->stored.first)
		from = journal->stored.first;
	if (from >= journal->stored.next)
		return ERR_NOT_FOUND;
	if (own == NULL)
		err = kv_read(&journal->txn, journal->kv);
	if (err == ERR_OK)
		err = first_record(journal, from, seq, &value);
	if (err == ERR_OK && *seq >= journal->stored.next)
		err = ERR_NOT_FOUND;
	if (err == ERR_OK)
		err = unpack_record(record, value);
	if (own == NULL) {
		kv_abort(journal->txn);
		journal->txn = NULL;
	}
	return err;
}

const char *
journal_epoch(const struct journal *journal)
{
	return journal->epoch;
}

uint64_t
journal_first(const struct journal *journal)
{
	return journal->stored.first;
}

uint64_t
journal_next(const struct journal *journal)
{
	return journal->stored.next;
}

uint64_t
journal_acked(const struct journal *journal)
{
	return journal->acked;
}

uint64_t
journal_count(const struct journal *journal)
{
	struct kv_txn *txn;
	uint64_t count = 0;

	if (kv_read(&txn, journal->kv) != ERR_OK)
		return 0;
	if (kv_count(txn, EVENTS, &count) != ERR_OK)
		count = 0;
	kv_abort(txn);
	return count;
}

/* --- the conversation ----------------------------------------------------- */

enum err
journal_say(
    struct journal *journal, const char *role, struct span text, char id[64])
{
	char now[DATE_TEXT_MAX];
	struct jsonw json;
	enum err err = round_begin(journal);

	if (err != ERR_OK)
		return err;
	snprintf(id, 64, "msg_%s-%" PRIu64, journal->epoch,
	    journal->now.history_next);
	date_instant_text(now, date_now_ms());
	buf_clear(&journal->record);
	jsonw_init(&json, &journal->record);
	jsonw_object_begin(&json);
	jsonw_key(&json, "id");
	jsonw_text(&json, id);
	jsonw_key(&json, "role");
	jsonw_text(&json, role);
	jsonw_key(&json, "text");
	jsonw_string(&json, text);
	jsonw_key(&json, "time");
	jsonw_text(&json, now);
	jsonw_object_end(&json);
	err = jsonw_end(&json);
	if (err == ERR_OK)
		err = add_history(journal, 'm', buf_span(&journal->record));
	return note(journal, err);
}

/* An event as a line of the conversation. */
static void
put_as_message(struct jsonw *json, const struct jsonr_value *event)
{
	struct span title = jsonr_as_string(jsonr_member(event, "title"));
	struct span text = jsonr_as_string(jsonr_member(event, "text"));
	struct span kind = jsonr_as_string(jsonr_member(event, "kind"));
	struct buf both;

	buf_init(&both, RECORD_MAX);
	buf_add_span(&both, title);
	if (title.len > 0 && text.len > 0)
		buf_add_char(&both, '\n');
	buf_add_span(&both, text);
	jsonw_object_begin(json);
	jsonw_key(json, "id");
	jsonw_string(json, jsonr_as_string(jsonr_member(event, "id")));
	jsonw_key(json, "role");
	jsonw_text(
	    json, span_eq(kind, SPAN("message")) ? "assistant" : "system");
	jsonw_key(json, "text");
	jsonw_string(json, buf_span(&both));
	jsonw_key(json, "time");
	jsonw_string(json, jsonr_as_string(jsonr_member(event, "received")));
	jsonw_object_end(json);
	buf_fini(&both);
}

/* ERR_NOT_FOUND when the event has gone. */
static enum err
put_event_message(struct kv_txn *txn, struct jsonw *json, struct span seq)
{
	const struct jsonr_limits limits = {.bytes = RECORD_MAX};
	struct jsonr *doc = NULL;
	struct span packed;
	struct buf record;
	enum err err;

	buf_init(&record, RECORD_MAX);
	err = kv_get(txn, EVENTS, seq, &packed);
	if (err == ERR_OK)
		err = unpack_record(&record, packed);
	if (err == ERR_OK)
		err = jsonr_parse(&doc, buf_span(&record), &limits, NULL);
	if (err == ERR_OK)
		put_as_message(json, jsonr_root(doc));
	jsonr_free(doc);
	buf_fini(&record);
	return err;
}

static enum err
put_message(struct kv_txn *txn, struct jsonw *json, uint64_t number)
{
	struct number_key key;
	struct span value;
	enum err err;

	err = kv_get(txn, HISTORY, number_key(&key, number), &value);
	if (err != ERR_OK || value.len == 0)
		return err;
	if (value.ptr[0] == 'e')
		return put_event_message(txn, json, span_from(value, 1));
	jsonw_raw(json, span_from(value, 1));
	return ERR_OK;
}

/* True when the line `number` is the message of that id. */
static bool
is_message(struct journal *journal, struct kv_txn *txn, uint64_t number,
    struct span id)
{
	struct number_key key;
	struct span value;
	char text[64];

	if (kv_get(txn, HISTORY, number_key(&key, number), &value) != ERR_OK ||
	    value.len == 0)
		return false;
	if (value.ptr[0] == 'e')
		event_id(text, sizeof(text), journal->epoch,
		    number_of(span_from(value, 1)));
	else
		snprintf(text, sizeof(text), "msg_%s-%" PRIu64, journal->epoch,
		    number);
	return span_eq(span_of(text), id);
}

enum err
journal_history(struct journal *journal, struct jsonw *json, unsigned limit,
    struct span before, bool *found)
{
	const struct counts *stored = &journal->stored;
	uint64_t end = stored->history_next, start;
	struct kv_txn *txn;
	enum err err;

	*found = true;
	err = kv_read(&txn, journal->kv);
	if (err != ERR_OK)
		return err;
	while (before.len > 0 && end > stored->history_first &&
	    !is_message(journal, txn, end - 1, before))
		end--;
	if (before.len > 0)
		*found = end-- > stored->history_first;
	if (!*found)
		end = stored->history_first;
	start = end - stored->history_first > limit ? end - limit
						    : stored->history_first;
	jsonw_key(json, "messages");
	jsonw_array_begin(json);
	for (; start < end && err == ERR_OK; start++) {
		err = put_message(txn, json, start);
		if (err == ERR_NOT_FOUND)
			err = ERR_OK;
	}
	jsonw_array_end(json);
	jsonw_key(json, "has_more");
	jsonw_bool(json, end - stored->history_first > limit);
	kv_abort(txn);
	return err;
}

/* --- opening -------------------------------------------------------------- */

static enum err
read_epoch(struct journal *journal)
{
	struct span value;
	enum err err;

	err = kv_get(journal->txn, META, SPAN("version"), &value);
	if (err == ERR_OK && !span_eq(value, SPAN(VERSION))) {
		log_error("journal is of another version: found=%.*s",
		    SPAN_ARG(value));
		return ERR_VERSION;
	}
	if (err == ERR_OK)
		err = kv_get(journal->txn, META, SPAN("epoch"), &value);
	if (err == ERR_OK)
		return span_copy(journal->epoch, sizeof(journal->epoch), value)
		    ? ERR_OK
		    : ERR_DAMAGED;
	if (err != ERR_NOT_FOUND)
		return err;
	err = digest_random_text(journal->epoch, JOURNAL_EPOCH_LEN);
	if (err == ERR_OK)
		err = kv_put(
		    journal->txn, META, SPAN("epoch"), span_of(journal->epoch));
	if (err == ERR_OK)
		err =
		    kv_put(journal->txn, META, SPAN("version"), SPAN(VERSION));
	return err;
}

static enum err
first_of(struct kv_txn *txn, unsigned table, uint64_t *first)
{
	struct kv_walk *walk = kv_walk_begin(txn, table, SPAN(""), SPAN(""));
	struct span key, value;
	enum err err;

	if (walk == NULL)
		return ERR_NO_MEMORY;
	err = kv_walk_next(walk, &key, &value);
	if (err == ERR_OK)
		*first = number_of(key);
	kv_walk_end(walk);
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

static enum err
sum_bytes(struct journal *journal)
{
	struct kv_walk *walk =
	    kv_walk_begin(journal->txn, EVENTS, SPAN(""), SPAN(""));
	struct span key, value;
	enum err err;

	if (walk == NULL)
		return ERR_NO_MEMORY;
	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK)
		journal->now.bytes += value.len;
	kv_walk_end(walk);
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

static enum err
read_counts(struct journal *journal)
{
	struct counts *now = &journal->now;
	struct kv_txn *txn = journal->txn;
	enum err err;

	*now = (struct counts){.next = 1, .history_next = 1};
	err = get_meta(txn, "next", &now->next);
	if (err == ERR_OK)
		err = get_meta(txn, "history_next", &now->history_next);
	if (err == ERR_OK)
		err = get_meta(txn, "dropped", &now->dropped);
	if (err == ERR_OK)
		err = get_meta(txn, "acked", &journal->acked);
	now->first = now->next;
	now->history_first = now->history_next;
	if (err == ERR_OK)
		err = first_of(txn, EVENTS, &now->first);
	if (err == ERR_OK)
		err = first_of(txn, HISTORY, &now->history_first);
	if (err == ERR_OK)
		err = sum_bytes(journal);
	return err;
}

/* A journal in memory is one whose files have no name any more. */
static enum err
make_scratch(struct journal *journal)
{
	static const char *const places[] = {"/dev/shm", "/tmp"};
	size_t i;

	for (i = 0; i < 2; i++) {
		snprintf(journal->scratch, sizeof(journal->scratch),
		    "%s/gridhook-XXXXXX", places[i]);
		if (mkdtemp(journal->scratch) != NULL)
			return ERR_OK;
	}
	log_error("no folder for a journal in memory");
	journal->scratch[0] = '\0';
	return ERR_SYSTEM;
}

static enum err
open_store(struct journal *journal)
{
	const char *folder = journal->spec.folder;
	char path[FS_PATH_MAX], lock[FS_PATH_MAX];
	struct kv_spec spec = {
	    .path = path,
	    .mode = folder == NULL ? KV_SHARED_LAZY : KV_SHARED,
	    .map_bytes = (size_t)journal->spec.keep_bytes * 8 + (64u << 20),
	    .tables = table_names,
	    .table_count = TABLES,
	    .readers = 16,
	};
	enum err err = ERR_OK;

	if (folder == NULL) {
		err = make_scratch(journal);
		folder = journal->scratch;
	} else
		err = fs_mkdir(folder);
	if (err == ERR_OK)
		err = fs_path(lock, "%s/lock", folder);
	if (err == ERR_OK)
		err = fs_lock(&journal->lock, lock, false);
	if (err == ERR_BUSY)
		log_error("another gridhook has this store: folder=%s", folder);
	if (err == ERR_OK)
		err = fs_path(path, "%s/events.mdb", folder);
	if (err == ERR_OK)
		err = kv_open(&journal->kv, &spec);
	if (journal->scratch[0] != '\0')
		fs_remove_tree(journal->scratch);
	return err;
}

enum err
journal_open(struct journal **out, const struct journal_spec *spec)
{
	struct journal *journal = calloc(1, sizeof(*journal));
	enum err err;

	*out = NULL;
	if (journal == NULL)
		return ERR_NO_MEMORY;
	journal->spec = *spec;
	journal->lock = -1;
	buf_init(&journal->record, RECORD_MAX);
	err = open_store(journal);
	if (err == ERR_OK)
		err = round_begin(journal);
	if (err == ERR_OK)
		err = read_epoch(journal);
	if (err == ERR_OK)
		err = read_counts(journal);
	if (err == ERR_OK) {
		journal->stored = journal->now;
		journal->acked_stored = journal->acked;
		err = journal_commit(journal);
	}
	if (err == ERR_OK) {
		*out = journal;
		journal = NULL;
	} else
		journal->failed = err; /* nothing of it is to be stored */
	journal_close(journal);
	return err;
}

void
journal_close(struct journal *journal)
{
	if (journal == NULL)
		return;
	if (journal->kv != NULL && journal->failed == ERR_OK &&
	    (journal->txn != NULL || journal->acked != journal->acked_stored)) {
		if (round_begin(journal) == ERR_OK)
			journal_commit(journal);
	}
	kv_abort(journal->txn);
	kv_close(journal->kv);
	if (journal->lock >= 0)
		close(journal->lock);
	buf_fini(&journal->record);
	free(journal);
}
