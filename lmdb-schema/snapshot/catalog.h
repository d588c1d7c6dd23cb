/*
 * catalog: which snapshot of each supplier is current, and which ones are
 * still kept because a client may be paging through them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"
#include "lmdb-schema/store/files.h"

struct buf;
struct kv_txn;
struct store;
struct unpack;

struct catalog_entry {
	uint64_t generation;
	int64_t computed_ms;
	uint64_t rows;
	uint64_t facts, network, gamme; /* generations it was made from */
	uint64_t bytes;
};

/* An entry in a record, as schema.h has it: written, and read. */
void catalog_entry_add(struct buf *value, const struct catalog_entry *entry);
void catalog_entry_take(struct catalog_entry *entry, struct unpack *from);

/* A consistent view. One thread at a time. */
struct catalog_view;

enum err catalog_view_open(struct catalog_view **out, struct store *store);
void catalog_view_close(struct catalog_view *view);
void catalog_view_rest(struct catalog_view *view);
enum err catalog_view_renew(struct catalog_view *view);

/* Grows with each commit: equal numbers mean equal contents. */
uint64_t catalog_view_version(const struct catalog_view *view);

/* ERR_NOT_FOUND: never computed. */
enum err catalog_get(struct catalog_view *view, struct span supplier,
    struct catalog_entry *entry);

/* True when that generation is current or still kept. */
bool catalog_keeps(
    struct catalog_view *view, struct span supplier, uint64_t generation);

/* The number of suppliers with a current generation. */
enum err catalog_count(struct catalog_view *view, uint64_t *count);

/*
 * Calls `each` for every entry. ERR_DAMAGED when an entry cannot be read (the
 * log names it), after visiting all sound ones; any failure of `each` ends the
 * walk and is returned.
 */
enum err catalog_each(struct catalog_view *view,
    enum err (*each)(
	void *context, struct span supplier, const struct catalog_entry *entry),
    void *context);

/* Calls `each` for every replaced generation that is still kept. */
enum err catalog_each_kept(struct catalog_view *view,
    enum err (*each)(void *context, struct span supplier, uint64_t generation),
    void *context);

/* For a caller that needs a single look-up, without a view. */
enum err catalog_current(
    struct store *store, struct span supplier, struct catalog_entry *entry);

/*
 * Makes a finished snapshot file the current one; the replaced one is retired,
 * and kept for the grace time from now on. Synced.
 */
enum err catalog_publish(struct store *store, struct span supplier,
    const struct catalog_entry *entry);

/*
 * The same of a snapshot that the nodes of a cluster share (upkeep/computed.h):
 * `file` is its name in the folder files, `taken` says that another node has made
 * it. Synced.
 */
enum err catalog_publish_shared(struct store *store, struct span supplier,
    const struct catalog_entry *entry, const char *file, bool taken);

/*
 * The file's name, "" for none, until catalog_forget_files() after the generation was
 * kept last; and how many such snapshots this node has made, and taken.
 */
enum err catalog_file(struct catalog_view *view, struct span supplier,
    uint64_t generation, char file[FILES_NAME_LEN + 1]);
enum err catalog_forget_files(struct kv_txn *txn);
enum err catalog_shared(
    struct catalog_view *view, uint64_t *made, uint64_t *taken);

/* The version of that snapshot's format, as it is noted; 0: none is. */
uint64_t catalog_format(
    struct catalog_view *view, struct span supplier, uint64_t generation);

/* Whether two entries are of the same snapshot. */
bool catalog_is_same(
    const struct catalog_entry *one, const struct catalog_entry *two);

/*
 * Retires a supplier's snapshots (a damaged file, or a supplier that no longer
 * exists).
 */
enum err catalog_forget(struct store *store, struct span supplier);

/*
 * Drops one generation whose file turned out to be damaged: it is not opened
 * again. When it was the current one, *was_current is set, and until another
 * one is published the supplier counts as never computed, and as lost. Synced.
 */
enum err catalog_disown(struct store *store, struct span supplier,
    uint64_t generation, bool *was_current);

/* Whether a supplier counts as lost, and how many suppliers do. */
enum err catalog_lost(
    struct catalog_view *view, struct span supplier, bool *lost);
enum err catalog_count_lost(struct catalog_view *view, uint64_t *count);

/*
 * Notes the generation of a new word index. The commit makes the version of
 * every view grow, so that processes with the old index open look again.
 * catalog_words() is 0 before the first one.
 */
enum err catalog_note_words(struct store *store, uint64_t generation);
uint64_t catalog_words(struct catalog_view *view);
