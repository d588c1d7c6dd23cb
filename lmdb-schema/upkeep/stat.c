#include "lmdb-schema/upkeep/stat.h"

#include <assert.h>
#include <string.h>

#include "common/fs.h"
#include "common/kv/kv.h"
#include "lmdb-schema/compute/compute.h"
#include "lmdb-schema/facts/source.h"
#include "lmdb-schema/search/word_index.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/snapshot/catalog_format.h"
#include "lmdb-schema/snapshot/packed_rows.h"
#include "lmdb-schema/state/proposal.h"
#include "lmdb-schema/state/state.h"
#include "lmdb-schema/state/trail_parts.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/computed.h"
#include "lmdb-schema/upkeep/keeping.h"
#include "lmdb-schema/upkeep/stat_priv.h"

struct sizing {
	struct stat_counts *counts;
	struct store *store;
};

static enum err
add_size(void *context, const char *name)
{
	struct sizing *sizing = context;
	char path[FS_PATH_MAX];
	uint64_t bytes, on_disk = 0;
	enum err err =
	    fs_path(path, "%s/facts/%s", store_dir(sizing->store), name);

	if (err == ERR_OK)
		err = fs_size(path, &bytes, &on_disk);
	if (err == ERR_OK)
		sizing->counts->facts_bytes += on_disk;
	return err;
}

static enum err
count_facts(struct stat_counts *counts, const struct source *source,
    struct store *store)
{
	const struct source_header *header = source_header(source);
	struct sizing sizing = {counts, store};

	counts->facts = source_generation(source);
	counts->newest_month = header->newest_month;
	counts->oldest_sales = header->oldest_sales;
	counts->suppliers = header->suppliers;
	counts->stores = header->stores;
	counts->classes = header->classes;
	counts->articles = header->articles;
	counts->sales = header->records[SERIES_SALES];
	counts->stock = header->records[SERIES_STOCK];
	counts->receptions = header->records[SERIES_RECEPTIONS];
	counts->positions = header->records[SERIES_POSITIONS];
	return source_files(source, add_size, &sizing);
}

static enum err
count_table(uint64_t *count, struct kv *kv, unsigned table)
{
	struct kv_txn *txn;
	enum err err = kv_read(&txn, kv);

	if (err != ERR_OK)
		return err;
	err = kv_count(txn, table, count);
	kv_abort(txn);
	return err;
}

struct snapshots {
	struct stat_counts *counts;
	struct store *store;
	struct catalog_view *view;
	struct word_index *index; /* NULL: none is usable */
	uint32_t next; /* next of its suppliers, in the same order */
};

