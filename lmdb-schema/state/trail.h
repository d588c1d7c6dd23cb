/*
 * trail: the audit trail as a feed of what became of proposals, and each
 * article's part of it.
 *
 * Entries are numbered from 1, without a gap, in the order of their commits. A
 * reader that goes on behind the last number that it has seen misses none and
 * sees none twice, whatever is written meanwhile.
 *
 * The older entries are in files (trail_parts.h), those of the months that run in
 * the table audit.
 *
 * An index names the entries of each article: in the table meta
 *
 *	"trail" 00 supplier 00 codein 00 u64 number -> nothing
 *	"trail" -> u64 number of the last entry that is in the index
 *
 * for what the table has; a file has an index of its own. An entry is indexed in
 * the transaction that writes it, and those before it
 * that a program without an index has written. Until then they are read from
 * the trail itself.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lmdb-schema/state/audit.h"
#include "lmdb-schema/state/trail_part.h"

/* The last entry's number; 0 for an empty trail. ERR_DAMAGED. */
enum err trail_last(struct state_view *view, uint64_t *number);

/*
 * Reads an entry, borrowed until the view is used again. ERR_NOT_FOUND, also for
 * one in an archive; ERR_DAMAGED.
 */
enum err trail_get(
    struct state_view *view, uint64_t number, struct audit_entry *entry);

/*
 * When the trail begins that can be read without a gap: the time of the first entry
 * behind all those in an archive. ERR_NOT_FOUND for an empty trail.
 */
enum err trail_since(struct state_view *view, int64_t *when_ms);

/*
 * Calls `each` for the entries from `number` on, oldest first; with `back` for
 * those before `number`, newest first. Entries that are not wanted may be left
 * out (NULL: all are wanted). Each is borrowed until `each` returns. A file that
 * cannot be read ends the reading, and archived ones are passed over, unless
 * wanted->left_out is told of both.
 */
enum err trail_each(struct state_view *view, const struct trail_wanted *wanted,
    uint64_t number, bool back,
    enum err (*each)(void *context, const struct audit_entry *entry),
    void *context);

/* Whether the entry is about an article: others are about keys and users. */
static inline bool
trail_is_about_article(const struct audit_entry *entry)
{
	return entry->supplier.len > 0;
}

/* The article of a history, and the bounds of the history. */
struct trail_article {
	struct span supplier; /* empty: at all whose ranges have ever changed */
	struct span codein;
	uint64_t from, to; /* numbers; to 0: no end */
	bool back; /* newest first */
	const struct trail_left_out *left_out; /* as of trail_each() */
};

static inline bool
trail_in_bounds(const struct trail_article *article, uint64_t number)
{
	return number >= article->from &&
	    (article->to == 0 || number <= article->to);
}

static inline bool
trail_is_of(
    const struct trail_article *article, const struct audit_entry *entry)
{
	return trail_is_about_article(entry) &&
	    span_eq(entry->codein, article->codein) &&
	    (article->supplier.len == 0 ||
		span_eq(entry->supplier, article->supplier));
}

/*
 * Calls `each` for an article's entries, oldest first or newest first. Each is
 * borrowed until `each` returns; another result than ERR_OK ends the reading, and
 * is returned. Only the files are read whose entries come before that end.
 */
enum err trail_history(struct state_view *view,
    const struct trail_article *article,
    enum err (*each)(void *context, const struct audit_entry *entry),
    void *context);

/* How many entries are not in the index yet. */
enum err trail_behind(struct state_view *view, uint64_t *count);

/* --- for trail_close.c ---------------------------------------------------- */

/* Removes the entry from the index. */
enum err trail_remove(
    struct kv_txn *txn, uint64_t number, const struct audit_entry *entry);

/* --- for audit.c ---------------------------------------------------------- */

/* Before the first entry behind `last`: indexes what is not yet. */
enum err trail_catch_up(struct kv_txn *txn, uint64_t last);

enum err trail_add(
    struct kv_txn *txn, uint64_t number, const struct audit_entry *entry);

/* All entries up to `last` are indexed. */
enum err trail_done(struct kv_txn *txn, uint64_t last);
