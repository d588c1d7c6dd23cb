/*
 * proposal: ranges that the API's callers propose, and the changes that buyers
 * validated.
 *
 *	none -> pending -> validated     a range differs from the recorded one;
 *	          |                      a buyer saves it
 *	          +-> none               withdrawn: proposed as recorded again,
 *	          |                      or recorded as proposed by an import
 *	          +-> rejected           a buyer cancels it
 *
 * The recorded range of an article is its validated change, else its server
 * range. A validated change ends ("arrives") when an import brings a server
 * range equal to it; one that says what the server says already is not kept.
 *
 * But what was exported may arrive at any time, also after the buyer has
 * decided otherwise. So it is noted what of each article is on its way. While
 * that is, or may be, another range than the decision, the change is kept
 * though the server says the same: it is exported, too, and arrives only after
 * that. However late the central database takes exports in, if it does so in
 * their order, the buyer's last decision is the last that it takes.
 *
 * Each operation is one transaction, on disk when it returns. It reads the
 * server's ranges inside, so its outcome is as though all had happened at
 * once, either before or after an import that runs beside it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"
#include "lmdb-schema/row.h"
#include "lmdb-schema/state/state.h"

struct store;

/* --- reading ------------------------------------------------------------ */

/* A pending or a validated range. */
struct proposal {
	uint8_t gamme;
	struct span author; /* who proposed, or who validated */
	int64_t when_ms;
};

/*
 * The generation of the last change of a supplier's; 0: there never was one.
 * PROPOSAL_VERSION_UNKNOWN, which no generation is, when the record cannot be
 * read (which has been logged).
 */
#define PROPOSAL_VERSION_UNKNOWN UINT64_MAX
uint64_t proposal_version(struct state_view *view, struct span supplier);

/* Each of a supplier's in the order of the codein bytes. */
enum err proposal_pending(struct state_view *view, struct span supplier,
    enum err (*each)(
	void *context, struct span codein, const struct proposal *proposal),
    void *context);
enum err proposal_validated(struct state_view *view, struct span supplier,
    enum err (*each)(
	void *context, struct span codein, const struct proposal *proposal),
    void *context);

/* One article's. ERR_NOT_FOUND when it has none. */
enum err proposal_pending_of(struct state_view *view, struct span supplier,
    struct span codein, struct proposal *proposal);
enum err proposal_validated_of(struct state_view *view, struct span supplier,
    struct span codein, struct proposal *proposal);

/* An article's range at the server, and the recorded one. */
struct live_view;
enum err proposal_recorded(struct state_view *view, struct live_view *live,
    struct span supplier, struct span codein, uint8_t *server,
    uint8_t *recorded);

/* How many a supplier has. */
struct proposal_counts {
	uint64_t pending, validated;
};
enum err proposal_count(struct state_view *view, struct span supplier,
    struct proposal_counts *counts);

/* Each supplier that has some, in the order of the codes. */
enum err proposal_suppliers(struct state_view *view,
    enum err (*each)(void *context, struct span supplier,
	const struct proposal_counts *counts),
    void *context);

/* --- depositing --------------------------------------------------------- */

struct proposal_change {
	struct span codein;
	uint8_t gamme;
};

struct proposal_request {
	struct span supplier, author;
	const struct proposal_change *changes;
	unsigned count;
};

struct proposal_result {
	uint8_t before; /* the recorded range */
	uint8_t server;
	bool pending; /* deposited; else the article has that range already */
};

/* True when each codein is after the one before it: none is there twice. */
bool proposal_in_order(const struct proposal_change *changes, unsigned count);

/*
 * Calls `each` for every change that proposes another range than one before
 * it does for the same article: the places of both.
 */
enum err proposal_clashes(const struct proposal_change *changes, unsigned count,
    enum err (*each)(void *context, unsigned first, unsigned again),
    void *context);

/*
 * All or nothing. A range that differs from the recorded one becomes pending,
 * in place of an older proposal; one that is recorded already withdraws it.
 * The same proposal by the same author once more changes nothing. `results`
 * has room for `count`; *when_ms is when it was recorded.
 *
 * The caller has made sure that the articles exist. ERR_BAD_INPUT for what is
 * no code, no range, or for changes that clash.
 */
