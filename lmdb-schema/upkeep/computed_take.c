/* Snapshots that other nodes have computed. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "lmdb-schema/codemap.h"
#include "lmdb-schema/snapshot/snapshot.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/computed_priv.h"
#include "lmdb-schema/upkeep/keeping.h"

/* A page may wait for it: nodes that hang cost as much each. */
#define STALL_S 5

/* --- one ------------------------------------------------------------------- */

static enum err
find_holders(struct holders **out, struct store *store,
    const struct computed *computed, struct fault *fault)
{
	struct holders *holders = malloc(sizeof(*holders));
	enum err err = ERR_NO_MEMORY;

	if (holders != NULL)
		err = holders_begin(holders, store_dir(store), fault);
	/* The maker first, whose gridapi may be down; alone where the log is away. */
	if (err == ERR_OK) {
		holders->from.stall_s = STALL_S;
		holders_add(holders, computed->node, computed->address);
		err =
		    holders_add_alive(holders, store_engine(store), NULL, NULL);
		if (err == ERR_AWAY)
			err = ERR_OK;
	}
	if (err == ERR_OK) {
		*out = holders;
		holders = NULL;
	}
	free(holders);
	return err;
}

/* The others have not the file, or not for long. */
static void
prefer_who_keeps_it(
    struct holders *holders, struct store *store, struct span supplier)
{
	unsigned order[SHARE_NODES_MAX];
	struct share share;

	if (share_look(&share, store) != ERR_OK || share.count == 0)
		return;
	share_order(order, &share, supplier);
	for (unsigned i = share.count; i-- > 0;)
		if (share_keeps(&share, order[i], supplier))
			holders_prefer(holders, share.nodes[order[i]].address);
}

/* A file that is here already may be damaged: its bytes say. */
static enum err
get_file(struct store *store, struct span supplier,
    const struct computed *computed, struct holders **holders,
    struct fault *fault)
{
	const char *dir = store_dir(store);
	char path[FS_PATH_MAX];
	enum err err = files_path(path, dir, computed->file.name, "");

	if (err != ERR_OK)
		return err;
	if (files_have(dir, &computed->file)) {
		if (files_is_sound(path, &computed->file))
			return ERR_OK;
		log_error("a snapshot's file is damaged, and is asked of "
			  "another node: path=%s",
		    path);
		files_drop(dir, computed->file.name);
	}
	if (*holders == NULL)
		err = find_holders(holders, store, computed, fault);
	else
		holders_add(*holders, computed->node, computed->address);
	if (err != ERR_OK)
		return err;
	prefer_who_keeps_it(*holders, store, supplier);
	return files_fetch(dir, &computed->file, &(*holders)->from, fault);
}

/* Whether this program reads it, and whether it is what the record says. */
static enum err
check(
    struct store *store, struct span supplier, const struct computed *computed)
{
	struct snapshot *snap;
	enum err err =
	    snapshot_open(&snap, store, supplier, computed->entry.generation);

	if (err == ERR_OK &&
	    (snapshot_head(snap)->generation != computed->entry.generation ||
		!span_eq(snapshot_supplier(snap), supplier)))
		err = ERR_DAMAGED;
	snapshot_close(snap);
	return err == ERR_NOT_FOUND ? ERR_DAMAGED : err;
}

static enum err
put_in_place(
    struct store *store, struct span supplier, const struct computed *computed)
{
	char path[FS_PATH_MAX];
	enum err err = store_snapshot_folder(path, store, supplier);

	if (err == ERR_OK)
		err = fs_mkdir(path);
	if (err == ERR_OK)
		err = store_snapshot_path(
		    path, store, supplier, computed->entry.generation, "");
	if (err == ERR_OK)
		err = files_place(store_dir(store), &computed->file, path);
	return err == ERR_OK ? check(store, supplier, computed) : err;
}

enum err
computed_show(struct store *store, struct span supplier,
    const struct computed *computed, struct holders **holders,
    struct fault *fault)
{
	enum err err = get_file(store, supplier, computed, holders, fault);

	if (err == ERR_OK)
		err = put_in_place(store, supplier, computed);
	if (err == ERR_OK)
		err = catalog_publish_shared(store, supplier, &computed->entry,
		    computed->file.name, true);
	if (err == ERR_OK)
		log_debug("a snapshot came from another node: supplier=%.*s "
			  "generation=%016llx",
		    SPAN_ARG(supplier),
		    (unsigned long long)computed->entry.generation);
	else
		fault_set(fault, computed->node,
		    "supplier %.*s: the snapshot that it has computed does "
		    "not come: %s",
		    SPAN_ARG(supplier), err_text(err));
	return err;
}

/* --- all that are lacking -------------------------------------------------- */

