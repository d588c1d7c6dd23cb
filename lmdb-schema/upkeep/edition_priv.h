/* edition_priv: what the files of edition.h share. */
#pragma once

#include "lmdb-schema/upkeep/edition.h"
#include "lmdb-schema/upkeep/edition_text.h"

struct kv_txn;

enum err edition_get(struct edition *out, struct kv_txn *txn, const char *name);
enum err edition_put(
    struct kv_txn *txn, const char *name, const struct edition *edition);

extern const char edition_now[], edition_offered[];

/*
 * Calls `each` with the record of each node that tells what it has; the record
 * goes, by a writer, for which that is ERR_ANSWERED.
 */
enum err edition_holders(struct kv_txn *txn,
    enum err (*each)(void *context, struct span node, struct span sha),
    void *context);
enum err edition_put_holder(
    struct kv_txn *txn, const char *node, const char *sha);

/* An edition that other nodes are to get before it is published. */
struct edition_awaited {
	struct store *store;
	const struct engine_node *own;
	const struct edition *made;
	unsigned copies; /* nodes with its files, this one among them */
	bool bucket; /* counts as one */
};

/*
 * Waits until so many nodes have the files, of so many bytes. ERR_TIMED_OUT: they do
 * not, and the fault says that nothing was changed. Before it the log has a line for
 * each node that has none, with the reason as far as it is known.
 */
enum err edition_await(
    const struct edition_awaited *awaited, uint64_t bytes, struct fault *fault);

/* Forgets the records of other texts than this one. */
enum err edition_forget_holders(struct kv_txn *txn, char *sha);

/* Calls `each` with the files that an edition's text, which is here, names. */
enum err edition_files_of(const struct edition *edition, const char *dir,
    enum err (*each)(void *context, const struct files_id *id), void *context);

/* Reads a text that is here. */
enum err edition_read_text(
    struct edition_files *out, const char *dir, const struct files_id *text);

/*
 * Removes the files of an edition that another one has not, and its text last;
 * `keep` is that one's text, which may be no name.
 */
void edition_forget(const char *dir, const char *sha, const char *keep);

/*
 * Puts the files of an edition that are all here in their places, and makes
 * live.mdb equal to its copy. `own`: it was made of this node's.
 */
enum err edition_show(struct store *store, const struct edition *edition,
    const struct edition_files *files, bool own, struct fault *fault);
