#include "lmdb-schema/upkeep/check.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/fs.h"
#include "common/kv/kv.h"
#include "lmdb-schema/facts/live.h"
#include "lmdb-schema/facts/source.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/snapshot/snapshot.h"
#include "lmdb-schema/snapshot/packed_rows.h"
#include "lmdb-schema/store/cluster.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/check_priv.h"

void
checking_tell(
    struct checking *checking, struct span where, const char *format, ...)
{
	char place[256], message[512];
	struct fault fault;
	va_list args;

	assert(format != NULL);
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	snprintf(place, sizeof(place), "%.*s", SPAN_ARG(where));
	fault_clear(&fault);
	fault_set(&fault, place, "%s", message);
	checking->counts->damages++;
	checking->tell(checking->context, &fault);
}

const char *
checking_help(
    const struct checking *checking, enum checking_env which, const char *alone)
{
	if (which == CHECKING_STATE && checking->node)
		return store_remedy(store_dir(checking->store), STORE_STATE);
	if (which == CHECKING_LIVE && checking->shares)
		return "'gridctl cluster pull --verify' gets it anew; where it "
		       "stays so, import again";
	return alone;
}

bool
checking_pages(struct checking *checking, struct kv *kv, const char *file,
    const char *help)
{
	enum err err = kv_verify(kv);

	if (err == ERR_OK)
		return true;
	if (err_is_limit(err))
		checking->limit = err;
	else
		checking_tell(checking, span_of(file),
		    "its pages cannot be walked (%s): %s", err_text(err), help);
	return false;
}

bool
checking_broken(struct checking *checking, enum err err)
{
	return err == ERR_DAMAGED && !checking->spoilt;
}

/* --- live --------------------------------------------------------------- */

static enum err
check_network(void *context, struct span code, const struct network *network)
{
	struct checking *checking = context;

	(void)network;
	if (!network_code_ok(code))
		checking_tell(checking, SPAN("live.mdb"),
		    "central code %.*s is none: %s", SPAN_ARG(code),
		    checking_help(
			checking, CHECKING_LIVE, "import the network again"));
	checking->counts->networks++;
	return ERR_OK;
}

static enum err
count_gamme(void *context, struct span codein, uint8_t gamme)
{
	struct checking *checking = context;

	(void)codein;
	(void)gamme;
	checking->counts->gammes++;
	return ERR_OK;
}

struct gamme_check {
	struct checking *checking;
	struct live_view *view;
};

static enum err
check_gammes(void *context, const struct source_supplier *supplier)
{
	struct gamme_check *check = context;
	enum err err = live_gammes(
	    check->view, supplier->code, count_gamme, check->checking);

	if (checking_broken(check->checking, err))
		checking_tell(check->checking, SPAN("live.mdb"),
		    "a server range of supplier %.*s is broken: %s",
		    SPAN_ARG(supplier->code),
		    checking_help(
			check->checking, CHECKING_LIVE, "import them again"));
	return err == ERR_DAMAGED ? ERR_OK : err;
}

static enum err
check_live(struct checking *checking)
{
	struct gamme_check check = {checking, NULL};
	enum err err;

	if (!checking_pages(checking, store_live(checking->store), "live.mdb",
		checking->shares
		    ? store_remedy(store_dir(checking->store), STORE_LIVE)
		    : "import again into a new data directory"))
		return ERR_OK;
	err = checking_sums(checking, CHECKING_LIVE);
	if (err == ERR_OK)
		err = live_view_open(&check.view, checking->store);
	if (err != ERR_OK)
		return err;
	err = live_networks(check.view, check_network, checking);
	if (checking_broken(checking, err))
		checking_tell(checking, SPAN("live.mdb"),
		    "a network record is broken: %s",
		    checking_help(
			checking, CHECKING_LIVE, "import the network again"));
	if (err == ERR_DAMAGED)
		err = ERR_OK;
	if (err == ERR_OK && checking->source != NULL)
		err = source_suppliers(checking->source, check_gammes, &check);
	live_view_close(check.view);
	return err;
}

/* --- snapshots ---------------------------------------------------------- */

