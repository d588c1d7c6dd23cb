/*
 * edition: what an import has made, for all nodes of a cluster: the files of the
 * facts, and a copy of live.mdb as it is to be. Each is named by its SHA-256
 * (store/files.h), and a text names them all (edition_text.h). The state names the
 * text, in its table meta:
 *
 *	"edition"          the one that each node shows, or is to show
 *	"edition-offered"  one that nodes get before it is published
 *	    -> packed: unsigned number; text SHA-256 in digits; unsigned bytes of
 *	       the text; text name and text address of the node that made it
 *	"edition" 00 node -> text SHA-256 of the text of the last one of which
 *	       that node has all files
 *
 * An import makes its changes in a copy of live.mdb, adds the files, and offers
 * them; `copies` nodes get them; one entry of the log publishes them; each node
 * makes its live.mdb equal to the copy, in one commit. A kill at any step leaves
 * the edition before, or this one.
 *
 * One process of all nodes makes an edition at a time, by the lease "import"
 * (state/lease.h), whose token the publishing entry compares.
 *
 * Nodes whose cluster.conf names no secret_file or no address, and a machine on
 * its own, have no editions: what they import they show alone.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "lmdb-schema/facts/live.h"
#include "lmdb-schema/store/engine.h"
#include "lmdb-schema/store/files.h"

struct store;

struct edition {
	uint64_t number; /* 0: there is none */
	struct files_id text;
	char node[ENGINE_NODE_NAME_MAX];
	char address[ENGINE_NODE_TEXT_MAX];
};

struct editions {
	struct edition now, offered;
	uint64_t shown; /* the number of the one that live.mdb is of, or 0 */
	bool is_current; /* which is `now`, or there is none */
};

/* Also of a store whose state is not shared: then there is none. */
enum err edition_look(struct editions *out, struct store *store);

/* Calls `each` with the text and the files of both that are here. */
enum err edition_each_file(struct store *store,
    enum err (*each)(void *context, const struct files_id *id), void *context);

/*
 * Bytes of all files of the published one, also of those that are not here yet; 0
 * where its text is not here.
 */
enum err edition_bytes(uint64_t *bytes, struct store *store);

/* --- taking in ------------------------------------------------------------ */

/*
 * Gets the files that this node lacks of both, from nodes that have them, and
 * shows the published one. ERR_OK where it does then; `locked` says that the
 * caller holds the lock of imports.
 *
 *   ERR_AWAY     no other node has given a file, or the log is out of reach
 *   ERR_BUSY     an import or a sweep runs here: later
 *   ERR_VERSION  it is of a later version of this program
 */
enum err edition_take(struct store *store, bool locked, struct fault *fault);

/*
 * Reads all files of the edition that this node shows; those that are not what
 * their name says come anew from other nodes, and what live.mdb has lost, too.
 * *damaged is how many differed, 0 also where there is no edition. `always`: as if
 * one did.
 */
enum err edition_repair(unsigned *damaged, struct store *store, bool always,
    bool locked, struct fault *fault);

/* --- making --------------------------------------------------------------- */

struct edition_making;

/*
 * Begins an import, of which the caller has the lock (store_lock_import()); then
 * this node shows the present edition. On a machine on its own it does nothing.
 * `anew`: what this node shows becomes the edition, whatever is published.
 *
 *   ERR_BUSY  another node imports; the fault names it
 *   ERR_AWAY  the log is out of reach, or no node gives the present edition
 */
enum err edition_begin(struct edition_making **out, struct store *store,
    bool anew, struct fault *fault);

/*
 * Runs the change, as live_change_run(): on a machine on its own, that alone;
 * else as the next edition, which is what this node shows where `work` is NULL, once `copies` nodes have its files, 0 for what
 * cluster.conf says. The fault tells a person what is stored and what not.
 *
 *   ERR_UNKNOWN  it may be published
 *   ERR_LAST     it is published, and this node does not show it yet
 *   others       nothing was changed
 */
enum err edition_change(struct edition_making *making,
    enum err (*work)(void *context, struct live_change *change), void *context,
    struct live_counts *counts, unsigned copies, struct fault *fault);

/* The fault of an import, or of what comes before it, for ERR_AWAY. */
void edition_say_away(const char *dir, struct fault *fault);

/* The number of the edition that was published; 0: none. */
uint64_t edition_published(const struct edition_making *making);

/* Another node may import. NULL is fine. */
void edition_end(struct edition_making *making);