/* The files are made on first use: they may be missing. */
static enum err
count_packed(struct snapshots *snapshots, struct span supplier,
    const struct catalog_entry *entry, enum packed_kind kind)
{
	char path[FS_PATH_MAX];
	uint64_t bytes, on_disk = 0;
	enum err err = packed_rows_path(
	    path, snapshots->store, supplier, entry->generation, kind, "");

	if (err == ERR_OK)
		err = fs_size(path, &bytes, &on_disk);
	snapshots->counts->packed_rows_bytes += on_disk;
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

static enum err
count_snapshot(
    void *context, struct span supplier, const struct catalog_entry *entry)
{
	struct snapshots *snapshots = context;
	bool stale, foreign, noted;
	enum err err =
	    compute_is_stale(&stale, snapshots->store, supplier, entry);

	if (err != ERR_OK)
		return err;
	foreign = catalog_is_foreign(&noted, snapshots->view, snapshots->store,
	    supplier, entry->generation);
	snapshots->counts->snapshots++;
	snapshots->counts->unnoted += !noted;
	snapshots->counts->stale += stale || foreign;
	snapshots->counts->foreign += foreign;
	snapshots->counts->rows += entry->rows;
	snapshots->counts->indexed += snapshots->index != NULL &&
	    word_index_has(snapshots->index, &snapshots->next, supplier,
		entry->generation);
	snapshots->counts->snapshot_bytes += entry->bytes;
	for (unsigned kind = 0; kind < PACKED_KINDS && err == ERR_OK; kind++)
		err = count_packed(snapshots, supplier, entry, kind);
	return err;
}

static enum err
count_snapshots(struct stat_counts *counts, struct store *store)
{
	struct snapshots snapshots = {.counts = counts, .store = store};
	enum err err = catalog_view_open(&snapshots.view, store);

	/*
	 * Without a usable index (the log tells of a damaged one) no snapshot
	 * counts as indexed.
	 */
	if (err == ERR_OK &&
	    word_index_open(&snapshots.index, store) == ERR_NO_MEMORY)
		err = ERR_NO_MEMORY;
	if (err == ERR_OK)
		err = catalog_each(snapshots.view, count_snapshot, &snapshots);
	if (err == ERR_OK)
		err = catalog_count_lost(snapshots.view, &counts->lost);
	word_index_close(snapshots.index);
	catalog_view_close(snapshots.view);
	return err;
}

struct suppliers {
	struct stat_counts *counts;
	struct catalog_view *view;
	struct keeping keeping;
};

static enum err
count_absent(void *context, const struct source_supplier *supplier)
{
	const struct suppliers *suppliers = context;
	struct catalog_entry entry;
	enum err err = ERR_OK;

	if (supplier->articles > 0 &&
	    keeping_keeps(&suppliers->keeping, supplier->code))
		err = catalog_get(suppliers->view, supplier->code, &entry);
	suppliers->counts->absent += err == ERR_NOT_FOUND;
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

static enum err
count_suppliers(
    struct stat_counts *counts, struct source *source, struct store *store)
{
	struct suppliers suppliers = {.counts = counts};
	enum err err = catalog_view_open(&suppliers.view, store);

	if (err == ERR_OK)
		err = keeping_look(&suppliers.keeping, store);
	if (err == ERR_OK)
		err = source_suppliers(source, count_absent, &suppliers);
	catalog_view_close(suppliers.view);
	return err;
}

static enum err
count_imported(struct stat_counts *counts, struct store *store)
{
	struct source *source;
	enum err err = source_open(&source, store);

	if (err == ERR_NOT_FOUND)
		return ERR_OK;
	if (err == ERR_OK)
		err = count_facts(counts, source, store);
	if (err == ERR_OK)
		err = count_suppliers(counts, source, store);
	source_close(source);
	return err;
}

struct proposals {
	struct stat_counts *counts;
	struct state_view *view;
};

static enum err
count_pending(
    void *context, struct span codein, const struct proposal *proposal)
{
	struct stat_counts *counts = context;
	uint64_t when = (uint64_t)proposal->when_ms;

	(void)codein;
	if (counts->pending_since_ms == 0 || when < counts->pending_since_ms)
		counts->pending_since_ms = when;
	return ERR_OK;
}

static enum err
count_of_supplier(
    void *context, struct span supplier, const struct proposal_counts *counts)
{
	const struct proposals *proposals = context;

	proposals->counts->pending += counts->pending;
	proposals->counts->validated += counts->validated;
	return proposal_pending(
	    proposals->view, supplier, count_pending, proposals->counts);
}

static enum err
count_proposals(struct stat_counts *counts, struct store *store)
{
	struct proposals proposals = {.counts = counts};
	enum err err = state_view_open(&proposals.view, store);

	if (err == ERR_OK)
		err = proposal_suppliers(
		    proposals.view, count_of_supplier, &proposals);
	state_view_close(proposals.view);
	return err;
}

static enum err
measure(uint64_t *on_disk, struct store *store, const char *name)
{
	char path[FS_PATH_MAX];
	uint64_t bytes;
	enum err err = fs_path(path, "%s/%s", store_dir(store), name);

	return err == ERR_OK ? fs_size(path, &bytes, on_disk) : err;
}

struct trail {
	struct stat_counts *counts;
	struct store *store;
};

/* A file in an archive, or that is missing, has none here. */
static enum err
measure_part(void *context, const struct trail_parts_row *row)
{
	const struct trail *trail = context;
	char path[FS_PATH_MAX];
	uint64_t bytes, on_disk = 0;
	enum err err =
	    trail_parts_path(path, trail->store, row->month, row->first, "");

	if (err == ERR_OK)
		err = fs_size(path, &bytes, &on_disk);
	trail->counts->trail_bytes += on_disk;
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

static enum err
measure_trail(struct stat_counts *counts, struct store *store)
{
	struct trail trail = {counts, store};
	struct kv_txn *txn;
	enum err err = kv_read(&txn, store_state(store));

	if (err != ERR_OK)
		return err;
	err = trail_parts_each(txn, measure_part, &trail);
	kv_abort(txn);
	return err == ERR_DAMAGED ? ERR_OK : err; /* check tells of it */
}

static enum err
measure_words(uint64_t *on_disk, struct store *store)
{
	enum err err = measure(on_disk, store, "words.idx");

	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

static enum err
count_shared(struct stat_counts *counts, struct store *store)
{
	struct computed_counts computed;
	struct catalog_view *view;
	enum err err = computed_count(&computed, store);

	if (err != ERR_OK)
		return err;
	counts->kept = computed.kept;
	counts->lacking = computed.kept - computed.here;
	err = catalog_view_open(&view, store);
	if (err == ERR_OK)
		err = catalog_shared(view, &counts->made, &counts->taken);
	catalog_view_close(view);
	return err;
}

enum err
stat_collect(struct stat_counts *counts, struct store *store)
{
	enum err err;

	assert(counts != NULL && store != NULL);
	memset(counts, 0, sizeof(*counts));
	err = count_imported(counts, store);
	if (err == ERR_OK)
		err = count_table(
		    &counts->networks, store_live(store), LIVE_NETWORK);
	if (err == ERR_OK)
		err = count_table(
		    &counts->gammes, store_live(store), LIVE_GAMMES);
	if (err == ERR_OK)
		err = count_table(
		    &counts->retired, store_catalog(store), CATALOG_RETIRED);
	if (err == ERR_OK)
		err = count_snapshots(counts, store);
	if (err == ERR_OK && store_is_shared(store))
		err = count_shared(counts, store);
	if (err == ERR_OK)
		err = count_proposals(counts, store);
	if (err == ERR_OK)
		err = stat_count_hooks(&counts->hooks, store);
	if (err == ERR_OK)
		err = measure_words(&counts->words_bytes, store);
	if (err == ERR_OK)
		err = measure(&counts->live_bytes, store, "live.mdb");
	if (err == ERR_OK)
		err = measure(&counts->catalog_bytes, store, "catalog.mdb");
	if (err == ERR_OK)
		err = measure(&counts->state_bytes, store, "state.mdb");
	if (err == ERR_OK)
		err = measure_trail(counts, store);
	if (err == ERR_OK)
		err = fs_free_bytes(store_dir(store), &counts->free_bytes);
	return err;
}
