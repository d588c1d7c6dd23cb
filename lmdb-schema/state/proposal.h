/*
 * proposal: ranges that API callers propose, and changes that buyers validated.
 *
 *	none -> pending -> validated     a range differs from the recorded one;
 *	          |                      a buyer saves it
 *	          +-> none               withdrawn: proposed as recorded again,
 *	          |                      or recorded as proposed by an import
 *	          +-> rejected           a buyer cancels it
 *
 * The recorded range of an article is its validated change, else its server
 * range. A validated change ends ("arrives") when an import brings a server
 * range equal to it; a change equal to the server range is not stored.
 *
 * But an exported change may arrive at any time, also after the buyer has
 * decided otherwise. So each article has a note of the ranges exported and not
 * yet arrived. While that note has, or may have, another range than the
 * decision, the change is kept even if it equals the server range: it is
 * exported too, and arrives only after that export. However late the central
 * database applies exports, if it applies them in order, the buyer's last
 * decision is the last one applied.
 *
 * Each operation is one transaction, on disk when it returns. It reads the
 * server's ranges inside, so that it is atomic with respect to a concurrent
 * import.
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
	struct span author; /* the proposer, or the validating buyer */
	int64_t when_ms;
	struct span motif; /* why it was proposed; empty: not said */
};

/* Characters of a motif, at most, and the bytes that they may take. */
#define PROPOSAL_MOTIF_MAX 500
#define PROPOSAL_MOTIF_BYTES (4 * PROPOSAL_MOTIF_MAX)

/* One line of UTF-8 of at most that many characters; it may be empty. */
bool proposal_motif_ok(struct span motif);

/*
 * The generation of the last change of a supplier's proposals; 0: there never
 * was one. PROPOSAL_VERSION_UNKNOWN, which equals no generation, when the
 * record cannot be read (which has been logged).
 */
#define PROPOSAL_VERSION_UNKNOWN UINT64_MAX
uint64_t proposal_version(struct state_view *view, struct span supplier);

/* Call `each` for a supplier's proposals in the order of the codein bytes. */
enum err proposal_pending(struct state_view *view, struct span supplier,
    enum err (*each)(
	void *context, struct span codein, const struct proposal *proposal),
    void *context);
enum err proposal_validated(struct state_view *view, struct span supplier,
    enum err (*each)(
	void *context, struct span codein, const struct proposal *proposal),
    void *context);

/* Get an article's proposal. ERR_NOT_FOUND when it has none. */
enum err proposal_pending_of(struct state_view *view, struct span supplier,
    struct span codein, struct proposal *proposal);
enum err proposal_validated_of(struct state_view *view, struct span supplier,
    struct span codein, struct proposal *proposal);

/* Gets an article's range at the server, and the recorded one. */
struct live_view;
enum err proposal_recorded(struct state_view *view, struct live_view *live,
    struct span supplier, struct span codein, uint8_t *server,
    uint8_t *recorded);

/* Counts a supplier's pending and validated ranges. */
struct proposal_counts {
	uint64_t pending, validated;
};
enum err proposal_count(struct state_view *view, struct span supplier,
    struct proposal_counts *counts);

/* Calls `each` for every supplier that has any, in the order of the codes. */
enum err proposal_suppliers(struct state_view *view,
    enum err (*each)(void *context, struct span supplier,
	const struct proposal_counts *counts),
    void *context);

/* --- depositing --------------------------------------------------------- */

