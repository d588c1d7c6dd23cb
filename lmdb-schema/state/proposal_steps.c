#include "lmdb-schema/state/proposal_priv.h"

#include <assert.h>

#include "common/date.h"
#include "common/kv/kv.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/store/store.h"

/* Bytes of a stored proposal; and of the texts of two. */
#define PROPOSAL_MAX (1024 + PROPOSAL_MOTIF_BYTES)
#define KEPT_MAX (2 * PROPOSAL_MAX)

enum err
proposal_read(struct proposal *proposal, struct span value)
{
	struct unpack from;

	unpack_init(&from, value);
	proposal->gamme = row_gamme(unpack_text(&from));
	proposal->author = unpack_text(&from);
	proposal->when_ms = (int64_t)unpack_unsigned(&from);
	/* Without a motif it ends here, as all did once. */
	proposal->motif = from.at == from.end ? SPAN("") : unpack_text(&from);
	if (!unpack_done(&from) || proposal->gamme == ROW_GAMME_NONE ||
	    proposal->gamme == ROW_GAMME_BAD)
		return ERR_DAMAGED;
	return ERR_OK;
}

uint64_t
proposing_version(struct kv_txn *txn, struct span supplier)
{
	struct span value;
	enum err err = ERR_NOT_FOUND;

	if (key_code_ok(supplier))
		err = kv_get(txn, STATE_VERSIONS, supplier, &value);
	if (err != ERR_OK)
		return err == ERR_NOT_FOUND ? 0 : PROPOSAL_VERSION_UNKNOWN;
	return key_value_u64(value);
}

enum err
proposing_begin(struct proposing *op, struct kv_txn *txn, struct store *store)
{
	assert(txn != NULL && op->live == NULL);
	op->txn = txn;
	op->now_ms = date_now_ms();
	op->changed = false;
	buf_init(&op->value, PROPOSAL_MAX);
	buf_init(&op->kept, KEPT_MAX);
	audit_begin(&op->audit, txn);
	return live_view_open(&op->live, store);
}

enum err
proposing_mark(struct proposing *op)
{
	struct key value;
	struct span old;
	enum err err;

	if (!op->changed)
		return ERR_OK;
	op->changed = false;
	err = kv_get(op->txn, STATE_VERSIONS, op->supplier, &old);
	/* A damaged version is replaced like a missing one. */
	if (err != ERR_OK && err != ERR_NOT_FOUND && err != ERR_DAMAGED)
		return err;
	value = key_of_u64(key_generation_next(key_generation_last(err, old)));
	return kv_put(op->txn, STATE_VERSIONS, op->supplier, key_span(&value));
}

enum err
proposing_end(struct proposing *op, enum err err)
{
	if (err == ERR_OK)
		err = proposing_mark(op);
	err = audit_end(&op->audit, err);
	buf_fini(&op->value);
	buf_fini(&op->kept);
	live_view_close(op->live);
	op->live = NULL;
	return err;
}

static enum err
look_in(struct proposal *found, struct proposing *op, unsigned table,
    const struct standing *standing)
{
	struct span value;
	enum err err = kv_get(op->txn, table, key_span(&standing->key), &value);

	*found = (struct proposal){.gamme = ROW_GAMME_NONE};
	if (err == ERR_NOT_FOUND)
		return ERR_OK;
	return err == ERR_OK ? proposal_read(found, value) : err;
}

/*
 * --- ranges on their way ---------------------------------------------------
 */

static struct key
sent_key(const struct standing *standing)
{
	return key_of_pair(PROPOSING_SENT, &standing->key);
}

static enum err
look_sent(struct proposing *op, struct standing *standing)
{
	struct key key = sent_key(standing);
	struct unpack from;
	struct span value;
	enum err err = kv_get(op->txn, STATE_META, key_span(&key), &value);

	standing->sent = (struct sent){ROW_GAMME_NONE, false};
	if (err == ERR_NOT_FOUND)
		return ERR_OK;
	if (err != ERR_OK)
		return err;
	unpack_init(&from, value);
	standing->sent.last = row_gamme(unpack_text(&from));
	standing->sent.mixed = unpack_unsigned(&from) != 0;
	return unpack_done(&from) && standing->sent.last != ROW_GAMME_NONE &&
		standing->sent.last != ROW_GAMME_BAD
	    ? ERR_OK
	    : ERR_DAMAGED;
}

