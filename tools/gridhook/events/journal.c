#include "tools/gridhook/events/journal_priv.h"

#include <assert.h>
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/date.h"
#include "common/sha256.h"
#include "common/log.h"
#include "common/num.h"
#include "tools/gridhook/events/pack.h"

/* --- keys ----------------------------------------------------------------- */

struct span
journal_key(struct number_key *key, uint64_t number)
{
	uint64_t big = htobe64(number);

	memcpy(key->bytes, &big, sizeof(big));
	return span_make(key->bytes, sizeof(key->bytes));
}

uint64_t
journal_number(struct span key)
{
	uint64_t big = 0;

	if (key.len == sizeof(big))
		memcpy(&big, key.ptr, sizeof(big));
	return be64toh(big);
}

/* --- the round ------------------------------------------------------------ */

static enum err
put_meta(struct kv_txn *txn, const char *name, uint64_t value)
{
	char text[NUM_TEXT_MAX];
	size_t len = num_int_text(text, (int64_t)value);

	return kv_put(txn, META, span_of(name), span_make(text, len));
}

enum err
journal_begin(struct journal *journal)
{
	assert(journal->kv != NULL);
	if (journal->failed == ERR_OK && journal->txn == NULL)
		journal->failed = kv_write(&journal->txn, journal->kv);
	return journal->failed;
}

enum err
journal_note(struct journal *journal, enum err err)
{
	assert(journal != NULL);
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

/* Once a run: it lasts until the notice of it was read, and has gone. */
static void
tell_dropping(const struct journal *journal)
{
	const struct journal_spec *spec = &journal->spec;

	if (journal->now.runs != journal->stored.runs)
		log_warn("unread events are being dropped, the oldest first: "
			 "no window reads them, and [store] keeps no more: "
			 "keep_events=%" PRId64 " keep_bytes=%" PRId64
			 " keep_age=%" PRId64 "s",
		    spec->keep_events, spec->keep_bytes, spec->keep_ms / 1000);
}

enum err
journal_commit(struct journal *journal)
{
	enum err err = journal->failed;

	assert(journal->now.next >= journal->stored.next);
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
		tell_dropping(journal);
		journal->stored = journal->now;
		journal->acked_stored = journal->acked;
	} else {
		journal->now = journal->stored;
		log_error(
		    "events could not be stored: reason=%s", err_text(err));
	}
	return err;
}

/* --- records -------------------------------------------------------------- */

enum err
journal_first_record(
    struct journal *journal, uint64_t from, uint64_t *seq, struct span *record)
{
	struct number_key at;
	struct kv_walk *walk;
	struct span key;
	enum err err;

	assert(journal->txn != NULL && seq != NULL);
	walk = kv_walk_begin(
	    journal->txn, EVENTS, SPAN(""), journal_key(&at, from));
	err = kv_walk_next(walk, &key, record);
	if (err == ERR_OK)
		*seq = journal_number(key);
	kv_walk_end(walk);
	return err;
}

enum err
journal_put_record(struct journal *journal, uint64_t seq, bool is_new)
{
	struct number_key key;
	struct buf packed;
	enum err err;

	assert(journal->txn != NULL && seq <= journal->now.next);
	buf_init(&packed, RECORD_MAX + 16);
	pack_record(&packed, buf_span(&journal->record));
	err = buf_end(&packed);
	if (err == ERR_OK)
		err = (is_new ? kv_append : kv_put)(journal->txn, EVENTS,
		    journal_key(&key, seq), buf_span(&packed));
	if (err == ERR_OK)
		journal->now.bytes += packed.len;
	buf_fini(&packed);
	return err;
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
	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK) {
		if ((int64_t)journal_number(value) > now_ms - JOURNAL_DEDUPE_MS)
			continue;
		err = kv_walk_del(walk);
		if (err != ERR_OK)
			break;
	}
	return kv_walk_done(walk, err);
}

static enum err
check_duplicate(
    struct journal *journal, struct span dedupe, struct event_place *place)
{
	uint8_t hash[SHA256_LEN];
	struct number_key seen;
	struct span key, value;
	enum err err;

	place->duplicate = false;
	if (dedupe.len == 0)
		return ERR_OK;
	err = sweep_dedupe(journal, place->received_ms);
	if (err != ERR_OK)
		return err;
	sha256_hash(hash, dedupe);
	key = span_make(hash, sizeof(hash));
	err = kv_get(journal->txn, DEDUPE, key, &value);
	if (err == ERR_OK)
		place->duplicate = (int64_t)journal_number(value) >
		    place->received_ms - JOURNAL_DEDUPE_MS;
	else if (err != ERR_NOT_FOUND)
		return err;
	return kv_put(journal->txn, DEDUPE, key,
	    journal_key(&seen, (uint64_t)place->received_ms));
}

/* --- adding --------------------------------------------------------------- */

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
	err = journal_put_record(journal, place->seq, true);
	if (err != ERR_OK)
		return err;
	journal->now.next++;
	return journal_add_line(journal, 'e', journal_key(&key, place->seq));
}

enum err
journal_add(struct journal *journal, const struct event *event,
    struct event_place *place)
{
	enum err err = journal_begin(journal);

	assert(event != NULL && place != NULL);
	if (err != ERR_OK)
		return err;
	place->seq = journal->now.next;
	place->epoch = journal->epoch;
	place->received_ms = date_now_ms();
	err = check_duplicate(journal, event->dedupe, place);
	if (err == ERR_OK)
		err = put_event(journal, event, place);
	if (err == ERR_OK)
		err = journal_trim(journal, place->seq % 64 == 1);
	return journal_note(journal, err);
}

void
journal_ack(struct journal *journal, uint64_t seq)
{
	assert(journal->stored.first <= journal->stored.next);
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

	assert(seq != NULL && record != NULL);
	if (from < journal->stored.first)
		from = journal->stored.first;
	if (from >= journal->stored.next)
		return ERR_NOT_FOUND;
	if (own == NULL)
		err = kv_read(&journal->txn, journal->kv);
	if (err == ERR_OK)
		err = journal_first_record(journal, from, seq, &value);
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

/* The number of the first event from `from` on; 0 when there is none. */
static uint64_t
first_from(struct kv_txn *txn, uint64_t from)
{
	struct number_key at;
	struct kv_walk *walk;
	struct span key, record;
	uint64_t seq = 0;

	walk = kv_walk_begin(txn, EVENTS, SPAN(""), journal_key(&at, from));
	if (walk != NULL && kv_walk_next(walk, &key, &record) == ERR_OK)
		seq = journal_number(key);
	kv_walk_end(walk);
	return seq;
}

/* Numbers are missing in one place only: behind the notice of a drop. */
uint64_t
journal_pending(const struct journal *journal)
{
	struct kv_txn *txn;
	uint64_t count = 0, first, second;

	if (kv_read(&txn, journal->kv) != ERR_OK)
		return 0;
	first = first_from(txn, journal->acked + 1);
	second = first == 0 ? 0 : first_from(txn, first + 1);
	if (first != 0)
		count = 1;
	if (second != 0)
		count += journal->stored.next - second;
	kv_abort(txn);
	return count;
}