struct proposal_change {
	struct span codein;
	uint8_t gamme;
	struct span motif; /* empty: none is said */
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

/* True when the codeins strictly ascend, so that none is there twice. */
bool proposal_in_order(const struct proposal_change *changes, unsigned count);

/*
 * Calls `each`, with the places of both, for every change that proposes another
 * range than an earlier change for the same article.
 */
enum err proposal_clashes(const struct proposal_change *changes, unsigned count,
    enum err (*each)(void *context, unsigned first, unsigned again),
    void *context);

/*
 * All or nothing. A range that differs from the recorded one becomes pending,
 * in place of an older proposal; a range equal to the recorded one withdraws
 * the pending proposal. Repeating the same proposal by the same author changes
 * nothing, unless it gives another motif. `results` has room for `count`; *when_ms is when it was recorded.
 *
 * The caller has made sure that the articles exist. ERR_BAD_INPUT for an
 * invalid code or range, and for changes that contradict each other.
 */
enum err proposal_deposit(struct store *store,
    const struct proposal_request *request, struct proposal_result *results,
    int64_t *when_ms);

/* --- deciding ----------------------------------------------------------- */

enum proposal_action {
	PROPOSAL_SAVE, /* the pending range becomes the validated one */
	PROPOSAL_CANCEL, /* the pending range is rejected */
	/*
	 * A range of the buyer's own, validated at once; a pending range equal
	 * to it is thereby saved, any other rejected.
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
	PROPOSAL_CONFLICT, /* the article changed since the buyer saw it */
	PROPOSAL_ABSENT, /* SAVE, CANCEL: nothing is pending any more */
	/*
	 * EDIT to NONE, while the server has a range or an export is on its way
	 */
	PROPOSAL_REFUSED
};

struct proposal_decided {
	enum proposal_outcome outcome;
	uint8_t server, recorded, pending; /* after the decision */
};

enum proposal_rest { PROPOSAL_KEEP, PROPOSAL_SAVE_REST, PROPOSAL_CANCEL_REST };

struct proposal_verdict {
	struct span supplier, actor;
	const struct proposal_decision *decisions;
	unsigned count;
	/* The action for pending ranges that no decision names. */
	enum proposal_rest rest;
	/* The supplier's version as the buyer saw it, for `rest`; 0: any. */
	uint64_t seen_version;
};

/*
 * Applies the decisions in order; one that cannot be applied is reported in
 * `decided` (room for `count`) and does not stop the others. *rest is how many
 * more were saved or cancelled.
 *
 *   ERR_BUSY       `rest` is set, and a range changed since `seen_version`:
 *                  nothing was done
 *   ERR_BAD_INPUT  an invalid code or range
 */
enum err proposal_decide(struct store *store,
    const struct proposal_verdict *verdict, struct proposal_decided *decided,
    uint64_t *rest);

/* --- exporting ---------------------------------------------------------- */

/* The validated changes of an export, in order of their keys. */
struct proposal_export;

struct proposal_exported {
	struct span supplier, codein; /* until proposal_export_free() */
	uint8_t gamme;
	struct span motif; /* of the proposal; empty: none */
};

/*
 * Collects the changes that `wants` says are wanted, and notes on disk that each
 * may be on its way from now on. `wants` may be called more than once for a
 * change; its first failure is returned, and nothing is noted.
 */
enum err proposal_export_begin(struct proposal_export **out,
    struct store *store,
    enum err (*wants)(
	bool *wanted, void *context, struct span supplier, struct span codein),
    void *context);
unsigned proposal_export_count(const struct proposal_export *export);
unsigned proposal_export_left_out(const struct proposal_export *export);
struct proposal_exported proposal_export_at(
    const struct proposal_export *export, unsigned place);

/*
 * Call when the export was handed over. If that call is missing or fails, no
 * change is lost: a change does not arrive before an export was done.
 */
enum err proposal_export_done(struct proposal_export *export);
void proposal_export_free(struct proposal_export *export); /* NULL is fine */

/* --- settling ----------------------------------------------------------- */

/*
 * Settles the effects of an import: retires validated changes that the server
 * has by now, and withdraws pending ranges that are recorded by now. May be
 * called at any time and repeated; call it after each import, and before the
 * next one in case a crash prevented that.
 *
 * `imported`: the server's ranges were imported after the last export.
 * Otherwise a change is kept while more than one range of its article may be on
 * its way, because the server's range may be older than all of them.
 */
struct proposal_settled {
	uint64_t arrived, withdrawn;
};
enum err proposal_settle(struct store *store, struct span actor, bool imported,
    struct proposal_settled *settled);