enum err
proposing_set_sent(
    struct proposing *op, struct standing *standing, struct sent sent)
{
	struct key key = sent_key(standing);
	struct buf *value = &op->value;
	enum err err;

	assert(sent.last <= ROW_GAMMES);
	assert(sent.last != ROW_GAMME_NONE || !sent.mixed);
	standing->sent = sent;
	if (sent.last == ROW_GAMME_NONE) {
		err = kv_del(op->txn, STATE_META, key_span(&key));
		return err == ERR_NOT_FOUND ? ERR_OK : err;
	}
	buf_clear(value);
	pack_add_text(value, row_gamme_text(sent.last));
	pack_add_unsigned(value, sent.mixed);
	err = buf_end(value);
	return err == ERR_OK
	    ? kv_put(op->txn, STATE_META, key_span(&key), buf_span(value))
	    : err;
}

/* --- an article's standing ------------------------------------------------ */

/* A write ends the life of what was read: the texts are copied. */
static enum err
keep_texts(struct proposing *op, struct standing *standing,
    const struct proposal *pending, const struct proposal *validated)
{
	struct buf *kept = &op->kept;

	buf_clear(kept);
	buf_add_span(kept, pending->author);
	buf_add_span(kept, pending->motif);
	buf_add_span(kept, validated->motif);
	standing->author = span_sub(buf_span(kept), 0, pending->author.len);
	standing->motif =
	    span_sub(buf_span(kept), pending->author.len, pending->motif.len);
	standing->validated_motif =
	    span_from(buf_span(kept), pending->author.len + pending->motif.len);
	return buf_end(kept);
}

enum err
proposing_look(
    struct standing *standing, struct proposing *op, struct span codein)
{
	struct proposal validated, pending;
	enum err err;

	assert(op->live != NULL && codein.len > 0);
	standing->codein = codein;
	standing->key = key_pair(op->supplier, codein);
	err = live_gamme_at(
	    op->live, key_span(&standing->key), &standing->server);
	if (err == ERR_OK)
		err = look_in(&validated, op, STATE_VALIDATED, standing);
	if (err == ERR_OK)
		err = look_in(&pending, op, STATE_PENDING, standing);
	if (err == ERR_OK)
		err = look_sent(op, standing);
	if (err != ERR_OK)
		return err;
	standing->validated = validated.gamme;
	standing->pending = pending.gamme;
	standing->own = span_eq(pending.author, op->actor);
	standing->when_ms = pending.when_ms;
	return keep_texts(op, standing, &pending, &validated);
}

/* --- single writes -------------------------------------------------------- */

static enum err
put(struct proposing *op, unsigned table, const struct standing *standing,
    uint8_t gamme, struct span motif)
{
	struct buf *value = &op->value;
	enum err err;

	buf_clear(value);
	pack_add_text(value, row_gamme_text(gamme));
	pack_add_text(value, op->actor);
	pack_add_unsigned(value, (uint64_t)op->now_ms);
	if (motif.len > 0)
		pack_add_text(value, motif);
	err = buf_end(value);
	if (err == ERR_OK)
		err = kv_put(
		    op->txn, table, key_span(&standing->key), buf_span(value));
	op->changed = true;
	return err;
}

