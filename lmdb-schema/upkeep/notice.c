#include "lmdb-schema/upkeep/notice.h"

#include <assert.h>
#include <string.h>

#include "common/kv/kv.h"
#include "lmdb-schema/codemap.h"
#include "lmdb-schema/compute/begun.h"
#include "lmdb-schema/facts/live.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/snapshot/snapfile.h"
#include "lmdb-schema/state/hook.h"
#include "lmdb-schema/store/cluster.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/computed_priv.h"
#include "lmdb-schema/upkeep/keeping.h"

#define ACTOR SPAN("gridctl")

struct noticing {
	unsigned wanted;
	bool quietly; /* without entries */
	struct live_view *live;
	struct catalog_view *catalog;
	struct kv_txn *txn;
	bool shares; /* snapshots, with other nodes */
	struct keeping keeping;
	struct codemap *others; /* suppliers whose records are news */
	struct audit audit;
};

static enum err
note(struct noticing *noticing, struct span event, struct span what,
    uint64_t generation)
{
	char text[KEY_GENERATION_LEN + 1];

	if (noticing->quietly)
		return ERR_OK;
	key_generation_text(text, generation);
	return audit_note(&noticing->audit,
	    &(struct audit_entry){.event = event,
		.actor = ACTOR,
		.codein = what,
		.motif = span_of(text)});
}

static enum err
look_at_data(struct noticing *noticing, const char *name, struct span what,
    uint64_t generation)
{
	uint64_t seen;
	enum err err = store_number(noticing->txn, name, &seen);

	if (err == ERR_DAMAGED)
		seen = 0;
	else if (err != ERR_OK)
		return err;
	if (seen == generation || generation == LIVE_UNKNOWN)
		return ERR_OK;
	err = note(noticing, SPAN("imported"), what, generation);
	return err == ERR_OK ? store_set_number(noticing->txn, name, generation)
			     : err;
}

static enum err
is_seen(bool *seen, struct noticing *noticing, struct span supplier,
    uint64_t generation)
{
	struct key pair = key_pair(SPAN("seen"), supplier);
	struct key number = key_of_u64(generation);
	struct span stored;
	enum err err =
	    kv_get(noticing->txn, STATE_META, key_span(&pair), &stored);

	*seen = err == ERR_OK && span_eq(stored, key_span(&number));
	return err == ERR_NOT_FOUND || err == ERR_DAMAGED ? ERR_OK : err;
}

static enum err
tell(struct noticing *noticing, struct span supplier, uint64_t generation)
{
	struct key pair = key_pair(SPAN("seen"), supplier);
	struct key number = key_of_u64(generation);
	bool seen;
	enum err err = is_seen(&seen, noticing, supplier, generation);

	if (err != ERR_OK || seen)
		return err;
	err = note(noticing, SPAN("computed"), supplier, generation);
	return err == ERR_OK ? kv_put(noticing->txn, STATE_META,
				   key_span(&pair), key_span(&number))
			     : err;
}

/*
 * Where nodes share snapshots, another one than the record's is older, or of this
 * node alone: each node would tell its own, and the record's again behind it.
 */
static enum err
look_at_supplier(
    void *context, struct span supplier, const struct catalog_entry *entry)
{
	struct noticing *noticing = context;
	struct computed record = {.edition = 0};
	enum err err = noticing->shares
	    ? computed_get(&record, noticing->txn, supplier)
	    : ERR_OK;

	if (err != ERR_OK ||
	    (record.edition > 0 &&
		record.entry.generation != entry->generation))
		return err;
	return tell(noticing, supplier, entry->generation);
}

/*
 * The rest are told when this node has them; without entries, none is news that
 * comes later.
 */
static bool
is_told_by_record(
    const struct noticing *noticing, struct span supplier, uint64_t format)
{
	return noticing->quietly || format != SNAP_VERSION ||
	    !keeping_keeps(&noticing->keeping, supplier);
}

static enum err
note_record(void *context, struct span supplier, const struct computed *record)
{
	struct noticing *noticing = context;
	uint32_t number;
	bool seen;
	enum err err =
	    is_seen(&seen, noticing, supplier, record->entry.generation);

	return err == ERR_OK && !seen &&
		is_told_by_record(noticing, supplier, record->format)
	    ? codemap_add(noticing->others, supplier, &number)
	    : err;
}

static enum err
look_at_records(struct noticing *noticing)
{
	struct computed record;
	enum err err;

	noticing->others = codemap_new();
	err = noticing->others == NULL
	    ? ERR_NO_MEMORY
	    : computed_each_in(noticing->txn, note_record, noticing);
	for (uint32_t i = 0;
	     err == ERR_OK && i < codemap_count(noticing->others); i++) {
		struct span supplier = codemap_code(noticing->others, i);

		err = computed_get(&record, noticing->txn, supplier);
		if (err == ERR_OK && record.edition > 0)
			err = tell(noticing, supplier, record.entry.generation);
	}
	codemap_free(noticing->others);
	return err;
}

