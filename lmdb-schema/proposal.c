#include "lmdb-schema/proposal.h"

#include "common/kv.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/store.h"

uint64_t
proposal_version(struct state_view *view, struct span supplier)
{
	struct span value;

	if (!key_code_ok(supplier) ||
	    kv_get(state_view_txn(view), STATE_VERSIONS, supplier, &value) !=
		ERR_OK)
		return 0;
	return key_value_u64(value);
}

static enum err
read_proposal(struct proposal *proposal, struct span value)
{
	struct unpack from;

	unpack_init(&from, value);
	proposal->gamme = row_gamme(unpack_text(&from));
	proposal->author = unpack_text(&from);
	proposal->when_ms = (int64_t)unpack_unsigned(&from);
	if (!unpack_done(&from) || proposal->gamme == ROW_GAMME_NONE ||
	    proposal->gamme == ROW_GAMME_BAD)
		return ERR_DAMAGED;
	return ERR_OK;
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

	if (walk == NULL)
		return ERR_NO_MEMORY;
	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK) {
		err = read_proposal(&proposal, value);
		if (err == ERR_OK)
			err = each(context, key_second(key), &proposal);
		if (err != ERR_OK)
			break;
	}
	kv_walk_end(walk);
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

enum err
proposal_pending(struct state_view *view, struct span supplier,
    enum err (*each)(
	void *context, struct span codein, const struct proposal *proposal),
    void *context)
{
	return each_of(view, STATE_PENDING, supplier, each, context);
}

enum err
proposal_validated(struct state_view *view, struct span supplier,
    enum err (*each)(
	void *context, struct span codein, const struct proposal *proposal),
    void *context)
{
	return each_of(view, STATE_VALIDATED, supplier, each, context);
}
