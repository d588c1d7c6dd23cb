/*
 * proposal_priv: shared by the operations on proposals: an article's standing, and
 * the single steps, each with its audit entry. For proposal*.c only.
 */
#pragma once

#include "lmdb-schema/facts/live.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/state/audit.h"
#include "lmdb-schema/state/proposal.h"

struct kv_txn;

/*
 * The ranges of an article that were exported and that no import has brought
 * yet. The note is deleted when the only range sent has arrived. If several
 * were sent, an import that brings the last one may be older than all of them,
 * so the note stays: a decision equal to the server's range is then always
 * stored, which costs a line in one export.
 */
struct sent {
	uint8_t
	    last; /* the last range; ROW_GAMME_NONE: none on the way at all */
	bool mixed; /* other ranges may be on their way, too */
};

/* The state of one operation, within its transaction. */
struct proposing {
	struct kv_txn *txn;
	struct live_view *live;
	struct span supplier, actor;
	int64_t now_ms;
	bool changed; /* a range of `supplier` changed */
	struct buf value; /* scratch: an encoded proposal */
	struct buf kept; /* texts of the standing that was looked at last */
	struct audit audit;
};

/* The ranges of an article; ROW_GAMME_NONE for none. */
struct standing {
	struct span codein;
	struct key key;
	uint8_t server, validated, pending;
	struct sent sent;
	bool own; /* the pending range is the actor's */
	/* Of the pending range, until the next look. */
	struct span author, motif;
	int64_t when_ms;
	struct span validated_motif; /* as long */
};

static inline uint8_t
standing_recorded(const struct standing *standing)
{
	return standing->validated != ROW_GAMME_NONE ? standing->validated
						     : standing->server;
}

/* True when another range than `gamme` may be on its way. */
static inline bool
standing_other_sent(const struct standing *standing, uint8_t gamme)
{
	return standing->sent.last != ROW_GAMME_NONE &&
	    (standing->sent.mixed || standing->sent.last != gamme);
}

enum err proposal_read(struct proposal *proposal, struct span value);

/* proposal_version(), within a transaction. */
uint64_t proposing_version(struct kv_txn *txn, struct span supplier);

enum err proposing_begin(
    struct proposing *op, struct kv_txn *txn, struct store *store);

/* Moves the version of `supplier` on, if any of its ranges changed. */
enum err proposing_mark(struct proposing *op);

/*
 * Unless `err` is a failure, calls proposing_mark() and ends the audit trail;
 * closes the view of the server's ranges.
 */
enum err proposing_end(struct proposing *op, enum err err);

enum err proposing_look(
    struct standing *standing, struct proposing *op, struct span codein);

/* Each step updates `standing`. */
enum err proposing_propose(struct proposing *op, struct standing *standing,
    uint8_t gamme, struct span motif);
enum err proposing_withdraw(struct proposing *op, struct standing *standing);
enum err proposing_reject(struct proposing *op, struct standing *standing);
enum err proposing_save(struct proposing *op, struct standing *standing);
enum err proposing_edit(
    struct proposing *op, struct standing *standing, uint8_t gamme);
enum err proposing_arrive(struct proposing *op, struct standing *standing);

/* The prefix of all keys of sent ranges, in the table meta. */
#define PROPOSING_SENT SPAN("sent")

/* Writes the note of sent ranges; last = ROW_GAMME_NONE deletes it. */
enum err proposing_set_sent(
    struct proposing *op, struct standing *standing, struct sent sent);