static enum err
look_at_suppliers(struct noticing *noticing)
{
	enum err err =
	    catalog_each(noticing->catalog, look_at_supplier, noticing);

	/* The sound entries have been looked at. */
	if ((err == ERR_OK || err == ERR_DAMAGED) && noticing->shares)
		err = look_at_records(noticing);
	return err == ERR_DAMAGED ? ERR_OK : err;
}

static enum err
look_at_all(struct noticing *noticing)
{
	enum err err = ERR_OK;

	if ((noticing->wanted & HOOK_IMPORTED) != 0) {
		err = look_at_data(noticing, "seen-facts", SPAN("facts"),
		    live_facts(noticing->live));
		if (err == ERR_OK)
			err = look_at_data(noticing, "seen-network",
			    SPAN("network"),
			    live_network_generation(noticing->live));
	}
	return err == ERR_OK && (noticing->wanted & HOOK_COMPUTED) != 0
	    ? look_at_suppliers(noticing)
	    : err;
}

static enum err
work(void *context, struct kv_txn *txn)
{
	struct noticing *noticing = context;

	noticing->txn = txn;
	audit_begin(&noticing->audit, txn);
	return audit_end(&noticing->audit, look_at_all(noticing));
}

static enum err
look_who_shares(struct noticing *noticing, struct store *store)
{
	struct cluster_sharing sharing;
	enum err err;

	if (!store_is_shared(store))
		return ERR_OK;
	err = cluster_sharing(&sharing, store_dir(store), NULL);
	noticing->shares = err == ERR_OK && sharing.files;
	return err == ERR_OK ? keeping_look(&noticing->keeping, store) : err;
}

static enum err
look(struct store *store, unsigned wanted, bool quietly)
{
	struct noticing noticing = {.quietly = quietly,
	    .wanted = wanted & (HOOK_IMPORTED | HOOK_COMPUTED)};
	enum err err;

	if (noticing.wanted == 0)
		return ERR_OK;
	err = live_view_open(&noticing.live, store);
	if (err == ERR_OK)
		err = catalog_view_open(&noticing.catalog, store);
	if (err == ERR_OK)
		err = look_who_shares(&noticing, store);
	if (err == ERR_OK)
		err = store_write(store, STORE_STATE, work, &noticing);
	catalog_view_close(noticing.catalog);
	live_view_close(noticing.live);
	return err;
}

/* --- failures ------------------------------------------------------------- */

/* Behind the note that was the last one of an earlier look, if it is there. */
static unsigned
first_unseen(const struct begun_ends *ends, struct span seen)
{
	for (unsigned i = ends->count; i-- > 0;) {
		struct key id = key_of_u64(ends->ids[i]);

		if (span_eq(key_span(&id), seen))
			return i + 1;
	}
	return 0;
}

static enum err
note_failures(struct audit *audit, const struct begun_ends *ends, unsigned from)
{
	enum err err = ERR_OK;

	for (unsigned i = from; i < ends->count && err == ERR_OK; i++)
		err = audit_note(audit,
		    &(struct audit_entry){.event = SPAN("failed"),
			.actor = SPAN("gridctl compute"),
			.codein = ends->supplier,
			.motif = ends->whys[i]});
	return err;
}

/*
 * The entries and the last note's id are one commit: a note that is found once
 * more, as the process was killed behind the commit, is known.
 */
static enum err
write_failures(void *context, struct kv_txn *txn)
{
	const struct begun_ends *ends = context;
	struct key pair = key_pair(SPAN("seen-failed"), ends->supplier);
	struct key id = key_of_u64(ends->ids[ends->count - 1]);
	struct span seen = SPAN("");
	struct audit audit;
	enum err err = kv_get(txn, STATE_META, key_span(&pair), &seen);

	if (err != ERR_OK && err != ERR_NOT_FOUND && err != ERR_DAMAGED)
		return err;
	audit_begin(&audit, txn);
	err = audit_end(&audit,
	    note_failures(
		&audit, ends, err == ERR_OK ? first_unseen(ends, seen) : 0));
	return err == ERR_OK
	    ? kv_put(txn, STATE_META, key_span(&pair), key_span(&id))
	    : err;
}

static enum err
take_failures(void *context, const struct begun_ends *ends)
{
	return store_write(
	    context, STORE_STATE, write_failures, (void *)(uintptr_t)ends);
}

static enum err
forget_failures(void *context, const struct begun_ends *ends)
{
	(void)context;
	(void)ends;
	return ERR_OK;
}

enum err
notice_failures(struct store *store)
{
	assert(store != NULL);
	return begun_each(store, take_failures, store);
}

/* --- all ------------------------------------------------------------------ */

enum err
notice_begin(struct store *store, unsigned wanted)
{
	enum err err = ERR_OK;

	assert(store != NULL);
	if ((wanted & HOOK_FAILED) != 0)
		err = begun_each(store, forget_failures, store);
	return err == ERR_OK ? look(store, wanted, true) : err;
}

enum err
notice_look(struct store *store, unsigned wanted)
{
	assert(store != NULL);
	return look(store, wanted, false);
}
