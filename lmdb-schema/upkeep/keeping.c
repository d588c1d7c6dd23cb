#include "lmdb-schema/upkeep/keeping.h"

#include <string.h>

#include "common/kv/kv.h"
#include "common/log.h"
#include "lmdb-schema/codemap.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/store/cluster.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/computed_priv.h"

enum err
keeping_look(struct keeping *out, struct store *store)
{
	struct engine_node own;
	enum err err;

	out->number = out->share.count = 0;
	if (!store_is_shared(store))
		return ERR_OK;
	err = cluster_node(&own, store_dir(store), NULL);
	if (err == ERR_OK)
		err = share_look(&out->share, store);
	out->number = share_find(&out->share, own.name);
	return err;
}

/* --- records -------------------------------------------------------------- */

enum err
keeping_tell(struct store *store, const struct engine_node *own, unsigned keep)
{
	struct share_node node = {.keep = keep};
	struct share share;
	enum err err = share_look(&share, store);

	memcpy(node.name, own->name, sizeof(node.name));
	memcpy(node.address, own->address, sizeof(node.address));
	if (err != ERR_OK)
		return err;
	if (keep > 0 || share.count > 1 ||
	    (share.count == 1 && share_find(&share, own->name) == 1))
		return share_put(store, &node);
	return share_drop(store, own->name);
}

struct alive {
	const struct share *share;
	bool there[SHARE_NODES_MAX], whole[SHARE_NODES_MAX];
	uint64_t version;
};

static enum err
note_alive(void *context, const struct engine_node *node)
{
	struct alive *alive = context;
	unsigned i = share_find(alive->share, node->name);

	if (i < alive->share->count) {
		alive->there[i] = true;
		alive->whole[i] = node->places[STORE_CATALOG] >= alive->version;
	}
	return ERR_OK;
}

static enum err
look_who_is_alive(struct alive *alive, struct engine *engine)
{
	return engine->nodes(engine, note_alive, alive);
}

static unsigned
find_absent(const struct keeping_watching *watch, const char *name)
{
	unsigned i = 0;

	while (i < watch->count && strcmp(watch->absent[i].name, name) != 0)
		i++;
	return i;
}

static enum err
look_at_node(struct keeping_watching *watch, struct store *store,
    const char *name, bool there, int64_t now_ns)
{
	unsigned i = find_absent(watch, name);
	struct keeping_absent *absent = &watch->absent[i];

	if (there) {
		if (i < watch->count)
			*absent = watch->absent[--watch->count];
		return ERR_OK;
	}
	if (i == watch->count) {
		if (i < SHARE_NODES_MAX) {
			memcpy(absent->name, name, sizeof(absent->name));
			absent->since_ns = now_ns;
			watch->count++;
		}
		return ERR_OK;
	}
	if (now_ns - absent->since_ns < KEEPING_GONE_S * INT64_C(1000000000))
		return ERR_OK;
	log_info("a node is gone, and others keep its suppliers from now on: "
		 "node=%s",
	    name);
	*absent = watch->absent[--watch->count];
	return share_drop(store, name);
}

enum err
keeping_watch(struct keeping_watching *watch, struct store *store,
    struct engine *engine, const char *own, int64_t now_ns)
{
	struct share share;
	struct alive alive = {.share = &share};
	enum err err = share_look(&share, store);

	if (err == ERR_OK && share.count > 1)
		err = look_who_is_alive(&alive, engine);
	/* A node that is cut off knows nothing of the others. */
	watch->away = watch->changes = 0;
	if (err != ERR_OK || share.count <= 1) {
		watch->count = 0;
		return err;
	}
	watch->changes = share.changes;
	for (unsigned i = 0; i < share.count; i++)
		watch->away |= (uint64_t)!alive.there[i] << i;
	for (unsigned i = 0; i < share.count && err == ERR_OK; i++)
		if (strcmp(share.nodes[i].name, own) != 0)
			err = look_at_node(watch, store, share.nodes[i].name,
			    alive.there[i], now_ns);
	return err;
}

/* --- what others keep ----------------------------------------------------- */

enum err
keeping_version(uint64_t *version, struct store *store)
{
	struct kv_txn *txn;
	uint64_t changes = 0;
	enum err err = kv_read(&txn, store_state(store));

	*version = 0;
	if (err != ERR_OK)
		return err;
	err = computed_count_of(version, txn);
	if (err == ERR_OK)
		err = share_changes(&changes, txn);
	*version += changes;
	kv_abort(txn);
	return err;
}

struct giving {
	struct store *store;
	struct keeping keeping;
	struct alive alive;
	struct codemap *suppliers; /* of others, that this node has */
};

static enum err
note_other(
    void *context, struct span supplier, const struct catalog_entry *entry)
{
	struct giving *giving = context;
	uint32_t number;

	(void)entry;
	return keeping_keeps(&giving->keeping, supplier)
	    ? ERR_OK
	    : codemap_add(giving->suppliers, supplier, &number);
}

static enum err
list_others(struct giving *giving)
{
	struct catalog_view *view;
	enum err err = catalog_view_open(&view, giving->store);

	if (err == ERR_OK)
		err = catalog_each(view, note_other, giving);
	catalog_view_close(view);
	return err == ERR_DAMAGED ? ERR_OK : err; /* of one that is not sound */
}

static bool
others_have(const struct giving *giving, struct span supplier)
{
	const struct share *share = &giving->keeping.share;
	bool one = false;

	for (unsigned i = 0; i < share->count; i++) {
		if (!giving->alive.there[i] || i == giving->keeping.number ||
		    !share_keeps(share, i, supplier))
			continue;
		if (!giving->alive.whole[i])
			return false;
		one = true;
	}
	return one;
}

/* A snapshot of this node alone is first offered to the others. */
static enum err
give(uint64_t *given, const struct giving *giving, struct span supplier)
{
	struct catalog_entry entry = {.generation = 0};
	struct computed record;
	enum err err = computed_read(&record, giving->store, supplier);

	if (err == ERR_OK)
		err = catalog_current(giving->store, supplier, &entry);
	if (err != ERR_OK || record.entry.generation < entry.generation ||
	    !others_have(giving, supplier))
		return err == ERR_NOT_FOUND ? ERR_OK : err;
	err = catalog_forget(giving->store, supplier);
	*given += err == ERR_OK;
	return err;
}

static enum err
give_all(uint64_t *given, struct giving *giving)
{
	enum err err = keeping_version(&giving->alive.version, giving->store);

	giving->alive.share = &giving->keeping.share;
	if (err == ERR_OK)
		err = look_who_is_alive(
		    &giving->alive, store_engine(giving->store));
	for (uint32_t i = 0;
	     i < codemap_count(giving->suppliers) && err == ERR_OK; i++)
		err = give(given, giving, codemap_code(giving->suppliers, i));
	return err;
}

enum err
keeping_give_up(uint64_t *given, uint64_t *left, struct store *store)
{
	struct giving giving = {.store = store};
	enum err err = keeping_look(&giving.keeping, store);

	*given = *left = 0;
	if (err != ERR_OK || giving.keeping.share.count == 0)
		return err;
	giving.suppliers = codemap_new();
	if (giving.suppliers == NULL)
		return ERR_NO_MEMORY;
	err = list_others(&giving);
	*left = codemap_count(giving.suppliers);
	if (err == ERR_OK && *left > 0)
		err = give_all(given, &giving);
	*left -= *given;
	codemap_free(giving.suppliers);
	return err;
}