/* Compares the catalogue's entry with the same figures in the snapshot. */
static void
compare_with_catalog(struct checking *checking, struct span supplier,
    const struct catalog_entry *entry, struct snapshot *snap, uint64_t bytes)
{
	const struct snap_head *head = snapshot_head(snap);
	const struct {
		const char *what;
		uint64_t told, is;
	} figures[] = {
	    {"rows", entry->rows, head->rows},
	    {"milliseconds of its computation", (uint64_t)entry->computed_ms,
		(uint64_t)head->computed_ms},
	    {"as facts", entry->facts, head->facts},
	    {"as network", entry->network, head->network},
	    {"as ranges", entry->gamme, head->gamme},
	    {"bytes", entry->bytes, bytes},
	};
	struct source_supplier info;

	checking->counts->references += 2;
	for (unsigned i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		if (figures[i].told != figures[i].is)
			checking_tell(checking, SPAN("catalog.mdb"),
			    "supplier %.*s: %llu %s, but its snapshot has "
			    "%llu: 'gridctl compute %.*s' makes it again",
			    SPAN_ARG(supplier),
			    (unsigned long long)figures[i].told,
			    figures[i].what, (unsigned long long)figures[i].is,
			    SPAN_ARG(supplier));
	if (checking->source != NULL &&
	    source_supplier(checking->source, supplier, &info) == ERR_NOT_FOUND)
		checking->counts->leftovers++;
}

static uint64_t
file_bytes(struct checking *checking, struct span supplier, uint64_t generation)
{
	char path[FS_PATH_MAX];
	uint64_t bytes = 0, on_disk;

	if (store_snapshot_path(
		path, checking->store, supplier, generation, "") == ERR_OK)
		fs_size(path, &bytes, &on_disk);
	return bytes;
}

/* Verifies packed rows beside a snapshot, if there are any. */
static void
verify_zip(
    struct checking *checking, struct snapshot *snap, enum packed_kind kind)
{
	struct packed_rows *packed_rows;
	enum err err =
	    packed_rows_open(&packed_rows, checking->store, snap, kind);

	if (err == ERR_NOT_FOUND)
		return;
	if (err == ERR_OK) {
		err = packed_rows_verify(packed_rows);
		checking->counts->sections +=
		    packed_rows_head(packed_rows)->segments;
		checking->counts->bytes += packed_rows_head(packed_rows)->bytes;
	}
	if (err_is_limit(err))
		checking->limit = err;
	else if (err != ERR_OK)
		checking_tell(checking, SPAN("snapshots"),
		    "supplier %.*s: its packed rows: %s: 'gridctl pack --for "
		    "%s' makes them again",
		    SPAN_ARG(snapshot_supplier(snap)), err_text(err),
		    packed_kinds[kind].name);
	packed_rows_close(packed_rows);
}

/* Opens, verifies and closes a snapshot; the caller reports a failure. */
static enum err
verify(struct checking *checking, struct span supplier,
    const struct catalog_entry *entry, struct fault *fault)
{
	struct snapshot_verified verified = {0, 0};
	struct snapshot *snap;
	enum err err =
	    snapshot_open(&snap, checking->store, supplier, entry->generation);

	if (err != ERR_OK)
		return err;
	err = snapshot_verify(snap, fault, &verified);
	if (err == ERR_OK && snapshot_left_out(snap) > 0)
		checking_tell(checking, SPAN("snapshots"),
		    "supplier %.*s: %u of its articles have no row, as their "
		    "sums are too large: mend their figures, import and "
		    "compute "
		    "again ('gridctl compute' names them)",
		    SPAN_ARG(supplier), snapshot_left_out(snap));
	if (err == ERR_OK && entry->facts != 0)
		compare_with_catalog(checking, supplier, entry, snap,
		    file_bytes(checking, supplier, entry->generation));
	checking->counts->snapshots++;
	checking->counts->sections += verified.sections;
	checking->counts->bytes += verified.bytes;
	if (err == ERR_OK)
		for (unsigned kind = 0; kind < PACKED_KINDS; kind++)
			verify_zip(checking, snap, kind);
	if (checking->at != NULL)
		checking->at(checking->context, checking->counts->bytes);
	snapshot_close(snap);
	return err;
}

/* True when the snapshot was replaced and removed since the check began. */
static bool
is_gone(struct checking *checking, struct span supplier, uint64_t generation)
{
	struct catalog_view *now;
	bool gone = false;

	if (catalog_view_open(&now, checking->store) == ERR_OK) {
		gone = !catalog_keeps(now, supplier, generation);
		catalog_view_close(now);
	}
	return gone;
}

/*
 * A replaced snapshot gets other advice: computing again does not replace its
 * file.
 */
static void
tell_snapshot(struct checking *checking, struct span supplier, const char *why,
    bool replaced)
{
	if (replaced)
		checking_tell(checking, SPAN("snapshots"),
		    "supplier %.*s: of a replaced snapshot, %s: 'gridctl prune "
		    "--grace 0s' forgets it",
		    SPAN_ARG(supplier), why);
	else
		checking_tell(checking, SPAN("snapshots"),
		    "supplier %.*s: %s: 'gridctl compute %.*s' makes it again",
		    SPAN_ARG(supplier), why, SPAN_ARG(supplier));
}

static enum err
check_snapshot(
    void *context, struct span supplier, const struct catalog_entry *entry)
{
	struct checking *checking = context;
	struct fault fault;
	enum err err;

	fault_clear(&fault);
	err = verify(checking, supplier, entry, &fault);
	if (err == ERR_OK || err_is_limit(err))
		return err;
	if (err == ERR_VERSION) {
		checking->counts->foreign++;
		return ERR_OK;
	}
	if (err == ERR_NOT_FOUND &&
	    is_gone(checking, supplier, entry->generation))
		return ERR_OK;
	tell_snapshot(checking, supplier,
	    fault_is_set(&fault)       ? fault.message
		: err == ERR_NOT_FOUND ? "its file is missing"
				       : err_text(err),
	    entry->facts == 0);
	return ERR_OK;
}

/*
 * Checks a replaced snapshot, of which the catalogue has only the generation.
 */
static enum err
check_kept(void *context, struct span supplier, uint64_t generation)
{
	struct catalog_entry entry = {.generation = generation};

	return check_snapshot(context, supplier, &entry);
}

static enum err
check_snapshots(struct checking *checking)
{
	enum err err;

	if (!checking_pages(checking, store_catalog(checking->store),
		"catalog.mdb",
		checking->shares
		    ? store_remedy(store_dir(checking->store), STORE_CATALOG)
		    : "restore a backup, and compute the suppliers"))
		return ERR_OK;
	err = checking_sums(checking, CHECKING_CATALOG);
	if (err == ERR_OK)
		err = catalog_view_open(&checking->catalog, checking->store);
	if (err == ERR_OK)
		err = catalog_each(checking->catalog, check_snapshot, checking);
	if (checking_broken(checking, err))
		checking_tell(checking, SPAN("catalog.mdb"),
		    "an entry is broken: compute the suppliers again");
	if (err == ERR_OK || err == ERR_DAMAGED)
		err =
		    catalog_each_kept(checking->catalog, check_kept, checking);
	return err == ERR_DAMAGED && checking->spoilt ? ERR_OK : err;
}

/* --- leftovers ----------------------------------------------------------- */

static enum err
look_at_snapshot(void *context, const char *name)
{
	struct checking *checking = context;
	bool temporary;
	uint64_t generation = key_file_generation(name, &temporary);

	if (generation == 0)
		generation = key_packed_generation(name, &temporary);
	if (generation != 0 &&
	    (temporary ||
		!catalog_keeps(
		    checking->catalog, checking->supplier, generation)))
		checking->counts->leftovers++;
	return ERR_OK;
}

static enum err
list_folder(void *context, const char *name)
{
	struct checking *checking = context;
	char code[KEY_FILE_MAX];
	enum err err;

	checking->supplier = key_file_code(code, name);
	err = fs_path(checking->folder, "%s/snapshots/%s",
	    store_dir(checking->store), name);
	return err == ERR_OK && checking->supplier.len > 0
	    ? fs_list(checking->folder, look_at_snapshot, checking)
	    : err;
}

static enum err
look_at_facts(void *context, const char *name)
{
	struct checking *checking = context;
	bool temporary;
	uint64_t current = 0,
		 generation = key_facts_generation(name, &temporary);
	enum err err = source_current(&current, checking->store);

	if (err == ERR_OK && generation != 0 &&
	    (temporary ||
		(generation != current &&
		    (checking->source == NULL ||
			!source_uses(checking->source, name)))))
		checking->counts->leftovers++;
	return err == ERR_DAMAGED ? ERR_OK : err; /* which has been reported */
}

/*
 * A missing folder has no leftovers; its missing files are reported elsewhere.
 */
static enum err
look_into(struct checking *checking, const char *folder,
    enum err (*each)(void *context, const char *name))
{
	char path[FS_PATH_MAX];
	enum err err =
	    fs_path(path, "%s/%s", store_dir(checking->store), folder);

	if (err == ERR_OK)
		err = fs_list(path, each, checking);
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

static enum err
check_leftovers(struct checking *checking)
{
	enum err err = look_into(checking, "facts", look_at_facts);

	if (err == ERR_OK)
		err = look_into(checking, "snapshots", list_folder);
	if (err == ERR_OK)
		err = checking_trail_left(checking);
	return err == ERR_OK ? checking_words_left(checking) : err;
}

enum err
check_store(struct check_counts *counts, struct store *store,
    void (*tell_fault)(void *context, const struct fault *fault),
    void (*at)(void *context, uint64_t bytes), void *context)
{
	struct cluster_sharing sharing;
	struct checking checking = {.store = store,
	    .node = cluster_is_told(store_dir(store)),
	    .shares =
		cluster_sharing(&sharing, store_dir(store), NULL) == ERR_OK &&
		sharing.files,
	    .counts = counts,
	    .tell = tell_fault,
	    .at = at,
	    .context = context};
	enum err err;

	assert(tell_fault != NULL);
	memset(counts, 0, sizeof(*counts));
	err = checking_facts(&checking);
	if (err == ERR_OK)
		err = check_live(&checking);
	if (err == ERR_OK)
		err = check_snapshots(&checking);
	if (err == ERR_OK && checking.catalog != NULL)
		err = checking_words(&checking);
	if (err == ERR_OK)
		err = checking_state(&checking);
	if (err == ERR_OK && checking.catalog != NULL)
		err = check_leftovers(&checking);
	catalog_view_close(checking.catalog);
	source_close(checking.source);
	return err == ERR_OK ? checking.limit : err;
}
