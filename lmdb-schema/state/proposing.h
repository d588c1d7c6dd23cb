/*
 * proposing: what the operations on proposals share: how an article stands,
 * and the single steps, each with its audit entry. For proposal*.c only.
 */
#pragma once

#include "lmdb-schema/facts/live.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/state/audit.h"
#include "lmdb-schema/state/proposal.h"

struct kv_txn;

/*
 * What exports have put on its way to the server for an article, and no import
 * has brought. Deleted when it has arrived, and it was all. When it was not,
 * an import that brings the last range may also be older than all of them, so
 * it stays: then a decision for what the server has is always kept, which
 * costs a line in one export.
 */
struct sent {
	uint8_t
	    last; /* the last range; ROW_GAMME_NONE: nothing is on its way */
	bool mixed; /* others may be, too */
};

/* One operation, within its transaction. */
struct proposing {
	struct kv_txn *txn;
	struct live_view *live;
	struct span supplier, actor;
	int64_t now_ms;
	bool changed; /* something of the present supplier */
	struct buf value; /* a proposal as it is stored */
	struct audit audit;
};

/* How an article stands; ROW_GAMME_NONE where there is nothing. */
struct standing {
	struct span codein;
	struct key key;
	uint8_t server, validated, pending;
	struct sent sent;
	bool own; /* what is pending is the actor's */
};

static inline uint8_t
standing_recorded(const struct standing *standing)
{
	return standing->validated != ROW_GAMME_NONE ? standing->validated
						     : standing->server;
}

/* Another range than this may be on its way. */
static inline bool
standing_other_sent(const struct standing *standing, uint8_t gamme)
{
	return standing->sent.last != ROW_GAMME_NONE &&
	    (standing->sent.mixed || standing->sent.last != gamme);
}

enum err proposal_read(struct proposal *proposal, struct span value);

/* proposal_version(), as a transaction sees it. */
uint64_t proposing_version(struct kv_txn *txn, struct span supplier);

enum err proposing_begin(
    struct proposing *op, struct kv_txn *txn, struct store *store);

/* Moves the version of `supplier`, if anything of it changed. */
enum err proposing_mark(struct proposing *op);

/*
 * Unless `err` is a failure, marks it and ends the trail; lets the server's
 * ranges go.
 */
enum err proposing_end(struct proposing *op, enum err err);

enum err proposing_look(
    struct standing *standing, struct proposing *op, struct span codein);

/* Each keeps `standing` up to date. */
enum err proposing_propose(
    struct proposing *op, struct standing *standing, uint8_t gamme);
enum err proposing_withdraw(struct proposing *op, struct standing *standing);
enum err proposing_reject(struct proposing *op, struct standing *standing);
enum err proposing_save(struct proposing *op, struct standing *standing);
enum err proposing_edit(
    struct proposing *op, struct standing *standing, uint8_t gamme);
enum err proposing_arrive(struct proposing *op, struct standing *standing);

/* All keys of what is on its way begin with it, in the table meta. */
#define PROPOSING_SENT SPAN("sent")

/* Notes it; last = ROW_GAMME_NONE deletes the note. */
enum err proposing_set_sent(
    struct proposing *op, struct standing *standing, struct sent sent);
