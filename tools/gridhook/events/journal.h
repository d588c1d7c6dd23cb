/*
 * journal: the events, kept until the window has them and a while longer.
 *
 * Each event gets the next number of one sequence. What is added in one round
 * of the loop is committed together by journal_commit(), which is when it is
 * on disk; nothing is delivered or acknowledged to a sender before. The epoch
 * names the store: another epoch is another sequence.
 *
 * Kept: the newest `keep_events`, of at most `keep_ms` and `keep_bytes`. What
 * goes unread is counted in one event that says so, and the log has a line when
 * that begins, so a loss is never silent.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/jsonw.h"
#include "common/span.h"
#include "tools/gridhook/events/event.h"

#define JOURNAL_EPOCH_LEN 12
#define JOURNAL_DEDUPE_MS (10 * 60 * 1000)

struct journal;

struct journal_spec {
	const char *folder; /* NULL: in memory, gone with the process */
	int64_t keep_events, keep_ms, keep_bytes;
};

/* ERR_BUSY when another gridhook has the folder; otherwise as kv_open(). */
enum err journal_open(struct journal **out, const struct journal_spec *spec);
void journal_close(struct journal *journal);

const char *journal_epoch(const struct journal *journal);

/* The first that is kept and the next that will be given, as committed. */
uint64_t journal_first(const struct journal *journal);
uint64_t journal_next(const struct journal *journal);

/* All up to here have been handled by a window. */
uint64_t journal_acked(const struct journal *journal);

/* Events kept, and those of them that no window has handled. */
uint64_t journal_count(const struct journal *journal);
uint64_t journal_pending(const struct journal *journal);

/*
 * Adds an event to the round. place->push, index and count are the caller's;
 * the rest of *place is filled in. After any failure the whole round fails at
 * journal_commit().
 */
enum err journal_add(struct journal *journal, const struct event *event,
    struct event_place *place);

/* True when something waits for journal_commit(). */
bool journal_is_pending(const struct journal *journal);

/* Stores the round, or nothing of it. ERR_OK when there was nothing. */
enum err journal_commit(struct journal *journal);

/* Notes what the window has handled; stored with the next commit. */
void journal_ack(struct journal *journal, uint64_t seq);

/*
 * Appends the first committed record from `from` on: its number and its JSON.
 * ERR_NOT_FOUND when there is none.
 */
enum err journal_read(
    struct journal *journal, uint64_t from, uint64_t *seq, struct buf *record);

/* One line of the conversation that is no event; part of the round. */
enum err journal_say(
    struct journal *journal, const char *role, struct span text, char id[64]);

/* Most messages of one page. */
#define JOURNAL_PAGE_MAX 200

/*
 * Writes the conversation's newest `limit` messages, oldest first, as members
 * "messages" and "has_more"; fewer when they are long, of over a megabyte in
 * all. With `before` only those before that id; false comes out of *found when
 * there is no such message.
 */
enum err journal_history(struct journal *journal, struct jsonw *json,
    unsigned limit, struct span before, bool *found);
