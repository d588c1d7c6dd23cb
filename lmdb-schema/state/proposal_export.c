#include <assert.h>
#include <stdlib.h>

#include "common/kv/kv.h"
#include "lmdb-schema/codemap.h"
#include "lmdb-schema/state/proposal_priv.h"
#include "lmdb-schema/store/store.h"

struct proposal_export {
	struct store *store;
	enum err (*wants)(bool *wanted, void *context, struct span supplier,
	    struct span codein);
	void *context;
	struct codemap *keys;
	struct buf gammes; /* by number in `keys` */
	struct buf motifs; /* one behind the other */
	struct buf ends; /* where each ends: u32 by number */
	unsigned left_out;
};

/*
 * Resets the export: store_write() may run begin() again after undoing its
 * writes.
 */
static enum err
start_over(struct proposal_export *export)
{
	codemap_free(export->keys);
	export->keys = codemap_new();
	buf_clear(&export->gammes);
	buf_clear(&export->motifs);
	buf_clear(&export->ends);
	export->left_out = 0;
	return export->keys == NULL ? ERR_NO_MEMORY : ERR_OK;
}

static enum err
collect(struct proposal_export *export, struct kv_txn *txn)
{
	struct kv_walk *walk =
	    kv_walk_begin(txn, STATE_VALIDATED, SPAN(""), SPAN(""));
	struct proposal validated;
	struct span key, value;
	uint32_t number;
	enum err err;

	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK) {
		bool wanted;

		err = export->wants(
		    &wanted, export->context, key_first(key), key_second(key));
		if (err == ERR_OK && !wanted) {
			export->left_out++;
			continue;
		}
		if (err == ERR_OK)
			err = proposal_read(&validated, value);
		if (err == ERR_OK)
			err = codemap_add(export->keys, key, &number);
		if (err != ERR_OK)
			break;
		buf_add_char(&export->gammes, (char)validated.gamme);
		buf_add_span(&export->motifs, validated.motif);
		buf_add_u32(&export->ends, (uint32_t) export->motifs.len);
	}
	kv_walk_end(walk);
	if (err == ERR_NOT_FOUND)
		err = buf_end(&export->gammes);
	if (err == ERR_OK)
		err = buf_end(&export->motifs);
	return err == ERR_OK ? buf_end(&export->ends) : err;
}

/*
 * Calls `mark` for each collected change, with its article's present standing.
 */
static enum err
mark_each(struct proposal_export *export, struct kv_txn *txn,
    enum err (*mark)(
	struct proposing *op, struct standing *standing, uint8_t gamme))
{
	struct proposing op = {.txn = txn};
	enum err err = proposing_begin(&op, txn, export->store);

	for (unsigned i = 0; err == ERR_OK && i < proposal_export_count(export);
	     i++) {
		struct proposal_exported one = proposal_export_at(export, i);
		struct standing standing;

		op.supplier = one.supplier;
		err = proposing_look(&standing, &op, one.codein);
		if (err == ERR_OK)
			err = mark(&op, &standing, one.gamme);
	}
	return proposing_end(&op, err);
}

/* Notes that `gamme` may be on its way, but not yet as the last one sent. */
static enum err
mark_begun(struct proposing *op, struct standing *standing, uint8_t gamme)
{
	struct sent sent = standing->sent;

	if (sent.last == gamme || sent.mixed)
		return ERR_OK;
	if (sent.last == ROW_GAMME_NONE)
		sent.last = gamme;
	else
		sent.mixed = true;
	return proposing_set_sent(op, standing, sent);
}

/*
 * Notes `gamme` as the last range sent, even if a buyer has decided anew since.
 */
static enum err
mark_done(struct proposing *op, struct standing *standing, uint8_t gamme)
{
	struct sent sent = standing->sent;

	if (sent.last == gamme)
		return ERR_OK;
	sent.mixed = sent.last != ROW_GAMME_NONE;
	sent.last = gamme;
	return proposing_set_sent(op, standing, sent);
}

static enum err
begin(void *context, struct kv_txn *txn)
{
	struct proposal_export *export = context;
	enum err err = start_over(export);

	if (err == ERR_OK)
		err = collect(export, txn);
	return err == ERR_OK ? mark_each(export, txn, mark_begun) : err;
}

static enum err
done(void *context, struct kv_txn *txn)
{
	return mark_each(context, txn, mark_done);
}

enum err
proposal_export_begin(struct proposal_export **out, struct store *store,
    enum err (*wants)(
	bool *wanted, void *context, struct span supplier, struct span codein),
    void *context)
{
	struct proposal_export *export = calloc(1, sizeof(*export));
	enum err err;

	assert(wants != NULL);
	*out = NULL;
	if (export == NULL)
		return ERR_NO_MEMORY;
	export->store = store;
	export->wants = wants;
	export->context = context;
	buf_init(&export->gammes, UINT32_MAX);
	buf_init(&export->motifs, UINT32_MAX);
	buf_init(&export->ends, UINT32_MAX);
	err = store_write(store, STORE_STATE, begin, export);
	if (err == ERR_OK)
		*out = export;
	else
		proposal_export_free(export);
	return err;
}

unsigned
proposal_export_count(const struct proposal_export *export)
{
	return codemap_count(export->keys);
}

unsigned
proposal_export_left_out(const struct proposal_export *export)
{
	return export->left_out;
}

/* Where the motif of a place ends; that of the one before: where it begins. */
static uint32_t
end_of(const struct proposal_export *export, unsigned place)
{
	return key_value_u32(
	    span_make(export->ends.data + (size_t)place * 4, 4));
}

struct proposal_exported
proposal_export_at(const struct proposal_export *export, unsigned place)
{
	struct span key = codemap_code(export->keys, place);
	uint32_t from = place == 0 ? 0 : end_of(export, place - 1);

	assert(place < proposal_export_count(export));
	return (struct proposal_exported){key_first(key), key_second(key),
	    (uint8_t) export->gammes.data[place],
	    span_sub(
		buf_span(&export->motifs), from, end_of(export, place) - from)};
}

enum err
proposal_export_done(struct proposal_export *export)
{
	return store_write(export->store, STORE_STATE, done, export);
}

void
proposal_export_free(struct proposal_export *export)
{
	if (export == NULL)
		return;
	codemap_free(export->keys);
	buf_fini(&export->gammes);
	buf_fini(&export->motifs);
	buf_fini(&export->ends);
	free(export);
}
