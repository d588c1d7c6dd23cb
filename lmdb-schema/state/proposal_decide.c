#include <assert.h>

#include "common/kv/kv.h"
#include "lmdb-schema/codemap.h"
#include "lmdb-schema/state/proposal_priv.h"
#include "lmdb-schema/store/store.h"

struct decide {
	struct store *store;
	const struct proposal_verdict *verdict;
	struct proposal_decided *decided;
	uint64_t *rest;
};

static enum err
check(const struct proposal_verdict *verdict)
{
	if (!key_code_ok(verdict->supplier) || verdict->actor.len == 0)
		return ERR_BAD_INPUT;
	for (unsigned i = 0; i < verdict->count; i++)
		if (!key_code_ok(verdict->decisions[i].codein) ||
		    (verdict->decisions[i].action == PROPOSAL_EDIT &&
			verdict->decisions[i].gamme > ROW_GAMMES))
			return ERR_BAD_INPUT;
	return ERR_OK;
}

static bool
is_as_seen(
    const struct proposal_decision *decision, const struct standing *standing)
{
	return (decision->seen_recorded == PROPOSAL_ANY ||
		   decision->seen_recorded == standing_recorded(standing)) &&
	    (decision->seen_pending == PROPOSAL_ANY ||
		decision->seen_pending == standing->pending);
}

static enum proposal_outcome
outcome_of(
    const struct proposal_decision *decision, const struct standing *standing)
{
	if (decision->action != PROPOSAL_EDIT &&
	    standing->pending == ROW_GAMME_NONE)
		return PROPOSAL_ABSENT;
	if (!is_as_seen(decision, standing))
		return PROPOSAL_CONFLICT;
	if (decision->action != PROPOSAL_EDIT)
		return PROPOSAL_APPLIED;
	return decision->gamme == ROW_GAMME_NONE &&
		(standing->server != ROW_GAMME_NONE ||
		    standing->sent.last != ROW_GAMME_NONE)
	    ? PROPOSAL_REFUSED
	    : PROPOSAL_APPLIED;
}

static enum err
apply(struct proposing *op, struct standing *standing,
    enum proposal_action action, uint8_t gamme)
{
	switch (action) {
	case PROPOSAL_SAVE:
		return proposing_save(op, standing);
	case PROPOSAL_CANCEL:
		return proposing_reject(op, standing);
	case PROPOSAL_EDIT:
		return proposing_edit(op, standing, gamme);
	}
	return ERR_INTERNAL;
}

static enum err
decide_one(struct proposal_decided *decided, struct proposing *op,
    const struct proposal_decision *decision)
{
	struct standing standing;
	enum err err = proposing_look(&standing, op, decision->codein);

	if (err != ERR_OK)
		return err;
	decided->outcome = outcome_of(decision, &standing);
	if (decided->outcome == PROPOSAL_APPLIED)
		err = apply(op, &standing, decision->action, decision->gamme);
	decided->server = standing.server;
	decided->recorded = standing_recorded(&standing);
	decided->pending = standing.pending;
	return err;
}

/* --- the rest ------------------------------------------------------------- */

/* Collects the supplier's pending articles that are not in `named`. */
static enum err
collect(struct codemap *rest, struct proposing *op, const struct codemap *named)
{
	struct key prefix = key_prefix(op->supplier);
	struct kv_walk *walk =
	    kv_walk_begin(op->txn, STATE_PENDING, key_span(&prefix), SPAN(""));
	struct span key, value;
	uint32_t number;
	enum err err;

	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK) {
		if (codemap_find(named, key_second(key)) != CODEMAP_NONE)
			continue;
		err = codemap_add(rest, key_second(key), &number);
		if (err != ERR_OK)
			break;
	}
	return kv_walk_done(walk, err);
}

static enum err
name_decided(struct codemap *named, const struct proposal_verdict *verdict)
{
	enum err err = ERR_OK;
	uint32_t number;

	for (unsigned i = 0; i < verdict->count && err == ERR_OK; i++) {
		err = codemap_add(named, verdict->decisions[i].codein, &number);
		err = err == ERR_EXISTS ? ERR_OK : err;
	}
	return err;
}

static enum err
decide_each(struct proposing *op, const struct codemap *rest,
    enum proposal_action action)
{
	enum err err = ERR_OK;

	for (uint32_t i = 0; i < codemap_count(rest) && err == ERR_OK; i++) {
		struct standing standing;

		err = proposing_look(&standing, op, codemap_code(rest, i));
		if (err == ERR_OK)
			err = apply(op, &standing, action, ROW_GAMME_NONE);
	}
	return err;
}

/*
 * Collects all articles before altering the first: a walk must not see its own
 * changes.
 */
static enum err
decide_rest(uint64_t *count, struct proposing *op,
    const struct proposal_verdict *verdict)
{
	struct codemap *named = codemap_new();
	struct codemap *rest = codemap_new();
	enum err err = named == NULL || rest == NULL ? ERR_NO_MEMORY : ERR_OK;

	if (err == ERR_OK)
		err = name_decided(named, verdict);
	if (err == ERR_OK)
		err = collect(rest, op, named);
	if (err == ERR_OK)
		err = decide_each(op, rest,
		    verdict->rest == PROPOSAL_SAVE_REST ? PROPOSAL_SAVE
							: PROPOSAL_CANCEL);
	if (err == ERR_OK)
		*count = codemap_count(rest);
	codemap_free(named);
	codemap_free(rest);
	return err;
}

static bool
has_moved_on(struct kv_txn *txn, const struct proposal_verdict *verdict)
{
	if (verdict->rest == PROPOSAL_KEEP || verdict->seen_version == 0)
		return false;
	/*
	 * An unknown version counts as changed; the next write makes it known.
	 */
	return proposing_version(txn, verdict->supplier) !=
	    verdict->seen_version;
}

static enum err
decide(void *context, struct kv_txn *txn)
{
	const struct decide *work = context;
	const struct proposal_verdict *verdict = work->verdict;
	struct proposing op = {
	    .supplier = verdict->supplier, .actor = verdict->actor};
	enum err err;

	*work->rest = 0;
	if (has_moved_on(txn, verdict))
		return ERR_BUSY;
	err = proposing_begin(&op, txn, work->store);
	for (unsigned i = 0; i < verdict->count && err == ERR_OK; i++)
		err =
		    decide_one(&work->decided[i], &op, &verdict->decisions[i]);
	if (err == ERR_OK && verdict->rest != PROPOSAL_KEEP)
		err = decide_rest(work->rest, &op, verdict);
	return proposing_end(&op, err);
}

enum err
proposal_decide(struct store *store, const struct proposal_verdict *verdict,
    struct proposal_decided *decided, uint64_t *rest)
{
	struct decide work = {store, verdict, decided, rest};
	enum err err = check(verdict);

	assert(decided != NULL || verdict->count == 0);
	assert(rest != NULL);
	return err == ERR_OK ? store_write(store, STORE_STATE, decide, &work)
			     : err;
}
