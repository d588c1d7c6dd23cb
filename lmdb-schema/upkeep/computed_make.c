/* A computation for all nodes. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/date.h"
#include "common/kv/kv.h"
#include "common/log.h"
#include "lmdb-schema/codemap.h"
#include "lmdb-schema/snapshot/snapshot.h"
#include "lmdb-schema/state/lease_keep.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/computed_priv.h"
#include "lmdb-schema/upkeep/edition_priv.h"

#define LOOK_US 50000

struct flight {
	struct store *store;
	struct span supplier;
	const struct compute_options *options;
	struct compute_result *result;
	struct computed_share share;
	struct computed record; /* the newest one of all nodes */
	uint64_t before; /* the generation that this node showed at first */
	uint64_t without; /* the one whose file no node gives */
	struct holders *holders;
	struct lease lease;
	struct lease_keeper keeper;
};

/* --- what another node has computed ---------------------------------------- */

/* The other node's snapshot serves as well as a computation of one's own. */
static bool
serves(const struct flight *flight)
{
	const struct computed *record = &flight->record;

	if (flight->options->as_of_day != DATE_NULL ||
	    !computed_fits(record, &flight->share) ||
	    record->entry.generation == flight->without ||
	    !computed_is_fresh(record, flight->store, flight->supplier))
		return false;
	return flight->options->take == COMPUTE_TAKE_ANY ||
	    record->entry.generation > flight->before ||
	    (flight->options->take == COMPUTE_TAKE_OTHERS &&
		strcmp(record->node, flight->share.own.name) != 0);
}

static bool
is_shown(const struct flight *flight)
{
	struct catalog_entry entry;

	return catalog_current(flight->store, flight->supplier, &entry) ==
	    ERR_OK &&
	    catalog_is_same(&entry, &flight->record.entry);
}

static bool
opens(const struct flight *flight)
{
	struct snapshot *snap;
	enum err err = snapshot_open(&snap, flight->store, flight->supplier,
	    flight->record.entry.generation);

	snapshot_close(snap);
	return err == ERR_OK;
}

/* Of one that is to be computed anew, as it may be damaged: all of its bytes. */
static bool
is_sound(const struct flight *flight)
{
	char path[FS_PATH_MAX];

	return store_snapshot_path(path, flight->store, flight->supplier,
		   flight->record.entry.generation, "") == ERR_OK &&
	    files_is_sound(path, &flight->record.file);
}

static enum err
take_record(struct flight *flight)
{
	char text[FAULT_TEXT_MAX];
	struct fault fault;
	enum err err;

	fault_clear(&fault);
	err = computed_show(flight->store, flight->supplier, &flight->record,
	    &flight->holders, &fault);
	if (err == ERR_OK) {
		flight->result->entry = flight->record.entry;
		flight->result->elsewhere = true;
		return ERR_OK;
	}
	log_error("a snapshot is computed anew, as no node gives it: %s",
	    fault_text(text, &fault, err));
	flight->without = flight->record.entry.generation;
	free(flight->holders); /* others may be alive by the next time */
	flight->holders = NULL;
	return err;
}

/* Whether there is nothing to compute. */
static bool
is_there(struct flight *flight)
{
	bool shown = is_shown(flight);

	if (serves(flight)) {
		if (!shown || !opens(flight))
			return take_record(flight) == ERR_OK;
		flight->result->entry = flight->record.entry;
		flight->result->shared = true;
		flight->result->elsewhere =
		    strcmp(flight->record.node, flight->share.own.name) != 0;
		return true;
	}
	/* Damage is mended by the same bytes. */
	return shown && flight->options->take == COMPUTE_TAKE_NEWER &&
	    flight->options->as_of_day == DATE_NULL &&
	    computed_fits(&flight->record, &flight->share) &&
	    computed_is_fresh(
		&flight->record, flight->store, flight->supplier) &&
	    !is_sound(flight) && take_record(flight) == ERR_OK;
}

/* --- publishing ------------------------------------------------------------ */

struct entry {
	const struct flight *flight;
	struct lease lease; /* a copy: its thread changes it */
	struct computed computed;
};

