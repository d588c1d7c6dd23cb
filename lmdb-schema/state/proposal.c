#include "lmdb-schema/state/proposal.h"

#include <assert.h>

#include "common/kv/kv.h"
#include "common/utf8.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/state/proposal_priv.h"
#include "lmdb-schema/store/store.h"

/* Control characters would move the cursor of a terminal that shows it. */
bool
proposal_motif_ok(struct span motif)
{
	if (motif.len > PROPOSAL_MOTIF_BYTES || !utf8_is_valid(motif) ||
	    utf8_count(motif) > PROPOSAL_MOTIF_MAX)
		return false;
	for (size_t i = 0; i < motif.len; i++)
		if ((unsigned char)motif.ptr[i] < 0x20 || motif.ptr[i] == 0x7f)
			return false;
	return true;
}

uint64_t
proposal_version(struct state_view *view, struct span supplier)
{
	return proposing_version(state_view_txn(view), supplier);
}

static enum err
each_of(struct state_view *view, unsigned table, struct span supplier,
    enum err (*each)(
	void *context, struct span codein, const struct proposal *proposal),
    void *context)
{
	struct key prefix = key_prefix(supplier);
	struct kv_walk *walk = kv_walk_begin(
	    state_view_txn(view), table, key_span(&prefix), SPAN(""));
	struct proposal proposal;
	struct span key, value;
	enum err err;

	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK) {
		err = proposal_read(&proposal, value);
		if (err == ERR_OK)
			err = each(context, key_second(key), &proposal);
		if (err != ERR_OK)
			break;
	}
	return kv_walk_done(walk, err);
}

enum err
proposal_pending(struct state_view *view, struct span supplier,
    enum err (*each)(
	void *context, struct span codein, const struct proposal *proposal),
    void *context)
{
	assert(each != NULL);
	return each_of(view, STATE_PENDING, supplier, each, context);
}

enum err
proposal_validated(struct state_view *view, struct span supplier,
    enum err (*each)(
	void *context, struct span codein, const struct proposal *proposal),
    void *context)
{
	assert(each != NULL);
	return each_of(view, STATE_VALIDATED, supplier, each, context);
}

static enum err
one_of(struct state_view *view, unsigned table, struct span supplier,
    struct span codein, struct proposal *proposal)
{
	struct key key = key_pair(supplier, codein);
	struct span value;
	enum err err =
	    kv_get(state_view_txn(view), table, key_span(&key), &value);

	return err == ERR_OK ? proposal_read(proposal, value) : err;
}

enum err
proposal_pending_of(struct state_view *view, struct span supplier,
    struct span codein, struct proposal *proposal)
{
	return one_of(view, STATE_PENDING, supplier, codein, proposal);
}

enum err
proposal_validated_of(struct state_view *view, struct span supplier,
    struct span codein, struct proposal *proposal)
{
	return one_of(view, STATE_VALIDATED, supplier, codein, proposal);
}

enum err
proposal_recorded(struct state_view *view, struct live_view *live,
    struct span supplier, struct span codein, uint8_t *server,
    uint8_t *recorded)
{
	struct proposal validated;
	enum err err = live_gamme(live, supplier, codein, server);

	*recorded = *server;
	if (err == ERR_OK)
		err = proposal_validated_of(view, supplier, codein, &validated);
	if (err == ERR_OK)
		*recorded = validated.gamme;
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

static enum err
count_one(void *context, struct span codein, const struct proposal *proposal)
{
	uint64_t *count = context;

	(void)codein;
	(void)proposal;
	++*count;
	return ERR_OK;
}

enum err
proposal_count(struct state_view *view, struct span supplier,
    struct proposal_counts *counts)
{
	enum err err;

	*counts = (struct proposal_counts){0, 0};
	err = proposal_pending(view, supplier, count_one, &counts->pending);
	if (err == ERR_OK)
		err = proposal_validated(
		    view, supplier, count_one, &counts->validated);
	return err;
}

/* Walks the versions: a supplier with proposals always has one. */
enum err
proposal_suppliers(struct state_view *view,
    enum err (*each)(void *context, struct span supplier,
	const struct proposal_counts *counts),
    void *context)
{
	struct kv_walk *walk = kv_walk_begin(
	    state_view_txn(view), STATE_VERSIONS, SPAN(""), SPAN(""));
	struct proposal_counts counts;
	struct span supplier, value;
	enum err err;

	assert(each != NULL);
	/* A damaged version still shows that the supplier has one. */
	while ((err = kv_walk_next(walk, &supplier, &value)) == ERR_OK ||
	    (err == ERR_DAMAGED && supplier.len > 0)) {
		err = proposal_count(view, supplier, &counts);
		if (err == ERR_OK && counts.pending + counts.validated > 0)
			err = each(context, supplier, &counts);
		if (err != ERR_OK)
			break;
	}
	return kv_walk_done(walk, err);
}