struct taking {
	struct store *store;
	struct computed_share share;
	struct catalog_view *view;
	struct codemap *lacking;
	struct holders *holders;
	struct keeping keeping;
	struct computed_taken *taken;
	struct fault *fault;
};

/*
 * A snapshot of this node alone goes for one that is as fresh; of two that are both
 * stale the newer one stays.
 */
static bool
is_lacking(const struct taking *taking, struct span supplier,
    const struct computed *computed)
{
	struct catalog_entry entry;
	bool stale = true;

	if (!computed_fits(computed, &taking->share) ||
	    !keeping_keeps(&taking->keeping, supplier))
		return false;
	/* The supplier may be gone, and its record not yet. */
	if (catalog_get(taking->view, supplier, &entry) != ERR_OK)
		return compute_known(taking->store, supplier) == ERR_OK;
	if (catalog_is_same(&entry, &computed->entry))
		return false;
	if (computed_is_fresh(computed, taking->store, supplier))
		return true;
	return computed->entry.generation > entry.generation &&
	    (compute_is_stale(&stale, taking->store, supplier, &entry) !=
		    ERR_OK ||
		stale);
}

static enum err
note_lacking(
    void *context, struct span supplier, const struct computed *computed)
{
	struct taking *taking = context;
	uint32_t number;

	return is_lacking(taking, supplier, computed)
	    ? codemap_add(taking->lacking, supplier, &number)
	    : ERR_OK;
}

static enum err
list_lacking(struct taking *taking)
{
	enum err err = catalog_view_open(&taking->view, taking->store);

	if (err == ERR_OK)
		err = computed_each(taking->store, note_lacking, taking);
	catalog_view_close(taking->view);
	taking->view = NULL;
	return err;
}

/* Under the lock it may be here by now, or another one be the newest. */
static enum err
take_locked(struct taking *taking, struct span supplier)
{
	struct computed computed;
	bool lacks = false;
	enum err err = computed_read(&computed, taking->store, supplier);

	if (err == ERR_OK)
		err = catalog_view_open(&taking->view, taking->store);
	if (err == ERR_OK)
		lacks = is_lacking(taking, supplier, &computed);
	catalog_view_close(taking->view);
	taking->view = NULL;
	if (err != ERR_OK || !lacks)
		return err;
	err = computed_show(taking->store, supplier, &computed,
	    &taking->holders, taking->fault);
	if (err == ERR_OK)
		taking->taken->count++;
	return err;
}

static enum err
take_one(struct taking *taking, struct span supplier)
{
	int lock;
	enum err err =
	    store_lock_supplier(&lock, taking->store, supplier, false);

	if (err != ERR_OK)
		return err;
	err = take_locked(taking, supplier);
	close(lock);
	return err;
}

static enum err
take_all(struct taking *taking)
{
	struct fault *told = taking->fault, unheard;
	enum err err, first = list_lacking(taking);

	for (uint32_t i = 0; i < codemap_count(taking->lacking); i++) {
		fault_clear(&unheard);
		err = take_one(taking, codemap_code(taking->lacking, i));
		if (err == ERR_OK || (err == ERR_BUSY && first != ERR_OK))
			continue;
		if (first == ERR_OK || first == ERR_BUSY)
			first = err;
		if (err != ERR_BUSY)
			taking->fault = &unheard;
	}
	taking->fault = told;
	return first;
}

enum err
computed_take(
    struct computed_taken *out, struct store *store, struct fault *fault)
{
	struct taking taking = {.store = store, .taken = out, .fault = fault};
	uint64_t version = 0;
	enum err err = computed_share(&taking.share, store, fault);

	*out = (struct computed_taken){0, 0};
	if (err != ERR_OK || !taking.share.shares)
		return err;
	/* First: what comes meanwhile is of the next call. */
	err = keeping_version(&version, store);
	if (err == ERR_OK)
		err = keeping_look(&taking.keeping, store);
	if (err != ERR_OK)
		return err;
	taking.lacking = codemap_new();
	err = taking.lacking == NULL ? ERR_NO_MEMORY : take_all(&taking);
	codemap_free(taking.lacking);
	free(taking.holders);
	out->version = err == ERR_OK ? version : 0;
	return err;
}

enum err
computed_lacking(uint64_t *count, struct store *store)
{
	struct taking taking = {.store = store};
	enum err err = computed_share(&taking.share, store, NULL);

	*count = 0;
	if (err != ERR_OK || !taking.share.shares)
		return err;
	err = keeping_look(&taking.keeping, store);
	if (err != ERR_OK)
		return err;
	taking.lacking = codemap_new();
	if (taking.lacking == NULL)
		return ERR_NO_MEMORY;
	err = list_lacking(&taking);
	*count = codemap_count(taking.lacking);
	codemap_free(taking.lacking);
	return err;
}