/*
 * ERR_BUSY: another node has computed it since; ERR_NOT_READY: another import is
 * published, so that this snapshot is of no node but this.
 */
static enum err
publish(void *context, struct kv_txn *txn)
{
	const struct entry *entry = context;
	const struct flight *flight = entry->flight;
	struct edition now;
	enum err err = lease_check(&entry->lease, txn);

	if (err == ERR_OK)
		err = edition_get(&now, txn, edition_now);
	if (err == ERR_OK &&
	    strcmp(now.text.name, flight->share.edition.text.name) != 0)
		err = ERR_NOT_READY;
	if (err == ERR_OK)
		err = computed_put(txn, flight->supplier, &entry->computed);
	return err == ERR_OK ? lease_give_back(&entry->lease, txn) : err;
}

/* Whether it was computed from the import that this node showed at first. */
static bool
is_of_edition(const struct flight *flight)
{
	struct computed_share share;

	return computed_share(&share, flight->store, NULL) == ERR_OK &&
	    share.shares &&
	    strcmp(share.edition.text.name, flight->share.edition.text.name) ==
	    0;
}

static enum err
make_entry(struct entry *entry, struct flight *flight,
    const struct catalog_entry *computed)
{
	char path[FS_PATH_MAX];
	enum err err = store_snapshot_path(
	    path, flight->store, flight->supplier, computed->generation, "");

	if (err == ERR_OK)
		err = files_add(
		    &entry->computed.file, store_dir(flight->store), path);
	if (err != ERR_OK)
		return err;
	entry->flight = flight;
	entry->computed.edition = flight->share.edition.number;
	entry->computed.format = SNAP_VERSION;
	entry->computed.entry = *computed;
	memcpy(entry->computed.node, flight->share.own.name,
	    sizeof(entry->computed.node));
	memcpy(entry->computed.address, flight->share.own.address,
	    sizeof(entry->computed.address));
	lease_keep_copy(&flight->keeper, &entry->lease);
	return ERR_OK;
}

/* Of a lost answer the log tells: it is this node's, or becomes so. */
static enum err
publish_for_all(struct flight *flight, const struct catalog_entry *computed)
{
	struct entry entry = {.flight = NULL};
	enum err err = make_entry(&entry, flight, computed);

	if (err != ERR_OK)
		return err;
	err = is_of_edition(flight)
	    ? store_write(flight->store, STORE_STATE, publish, &entry)
	    : ERR_NOT_READY;
	if (err == ERR_OK)
		lease_keep_given_back(&flight->keeper);
	if (err == ERR_OK || err == ERR_UNKNOWN || err == ERR_STORED)
		return catalog_publish_shared(flight->store, flight->supplier,
		    computed, entry.computed.file.name, false);
	files_drop(store_dir(flight->store), entry.computed.file.name);
	return err;
}

static enum err
publish_here(void *context, const struct catalog_entry *computed)
{
	const struct flight *flight = context;

	return catalog_publish(flight->store, flight->supplier, computed);
}

static void
tell_alone(const struct flight *flight, const char *why)
{
	log_info("a snapshot is computed for this node alone: supplier=%.*s "
		 "reason=%s",
	    SPAN_ARG(flight->supplier), why);
}

/* ERR_BUSY: the lease was lost. */
static enum err
publish_computed(void *context, const struct catalog_entry *computed)
{
	struct flight *flight = context;
	enum err err = publish_for_all(flight, computed);

	if (err == ERR_OK)
		log_debug("a snapshot is computed for all nodes: supplier=%.*s "
			  "generation=%016llx",
		    SPAN_ARG(flight->supplier),
		    (unsigned long long)computed->generation);
	if (err != ERR_NOT_READY && err != ERR_AWAY && err != ERR_OUTRUN &&
	    err != ERR_FORKED)
		return err;
	tell_alone(
	    flight, err == ERR_NOT_READY ? "another import" : err_text(err));
	return publish_here(flight, computed);
}

/* --- computing ------------------------------------------------------------- */