enum err proposal_deposit(struct store *store,
    const struct proposal_request *request, struct proposal_result *results,
    int64_t *when_ms);

/* --- deciding ----------------------------------------------------------- */

enum proposal_action {
	PROPOSAL_SAVE, /* the pending range becomes the validated one */
	PROPOSAL_CANCEL, /* the pending range is rejected */
	/*
	 * A range of the buyer's own, validated at once; a pending one that
	 * says the same is thereby saved, another one rejected.
	 */
	PROPOSAL_EDIT
};

#define PROPOSAL_ANY 254 /* what the buyer saw is not compared */

struct proposal_decision {
	enum proposal_action action;
	struct span codein;
	uint8_t gamme; /* PROPOSAL_EDIT only; NONE ends a validated change */
	uint8_t seen_recorded, seen_pending;
};

enum proposal_outcome {
	PROPOSAL_APPLIED,
	PROPOSAL_CONFLICT, /* it is not as the buyer saw it */
	PROPOSAL_ABSENT, /* SAVE, CANCEL: nothing is pending any more */
	/* EDIT to NONE, where the server has a range, or one is on its way */
	PROPOSAL_REFUSED
};

struct proposal_decided {
	enum proposal_outcome outcome;
	uint8_t server, recorded, pending; /* as they stand from now on */
};

enum proposal_rest { PROPOSAL_KEEP, PROPOSAL_SAVE_REST, PROPOSAL_CANCEL_REST };

struct proposal_verdict {
	struct span supplier, actor;
	const struct proposal_decision *decisions;
	unsigned count;
	/* What becomes of the pending ranges that no decision names. */
	enum proposal_rest rest;
	/* The supplier's version as the buyer saw it, for `rest`; 0: any. */
	uint64_t seen_version;
};

/*
 * Decides in order; what cannot be applied is told in `decided` (room for
 * `count`) and the others are. *rest is how many more were saved or cancelled.
 *
 *   ERR_BUSY       `rest` is wanted, and something changed since that version:
 *                  nothing was done
 *   ERR_BAD_INPUT  what is no code or no range
 */
enum err proposal_decide(struct store *store,
    const struct proposal_verdict *verdict, struct proposal_decided *decided,
    uint64_t *rest);

/* --- exporting ---------------------------------------------------------- */

/* The validated changes as they are handed over, in order of their keys. */
struct proposal_export;

struct proposal_exported {
	struct span supplier, codein; /* until proposal_export_free() */
	uint8_t gamme;
};

/*
 * Takes those that `wanted` says, and notes on disk that each may be on its
 * way from now on. `wanted` may be asked more than once about each.
 */
enum err proposal_export_begin(struct proposal_export **out,
    struct store *store,
    bool (*wanted)(void *context, struct span supplier, struct span codein),
    void *context);
unsigned proposal_export_count(const struct proposal_export *export);
unsigned proposal_export_left_out(const struct proposal_export *export);
struct proposal_exported proposal_export_at(
    const struct proposal_export *export, unsigned place);

/*
 * They have been handed over. Not called, or failing, nothing is lost: they do
 * not arrive before an export was done.
 */
enum err proposal_export_done(struct proposal_export *export);
void proposal_export_free(struct proposal_export *export); /* NULL is fine */

/* --- settling ----------------------------------------------------------- */

/*
 * Settles what an import has changed: retires the validated changes that the
 * server has by now, and withdraws what is pending and recorded by now. May be
 * called at any time and again; after each import, and before the next for one
 * that a crash cut short.
 *
 * `imported`: the server's ranges have come since the last export. Else a
 * change stays of whose article more than one range may be on its way, as what
 * the server has may be older than all of them.
 */
struct proposal_settled {
	uint64_t arrived, withdrawn;
};
enum err proposal_settle(struct store *store, struct span actor, bool imported,
    struct proposal_settled *settled);
