/*
 * computed: the snapshots that the nodes of a cluster share: the one that a node
 * has computed is a file (store/files.h) that the others get, instead of computing
 * the supplier once more. The state names the newest one of each supplier, in its
 * table meta:
 *
 *	"computed" 00 supplier -> packed: unsigned number of the edition that it was
 *	       computed from (edition.h), unsigned SNAP_VERSION; the catalogue's
 *	       entry: unsigned generation, computed ms, rows, facts, network, gamme,
 *	       bytes; text SHA-256 of the file in digits; text name and text address
 *	       of the node that made it
 *	"computed" -> u64 how many were published
 *
 * One process of all nodes computes a supplier at a time, by the lease "compute"
 * of the supplier (state/lease.h), whose token the publishing entry compares; so
 * it does the edition, as one that another import has outrun is of this node
 * alone. The catalogue of each node follows the records, once it has their files,
 * and generations are those of all nodes. A file is needed as long as it is the
 * newest one: no node waits for copies of it, as any node can compute it anew.
 *
 * A node without the log, or that does not show the last import yet, computes for
 * itself; so does a machine on its own, and one whose cluster.conf names no
 * secret_file or no address. Such a snapshot is replaced by one of all nodes when
 * there is one that is as fresh; of two that are both stale the newer one stays.
 *
 * A node may keep a part of the suppliers (keeping.h): it gets those alone.
 */
#pragma once

#include <stdint.h>

#include "common/err.h"
#include "common/span.h"
#include "lmdb-schema/compute/compute.h"
#include "lmdb-schema/store/files.h"

struct store;

/*
 * As compute_supplier(). Where another node computes the supplier just now, waits
 * for it; a snapshot of another node that does as well (options->take) comes from
 * there, as does one that is damaged here.
 */
enum err computed_supplier(struct compute_result *result, struct store *store,
    struct span supplier, const struct compute_options *options);

struct computed_taken {
	uint64_t count; /* that came */
	uint64_t version; /* at which it lacks none (keeping.h); 0: not known */
};

/*
 * Gets what other nodes have computed and this one lacks of its part. After a
 * failure it goes on with the next one, and tells the first. ERR_BUSY: another
 * process of this node is at some, which are left for later.
 */
enum err computed_take(
    struct computed_taken *out, struct store *store, struct fault *fault);

/*
 * How many computed_take() would get now. Fewer than computed_count() says where
 * this node's own snapshot does as well, or another version's cannot be read.
 */
enum err computed_lacking(uint64_t *count, struct store *store);

/*
 * Gives the others what this node alone has computed from the last import, and
 * what no node has as fresh: while the log was away, or before it shared anything.
 */
enum err computed_offer(struct store *store, struct fault *fault);

struct computed_counts {
	uint64_t published; /* ever: grows with each */
	uint64_t snapshots; /* suppliers that have one of all nodes */
	uint64_t kept; /* of these, suppliers that this node is to keep */
	uint64_t here; /* those of them that it shows */
	uint64_t kept_bytes; /* of the files of all that it is to keep */
};

enum err computed_count(struct computed_counts *out, struct store *store);

/* The first of them alone, without a look at each. */
enum err computed_published(uint64_t *count, struct store *store);

/*
 * The newest one of a supplier, of those that nodes share; ERR_NOT_FOUND: there is
 * none.
 */
struct kv_txn;
enum err computed_newest(
    struct catalog_entry *out, struct kv_txn *txn, struct span supplier);

/* Calls `each` with the files that the records name. */
enum err computed_each_file(struct store *store,
    enum err (*each)(void *context, const struct files_id *id), void *context);

/*
 * Forgets the records of suppliers that the facts no longer have, in one entry,
 * unless another import than this node's is published by then. Each node finds the
 * same; the second one finds nothing.
 */
enum err computed_forget_gone(struct store *store);