static uint64_t
last_generation(const struct flight *flight)
{
	struct catalog_entry entry;
	uint64_t last = flight->record.entry.generation;

	if (catalog_current(flight->store, flight->supplier, &entry) ==
		ERR_OK &&
	    entry.generation > last)
		last = entry.generation;
	return last;
}

static enum err
compute(struct flight *flight, bool alone)
{
	const struct compute_publisher publisher = {
	    alone ? publish_here : publish_computed, flight};

	return compute_locked(flight->result, flight->store, flight->supplier,
	    flight->options, last_generation(flight), &publisher);
}

/* The caller has the lease. */
static enum err
compute_for_all(struct flight *flight)
{
	uint64_t seen = flight->record.entry.generation;
	enum err err =
	    computed_read(&flight->record, flight->store, flight->supplier);

	if (err != ERR_OK || flight->record.entry.generation != seen) {
		lease_release(&flight->lease, flight->store);
		return err == ERR_OK ? ERR_BEHIND : err;
	}
	err = lease_keep(&flight->keeper, flight->store, &flight->lease);
	if (err == ERR_OK)
		err = compute(flight, false);
	lease_keep_end(&flight->keeper);
	if (err == ERR_BUSY) {
		log_info("another node has computed the supplier meanwhile: "
			 "supplier=%.*s",
		    SPAN_ARG(flight->supplier));
		err = ERR_BEHIND;
	}
	return err;
}

/* ERR_BEHIND: another node is at it, or has done it. */
static enum err
compute_in_slot(struct flight *flight)
{
	int slot;
	enum err err = store_lock_slot(&slot, flight->store,
	    flight->options->slots, flight->options->wait);

	if (err != ERR_OK)
		return err;
	err = lease_hold_alone(
	    &flight->lease, flight->store, date_monotonic_ns());
	if (err == ERR_OK)
		err = compute_for_all(flight);
	else if (err == ERR_BUSY)
		err = ERR_BEHIND;
	else {
		tell_alone(flight, err_text(err));
		err = compute(flight, true);
	}
	close(slot);
	return err;
}

/* The caller has the supplier's lock. */
static enum err
fly(struct flight *flight)
{
	enum err err;

	for (;;) {
		(void)store_follow(flight->store);
		err = computed_read(
		    &flight->record, flight->store, flight->supplier);
		if (err != ERR_OK || is_there(flight))
			return err;
		err = compute_in_slot(flight);
		if (err != ERR_BEHIND)
			return err;
		if (flight->options->pass_over) {
			flight->result->elsewhere = true;
			return ERR_BUSY;
		}
		usleep(LOOK_US);
	}
}

static enum err
init_lease(struct flight *flight)
{
	enum err err =
	    lease_init_for(&flight->lease, COMPUTED_LEASE, flight->supplier);

	memcpy(flight->lease.who, flight->share.own.name,
	    sizeof(flight->lease.who));
	return err;
}

static enum err
fly_locked(struct flight *flight)
{
	int lock = -1;
	enum err err = compute_known(flight->store, flight->supplier);

	if (err == ERR_OK)
		err = store_lock_supplier(
		    &lock, flight->store, flight->supplier, true);
	if (err == ERR_OK)
		err = init_lease(flight);
	if (err == ERR_OK)
		err = fly(flight);
	if (lock >= 0)
		close(lock);
	free(flight->holders);
	return err;
}

enum err
computed_supplier(struct compute_result *result, struct store *store,
    struct span supplier, const struct compute_options *options)
{
	struct flight flight = {.store = store,
	    .supplier = supplier,
	    .options = options,
	    .result = result};
	int64_t start = date_monotonic_ns();
	struct catalog_entry entry;
	enum err err = computed_share(&flight.share, store, NULL);

	assert(options->threads >= 1 && options->slots >= 1);
	if (err != ERR_OK || !flight.share.shares)
		return compute_supplier(result, store, supplier, options);
	memset(result, 0, sizeof(*result));
	if (catalog_current(store, supplier, &entry) == ERR_OK)
		flight.before = entry.generation;
	err = fly_locked(&flight);
	result->ms = (date_monotonic_ns() - start) / 1000000;
	return err;
}

