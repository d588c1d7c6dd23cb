#include <assert.h>
#include <stdlib.h>

#include "lmdb-schema/codemap.h"
#include "lmdb-schema/state/proposal_priv.h"
#include "lmdb-schema/store/store.h"

struct deposit {
	struct store *store;
	const struct proposal_request *request;
	struct proposal_result *results;
	int64_t *when_ms;
};

bool
proposal_in_order(const struct proposal_change *changes, unsigned count)
{
	assert(changes != NULL || count == 0);
	for (unsigned i = 1; i < count; i++)
		if (span_cmp(changes[i - 1].codein, changes[i].codein) >= 0)
			return false;
	return true;
}

/* `first` has one entry per change: the place where its article came first. */
static enum err
find_clashes(unsigned *first, const struct proposal_change *changes,
    unsigned count, enum err (*each)(void *context, unsigned, unsigned),
    void *context)
{
	struct codemap *seen = codemap_new();
	enum err err = seen == NULL ? ERR_NO_MEMORY : ERR_OK;
	uint32_t number;

	for (unsigned i = 0; i < count && err == ERR_OK; i++) {
		err = codemap_add(seen, changes[i].codein, &number);
		if (err == ERR_OK)
			first[number] = i;
		if (err == ERR_EXISTS)
			err = changes[first[number]].gamme == changes[i].gamme
			    ? ERR_OK
			    : each(context, first[number], i);
	}
	codemap_free(seen);
	return err;
}

enum err
proposal_clashes(const struct proposal_change *changes, unsigned count,
    enum err (*each)(void *context, unsigned first, unsigned again),
    void *context)
{
	enum err err = ERR_NO_MEMORY;
	unsigned *first;

	assert(each != NULL);
	if (proposal_in_order(changes, count))
		return ERR_OK;
	first = calloc(count + 1, sizeof(*first));
	if (first != NULL)
		err = find_clashes(first, changes, count, each, context);
	free(first);
	return err;
}

static enum err
refuse_clash(void *context, unsigned first, unsigned again)
{
	(void)context;
	(void)first;
	(void)again;
	return ERR_BAD_INPUT;
}

static enum err
check(const struct proposal_request *request)
{
	if (!key_code_ok(request->supplier) || request->author.len == 0)
		return ERR_BAD_INPUT;
	for (unsigned i = 0; i < request->count; i++)
		if (!key_code_ok(request->changes[i].codein) ||
		    request->changes[i].gamme == ROW_GAMME_NONE ||
		    request->changes[i].gamme > ROW_GAMMES ||
		    !proposal_motif_ok(request->changes[i].motif))
			return ERR_BAD_INPUT;
	return proposal_clashes(
	    request->changes, request->count, refuse_clash, NULL);
}

static enum err
deposit_one(struct proposal_result *result, struct proposing *op,
    const struct proposal_change *change)
{
	struct standing standing;
	enum err err = proposing_look(&standing, op, change->codein);

	if (err != ERR_OK)
		return err;
	result->before = standing_recorded(&standing);
	result->server = standing.server;
	result->pending = change->gamme != result->before;
	if (result->pending)
		return proposing_propose(
		    op, &standing, change->gamme, change->motif);
	if (standing.pending != ROW_GAMME_NONE)
		return proposing_withdraw(op, &standing);
	return ERR_OK;
}

static enum err
deposit(void *context, struct kv_txn *txn)
{
	const struct deposit *work = context;
	const struct proposal_request *request = work->request;
	struct proposing op = {
	    .supplier = request->supplier, .actor = request->author};
	enum err err = proposing_begin(&op, txn, work->store);

	*work->when_ms = op.now_ms;
	for (unsigned i = 0; i < request->count && err == ERR_OK; i++)
		err = deposit_one(&work->results[i], &op, &request->changes[i]);
	return proposing_end(&op, err);
}

enum err
proposal_deposit(struct store *store, const struct proposal_request *request,
    struct proposal_result *results, int64_t *when_ms)
{
	struct deposit work = {store, request, results, when_ms};
	enum err err = check(request);

	assert(results != NULL || request->count == 0);
	assert(when_ms != NULL);
	return err == ERR_OK ? store_write(store, STORE_STATE, deposit, &work)
			     : err;
}