static enum err
drop(struct proposing *op, unsigned table, const struct standing *standing)
{
	enum err err = kv_del(op->txn, table, key_span(&standing->key));

	op->changed = true;
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

/* The notes on a proposal beside the event itself. */
struct about {
	struct span motif;
	struct span author; /* of the proposal that ends; empty: none does */
	int64_t proposed_ms;
};

static enum err
tell(struct proposing *op, struct span event, const struct standing *standing,
    uint8_t gamme, uint8_t before, const struct about *about)
{
	return audit_note(&op->audit,
	    &(struct audit_entry){.when_ms = op->now_ms,
		.event = event,
		.actor = op->actor,
		.supplier = op->supplier,
		.codein = standing->codein,
		.gamme = row_gamme_text(gamme),
		.before = row_gamme_text(before),
		.motif = about->motif,
		.author = about->author,
		.proposed_ms = about->proposed_ms,
		.recorded = row_gamme_text(standing_recorded(standing))});
}

/* The pending proposal, which this event ends. */
static struct about
ended(const struct standing *standing)
{
	return (struct about){
	    standing->motif, standing->author, standing->when_ms};
}

/* --- steps ---------------------------------------------------------------- */

enum err
proposing_propose(struct proposing *op, struct standing *standing,
    uint8_t gamme, struct span motif)
{
	struct about about = ended(standing);
	uint8_t older = standing->pending;
	enum err err;

	assert(gamme <= ROW_GAMMES && op->actor.len > 0);
	if (older == gamme && standing->own &&
	    (motif.len == 0 || span_eq(motif, standing->motif)))
		return ERR_OK;
	err = put(op, STATE_PENDING, standing, gamme, motif);
	standing->pending = gamme;
	standing->own = true;
	about.motif = motif;
	if (err != ERR_OK)
		return err;
	if (older != ROW_GAMME_NONE)
		return tell(
		    op, SPAN("replaced"), standing, gamme, older, &about);
	return tell(op, SPAN("proposed"), standing, gamme,
	    standing_recorded(standing), &about);
}

static enum err
drop_pending(struct proposing *op, struct standing *standing, struct span event)
{
	const struct about about = ended(standing);
	uint8_t pending = standing->pending;
	enum err err = drop(op, STATE_PENDING, standing);

	standing->pending = ROW_GAMME_NONE;
	if (err == ERR_OK)
		err = tell(op, event, standing, pending,
		    standing_recorded(standing), &about);
	return err;
}

enum err
proposing_withdraw(struct proposing *op, struct standing *standing)
{
	assert(standing->pending != ROW_GAMME_NONE);
	return drop_pending(op, standing, SPAN("withdrawn"));
}

enum err
proposing_reject(struct proposing *op, struct standing *standing)
{
	assert(standing->pending != ROW_GAMME_NONE);
	return drop_pending(op, standing, SPAN("rejected"));
}

/*
 * Makes `gamme` the recorded range. A range equal to the server's needs no
 * validated change, unless another range may still arrive there.
 */
static enum err
record(struct proposing *op, struct standing *standing, uint8_t gamme,
    struct span motif)
{
	bool changes =
	    gamme != standing->server || standing_other_sent(standing, gamme);
	uint8_t old = standing->validated;

	standing->validated = changes ? gamme : ROW_GAMME_NONE;
	if (changes)
		return put(op, STATE_VALIDATED, standing, gamme, motif);
	return old == ROW_GAMME_NONE ? ERR_OK
				     : drop(op, STATE_VALIDATED, standing);
}

enum err
proposing_save(struct proposing *op, struct standing *standing)
{
	uint8_t gamme = standing->pending;
	uint8_t before = standing_recorded(standing);
	const struct about about = ended(standing);
	enum err err = drop(op, STATE_PENDING, standing);

	assert(standing->pending != ROW_GAMME_NONE);
	standing->pending = ROW_GAMME_NONE;
	if (err == ERR_OK)
		err = record(op, standing, gamme, about.motif);
	if (err == ERR_OK)
		err = tell(
		    op, SPAN("validated"), standing, gamme, before, &about);
	return err;
}

/*
 * A range recorded by the server alone does not count while another is on its
 * way: only a validated change survives that one's arrival.
 */
static bool
is_recorded(const struct standing *standing, uint8_t gamme)
{
	return gamme == standing_recorded(standing) &&
	    (standing->validated != ROW_GAMME_NONE ||
		!standing_other_sent(standing, gamme));
}

enum err
proposing_edit(struct proposing *op, struct standing *standing, uint8_t gamme)
{
	uint8_t before = standing_recorded(standing);
	enum err err = ERR_OK;

	assert(gamme <= ROW_GAMMES && op->actor.len > 0);
	if (standing->pending != ROW_GAMME_NONE && standing->pending == gamme)
		return proposing_save(op, standing);
	if (standing->pending != ROW_GAMME_NONE)
		err = proposing_reject(op, standing);
	if (err != ERR_OK || is_recorded(standing, gamme))
		return err;
	err = record(op, standing, gamme, SPAN(""));
	if (err == ERR_OK)
		err = tell(op, SPAN("edited"), standing, gamme, before,
		    &(struct about){.motif = SPAN("")});
	return err;
}

enum err
proposing_arrive(struct proposing *op, struct standing *standing)
{
	uint8_t gamme = standing->validated;
	enum err err = drop(op, STATE_VALIDATED, standing);

	assert(standing->validated != ROW_GAMME_NONE);
	standing->validated = ROW_GAMME_NONE;
	if (err == ERR_OK)
		err = tell(op, SPAN("arrived"), standing, gamme, gamme,
		    &(struct about){.motif = standing->validated_motif});
	return err;
}