/* --- offering what this node alone has computed ------------------------------ */

/* As it was current, and no node has one that is as fresh. */
static bool
is_wanted(const struct computed *record, const struct computed_share *share,
    struct store *store, struct span supplier,
    const struct catalog_entry *entry)
{
	bool stale = true;

	return record->format <= SNAP_VERSION &&
	    record->entry.generation < entry->generation &&
	    !(computed_fits(record, share) &&
		computed_is_fresh(record, store, supplier)) &&
	    compute_is_stale(&stale, store, supplier, entry) == ERR_OK &&
	    !stale;
}

struct offering {
	struct store *store;
	struct computed_share share;
	struct codemap *wanted;
};

static enum err
note_wanted(
    void *context, struct span supplier, const struct catalog_entry *entry)
{
	struct offering *offering = context;
	struct computed record;
	uint32_t number;
	enum err err = computed_read(&record, offering->store, supplier);

	return err == ERR_OK &&
		is_wanted(
		    &record, &offering->share, offering->store, supplier, entry)
	    ? codemap_add(offering->wanted, supplier, &number)
	    : err;
}

static enum err
list_wanted(struct offering *offering)
{
	struct catalog_view *view;
	enum err err = catalog_view_open(&view, offering->store);

	if (err == ERR_OK)
		err = catalog_each(view, note_wanted, offering);
	catalog_view_close(view);
	return err == ERR_DAMAGED ? ERR_OK : err; /* of one that is not sound */
}

/* No node must get what is damaged here. */
static enum err
compare(struct flight *flight, uint64_t generation)
{
	struct snapshot *snap;
	enum err err =
	    snapshot_open(&snap, flight->store, flight->supplier, generation);

	if (err == ERR_OK)
		err = snapshot_compare(snap);
	snapshot_close(snap);
	return err;
}

/* The caller has the supplier's lock. */
static enum err
offer_locked(struct flight *flight)
{
	struct catalog_entry entry;
	enum err err = catalog_current(flight->store, flight->supplier, &entry);

	if (err == ERR_OK)
		err = compare(flight, entry.generation);
	if (err == ERR_OK)
		err = init_lease(flight);
	if (err == ERR_OK)
		err = lease_hold_alone(
		    &flight->lease, flight->store, date_monotonic_ns());
	if (err == ERR_OK)
		err =
		    lease_keep(&flight->keeper, flight->store, &flight->lease);
	if (err == ERR_OK)
		err = computed_read(
		    &flight->record, flight->store, flight->supplier);
	if (err == ERR_OK &&
	    is_wanted(&flight->record, &flight->share, flight->store,
		flight->supplier, &entry))
		err = publish_for_all(flight, &entry);
	lease_keep_end(&flight->keeper);
	return err;
}

static enum err
offer(const struct offering *offering, struct span supplier)
{
	struct flight flight = {.store = offering->store,
	    .supplier = supplier,
	    .share = offering->share};
	int lock;
	enum err err =
	    store_lock_supplier(&lock, flight.store, supplier, false);

	if (err != ERR_OK)
		return err;
	err = offer_locked(&flight);
	close(lock);
	/* Gone, damaged, or of another import: nothing to offer. */
	return err == ERR_NOT_FOUND || err == ERR_DAMAGED ||
		err == ERR_VERSION || err == ERR_NOT_READY
	    ? ERR_OK
	    : err;
}

enum err
computed_offer(struct store *store, struct fault *fault)
{
	struct offering offering = {.store = store};
	enum err err = computed_share(&offering.share, store, fault);
	enum err first = ERR_OK;

	if (err != ERR_OK || !offering.share.shares)
		return err;
	offering.wanted = codemap_new();
	err = offering.wanted == NULL ? ERR_NO_MEMORY : list_wanted(&offering);
	for (uint32_t i = 0;
	     err == ERR_OK && i < codemap_count(offering.wanted); i++) {
		enum err one =
		    offer(&offering, codemap_code(offering.wanted, i));

		if (first == ERR_OK)
			first = one;
	}
	codemap_free(offering.wanted);
	return err == ERR_OK ? first : err;
}
