/*
 * journal_priv: internals shared by the journal's files only.
 *
 *	journal.c        rounds, adding, reading
 *	journal_open.c   opening, and what stands in meta
 *	journal_trim.c   what goes when the store is full or old
 *	journal_talk.c   the conversation
 *
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
#pragma once

#include "common/fs.h"
#include "common/kv/kv.h"
#include "tools/gridhook/events/journal.h"

#define RECORD_MAX (1u << 20)

enum table { EVENTS, HISTORY, DEDUPE, META, TABLES };

/* Numbers of the journal, on disk or about to be. */
struct counts {
	uint64_t first, next; /* events */
	uint64_t bytes; /* of all records */
	uint64_t history_first, history_next;
	uint64_t dropped; /* unread ones that went; told by record `first` */
	uint64_t runs; /* of such drops, since this process began */
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

/* A number as the bytes of a key, and back. */
struct number_key {
	unsigned char bytes[8];
};
struct span journal_key(struct number_key *key, uint64_t number);
uint64_t journal_number(struct span key);

/* Begins the round's transaction unless it is there: why not, else. */
enum err journal_begin(struct journal *journal);

/* Notes a failure, which fails the round; gives it back. */
enum err journal_note(struct journal *journal, enum err err);

/* The first record from `from` on, as it is packed; within a transaction. */
enum err journal_first_record(
    struct journal *journal, uint64_t from, uint64_t *seq, struct span *packed);

/*
 * Stores journal->record as that event. A new one is appended, which fills the
 * pages; put in by kv_put() they would be left half empty.
 */
enum err journal_put_record(struct journal *journal, uint64_t seq, bool is_new);

/* Removes what is over the limits, `old` also what is past its age. */
enum err journal_trim(struct journal *journal, bool old);

/* A line of the conversation, and the oldest one goes. */
enum err journal_add_line(
    struct journal *journal, char kind, struct span value);
