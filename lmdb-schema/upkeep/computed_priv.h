/* computed_priv: what the files of computed.h share. */
#pragma once

#include <stdbool.h>

#include "lmdb-schema/store/engine.h"
#include "lmdb-schema/upkeep/computed.h"
#include "lmdb-schema/upkeep/edition.h"
#include "lmdb-schema/upkeep/holders.h"

struct kv_txn;

#define COMPUTED_LEASE "compute" /* of each supplier */

struct computed {
	uint64_t edition; /* 0: there is none */
	uint64_t format;
	struct catalog_entry entry;
	struct files_id file;
	char node[ENGINE_NODE_NAME_MAX];
	char address[ENGINE_NODE_TEXT_MAX];
};

/* No record, or one that cannot be read, is none. */
enum err computed_get(
    struct computed *out, struct kv_txn *txn, struct span supplier);
enum err computed_read(
    struct computed *out, struct store *store, struct span supplier);

enum err computed_each(struct store *store,
    enum err (*each)(
	void *context, struct span supplier, const struct computed *computed),
    void *context);
enum err computed_each_in(struct kv_txn *txn,
    enum err (*each)(
	void *context, struct span supplier, const struct computed *computed),
    void *context);

/* How many were ever published. */
enum err computed_count_of(uint64_t *count, struct kv_txn *txn);

/* Puts it, and counts it. */
enum err computed_put(
    struct kv_txn *txn, struct span supplier, const struct computed *computed);

/*
 * How this node shares what it computes: not at all, where it shows no edition or
 * not the last one.
 */
struct computed_share {
	bool shares;
	struct edition edition;
	struct engine_node own;
};

enum err computed_share(
    struct computed_share *out, struct store *store, struct fault *fault);

/* Whether this node can show it, and whether that would not be stale. */
bool computed_fits(
    const struct computed *computed, const struct computed_share *share);
bool computed_is_fresh(
    const struct computed *computed, struct store *store, struct span supplier);

/*
 * Makes it the snapshot that this node shows, with its file from another node
 * where it is not here, or damaged. The caller holds the supplier's lock. The
 * holders are found at the first need, and are kept for the next call.
 *
 *   ERR_AWAY  no node has given the file
 */
enum err computed_show(struct store *store, struct span supplier,
    const struct computed *computed, struct holders **holders,
    struct fault *fault);
